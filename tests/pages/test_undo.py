"""Undo from anywhere: the last verdict of this person is withdrawn, and its pair is shown again where it was judged."""

from __future__ import annotations

import pytest

from pages.parts.audit.undo import SECOND_REVIEW
from riskcore.audit import VerdictLog
from riskcore.audit.draws import draw_pairs, drawn_pairs
from riskcore.audit.estimate import draw_audit
from riskcore.audit.estimate.runs import audited_pairs
from riskcore.audit.verdicts import bulk_note
from riskcore.runs import PairQuery, RunFolder, RunStore, query_pairs
from riskcore.runs.example import RUN, install_example
from tests.pages.conftest import PROJECT, checked, words

UNDO = "Undo my last verdict"
WITHOUT_A_BAR = ("Label", "Estimate", "Plan", "Work lists", "Verdicts", "Log", "Export", "Reviewers")


@pytest.fixture
def log(runs):
    return VerdictLog(RunStore(runs))


@pytest.fixture
def example(runs):
    return install_example(RunStore(runs))


def press(app, label: str):
    return checked(next(button for button in app.button if button.label == label).click().run())


def go(app, screen: str, **address: str):
    """Another screen of the same session."""
    for name in list(app.query_params):
        del app.query_params[name]
    for name, value in address.items():
        app.query_params[name] = value
    app.switch_page(str(PROJECT / "pages" / f"{screen}.py"))
    return checked(app.run())


def first_pairs(record, count: int = 3, **filters) -> list[str]:
    return list(query_pairs(RunFolder(record.folder), PairQuery(**filters)).rows["pair_id"][:count])


def title(app) -> str:
    return app.title[0].value


def test_from_the_list_without_a_card(screen, done, log):
    first, *_ = first_pairs(done)
    app = press(press(screen("pairs", run=done.id, pair=first), "= Match"), "Queue")
    assert "pair" not in app.query_params
    app = press(app, UNDO)
    assert app.query_params["pair"] == first
    assert log.current(done.id) == {}
    app = press(app, "Queue")
    assert next(button for button in app.button if button.label == UNDO).disabled


def test_after_a_refresh_it_is_the_newest_of_this_person(screen, done, log):
    first, second, third = first_pairs(done)
    for pair, who in ((first, "analyst"), (second, "analyst"), (third, "ann")):
        log.add(done.id, pair, "match", who=who)
    app = press(screen("pairs", run=done.id), UNDO)
    assert app.query_params["pair"] == second
    assert set(log.current(done.id)) == {first, third}


@pytest.mark.parametrize("tab", WITHOUT_A_BAR)
def test_from_tabs_without_a_bar_it_leads_to_the_card(screen, done, log, tab):
    first, *_ = first_pairs(done)
    log.add(done.id, first, "match", who="analyst")
    app = press(screen("audit", run=done.id, part=tab), UNDO)
    assert (title(app), app.query_params["pair"]) == ("Top-risk pairs", first)
    assert log.current(done.id) == {}


@pytest.mark.parametrize("name", ["rules", "compare", "results"])
def test_from_screens_on_which_no_pair_is_judged(screen, done, log, name):
    first, *_ = first_pairs(done)
    log.add(done.id, first, "match", who="analyst")
    app = press(screen(name, run=done.id), UNDO)
    assert (title(app), app.query_params["pair"]) == ("Top-risk pairs", first)
    assert log.current(done.id) == {}


@pytest.mark.parametrize("name", ["overview", "data_sets", "fine_tuning", "help"])
def test_from_screens_that_show_no_run_it_is_the_last_of_this_session(screen, done, log, name):
    first, second, *_ = first_pairs(done)
    log.add(done.id, second, "match", who="analyst")
    assert UNDO not in [button.label for button in screen(name).button]
    app = press(screen("pairs", run=done.id, pair=first), "= Match")
    app = press(go(app, name), UNDO)
    assert (title(app), app.query_params["pair"]) == ("Top-risk pairs", first)
    assert set(log.current(done.id)) == {second}


def test_between_the_queue_and_the_drawn_pairs(screen, example, log):
    """What was judged blind is shown blind again, what was judged in the queue in the queue."""
    folder = RunFolder(example.folder)
    draw_audit(folder, 20)
    draw_pairs(folder, 20)
    app = press(screen("audit", run=RUN, part="Estimate"), "= Match")
    (estimated,) = log.current(RUN)
    app = press(go(app, "pairs", run=RUN, pair=first_pairs(example)[0]), "Undo")
    assert (title(app), app.query_params["pair"]) == ("Label & audit", estimated)
    assert app.session_state["part"] == "Estimate"
    assert "labelled" not in words(app)
    assert log.current(RUN) == {}

    drawn = set(drawn_pairs(folder)["pair_id"]) | set(audited_pairs(folder)["pair_id"])
    pair = next(pair for pair in first_pairs(example, 50) if pair not in drawn)
    app = press(go(app, "pairs", run=RUN, pair=pair), "? Unsure")
    app = press(go(app, "audit", run=RUN, part="Label"), "Undo")
    assert (title(app), app.query_params["pair"]) == ("Top-risk pairs", pair)
    assert log.current(RUN) == {}


def test_after_a_refresh_drawn_pairs_are_shown_on_their_tab(screen, example, log):
    folder = RunFolder(example.folder)
    draw_audit(folder, 20)
    pair = str(audited_pairs(folder)["pair_id"][3])
    log.add(RUN, pair, "match", who="analyst")
    app = press(screen("pairs", run=RUN), UNDO)
    assert (title(app), app.session_state["part"], app.query_params["pair"]) == ("Label & audit", "Estimate", pair)


def test_the_last_drawn_pair_can_be_undone(screen, example, log):
    folder = RunFolder(example.folder)
    draw_audit(folder, 10)
    *others, last = map(str, audited_pairs(folder)["pair_id"])
    for pair in others:
        log.add(RUN, pair, "non-match", who="ann")
    app = press(screen("audit", run=RUN, part="Estimate"), "= Match")
    assert f"All {len(others) + 1} drawn pairs are judged" in words(app)
    app = press(app, UNDO)
    assert app.query_params["pair"] == last
    assert last not in log.current(RUN)


def test_a_blind_verdict_is_undone_blind(screen, done, log):
    order = first_pairs(done, sort="random")
    app = press(screen("pairs", run=done.id, sort="random", pair=order[0]), "= Match")
    app = press(go(app, "pairs", run=done.id, pair=first_pairs(done)[0]), "Undo")
    assert (app.query_params["pair"], app.query_params["sort"]) == (order[0], "random")
    assert "The evidence says" not in words(app)


def test_the_second_review_is_undone_on_its_tab(screen, done, log):
    for pair in first_pairs(done):
        log.add(done.id, pair, "match", who="ann")
    app = screen("audit", run=done.id, part="Reviewers")
    app.toggle(key=SECOND_REVIEW).set_value(True)
    app = press(checked(app.run()), "≠ Non-match")
    (pair,) = log.current(done.id, "analyst")
    app = press(go(app, "pairs", run=done.id), UNDO)
    assert (title(app), app.query_params["pair"]) == ("Label & audit", pair)
    assert app.toggle(key=SECOND_REVIEW).value
    assert log.current(done.id, "analyst") == {}


def test_verdicts_given_at_once_are_withdrawn_at_once(screen, done, log):
    pairs = first_pairs(done, 8)
    log.add(done.id, pairs[0], "match", who="analyst")
    log.add_many(done.id, pairs[1:], "match", bulk_note(10, "match"), "analyst")
    app = press(screen("pairs", run=done.id), UNDO)
    assert set(log.current(done.id)) == {pairs[0]}
    assert "pair" not in app.query_params
    assert [toast.value for toast in app.toast] == ["7 verdicts withdrawn"]
