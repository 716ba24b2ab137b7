"""The whole way in a real browser, without a terminal: two plain csv files, a hundred verdicts by keyboard, an exported
list of matches. The result must be at least as good as that of the same run on a hundred random labels of the folder.
"""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from riskcore.audit import export_result
from riskcore.audit.draws import drawn_pairs
from riskcore.audit.labels import adapting_config, draft_config
from riskcore.config import RunConfig
from riskcore.data import find_sample
from riskcore.runs import RunFolder, RunStore
from riskcore.runs.worker.execute import execute
from tests.browser.driver import SLOW, click_until, settle, visit

LABELS = 100
WORK = 6 * SLOW  # milliseconds for a process of its own on a busy machine: blocking, a draft, a run


@pytest.fixture(scope="module")
def matches():
    """All true matches, by the generator of the sample: its pair files name only some."""
    sys.path.insert(0, str(find_sample("products").path.parent))
    from generate import MAKERS

    make, seed = MAKERS["products"]
    made = make(Random(seed))
    return {
        (str(a), str(b))
        for a, left in enumerate(made.left)
        for b, right in enumerate(made.right)
        if left.entity == right.entity
    }


@pytest.fixture
def files(tmp_path):
    """Two plain csv files; pairs and labels stay hidden."""
    folder = find_sample("products").path
    names = {"tableA": "catalogue.csv", "tableB": "offers.csv"}
    for stem, name in names.items():
        (tmp_path / name).write_bytes((folder / f"{stem}.csv").read_bytes())
    return [tmp_path / name for name in names.values()]


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def f1(found: set[tuple[str, str]], matches: set[tuple[str, str]]) -> float:
    return 2 * len(found & matches) / (len(found) + len(matches))


def matches_in(file: Path) -> set[tuple[str, str]]:
    rows = pd.read_csv(file, dtype=str)
    return {
        (a, b)
        for a, b, one in zip(rows["ltable_id"], rows["rtable_id"], rows["decision"], strict=True)
        if one == "match"
    }


def bring(page: Page, files: list[Path]) -> None:
    click_until(page.get_by_role("link", name="Add tables"), page.get_by_text("Bring two tables to match"))
    page.locator("input[type=file]").set_input_files([str(path) for path in files])
    expect(page.get_by_text("offers.csv").first).to_be_visible()
    press(page, "Read the files")
    press(page, "Next")
    expect(page.get_by_text("This is what the files seem to be")).to_be_visible()
    press(page, "Next")
    page.get_by_label("Name of the data set").fill("shops")
    page.keyboard.press("Enter")
    settle(page)
    press(page, "Save the data set")
    press(page, "Find candidates")
    expect(page.get_by_role("button", name="Use these candidates")).to_be_visible(timeout=WORK)
    press(page, "Use these candidates")
    expect(page.get_by_text("The data set has")).to_be_visible()
    press(page, "Next")


def label(page: Page, root: Path, matches: set[tuple[str, str]]) -> None:
    """A hundred verdicts, one key each."""
    press(page, "Label about a hundred pairs")
    page.get_by_role("link", name="Label 100 pairs").click(timeout=WORK)
    page.get_by_role("button", name=f"Draw {LABELS} pairs").click(timeout=WORK)  # ranked is not done yet
    page.get_by_text(f"0 of {LABELS}").wait_for()
    folder = RunFolder(RunStore(root / "runs").list()[0].folder)
    for number, pair in enumerate(drawn_pairs(folder)["pair_id"], start=1):
        settle(page)
        page.keyboard.press("m" if tuple(pair.split(":")) in matches else "n")
        page.get_by_text(f"{number} of {LABELS}").wait_for()


def test_two_files_a_hundred_keys_and_a_list_of_matches(page, address, root, files, matches, tmp_path):
    visit(page, address)
    bring(page, files)
    label(page, root, matches)
    press(page, "Adapt with these labels")
    page.get_by_text(f"{LABELS} labels").first.wait_for()
    expect(page.get_by_test_id("stProgress").first).to_be_visible()
    expect(page.get_by_test_id("stProgress")).to_have_count(0, timeout=WORK)
    page.get_by_role("link", name="Results").first.click()
    found = f1(matches_in(download(page, "Pairs", tmp_path)), matches)
    entities = pd.read_csv(download(page, "Entities", tmp_path), dtype=str)
    assert entities["entity_id"].nunique() < len(entities)  # only entities of several records
    assert found >= on_random_labels(root, tmp_path, matches)


def download(page: Page, name: str, folder: Path) -> Path:
    settle(page)
    with page.expect_download() as pending:
        page.get_by_role("button", name=f"{name} ·").click()
    path = folder / pending.value.suggested_filename
    pending.value.save_as(path)
    return path


def on_random_labels(root: Path, folder: Path, matches: set[tuple[str, str]]) -> float:
    """F1 of the same run on a hundred random validation labels of the sample's own folder."""
    store = RunStore(folder / "runs")
    random = pd.read_csv(find_sample("products").path / "valid.csv", dtype=str).sample(LABELS, random_state=0)
    random.to_csv(folder / "labels.csv", index=False)
    draft = draft_config(RunConfig(target=str(root / "data" / "shops")))
    run = store.create(adapting_config(draft, folder / "labels.csv"))
    execute(store, run.id)
    done = export_result(RunFolder(run.folder), folder / "random.csv")
    return f1(matches_in(done.files["pairs"]), matches)
