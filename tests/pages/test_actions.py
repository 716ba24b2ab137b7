"""What the other screens do: bring data, start runs, ask what-if, judge, export, compare."""

from __future__ import annotations

import dataclasses
import io
import json
from types import SimpleNamespace

import pandas as pd
import pytest
import sqlalchemy as sa

from pages.parts.audit.audit_tables import AuditProgress, as_csv, as_html, as_parquet, export_rows, judged_rows
from pages.parts.data import known_sets as registry
from pages.parts.frame import tables
from pages.parts.runs import run_start
from pages.parts.runs.run_picker import View
from pages.parts.runs.sample_run import sample_config
from riskcore.audit import VerdictLog
from riskcore.audit.chain import entry_digest
from riskcore.data import find_sample
from riskcore.runs import PairQuery, RunFolder, RunStore, query_pairs
from riskcore.runs.readers import forecast
from riskcore.runs.readers.time_left import estimate_seconds, run_progress, step_words, steps_of, within_step
from riskcore.runs.store.database import verdicts
from riskcore.storage.files import write_json
from riskcore.training.costs import RunSizes
from tests.pages.conftest import checked, words
from tests.pages.synthetic_run import write_run


def test_types_are_remembered(screen, places):
    sample = str(find_sample("products").path)
    registry.register(sample, types={"price": "text"})
    assert registry.known_sets()[sample].types == {"price": "text"}


def test_starting_a_run_writes_its_config(screen, runs, monkeypatch):
    started = []
    monkeypatch.setattr(run_start, "start", lambda store, run: started.append(run))
    app = screen("fine_tuning")
    assert "Estimated time" in words(app)
    app.selectbox(key="form matcher").set_value("sif")
    app.number_input(key="form epochs").set_value(3)
    app = checked(app.run())
    app = checked(next(b for b in app.button if b.label == "Start").click().run())
    (record,) = RunStore(runs).list()
    assert started == [record.id]
    assert (record.config.matcher.kind, record.config.tune.epochs) == ("sif", 3)
    assert record.config.target
    assert app.query_params["run"] == record.id
    assert "Cancel" in [button.label for button in app.button]


def test_a_slow_matcher_says_before_the_start_how_long_it_takes_and_what_is_cheaper(screen, monkeypatch):
    monkeypatch.setattr(forecast, "LONG_SECONDS", 500.0)
    app = screen("fine_tuning")
    assert "This run takes long" not in words(app)
    app = checked(app.selectbox(key="form matcher").set_value("ditto").run())
    text = words(app)
    assert "Estimated time on this machine" in text
    assert "tradition " in text
    assert "A usual figure" in text
    assert "This run takes long. Cheaper: " in text
    assert "max_tokens" in text


def test_the_sample_is_small_enough_for_a_minute():
    config = sample_config()
    assert estimate_seconds(config, RunSizes(3000, 600, 600)) < 60
    assert steps_of(config)[0] == "data"


@pytest.mark.parametrize("step", ["tradition", "transfer", "supervised", "self-training"])
def test_the_progress_of_a_step_follows_its_passes(done, runs, step):
    halfway = dataclasses.replace(RunStore(runs).get(done.id), phase=step, done=5, total=10)
    assert within_step(halfway, (), step) == 0.5
    assert within_step(dataclasses.replace(halfway, total=0), (), step) == 0
    assert within_step(halfway, (), "forest") == 0


def test_the_progress_of_a_finished_run_is_complete(done, runs):
    store = RunStore(runs)
    progress = run_progress(store.get(done.id), store.events(done.id))
    assert progress.share == 1.0
    assert progress.left == 0.0


def test_muting_a_rule_changes_the_ranking_at_once(screen, done):
    app = screen("rules", run=done.id, one="5")
    control = next(c for c in app.get("button_group") if "This rule has" in c.label)
    app = checked(control.set_value("muted").run())
    text = words(app)
    assert "Decided by people: 1 muted" in text
    assert "changes;" in text
    app = checked(next(b for b in app.button if b.label == "Clear").click().run())
    assert "Decided by people: 1 muted" not in words(app)


def test_exports_hold_verdicts_and_escape_formulas(screen, done, runs):
    pair = query_pairs(RunFolder(done.folder), PairQuery()).rows["pair_id"][0]
    VerdictLog(RunStore(runs)).add(done.id, pair, "match", note="=HYPERLINK(1)", who="<b>eve</b>")
    app = screen("audit", run=done.id, part="Verdicts")
    assert [metric.value for metric in app.metric][:2] == ["1", "1 · 0 · 0"]
    frame = pd.DataFrame({"pair_id": [pair], "note": ["=HYPERLINK(1)"], "left_title": ["<script>"]})
    assert b"'=HYPERLINK" in as_csv(frame)
    assert pd.read_parquet(io.BytesIO(as_parquet(frame)))["note"][0] == "=HYPERLINK(1)"


def test_more_than_ten_thousand_verdicts_are_counted_and_exported(screen, runs):
    record = write_run(runs, 10_300, 1, methods=("risk",))
    log = VerdictLog(RunStore(runs))
    add_many(log, record.id, [(f"a{row}:b{row}", "match" if row < 10_200 else "unsure") for row in range(10_300)])
    assert log.problems(record.id) == []
    app = screen("audit", run=record.id, part="Verdicts")
    assert [metric.value for metric in app.metric][:2] == ["10,300", "10,200 · 0 · 100"]
    view = View(record, RunFolder(record.folder), "risk", 0)
    frame = export_rows(view, judged_rows(view, log.current(record.id)))
    assert set(frame["pair_id"]) == {f"a{row}:b{row}" for row in range(10_300)}
    assert pd.read_csv(io.BytesIO(as_csv(frame)))["verdict"].value_counts().to_dict() == {
        "match": 10_200,
        "unsure": 100,
    }


def add_many(log: VerdictLog, run: str, said: list[tuple[str, str]]) -> None:
    """The entries that as many calls of `add` would write, in one transaction."""
    rows, before = [], ""
    for number, (pair, verdict) in enumerate(said, start=1):
        facts = {"run": run, "number": number, "pair_id": pair, "verdict": verdict, "note": "", "who": "ann", "at": 1e9}
        before = entry_digest(before, facts)
        rows.append({**facts, "digest": before})
    with log.store.database.write() as tx:
        tx.execute(sa.insert(verdicts), rows)


def test_the_report_shows_record_text_as_text(done):
    view = View(done, RunFolder(done.folder), "risk", 0)
    frame = pd.DataFrame({"left_title": ["<script>alert(1)</script>"]})
    report = as_html(view, frame, AuditProgress(1, 2, 1, 0, 0, 0))
    assert b"<script>alert" not in report
    assert b"&lt;script&gt;" in report


def test_the_report_states_the_head_of_the_log(done, runs):
    view = View(done, RunFolder(done.folder), "risk", 0)
    last = VerdictLog(RunStore(runs)).add(done.id, "a1:b1", "match", who="ann")
    report = as_html(view, pd.DataFrame({"pair": ["a1:b1"]}), AuditProgress(1, 2, 1, 0, 0, 0))
    assert f"1 entry, head {last.digest}".encode() in report


def test_a_tampered_log_is_noticed(screen, done, runs):
    import sqlite3

    store = RunStore(runs)
    VerdictLog(store).add(done.id, "a1:b1", "match", who="ann")
    with sqlite3.connect(runs / "riskcore.sqlite") as database:
        database.execute("UPDATE verdicts SET verdict = 'non-match'")
    assert "not as it was recorded" in words(screen("audit", run=done.id, part="Log"))


def test_a_run_without_validation_labels_does_not_claim_any(screen, done):
    """It was captioned "Labels used: validation"."""
    rows = json.loads((done.folder / "summary.json").read_text())
    rows = [{**row, "validation_f1": None, "labels_used": ["source"]} for row in rows]
    write_json(done.folder / "summary.json", rows)
    results = json.loads((done.folder / "results.json").read_text())
    why = "There are no validation labels of both classes."
    results["methods"]["risk"] |= {"best_iteration": 0, "labels_used": ["source"], "lacked": [why]}
    write_json(done.folder / "results.json", results)
    (done.folder / "comparison.json").unlink()
    live = words(screen("fine_tuning", run=done.id))
    assert why in live
    assert "kept (iteration 0); " in live
    assert "in the last iteration (2), which is not kept. Labels used: target, for scoring only." in live
    assert "Labels used: source." in live
    assert "Labels used: validation" not in live
    assert f"risk: {why}" in words(screen("compare", run=done.id))
    pairs = screen("pairs", run=done.id)
    shown = {box.label: box.value for box in pairs.sidebar.selectbox}
    assert shown["Iteration"] == 0


def test_compare_says_which_labels_each_number_used(screen, done):
    app = screen("compare", run=done.id)
    assert "Labels used: target, for scoring only." in words(app)
    table = app.dataframe[0].value
    assert list(table["method"]) == ["tradition", "risk", "forest"]
    told = json.loads((done.folder / "results.json").read_text())["methods"]
    assert table["F1"][1] == pytest.approx(100 * told["risk"]["f1"])


def test_compare_shows_f1_without_pairs_that_have_the_content_of_a_labelled_pair(screen, done):
    assert "same content" not in words(screen("compare", run=done.id))  # an older run, or one without any
    results = json.loads((done.folder / "results.json").read_text())
    for row in results["methods"].values():
        row |= {"twins": 297, "f1_without_twins": 0.875}
    write_json(done.folder / "results.json", results)
    text = words(screen("compare", run=done.id))
    assert "297 target pairs with the same content as a labelled source or validation pair." in text
    assert "F1 without: tradition 87.5 %, risk 87.5 %" in text


def test_compare_shows_how_well_probabilities_are_calibrated(screen, done):
    text = words(screen("compare", run=done.id))
    assert "Calibration" in text
    assert "(expected calibration error)" in text
    one = json.loads((done.folder / "comparison.json").read_text())["reliability"]["risk"]
    assert f"**{100 * one['ece']:.1f} %**" in text
    assert sum(part["pairs"] for part in one["bins"]) == one["pairs"] == 120
    assert all(part["low"] <= part["observed"] <= part["high"] for part in one["bins"])


def test_compare_leaves_calibration_out_without_labels(screen, runs):
    record = write_run(runs, 60, 3, truth=False)
    assert "Calibration" not in words(screen("compare", run=record.id))


def test_compare_shows_a_run_whose_comparison_is_older(screen, done):
    """Comparisons of earlier versions have no reliability; the rest is shown."""
    file = RunFolder(done.folder).comparison_file
    older = json.loads(file.read_text())
    del older["reliability"]
    write_json(file, older)
    text = words(screen("compare", run=done.id))
    assert "Calibration" in text
    assert "Fixed and broken labels" in text


def test_a_method_that_is_new_here_shows_up_by_its_name(screen, runs):
    """Screens list what a run's files hold: a further method needs no change of theirs."""
    record = write_run(runs, 60, 3, more_methods=("from-tomorrow", "self-training"))
    app = screen("compare", run=record.id)
    assert list(app.dataframe[0].value["method"])[-2:] == ["from-tomorrow", "self-training"]
    control = next(c for c in app.get("button_group") if "Compared with" in c.label)
    app = checked(control.set_value("from-tomorrow").run())
    assert "exact McNemar test" in words(app)
    assert step_words("from-tomorrow") == "Run from-tomorrow"


def test_compare_shows_an_older_run_without_its_comparison(screen, done):
    first = words(screen("compare", run=done.id))
    RunFolder(done.folder).comparison_file.unlink()
    assert words(screen("compare", run=done.id)) == first


def test_several_runs_show_mean_and_spread(screen, done, runs):
    write_run(runs, 60, 3, name="another", seed=1)
    text = words(screen("compare", run=done.id))
    assert "Several runs" in text
    assert "Mean and standard deviation: tradition" in text


def test_a_row_leads_to_its_pair_or_rule(screen, done):
    app = screen("compare", run=done.id)
    app.session_state["go to"] = ("rules", {"run": done.id, "one": "5"})
    app = checked(app.run())
    assert "Source purity" in words(app)
    app.session_state["go to"] = ("pairs", {"run": done.id, "pair": "a7:b7"})
    assert "The evidence says" in words(checked(app.run()))


def test_the_row_that_was_chosen_is_followed(monkeypatch):
    state = {"table": SimpleNamespace(selection=SimpleNamespace(rows=[], cells=[(1, "pair")]))}
    monkeypatch.setattr(tables.st, "session_state", state)
    tables.remember_link("table", [("pairs", {"pair": "a"}), ("pairs", {"pair": "b"})])
    assert state["go to"] == ("pairs", {"pair": "b"})
