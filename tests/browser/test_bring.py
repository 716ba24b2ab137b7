"""A stranger's first steps in a real browser: from two plain files to a data set with candidates."""

from __future__ import annotations

import pandas as pd
import pytest
from playwright.sync_api import expect

from riskcore.data import find_sample, open_data
from riskcore.data.labels import UNSPLIT
from tests.browser.driver import SLOW, click_until, settle, visit

BLOCKING = 4 * SLOW  # milliseconds for a process that imports everything and searches


@pytest.fixture
def files(tmp_path):
    """The bundled products as two programs would write them: other delimiters, encodings and names; no pairs."""
    folder = find_sample("products").path
    left, right = (pd.read_csv(folder / f"{stem}.csv", dtype=str) for stem in ("tableA", "tableB"))
    right.columns = ["offer_no", *(name.upper() for name in right.columns[1:])]
    left.to_csv(tmp_path / "Katalog.csv", sep=";", index=False, encoding="cp1252", errors="replace")
    right.assign(cluster_id="1").to_csv(tmp_path / "shop.csv", sep="\t", index=False, encoding="utf-16")
    return [tmp_path / "Katalog.csv", tmp_path / "shop.csv"]


def press(page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def test_two_files_become_a_data_set_with_candidates(page, address, root, files):
    visit(page, address)
    click_until(page.get_by_role("link", name="Add tables"), page.get_by_text("Bring two tables to match"))
    page.locator("input[type=file]").set_input_files([str(path) for path in files])
    expect(page.get_by_text("shop.csv").first).to_be_visible()
    press(page, "Read the files")
    expect(page.get_by_text("tab, UTF-16")).to_be_visible()
    press(page, "Next")
    expect(page.get_by_text("This is what the files seem to be")).to_be_visible()
    press(page, "Next")
    expect(page.get_by_text("Left out by default: cluster_id")).to_be_visible()
    page.get_by_label("Name of the data set").fill("Katalog und Shop")
    page.keyboard.press("Enter")
    settle(page)
    press(page, "Save the data set")
    press(page, "Find candidates")
    expect(page.get_by_role("button", name="Use these candidates")).to_be_visible(timeout=BLOCKING)
    expect(page.get_by_text("Pairs per record")).to_be_visible()
    press(page, "Use these candidates")
    expect(page.get_by_text("The data set has")).to_be_visible()
    press(page, "Next")
    expect(page.get_by_text("is saved. This is possible with it")).to_be_visible()
    expect(page.get_by_role("button", name="Label about a hundred pairs")).to_be_visible()
    data, whole = open_data(root / "data" / "katalog_und_shop"), open_data(find_sample("products").path)
    assert data.attributes == whole.attributes
    assert (len(data.left), len(data.right)) == (len(whole.left), len(whole.right))
    candidates = set(data.splits[UNSPLIT].ids)
    matches = {name for part in whole.splits.values() for name in part.ids[part.labels == 1]}
    assert len(matches & candidates) >= 0.98 * len(matches)
