"""Every screen on what the recorder really writes: a small run of the engine itself, with the toy matcher.

The other tests of the screens use a synthetic run, which is quick but could differ from what a worker leaves.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from pages.parts.frame.navigation import SCREENS
from riskcore.audit import VerdictLog
from riskcore.audit.continuing import continuing_config, create_continued
from riskcore.config import AdaptConfig, MatcherConfig, RiskConfig, RunConfig, TuneConfig
from riskcore.runs import PairQuery, RunFolder, RunRecord, RunState, RunStore, query_pairs
from riskcore.runs.feedback_files import decide_rule
from riskcore.runs.worker.execute import execute
from riskcore.storage.files import write_json
from tests.data.folders import PAIRS, small_sample
from tests.pages.conftest import checked, words
from tests.pages.synthetic_run import write_run

METHODS = ("tradition", "risk", "risk+", "supervised", "forest")


def record_run(root: Path, labelled: bool) -> RunRecord:
    """A finished run, worked on in this process as a worker would."""
    config = RunConfig(
        source=small_sample("bibliography_clean", root / "source"),
        target=small_sample("bibliography_scraped", root / "target", labelled),
        matcher=MatcherConfig(kind="toy"),
        tune=TuneConfig(epochs=2),
        risk=RiskConfig(steps=20),
        adapt=AdaptConfig(iterations=2),
        methods=METHODS,
    )
    store = RunStore(root / "runs")
    record = store.create(config, "recorded")
    execute(store, record.id)
    return store.get(record.id)


@pytest.fixture(scope="module")
def recorded_once(tmp_path_factory):
    """With and without labels of the target; made once."""
    roots = {labelled: tmp_path_factory.mktemp("recorded") for labelled in (True, False)}
    return {labelled: (root, record_run(root, labelled)) for labelled, root in roots.items()}


@pytest.fixture(params=[True, False], ids=["labels", "no labels"])
def recorded(request, recorded_once, monkeypatch) -> RunRecord:
    root, record = recorded_once[request.param]
    monkeypatch.setenv("RISKCORE_RUNS", str(root / "runs"))
    return record


@pytest.fixture
def own(recorded_once, runs, monkeypatch) -> RunRecord:
    """A copy of the run with labels, for tests that leave something behind."""
    root, record = recorded_once[True]
    shutil.copytree(root / "runs", runs)
    monkeypatch.setenv("RISKCORE_RUNS", str(runs))
    return RunStore(runs).get(record.id)


SAID = {
    "overview": "recorded",
    "data_sets": "Every row was read",
    "fine_tuning": "running time",
    "pairs": f"**{PAIRS} pairs**",
    "rules": " rules** of ",
    "compare": "labels",
    "audit": "Label some pairs",
    "results": "Pairs and entities",
    "scored": "scored",
    "help": "Two records that may or may not refer",
}


@pytest.mark.parametrize("name", SCREENS)
def test_a_screen_shows_a_recorded_run(screen, recorded, name):
    text = words(screen(name, run=recorded.id))
    assert "Something unexpected" not in text
    assert "This did not work" not in text
    assert SAID[name] in text


@pytest.mark.parametrize("method", ["risk", "risk+"])
def test_a_card_explains_a_recorded_pair(screen, recorded, method):
    folder = RunFolder(recorded.folder)
    pair = query_pairs(folder, PairQuery(method=method)).rows["pair_id"][0]
    app = screen("pairs", run=recorded.id, method=method, pair=pair)
    app.session_state["all numbers"] = True
    app.session_state["lower the risk"] = True
    text = words(checked(app.run()))
    assert "The evidence says" in text
    assert "Together" in text
    assert f"Rules and {'combined model' if method == 'risk+' else 'matcher'} alone" in text
    assert "With the opposite label, the value at risk would be" in text
    assert "Something unexpected" not in text


def test_a_recorded_rule_is_shown_and_muted(screen, own):
    app = screen("rules", run=own.id, one="0")
    control = next(c for c in app.get("button_group") if "This rule has" in c.label)
    text = words(checked(control.set_value("muted").run()))
    assert "Source purity" in text
    assert "Decided by people: 1 muted" in text


def test_compare_scores_a_recorded_run(screen, recorded):
    app = screen("compare", run=recorded.id)
    table = app.dataframe[0].value
    assert list(table["method"]) == list(METHODS)
    labelled = RunFolder(recorded.folder).has_truth
    assert ("F1" in table) == labelled
    assert ("(expected calibration error)" in words(app)) == labelled


def test_verdicts_on_a_recorded_run_are_listed(screen, recorded):
    pair = query_pairs(RunFolder(recorded.folder), PairQuery()).rows["pair_id"][0]
    log = VerdictLog(RunStore(recorded.folder.parent))
    log.add(recorded.id, pair, "match", who="ann")
    app = screen("audit", run=recorded.id, part="Verdicts")
    assert app.metric[0].value == "1"
    log.undo(recorded.id, pair, who="ann")


def test_the_synthetic_run_has_the_files_of_a_recorded_one(recorded_once, tmp_path):
    """Otherwise the tests of the screens would be about files that no worker writes."""
    _, recorded = recorded_once[True]
    synthetic = write_run(tmp_path / "synthetic", 40, 3)
    assert recorded.state is synthetic.state is RunState.DONE
    left, right = ({file.name for file in record.folder.iterdir()} for record in (synthetic, recorded))
    assert left <= right, left - right
    for name in ("summary", "results", "comparison", "run"):
        left, right = (_keys(getattr(RunFolder(record.folder), f"{name}_file")) for record in (synthetic, recorded))
        assert left <= right, f"{name}: {left - right}"
    assert _keys(RunFolder(synthetic.folder).summary_file) == _keys(RunFolder(recorded.folder).summary_file)


def _keys(file: Path) -> set[str]:
    """The names at the top of a document, or in its rows."""
    found = json.loads(file.read_text(encoding="utf-8"))
    return set(found[0] if isinstance(found, list) else found)


def press(app, label: str):
    return checked(next(button for button in app.button if button.label == label).click().run())


def test_verdicts_rank_the_queue_again_and_back(screen, own, runs):
    log = VerdictLog(RunStore(runs))
    rows = query_pairs(RunFolder(own.folder), PairQuery(method="risk+", label=0, page_size=12)).rows
    assert "Rank again" not in words(screen("pairs", run=own.id, method="risk+"))
    for pair in rows["pair_id"]:
        log.add(own.id, pair, "match", who="Ann")
    app = press(screen("pairs", run=own.id, method="risk+"), "Rank again with these verdicts")
    assert "Ranked again with 12 verdicts** (12 labels overruled)" in words(app)
    app = screen("pairs", run=own.id, method="risk+", pair=rows["pair_id"][0])  # another session, and the card
    assert "Ranked again with 12 verdicts." in words(app)
    app = press(screen("pairs", run=own.id, method="risk+"), "Use the run’s ranking")
    assert "Ranked again" not in words(app)


def test_the_queue_tells_of_muted_rules_until_they_are_cleared(screen, own):
    folder = RunFolder(own.folder)
    decide_rule(folder, folder.rules().rules[0].key, "muted", "Ann")
    app = screen("pairs", run=own.id, method="risk+")
    assert "1 rule muted:** " in words(app)
    assert "1 rule muted" not in words(press(app, "Clear"))


def test_a_run_that_continues_another_says_so_and_what_it_changed(screen, own, runs):
    store, folder = RunStore(runs), RunFolder(own.folder)
    text = words(screen("fine_tuning", run=own.id))
    assert f"Continue from iteration {folder.kept('risk+')}" in text
    assert "There are no verdicts yet" in text
    record = create_continued(store, continuing_config(folder, "risk", 1))
    execute(store, record.id)
    for name in ("overview", "fine_tuning"):
        assert "continues recorded" in words(screen(name, run=record.id))
    assert "iteration 1 of risk: " in words(screen("compare", run=record.id))
    assert "Since recorded" not in words(screen("compare", run=own.id))


def test_a_run_on_a_sample_says_so(screen, own):
    folder = RunFolder(own.folder)
    assert "on a sample of" not in words(screen("fine_tuning", run=own.id))
    write_json(folder.run_file, {**folder.run(), "sample": {"pairs": 1_000_000, "drawn": 10_000}})
    for name in ("overview", "fine_tuning"):
        assert "on a sample of 10,000 of 1,000,000 target pairs" in words(screen(name, run=own.id))
