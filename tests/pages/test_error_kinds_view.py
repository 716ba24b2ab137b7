"""Errors by kind on screen: the list, its links, and judging a group at once."""

from __future__ import annotations

import html

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from streamlit.testing.v1 import AppTest

from pages.parts.pairs.error_kinds_view import kind_from_address
from riskcore.audit import VerdictLog
from riskcore.audit.error_kinds import error_kinds
from riskcore.audit.verdicts import bulk_note, is_bulk, is_sampled
from riskcore.rules.rule import Condition
from riskcore.runs import PairQuery, RunFolder, RunStore, all_pairs
from riskcore.storage.files import write_parquet
from tests.pages.conftest import SECONDS, checked, words
from tests.pages.synthetic_run import write_run


def show() -> None:
    """A page with nothing else on it."""
    import streamlit as st

    from pages.parts.frame.errors import boundary
    from pages.parts.pairs.error_kinds_view import show_error_kinds
    from pages.parts.runs.run_picker import View, store
    from riskcore.audit import VerdictLog
    from riskcore.runs import RunFolder

    record = store().list()[0]
    with boundary("kinds"):
        view = View(record, RunFolder(record.folder), "risk", 1)
        show_error_kinds(view, VerdictLog(store()).current(record.id))
        st.caption("end")


@pytest.fixture
def run(runs):
    """A run whose likely errors have similar titles and different years."""
    record = write_run(runs, 400, 2, methods=("risk",))
    folder = RunFolder(record.folder)
    metrics = pq.read_table(folder.metrics_file).to_pandas()
    wrong = (metrics["title.jaccard"] > 0.5) & (metrics["year.differs"] > 0.5)
    scores = pq.read_table(folder.scores_file("risk", 1)).to_pandas().assign(risk=np.where(wrong, 0.9, 0.05))
    write_parquet(folder.scores_file("risk", 1), pa.Table.from_pandas(scores, preserve_index=False))
    return record


@pytest.fixture
def app(run):
    return checked(AppTest.from_function(show, default_timeout=SECONDS).run())


@pytest.fixture
def first(run):
    return error_kinds(RunFolder(run.folder), "risk", 1, {})[0]


@pytest.fixture
def log(runs):
    return VerdictLog(RunStore(runs))


def press(app, label):
    return checked(next(one for one in app.button if label in one.label).click().run())


def open_first(app):
    return checked(app.toggle[0].set_value(True).run())


def test_every_group_is_listed_with_its_counts(app, run):
    text = html.unescape(words(app))
    kinds = error_kinds(RunFolder(run.folder), "risk", 1, {})
    for kind in kinds:
        assert f"{kind.pairs} pairs · {kind.flagged} flagged" in text
        assert kind.sentence[1:] in text
    assert len(app.toggle) == len(kinds)
    assert "none judged" in text


def test_a_group_narrows_the_queue(screen, app, run, first):
    app.query_params["page"] = "2"
    app = press(app, f"Show {first.pairs} pairs")
    assert app.query_params["kind"] == first.text
    assert "page" not in app.query_params
    assert kind_from_address(first.text, RunFolder(run.folder)) == first.conditions
    queue = screen("pairs", run=run.id, method="risk", iteration="1", kind=first.text)
    assert f"**{first.pairs} pairs**" in words(queue)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "title",
        "title word overlap is above 0.5 and",
        "title word overlap is above nan",
        "price differs by more than 3",  # no metric of this run
        '"\\x" differs',
        "title word overlap is above 0.5 -> match",
        "title word overlap is above 1e999",
        "year differs and " * 200 + "year differs",
        "<script>alert(1)</script>",
    ],
)
def test_an_address_that_names_no_kind_is_ignored(run, text):
    assert kind_from_address(text, RunFolder(run.folder)) == ()


def test_an_address_names_conditions(run):
    found = kind_from_address("year differs and title word overlap is above 0.5", RunFolder(run.folder))
    assert found == (Condition("title", "jaccard", ">", 0.5), Condition("year", "differs", ">", 0.5))


def test_a_group_is_judged_by_a_sample_and_then_at_once(app, run, log, first):
    app = open_first(app)
    assert "0 of 10 sampled pairs judged" in app.get("progress")[0].proto.text
    assert not any("Record" in one.label for one in app.button)
    for _ in range(10):
        app = press(app, "= Match")
    sampled = log.entries(run.id)
    assert len(sampled) == 10
    assert all(is_sampled(entry) and not is_bulk(entry) for entry in sampled)
    text = words(app)
    assert "All 10 sampled pairs are = match" in text
    assert "Up to 26 % of the group may still differ" in text
    others = first.pairs - 10
    app = press(app, f"Record {others} verdicts")
    current = log.current(run.id)
    bulk = [entry for entry in current.values() if is_bulk(entry)]
    assert len(bulk) == others
    assert {(entry.verdict, entry.note) for entry in bulk} == {("match", bulk_note(10, "match"))}
    assert len(current) == first.pairs
    assert log.problems(run.id) == []
    assert f"{first.pairs} judged" in words(app)
    app = press(app, f"Withdraw these {others} bulk verdicts")
    assert set(log.current(run.id)) == {entry.pair_id for entry in sampled}
    assert any(f"Record {others} verdicts" in one.label for one in app.button)


def test_a_larger_sample_can_be_asked_for(app, log, run):
    app = open_first(app)
    for _ in range(10):
        app = press(app, "= Match")
    app = press(app, "Sample 10 more")
    assert "10 of 20 sampled pairs judged" in app.get("progress")[0].proto.text
    for _ in range(10):
        app = press(app, "= Match")
    assert "All 20 sampled pairs are = match" in words(app)
    assert bulk_note(20, "match") in words(app)


def test_a_sample_that_does_not_agree_offers_nothing(app):
    app = press(open_first(app), "≠ Non-match")
    for _ in range(9):
        app = press(app, "= Match")
    text = words(app)
    assert "The sampled pairs do not agree (1 ≠ non-match, 9 = match)" in text
    assert not any("Record" in one.label for one in app.button)


def test_a_verdict_on_the_sample_can_be_undone(app, log, run):
    app = open_first(app)
    assert next(one for one in app.button if one.label == "Undo").disabled
    app = press(press(app, "= Match"), "Undo")
    assert [entry.verdict for entry in log.entries(run.id)] == ["match", "withdrawn"]
    assert log.current(run.id) == {}


def test_pairs_that_others_judged_meanwhile_keep_their_verdict(app, log, run, first):
    app = open_first(app)
    for _ in range(10):
        app = press(app, "= Match")
    folder = RunFolder(run.folder)
    judged = set(log.current(run.id))
    members = all_pairs(folder, PairQuery(iteration=1, kind=first.conditions))["pair_id"]
    other = next(pair for pair in members if pair not in judged)
    log.add(run.id, other, "non-match", who="bob")
    app = press(app, f"Record {first.pairs - 10} verdicts")  # as the page still says
    assert [entry.who for entry in log.history(run.id, other)] == ["bob"]
    assert sum(map(is_bulk, log.current(run.id).values())) == first.pairs - 11


def test_groups_stay_while_their_pairs_are_judged(app, run, log, first):
    """A verdict changes what is flagged, and so the groups; under one's hands they must not change."""
    before = [one.label for one in app.toggle]
    app = press(open_first(app), "= Match")
    assert len(app.toggle) == len(before)
    assert "1 judged" in words(app)
    app = press(app, "Find the groups again")
    assert not any("Find the groups again" in one.label for one in app.button)


def test_a_run_without_likely_errors_says_so(run):
    folder = RunFolder(run.folder)
    scores = pq.read_table(folder.scores_file("risk", 1)).to_pandas().assign(risk=0.01)
    write_parquet(folder.scores_file("risk", 1), pa.Table.from_pandas(scores, preserve_index=False))
    text = words(checked(AppTest.from_function(show, default_timeout=SECONDS).run()))
    assert "there are no groups" in text
    assert "end" in text
