"""Label & audit: draw pairs, judge them blind, undo, and start the run that learns from them."""

from __future__ import annotations

import io

import pandas as pd
import pytest

from pages.parts.audit.work_list_files import file_bytes
from pages.parts.runs import run_start
from riskcore.audit import VerdictLog
from riskcore.audit.draws import draw_pairs, drawn_pairs, draws_of
from riskcore.audit.labels import draft_config
from riskcore.runs import RunFolder, RunStore
from riskcore.runs.guideline import read_guideline, write_guideline
from riskcore.runs.worker.execute import execute
from tests.pages.conftest import checked, words
from tests.pages.synthetic_run import write_run
from tests.runs.conftest import small_config, small_data
from tests.runs.fake_engine import fake_engine

MODEL_WORDS = ("risk 0", "probability", "labelled match", "labelled non-match", "Reasons", "benchmark")


def is_match(pair):
    left, right = pair.split(":")
    return "match" if left[1:] == right[1:] else "non-match"


@pytest.fixture
def draft(runs, places):
    """A finished draft on 48 target pairs."""
    config = draft_config(small_config(small_data(places / "a"), target=str(small_data(places / "b", words="other "))))
    store = RunStore(runs)
    record = store.create(config, "shops")
    execute(store, record.id, engine=fake_engine)
    return store.get(record.id)


@pytest.fixture
def log(runs):
    return VerdictLog(RunStore(runs))


def press(app, label):
    return checked(next(button for button in app.button if button.label == label).click().run())


def labels_of(app):
    return [button.label for button in app.button]


def judge(log, record, pairs):
    for pair in pairs:
        log.add(record.id, pair, is_match(pair), who="analyst")


def drawn_of(record):
    return drawn_pairs(RunFolder(record.folder))["pair_id"].tolist()


def test_pairs_are_drawn_and_judged_with_the_buttons(screen, draft, log):
    app = screen("audit", run=draft.id, draw="12")
    assert not draws_of(RunFolder(draft.folder))
    app = press(app, "Draw 12 pairs")
    first, second, *_ = drawn = drawn_of(draft)
    assert len(drawn) == 12
    assert "draw" not in app.query_params
    assert "0 of 12" in " ".join(str(element.proto.text) for element in app.get("progress"))
    app = press(press(app, "= Match"), "≠ Non-match")
    assert [(one.pair_id, one.verdict) for one in log.entries(draft.id)] == [(first, "match"), (second, "non-match")]
    assert [metric.value for metric in app.metric] == ["1", "1", "0"]
    assert "2 of 12" in " ".join(str(element.proto.text) for element in app.get("progress"))
    assert "more would be better" in words(app)


def test_nothing_that_a_model_says_is_shown(screen, draft):
    draw_pairs(RunFolder(draft.folder), 5)
    text = words(screen("audit", run=draft.id))
    assert "Left record" in text
    assert not [word for word in MODEL_WORDS if word in text]


def test_undo_returns_to_the_pair(screen, draft, log):
    draw_pairs(RunFolder(draft.folder), 5)
    first, *_ = drawn_of(draft)
    app = press(screen("audit", run=draft.id), "? Unsure")
    app = press(app, "Undo")
    assert log.current(draft.id) == {}
    assert app.query_params["pair"] == first
    press(app, "≠ Non-match")
    assert {pair: one.verdict for pair, one in log.current(draft.id).items()} == {first: "non-match"}


def test_labels_of_both_kinds_start_the_next_run(screen, draft, log, runs, monkeypatch):
    started = []
    monkeypatch.setattr(run_start, "start", lambda store, run: started.append(run))
    folder = RunFolder(draft.folder)
    write_guideline(folder, "The same shop.", "ann")
    draw_pairs(folder, 48)
    drawn = drawn_of(draft)
    judge(log, draft, [pair for pair in drawn if is_match(pair) == "match"])
    assert "Adapt with these labels" not in labels_of(screen("audit", run=draft.id))
    judge(log, draft, [pair for pair in drawn if is_match(pair) == "non-match"])
    app = screen("audit", run=draft.id)
    assert "All 48 drawn pairs are judged." in words(app)
    assert next(one for one in app.expander if one.label == "Draw more pairs").proto.expanded
    next(button for button in app.button if button.label == "Adapt with these labels").click().run()
    (new,) = started
    record = RunStore(runs).get(new)
    assert record.name == "shops, 48 labels"
    assert (record.config.source, record.config.target) == (draft.config.source, draft.config.target)
    assert record.config.adapt.iterations > 0
    assert "risk+" in record.config.methods
    labels = pd.read_parquet(record.config.labels)
    expected = {pair: int(is_match(pair) == "match") for pair in drawn}
    assert dict(zip(labels["pair_id"], labels["label"], strict=True)) == expected
    assert read_guideline(RunFolder(record.folder)).text == "The same shop."


def test_more_pairs_are_drawn_after_the_first(screen, draft):
    draw_pairs(RunFolder(draft.folder), 10)
    app = screen("audit", run=draft.id)
    assert not next(one for one in app.expander if one.label == "Draw more pairs").proto.expanded
    app = press(app, "Draw 38 pairs")  # of 50, as only these are left
    assert len(set(drawn_of(draft))) == 48
    assert "All pairs of the target are drawn." in words(app)


def test_the_other_tabs_have_the_verdicts(screen, draft, log):
    draw_pairs(RunFolder(draft.folder), 5)
    judge(log, draft, drawn_of(draft)[:2])
    assert screen("audit", run=draft.id, part="Verdicts").metric[0].value == "2"
    assert "2 entries" in words(screen("audit", run=draft.id, part="Log"))
    assert "There are no verdicts yet" in words(screen("audit", run=write_run(draft.folder.parent).id, part="Verdicts"))


@pytest.mark.parametrize("asked", ["", "0", "-5", "many", "1e3", "٣", "9" * 30])
def test_a_bad_number_in_the_address_is_ignored(screen, runs, asked):
    record = write_run(runs, 120, 1)
    assert "Draw 100 pairs" in labels_of(screen("audit", run=record.id, draw=asked))


def test_a_filled_in_work_list_is_imported(screen, draft, log):
    folder = RunFolder(draft.folder)
    draw_pairs(folder, 6)
    rows = pd.read_csv(io.BytesIO(file_bytes(folder, "csv", "analyst")))
    rows["verdict"] = [is_match(pair)[0] for pair in rows["pair_id"]]
    app = screen("audit", run=draft.id)
    app = upload(app, "list.csv", rows)
    assert "6 verdicts recorded." in words(app)
    assert {pair: one.verdict for pair, one in log.current(draft.id).items()} == {
        pair: is_match(pair) for pair in drawn_of(draft)
    }
    assert "recorded before" in words(upload(app, "list.csv", rows))


def test_a_bad_row_of_a_work_list_is_named_and_nothing_recorded(screen, draft, log):
    folder = RunFolder(draft.folder)
    draw_pairs(folder, 3)
    rows = pd.read_csv(io.BytesIO(file_bytes(folder, "csv", "analyst"))).assign(verdict=["m", "perhaps", "n"])
    app = upload(screen("audit", run=draft.id), "mine.csv", rows)
    assert "mine.csv, row 3, column 'verdict'" in words(app)
    assert log.entries(draft.id) == []


def upload(app, name, rows):
    app.file_uploader[0].set_value([(name, rows.to_csv(index=False).encode(), "text/csv")])
    return press(app, "Import the verdicts")


def test_the_guideline_is_written_and_shown_as_text(screen, draft):
    app = screen("audit", run=draft.id)
    assert "Nothing is written yet" in words(app)
    app = press(app, "Write the guideline")
    app.text_area[0].set_value("Same <script>model</script>.\nAnother colour is another product.")
    app = press(app, "Save")
    held = read_guideline(RunFolder(draft.folder))
    assert (held.text.splitlines()[1], held.who) == ("Another colour is another product.", "analyst")
    shown = "".join(str(element.proto.body) for element in app.get("html"))
    assert "Same &lt;script&gt;model" in shown
    app = press(app, "Edit")
    app.text_area[0].set_value("changed")
    press(app, "Cancel")
    assert read_guideline(RunFolder(draft.folder)).text == held.text


def test_a_run_at_work_says_when_pairs_can_be_drawn(screen, runs):
    from riskcore.runs import RunState

    record = write_run(runs, 40, 2, state=RunState.RUNNING)
    assert "once the run is done" in words(screen("audit", run=record.id))
