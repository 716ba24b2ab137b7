"""What a person does to runs and rules: cancel, resume, delete, mute, pin, download, note."""

from __future__ import annotations

import io
import shutil

import pandas as pd
import pytest

from pages.parts.audit.audit_tables import export_rows, judged_rows
from pages.parts.pairs.queue import queue_csv, queue_table
from pages.parts.runs import run_view
from pages.parts.runs.run_picker import View
from riskcore.audit import VerdictLog
from riskcore.runs import PairQuery, RunFolder, RunNotFoundError, RunState, RunStore, query_pairs
from tests.pages.conftest import checked, words
from tests.pages.synthetic_run import HOSTILE, write_run

HOSTILE_NAME = "<script>window.hacked = true</script> **bold** [x](javascript:alert(1)) $x$"


def press(app, label: str):
    return checked(next(button for button in app.button if button.label == label).click().run())


def test_a_run_at_work_is_cancelled(screen, runs):
    record = write_run(runs, 40, 2, state=RunState.RUNNING)
    app = press(screen("fine_tuning", run=record.id), "Cancel")
    assert RunStore(runs).get(record.id).cancelling
    assert next(button for button in app.button if button.label == "Cancel").disabled


def test_a_pass_that_lasts_counts_its_pairs(screen, runs):
    record = write_run(runs, 40, 2, state=RunState.RUNNING)
    told = {"task": "risk+", "unit": "iteration", "number": 2, "of": 5, "done": 640, "total": 1915}
    RunStore(runs).passing(record.id, [{**told, "seconds": 15.6, "per_second": 41.2}])
    text = words(screen("fine_tuning", run=record.id))
    assert "Risk+, iteration 2 of 5: 640 of 1,915 pairs, 41 a second, about 31 s left in this iteration" in text


def test_a_run_that_failed_is_resumed(screen, runs, monkeypatch):
    record = write_run(runs, 40, 2, state=RunState.FAILED)
    asked = []
    monkeypatch.setattr(run_view, "resume", lambda store, run: asked.append(run))
    press(screen("fine_tuning", run=record.id), "Resume")
    assert asked == [record.id]


def test_a_run_is_deleted_with_all_it_has(screen, done, runs):
    app = press(screen("fine_tuning", run=done.id), "Delete permanently")
    assert "run" not in app.query_params
    with pytest.raises(RunNotFoundError):
        RunStore(runs).get(done.id)
    assert not done.folder.exists()


def test_two_runs_at_work_are_both_in_sight(screen, runs):
    one, other = (write_run(runs, 40, 2, state=RunState.RUNNING, name=name) for name in ("first", "second"))
    text = words(screen("fine_tuning", run=one.id))
    assert "1 other active run" in text
    assert other.name in text


def test_the_overview_shows_a_run_that_failed(screen, runs):
    write_run(runs, 40, 2, state=RunState.FAILED)
    text = words(screen("overview"))
    assert "failed" in text
    assert "Something unexpected" not in text


@pytest.mark.parametrize("name", ["overview", "fine_tuning", "pairs", "compare", "audit", "rules", "results"])
def test_a_hostile_name_of_a_run_is_text(screen, runs, name):
    record = write_run(runs, 40, 2, name=HOSTILE_NAME)
    app = screen(name, run=record.id)
    for element in (*app.markdown, *app.caption, *app.header, *app.subheader):
        assert "<script>" not in str(element.value)
        assert "](javascript" not in str(element.value).replace("\\]\\(", "")
    assert "<script>" not in "".join(str(element.proto.body) for element in app.get("html"))


def test_pinning_a_rule_changes_the_ranking_at_once(screen, done):
    app = screen("rules", run=done.id, one="3")
    control = next(c for c in app.get("button_group") if "This rule has" in c.label)
    text = words(checked(control.set_value("pinned").run()))
    assert "Decided by people: 1 pinned" in text


def test_the_download_holds_the_queue_and_no_formula(done):
    folder, query = RunFolder(done.folder), PairQuery(label=1)
    rows = pd.read_csv(io.BytesIO(queue_csv(folder, query, {"a7:b7": "match"})))
    found = query_pairs(folder, PairQuery(label=1, page_size=1000)).rows
    assert list(rows["pair_id"]) == list(found["pair_id"])
    assert {"risk", "probability", "verdict", "left_title", "right_title"} <= set(rows.columns)
    hostile = pd.read_csv(io.BytesIO(queue_csv(folder, PairQuery(), {})))
    assert set(HOSTILE) <= set(hostile["left_title"])
    assert not hostile["left_title"].str.startswith(("=", "+", "-", "@")).any()


def test_exports_say_flipped_where_the_screen_does(done, runs):
    folder = RunFolder(done.folder)
    view = View(done, folder, "risk", 2)
    listed = query_pairs(folder, PairQuery(flipped=True, page_size=1000)).rows
    shown = queue_table(query_pairs(folder, PairQuery(page_size=1000)).rows, folder.attributes())
    assert set(shown.loc[shown["flip"] == "⇄ flipped", "pair"]) == set(listed["pair_id"]) != set()
    exported = pd.read_csv(io.BytesIO(queue_csv(folder, PairQuery(), {})))
    assert set(exported.loc[exported["flipped"], "pair_id"]) == set(listed["pair_id"])
    log = VerdictLog(RunStore(runs))
    for pair in listed["pair_id"][:3]:
        log.add(done.id, pair, "match", who="ann")
    assert export_rows(view, judged_rows(view, log.current(done.id)))["flipped"].all()


def test_a_note_goes_with_its_verdict(screen, done, runs):
    first = query_pairs(RunFolder(done.folder), PairQuery()).rows["pair_id"][0]
    app = screen("pairs", run=done.id, pair=first)
    app.text_input(key=f"note {done.id} {first}").set_value("same edition, other year")
    press(app, "= Match")
    (entry,) = VerdictLog(RunStore(runs)).entries(done.id)
    assert (entry.verdict, entry.note) == ("match", "same edition, other year")


def test_the_ways_to_the_pairs_appear_as_soon_as_there_are_some(screen, runs):
    record = write_run(runs, 40, 2, state=RunState.RUNNING)
    links = [str(link.proto.label) for link in screen("fine_tuning", run=record.id).get("page_link")]
    assert "Top-risk pairs" in links


def test_a_finished_run_without_a_risk_model_is_not_to_be_resumed(screen, done):
    shutil.rmtree(done.folder / "scores")
    text = words(screen("pairs", run=done.id))
    assert "no method that ranks pairs by risk" in text
    assert "Resume it" not in text


def test_an_open_run_reads_each_event_once(screen, runs, monkeypatch):
    record = write_run(runs, 40, 2, state=RunState.RUNNING)
    asked: list[int] = []
    read = RunStore.events

    def counted(self, run, after=0, limit=1000):
        asked.append(after)
        return read(self, run, after, limit)

    monkeypatch.setattr(RunStore, "events", counted)
    app = screen("fine_tuning", run=record.id)
    last = RunStore(runs).events(record.id)[-1].sequence
    asked.clear()
    app.run()
    assert asked
    assert set(asked) == {last}
