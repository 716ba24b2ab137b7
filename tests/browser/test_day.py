"""An analyst's day in a real browser: from an empty screen to exported verdicts, by keyboard where it counts."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import expect

from pages.parts.frame.navigation import SCREENS
from riskcore.audit import VerdictLog, run_result
from riskcore.runs import PairQuery, RunFolder, RunStore, query_pairs
from riskcore.runs.example import install_example
from tests.browser.driver import PROJECT, SLOW, click_until, new_page, open_first_by_key, picture, settle, steady, visit

RUN_SECONDS = 180  # for the sample on a machine that does other things
KEEP = os.environ.get("RISKCORE_SCREENSHOTS") == "1"  # pictures of the documentation are made on request


def keep(page, name: str) -> None:
    if KEEP:
        picture(page, PROJECT / "docs" / "img" / f"{name}.png")


@pytest.fixture(scope="module")
def sample(address, browser, root):
    """Run the sample from the Overview's button, watch it tick, reload in the middle, wait until it is done."""
    page = new_page(browser)
    visit(page, address)
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    click_until(page.get_by_role("button", name="Run the sample"), page.get_by_test_id("stProgress").first)
    before = page.get_by_text("running time").first.inner_text()
    expect(page.get_by_text("running time").first).not_to_have_text(before, timeout=SLOW)
    page.reload()
    settle_ticking(page)
    expect(page.get_by_test_id("stProgress").first).to_be_visible()
    expect(page.get_by_test_id("stProgress")).to_have_count(0, timeout=1000 * RUN_SECONDS)
    record = RunStore(root / "runs").list()[0]
    keep(page, "overview")
    page.context.close()
    return RunStore(root / "runs").get(record.id)


def settle_ticking(page) -> None:
    page.wait_for_selector("[data-testid=stApp][data-test-connection-state=CONNECTED]")
    page.wait_for_selector("h1")


def top_pairs(record, count: int = 3) -> list[str]:
    return list(query_pairs(RunFolder(record.folder), PairQuery()).rows["pair_id"][:count])


def test_the_sample_runs_to_its_end(sample):
    assert sample.state == "done", sample.error


def test_the_shipped_example_is_reproduced(sample, tmp_path):
    """The same settings and seed; processors may round the last bits in another way."""
    example = RunFolder(install_example(RunStore(tmp_path / "runs")).folder)
    fresh = RunFolder(sample.folder)
    assert example.rules_file.read_text() == fresh.rules_file.read_text()
    ours, theirs = (pd.read_parquet(folder.final_file) for folder in (example, fresh))
    for method in ("tradition", "risk", "risk+", "forest"):
        assert np.abs(ours[method] - theirs[method]).max() < 0.01, method
        assert ((ours[method] >= 0.5) == (theirs[method] >= 0.5)).mean() > 0.99, method
    sheets = [pd.read_parquet(folder.sheets_file("risk+")) for folder in (example, fresh)]
    assert (sheets[0]["leading"] == sheets[1]["leading"]).mean() > 0.99


def test_the_top_pair_explains_itself(page, address, sample):
    visit(page, f"{address}/pairs?run={sample.id}")
    keep(page, "pairs")
    open_first_by_key(page)
    expect(page.locator(".rc-sheet").first).to_be_visible()
    expect(page.get_by_text("By iteration")).to_be_visible()
    row = page.locator(".rc-sheet summary", has_text="title").first
    row.click()
    expect(page.locator(".rc-sheet details[open] .rc-behind").first).to_contain_text("Who says it")
    assert "pair=" in page.url


def test_a_flipped_pair_says_so(page, address, sample):
    visit(page, f"{address}/pairs?run={sample.id}&pair={flipped_by_a_rule(RunFolder(sample.folder))}")
    expect(page.get_by_text("⇄ flipped from").first).to_be_visible()
    expect(page.get_by_text("Together").first).to_be_visible()
    keep(page, "pair")


def flipped_by_a_rule(folder: RunFolder) -> str:
    """The riskiest flipped pair that the loudest rule possible fired on."""
    weights = folder.model("risk", folder.iterations("risk")[-1]).effective_weight
    by_rule = (query_pairs(folder, PairQuery(flipped=True, rule=int(rule))).rows for rule in np.argsort(-weights))
    return next(rows["pair_id"][0] for rows in by_rule if len(rows))


def test_verdicts_by_keyboard(page, address, made_up, root):
    first, _, _ = top_pairs(made_up)
    visit(page, f"{address}/pairs?run={made_up.id}")
    open_first_by_key(page)
    expect_position(page, 1)
    page.keyboard.press("m")
    expect_position(page, 2)
    page.keyboard.press("n")
    expect_position(page, 3)
    page.keyboard.press("k")
    expect_position(page, 2)
    expect(page.get_by_text("Verdict: ≠ non-match")).to_be_visible()
    page.keyboard.press("j")
    expect_position(page, 3)
    page.keyboard.press("z")
    expect_position(page, 2)
    expect(page.get_by_text("After your verdict, the next pair opens")).to_be_visible()
    standing = VerdictLog(RunStore(root / "runs")).current(made_up.id)
    assert {pair: one.verdict for pair, one in standing.items()} == {first: "match"}


def expect_position(page, number: int) -> None:
    expect(page.get_by_text(f"{number} of 300 in this queue")).to_be_visible()
    settle(page)


def test_a_cold_permalink_opens_the_pair(browser, address, made_up):
    page = new_page(browser)
    visit(page, f"{address}/pairs?run={made_up.id}&pair=a7%3Ab7&label=%3D+match")
    expect(page.get_by_text("The evidence says")).to_be_visible()
    expect(page.get_by_role("link", name="Compare")).to_be_visible()
    page.reload()
    settle(page)
    expect(page.get_by_text("The evidence says")).to_be_visible()
    assert "pair=a7" in page.url
    page.context.close()


def test_hostile_records_do_nothing(page, address, made_up):
    page.on("dialog", lambda dialog: pytest.fail(f"A record opened a dialog: {dialog.message}"))
    for place in range(5):
        visit(page, f"{address}/pairs?run={made_up.id}&pair=a{place}:b{place}")
        expect(page.locator(".rc-records")).to_be_visible()
        assert page.evaluate("window.hacked") is None
        assert page.locator(".rc-records script, .rc-records img, .rc-records a").count() == 0
    visit(page, f"{address}/pairs?run={made_up.id}&pair=a0:b0")
    expect(page.locator(".rc-records")).to_contain_text("<script>window.hacked = true</script>")


@pytest.mark.parametrize("name", [name for name in SCREENS if name != "overview"])
def test_hostile_records_do_nothing_on_any_screen(page, address, made_up, name):
    page.on("dialog", lambda dialog: pytest.fail(f"A record opened a dialog: {dialog.message}"))
    visit(page, f"{address}/{name}?run={made_up.id}")
    expect(page.get_by_role("heading", level=1, name=SCREENS[name].title)).to_be_visible()
    assert page.evaluate("window.hacked") is None
    assert page.locator("[data-testid=stException]").count() == 0


def test_a_fixed_pair_leads_to_its_card_and_back(page, address, made_up):
    visit(page, f"{address}/compare?run={made_up.id}")
    table = page.get_by_test_id("stDataFrame").nth(1)
    table.scroll_into_view_if_needed()
    steady(table)  # charts above it grow into their place
    table.click(position={"x": 120, "y": 52})  # a cell of the first row of the fixed pairs
    expect(page.get_by_text("The evidence says")).to_be_visible()
    expect(page).to_have_url(re.compile("pair="))
    page.go_back()
    expect(page.get_by_role("heading", level=1, name="Compare")).to_be_visible()


def test_compare_and_export(page, address, sample, root, tmp_path: Path):
    pair = top_pairs(sample)[0]
    VerdictLog(RunStore(root / "runs")).add(sample.id, pair, "non-match", note="=1+1", who="ann")
    visit(page, f"{address}/compare?run={sample.id}")
    expect(page.get_by_text("Errors found per review")).to_be_visible()
    keep(page, "compare")
    visit(page, f"{address}/audit?run={sample.id}")
    keep(page, "audit")
    csv = page.get_by_test_id("stDownloadButton").get_by_role("button", name="CSV")  # not the table's own
    click_until(page.get_by_role("tab", name="Export"), csv)
    with page.expect_download() as download:
        csv.click()
    saved = tmp_path / "verdicts.csv"
    download.value.save_as(saved)
    rows = pd.read_csv(saved)
    assert list(rows["pair_id"]) == [pair]
    assert rows["note"][0] == "'=1+1"


def test_the_result_is_seen_before_it_is_applied_and_downloaded(page, address, sample, tmp_path: Path):
    visit(page, f"{address}/results?run={sample.id}")
    expect(page.get_by_text("would be dropped").or_(page.get_by_text("No match is dropped"))).to_be_visible()
    keep(page, "results")
    apply = page.get_by_role("button", name="Apply one-to-one")
    click_until(page.get_by_role("radio", name="one-to-one"), apply)
    click_until(apply, page.get_by_role("button", name="Back to free"))
    expect(page).to_have_url(re.compile("constraint=one-to-one"))
    entities = page.get_by_role("radio", name="Entities", exact=True)
    click_until(entities, page.get_by_text("Only entities of several records"))
    table = page.get_by_test_id("stDataFrame").last
    settle(page)
    table.scroll_into_view_if_needed()
    steady(table)
    table.click(position={"x": 120, "y": 52})  # a cell of the first row
    expect(page.get_by_role("button", name="All entities")).to_be_visible()
    expect(page.locator(".rc-entity")).to_contain_text("merged record")
    with page.expect_download() as download:
        page.get_by_test_id("stDownloadButton").get_by_role("button", name="Pairs").click()
    saved = tmp_path / download.value.suggested_filename
    assert saved.name.startswith("matches-sample-curated-to-scraped-bibliography-")
    assert saved.name.endswith("-risk+-one-to-one.csv")
    download.value.save_as(saved)
    rows = pd.read_csv(saved, dtype=str)
    expected = run_result(RunFolder(sample.folder), constraint="one-to-one").pairs
    assert set(rows["pair_id"]) == set(expected[expected["decision"] == "match"]["pair_id"])


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (1920, True)])
def test_every_screen_fits_its_window(browser, address, sample, width, dark):
    page = new_page(browser, width, 900, dark)
    visit(page, f"{address}/?run={sample.id}")
    for name, screen in SCREENS.items():
        link = page.get_by_test_id("stSidebarNav").get_by_role("link", name=screen.title)
        click_until(link, page.get_by_role("heading", level=1, name=screen.title))
        settle(page)
        assert page.locator("[data-testid=stException]").count() == 0
        over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert over <= 0, f"{name} is wider than {width} pixels"
        if KEEP and name in ("data_sets", "fine_tuning", "rules") and not dark:
            visit(page, f"{address}/{name}?run={sample.id}")
            keep(page, name)
    if dark:
        visit(page, f"{address}/pairs?run={sample.id}&pair={top_pairs(sample)[0]}")
        expect(page.get_by_text("The evidence says")).to_be_visible()
        keep(page, "pair-dark")
    page.context.close()
