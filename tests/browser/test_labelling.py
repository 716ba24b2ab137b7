"""Labelling with the keyboard in a real browser: draw, judge, undo, and write the guideline without judging."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from riskcore.audit import VerdictLog
from riskcore.audit.assigned import assign, target_pairs
from riskcore.audit.draws import drawn_pairs
from riskcore.audit.labels import draft_config
from riskcore.runs import RunFolder, RunState, RunStore
from riskcore.runs.worker.execute import execute
from tests.browser.driver import click_until, serving, settle, visit
from tests.pages.synthetic_run import write_run
from tests.runs.conftest import small_config, small_data
from tests.runs.fake_engine import fake_engine

DRAWN = 8


@pytest.fixture(scope="module")
def place(root):
    """A folder of its own, so that no other test's newest run changes."""
    return root / "labelling"


@pytest.fixture(scope="module")
def draft(place):
    place.mkdir()
    source, target = small_data(place / "a"), small_data(place / "b", words="other ")
    store = RunStore(place / "runs")
    record = store.create(draft_config(small_config(source, target=str(target))), "shops")
    execute(store, record.id, engine=fake_engine)
    return store.get(record.id)


@pytest.fixture(scope="module")
def site(place, draft):
    with serving(place) as found:
        yield found


def key_of(pair: str) -> str:
    left, right = pair.split(":")
    return "m" if left[1:] == right[1:] else "n"


def judge(page: Page, key: str, then: str) -> None:
    """Press a key once, since a second press would judge the next pair, and wait for its effect."""
    settle(page)
    page.keyboard.press(key)
    page.get_by_text(then).wait_for()


def test_pairs_are_labelled_with_the_keyboard(page, site, draft, place):
    visit(page, f"{site}/fine_tuning?run={draft.id}")
    click_until(page.get_by_role("link", name="Label 100 pairs"), page.get_by_label("Pairs to draw"))
    page.get_by_label("Pairs to draw").fill(str(DRAWN))
    page.get_by_label("Pairs to draw").press("Enter")
    page.get_by_role("button", name=f"Draw {DRAWN} pairs").click()
    page.get_by_text(f"0 of {DRAWN}").wait_for()
    settle(page)

    words = page.get_by_role("textbox", name="What counts")
    click_until(page.get_by_role("button", name="Write the guideline"), words)
    words.press_sequentially("mnuz Same model, same product.")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("mnuz Same model, same product.").wait_for()
    expect(page.get_by_text(f"0 of {DRAWN}")).to_be_visible()  # typing is no verdict

    drawn = drawn_pairs(RunFolder(draft.folder))["pair_id"].tolist()
    for number, pair in enumerate(drawn, start=1):
        judge(page, key_of(pair), f"{number} of {DRAWN}")
    page.get_by_text(f"All {DRAWN} drawn pairs are judged.").wait_for()
    judge(page, "z", f"{DRAWN - 1} of {DRAWN}")
    judge(page, "u", f"{DRAWN} of {DRAWN}")

    given = {pair: one.verdict[0] for pair, one in VerdictLog(RunStore(place / "runs")).current(draft.id).items()}
    assert given == {pair: key_of(pair) for pair in drawn[:-1]} | {drawn[-1]: "u"}


def test_a_link_to_labelling_opens_it_whatever_was_open_before(page, site, draft):
    visit(page, f"{site}/audit?run={draft.id}")
    log = page.get_by_text("log is empty").or_(page.get_by_text("as they were recorded"))
    click_until(page.get_by_role("tab", name="Log"), log)
    label = page.get_by_role("link", name="Label 100 pairs")
    click_until(page.get_by_role("link", name="Fine-tuning"), label)
    click_until(label, page.get_by_role("tab", name="Label"))
    expect(page.get_by_role("tab", name="Label")).to_have_attribute("aria-selected", "true")


def test_a_work_list_is_judged_blind_with_the_keyboard(page, site, draft, place):
    folder = RunFolder(draft.folder)
    listed = target_pairs(folder)[-3:]
    assign(folder, "last three", ["analyst"], listed, blind=True)
    visit(page, f"{site}/audit?run={draft.id}")
    page.get_by_text("You have 3 pairs left in “last three”.").wait_for()
    work = page.get_by_role("button", name="Work", exact=True)
    click_until(page.get_by_role("button", name="Work lists"), work)
    click_until(work, page.get_by_text("0 of 3 judged"))
    for number, pair in enumerate(listed, start=1):
        judge(page, key_of(pair), f"{number} of 3 judged")
    page.get_by_text("All 3 pairs are judged.").wait_for()
    judge(page, "z", "2 of 3 judged")
    judge(page, "u", "3 of 3 judged")
    given = VerdictLog(RunStore(place / "runs")).current(draft.id)
    assert [given[pair].verdict[0] for pair in listed] == [key_of(listed[0]), key_of(listed[1]), "u"]


def test_a_screen_that_came_too_early_goes_on_once_the_run_is_done(page, site, place):
    """The way to labelling is there as soon as pairs are ranked, which is before the run is done."""
    record = write_run(place / "runs", 40, 2, state=RunState.RUNNING)
    RunStore(place / "runs").claim(record.id)
    visit(page, f"{site}/audit?run={record.id}&draw={DRAWN}")
    expect(page.get_by_text("Pairs can be drawn once the run is done.")).to_be_visible()
    expect(page.get_by_test_id("stProgress").first).to_be_visible()
    RunStore(place / "runs").finish(record.id, RunState.DONE)
    expect(page.get_by_role("button", name=f"Draw {DRAWN} pairs")).to_be_visible()
