"""A run without validation labels: it keeps and exports iteration 0, and every screen says that flips are proposals."""

from __future__ import annotations

import dataclasses
import shutil

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from pages.parts.pairs.reasons import flip_marks
from pages.parts.runs.proposals import JUDGE_FIRST
from pages.parts.runs.run_picker import View
from pages.parts.runs.run_view import course_words, flip_words
from riskcore.audit import decisions, export_result
from riskcore.config import AdaptConfig, MatcherConfig, RiskConfig, RunConfig, TuneConfig
from riskcore.runs import PairQuery, RunFolder, RunState, RunStore, query_pairs
from riskcore.runs.formats import read_scores
from riskcore.runs.readers.proposals import lacks_validation, proposals
from riskcore.runs.worker.execute import execute
from riskcore.storage.files import read_json, write_json
from tests.pages.conftest import words
from tests.pages.synthetic_run import write_run
from tests.pages.test_recorded_run import small_sample
from tests.runs.conftest import small_data

SCREENS_WITH_RUNS = ("overview", "fine_tuning", "pairs", "rules", "compare", "results")
METHODS = ("tradition", "risk", "risk+")


@pytest.fixture(scope="module")
def recorded_once(tmp_path_factory):
    """A small run of the engine itself, which was given no validation labels."""
    root = tmp_path_factory.mktemp("unlabelled")
    config = RunConfig(
        source=str(small_data(root / "a")),
        target=str(small_data(root / "b", words="shifted ")),
        matcher=MatcherConfig(kind="toy"),
        tune=TuneConfig(epochs=2),
        risk=RiskConfig(steps=5),
        adapt=AdaptConfig(iterations=2, rate=0.5),
        methods=METHODS,
        validation_size=0,
    )
    store = RunStore(root / "runs")
    record = store.create(config, "no labels")
    execute(store, record.id)
    return store.get(record.id)


@pytest.fixture
def unlabelled(recorded_once, monkeypatch):
    monkeypatch.setenv("RISKCORE_RUNS", str(recorded_once.folder.parent))
    return recorded_once


def without_validation(record) -> None:
    """Take the validation labels out of a synthetic run: iteration 0 is kept."""
    folder = RunFolder(record.folder)
    rows = read_json(folder.summary_file)
    write_json(folder.summary_file, [{**row, "validation_f1": None, "labels_used": ["source"]} for row in rows])
    results = read_json(folder.results_file)
    for name, row in results["methods"].items():
        row["labels_used"] = ["source"]
        if name.startswith("risk"):
            row["best_iteration"] = 0
    write_json(folder.results_file, results)


@pytest.fixture
def proposing(runs):
    """A synthetic run whose last iteration flips labels, without validation labels."""
    record = write_run(runs, 80, 3)
    without_validation(record)
    return record


def test_what_is_exported_is_iteration_0(unlabelled, tmp_path):
    folder = RunFolder(unlabelled.folder)
    start = pq.read_table(folder.final_file).to_pandas().set_index("pair_id")["tradition"]
    first = read_scores(folder.scores_file("risk", 0), ("label",))["label"]
    assert list(first) == list((start >= 0.5).astype(int))
    for method in (None, *METHODS):
        file = export_result(folder, tmp_path / f"{method}.parquet", method=method).files["pairs"]
        rows = pd.read_parquet(file)
        target = rows[rows["part"] == "target"]
        expected = np.where(start.loc[target["pair_id"]] >= 0.5, "match", "non-match")
        assert list(target["decision"]) == list(expected)
        assert not rows["flipped"].astype("boolean").fillna(False).any()
        assert set(rows["iteration"].dropna()) <= {0}
        assert set(rows["decided_by"]) == {"model"}


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("bibliography_clean", "bibliography_scraped"),
        ("bibliography_scraped", "bibliography_clean"),
        ("products", None),
    ],
)
def test_every_bundled_workload_exports_iteration_0(tmp_path, source, target):
    config = RunConfig(
        source=small_sample(source, tmp_path / "source"),
        target=None if target is None else small_sample(target, tmp_path / "target"),
        matcher=MatcherConfig(kind="toy"),
        tune=TuneConfig(epochs=1),
        risk=RiskConfig(steps=5),
        adapt=AdaptConfig(iterations=2, rate=0.5),
        methods=("tradition", "risk"),
        validation_size=0,
    )
    store = RunStore(tmp_path / "runs")
    record = store.create(config, "bundled")
    execute(store, record.id)
    folder = RunFolder(record.folder)
    found = decisions(folder, values=False, reasons=False)
    start = decisions(folder, "tradition", values=False, reasons=False)
    assert list(found["decision"]) == list(start["decision"])
    assert list(found["probability"]) == list(start["probability"])
    assert set(found["iteration"]) == {0}
    last = read_scores(folder.scores_file("risk", 2), ("probability",))["probability"]
    assert not np.allclose(last, found["probability"][: len(last)])  # there was something to choose


def test_later_iterations_are_proposals_only(unlabelled):
    folder = RunFolder(unlabelled.folder)
    assert lacks_validation(folder)
    found = {one.method: one for one in proposals(folder)}
    assert set(found) == {"risk"}  # risk+ has no iteration beyond the matcher itself
    last = read_scores(folder.scores_file("risk", 2), ("label",))["label"]
    first = read_scores(folder.scores_file("risk", 0), ("label",))["label"]
    assert found["risk"] == dataclasses.replace(found["risk"], iteration=2, flips=int((last != first).sum()), kept=0)


@pytest.mark.parametrize("name", SCREENS_WITH_RUNS)
def test_every_screen_warns_and_leads_to_labels(screen, unlabelled, name):
    app = screen(name, run=unlabelled.id)
    banners = [one.value for one in app.error]
    assert len(banners) == 1
    assert "proposals" in banners[0]
    assert "iteration 0" in banners[0].lower()
    links = [one.proto for one in app.get("page_link") if JUDGE_FIRST in one.proto.label]
    assert len(links) == 1
    assert links[0].page == "audit"
    assert links[0].query_string == f"run={unlabelled.id}&draw=50"
    assert "Labels used: validation" not in words(app)
    assert "source and validation" not in words(app).lower()


@pytest.mark.parametrize("name", SCREENS_WITH_RUNS)
def test_no_screen_warns_of_a_run_with_labels(screen, done, name):
    app = screen(name, run=done.id)
    assert [one.value for one in app.error] == []
    assert JUDGE_FIRST not in "".join(one.proto.label for one in app.get("page_link"))


def test_a_proposed_flip_is_not_called_flipped(screen, proposing):
    app = screen("pairs", run=proposing.id, iteration="2", flip="⇄ flipped")
    folder = RunFolder(proposing.folder)
    rows = query_pairs(folder, PairQuery(iteration=2, flipped=True)).rows
    view = View(proposing, folder, "risk", 2)
    assert {mark.partition(" at")[0] for mark in flip_marks(view, rows, proposed=True)} == {"⇄ proposed"}
    pair = rows["pair_id"].iloc[0]
    card = words(screen("pairs", run=proposing.id, iteration="2", pair=pair))
    assert "is proposed, not applied" in card
    assert "⇄ flipped from" not in card
    side = [one.value for one in app.sidebar.caption]
    assert any("iteration 0 is kept and exported" in one for one in side)


def test_rules_name_the_labels_they_were_measured_with(screen, unlabelled):
    assert "Labels used: source, target (for scoring only)." in words(screen("rules", run=unlabelled.id))


def test_the_banner_counts_the_flips(screen, proposing):
    (flips,) = {one.flips for one in proposals(RunFolder(proposing.folder)) if one.method == "risk"}
    assert flips > 0
    app = screen("fine_tuning", run=proposing.id)
    assert f"risk proposes {flips} flips in iteration 2" in app.error[0].value
    assert "Flips proposed" in words(app)
    assert "No flip is applied." in words(app)


def test_a_run_of_an_older_version_that_kept_another_says_so(screen, proposing):
    folder = RunFolder(proposing.folder)
    results = read_json(folder.results_file)
    results["methods"]["risk"]["best_iteration"] = 1
    write_json(folder.results_file, results)
    app = screen("results", run=proposing.id)
    assert "older version of Riskcore kept iteration 1" in app.error[0].value


def test_a_run_that_could_adapt_nothing_says_so(screen, runs):
    """Such as the scores of another matcher, which are ranked as they are."""
    record = write_run(runs, 60, 1, methods=("risk",))
    without_validation(record)
    app = screen("pairs", run=record.id)
    assert [one.value for one in app.error] == []
    assert app.warning[0].value.startswith("**Nothing was adapted.**")
    assert any(JUDGE_FIRST in one.proto.label for one in app.get("page_link"))
    live = screen("fine_tuning", run=record.id)
    assert "There is one iteration, the matcher as it is: it is kept" in words(live)
    assert "proposal" not in words(live).lower()
    assert "F1 on the target" in {one.label for one in live.metric}
    assert [one.value for one in screen("overview").error] == []


def test_a_run_at_work_says_what_will_be_kept(screen, runs):
    record = write_run(runs, 60, 2, state=RunState.RUNNING)
    without_validation(record)
    RunFolder(record.folder).results_file.unlink()
    assert "iteration 0, the matcher before fine-tuning, will be kept" in screen("pairs", run=record.id).error[0].value


def test_labels_of_one_class_are_not_enough(unlabelled, tmp_path, monkeypatch):
    """Non-matches alone would choose the matcher that says match least."""
    target = small_data(tmp_path / "b", words="shifted ")
    valid = pd.read_csv(target / "valid.csv", dtype=str)
    valid[valid["label"] == "0"].to_csv(target / "valid.csv", index=False)
    config = dataclasses.replace(
        unlabelled.config, source=str(small_data(tmp_path / "a")), target=str(target), validation_size=None
    )
    store = RunStore(tmp_path / "runs")
    record = store.create(dataclasses.replace(config, methods=("tradition", "risk")), "one class")
    execute(store, record.id)
    folder = RunFolder(record.folder)
    assert lacks_validation(folder)
    assert folder.kept("risk") == 0
    model = decisions(folder, values=False)
    assert not model["flipped"].astype("boolean").fillna(False).any()
    shutil.rmtree(record.folder)


def test_now_and_kept_are_told_apart():
    values, at = pd.Series([0.5, 0.75, 0.25]), pd.Series([0, 1, 2])
    say = "{:.2f}".format
    assert course_words(values, at, None, say) == "0.50 at iteration 0, 0.25 now (iteration 2)."
    assert course_words(values, at, 2, say) == "0.50 at iteration 0, 0.25 kept (iteration 2, the last)."
    assert course_words(values, at, 1, say) == (
        "0.50 at iteration 0, 0.75 kept (iteration 1); 0.25 in the last iteration (2), which is not kept."
    )
    assert course_words(values, at, 0, say).startswith("0.50 kept (iteration 0); 0.25 in the last iteration (2)")
    assert course_words(values[:1], at[:1], 0, say) == "0.50 kept."


def test_flips_are_those_of_the_kept_iteration():
    history = pd.DataFrame({"iteration": [0, 1, 2], "flips": [0, 4, 3], "fixed": [0, 3, 5], "broken": [0, 1, 2]})
    assert flip_words(history, 1, False) == "Since iteration 0, in the kept iteration (1): 3 fixed, 1 broken."
    assert flip_words(history, None, False) == "Since iteration 0, now: 5 fixed, 2 broken."
    assert flip_words(history, 0, True).endswith("No flip is applied.")
    assert flip_words(history[:1], None, True) == "No label has flipped: this is iteration 0."
    unknown = history.assign(fixed=np.nan, broken=np.nan)
    assert flip_words(unknown, 1, False).startswith("4 flips in total, in the kept iteration (1).")
