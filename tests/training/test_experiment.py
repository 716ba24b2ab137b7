"""Whole runs on the bundled sample: they help, they repeat, they resume, and they cannot see the target's labels."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import f1_score

from riskcore.config import AdaptConfig, MatcherConfig, RiskConfig, RunConfig, TuneConfig
from riskcore.data import DataSet, TargetTruth, Workload, build_workload, find_sample, open_data
from riskcore.data.pairs import LabelledPairs
from riskcore.errors import MatcherError
from riskcore.matchers.base import Matcher
from riskcore.matchers.neural import MAX_WORDS
from riskcore.training.evidence import Evidence
from riskcore.training.experiment import run_experiment
from riskcore.training.listeners import Listener
from riskcore.training.results import IterationScores, MethodResult
from riskcore.training.transfer import _mixed_batches
from tests.training.conftest import with_methods

Results = dict[str, MethodResult]


class Notes(Listener):
    """Keeps everything it is told."""

    def __init__(self) -> None:
        self.iterations: list[IterationScores] = []
        self.phases: list[str] = []
        self.methods: list[str] = []
        self.steps: list[tuple[str, int, int]] = []
        self.adapted: np.ndarray | None = None
        self.evidence: Evidence | None = None

    def on_evidence(self, evidence: Evidence) -> None:
        self.evidence = evidence

    def on_adapted(self, matcher: Matcher) -> None:
        assert self.evidence is not None
        self.adapted = matcher.predict_proba(self.evidence.target.examples)

    def on_progress(self, record: dict[str, Any]) -> None:
        self.steps.append((record["phase"], record["done"], record["total"]))

    def on_phase_end(self, record: dict[str, Any]) -> None:
        assert record["seconds"] >= 0
        self.phases.append(record["phase"])

    def on_iteration_end(self, scores: IterationScores) -> None:
        self.iterations.append(scores)

    def on_method_end(self, result: MethodResult) -> None:
        self.methods.append(result.method)


def same(one: Results, other: Results) -> None:
    assert one.keys() == other.keys()
    for method in one:
        np.testing.assert_array_equal(one[method].probability, other[method].probability, err_msg=method)
        assert (one[method].unseen is None) == (other[method].unseen is None)
        ours, theirs = one[method].risk, other[method].risk
        assert (ours is None) == (theirs is None)
        if ours is None or theirs is None:
            continue
        np.testing.assert_array_equal(ours.risk, theirs.risk, err_msg=method)
        assert (ours.ranked_by, ours.choice, ours.labels_used) == (theirs.ranked_by, theirs.choice, theirs.labels_used)


def test_a_whole_run(shifted: tuple[Workload, TargetTruth], quick: RunConfig) -> None:
    workload, truth = shifted
    notes = Notes()
    results = run_experiment(workload, quick, [notes], unseen=truth.unseen)
    assert list(results) == notes.methods == list(quick.methods)
    assert notes.phases == ["evidence", "tradition", "base learners", *notes.methods[1:]]
    for result in results.values():
        assert result.probability.shape == truth.labels.shape
        assert ((result.probability >= 0) & (result.probability <= 1)).all()
        assert result.unseen is not None
        assert len(result.unseen) == len(truth.unseen or ())
        assert result.labels_used == (("validation",) if result.method == "target forest" else ("source", "validation"))
        assert result.risk is not None
        assert result.risk.risk.shape == truth.labels.shape
    assert [(one.method, one.iteration) for one in notes.iterations] == [
        *(("risk", number) for number in range(4)),
        *(("risk+", number) for number in range(3)),
    ]
    np.testing.assert_array_equal(notes.iterations[0].scores.probability, results["tradition"].probability)
    assert [step for step in notes.steps if step[0] == "supervised"] == [("supervised", n, 3) for n in (1, 2, 3)]
    for one in notes.iterations:
        assert set(one.record) >= {"validation_f1", "flips", "match_rate", "mean_risk", "disagreement", "lacked"}


def test_adapting_helps_on_a_shifted_target() -> None:
    source = open_data(find_sample("bibliography_clean").path)
    target = open_data(find_sample("bibliography_scraped").path)
    workload, truth = build_workload(source, target)
    config = RunConfig(
        matcher=MatcherConfig(kind="toy"), tune=TuneConfig(epochs=10), risk=RiskConfig(steps=60),
        adapt=AdaptConfig(iterations=4, stacking_iterations=1, base_learner_trees=30),
    )  # fmt: skip
    results = run_experiment(workload, config)
    f1 = {method: f1_score(truth.labels, result.probability >= 0.5) for method, result in results.items()}
    assert f1["tradition"] < 0.7
    assert f1["risk"] > f1["tradition"] + 0.1
    assert f1["risk+"] > f1["risk"]
    assert f1["risk+"] > f1["forest"] - 0.01


def shuffled_test_labels(data: DataSet) -> DataSet:
    test = data.splits["test"]
    labels = np.random.default_rng(1).permutation(test.labels)
    assert (labels != test.labels).any()
    return dataclasses.replace(data, splits={**data.splits, "test": dataclasses.replace(test, labels=labels)})


def test_the_targets_labels_change_no_bit(quick: RunConfig) -> None:
    source = open_data(find_sample("bibliography_clean").path)
    target = open_data(find_sample("bibliography_scraped").path)
    options: dict[str, Any] = {"train_fraction": 0.2, "validation_size": 150}
    honest, _ = build_workload(source, target, **options)
    blind, _ = build_workload(source, shuffled_test_labels(target), **options)
    assert not isinstance(honest.target, LabelledPairs)
    same(run_experiment(honest, quick), run_experiment(blind, quick))


def test_same_seed_same_run(shifted: tuple[Workload, TargetTruth], quick: RunConfig) -> None:
    first, second = run_experiment(shifted[0], quick), run_experiment(shifted[0], quick)
    same(first, second)
    other = run_experiment(shifted[0], dataclasses.replace(quick, seed=1))
    assert (other["tradition"].probability != first["tradition"].probability).any()


class InterruptedRunError(Exception):
    """Stands for a kill."""


class StopAfter(Listener):
    """Breaks the run off at its n-th event."""

    def __init__(self, events: int) -> None:
        self.left = events

    def _count(self, _: Any) -> None:
        self.left -= 1
        if self.left < 0:
            raise InterruptedRunError

    on_epoch_end = on_iteration_end = on_method_end = on_phase_end = _count


def test_a_run_cut_off_anywhere_ends_the_same(
    shifted: tuple[Workload, TargetTruth], quick: RunConfig, tmp_path: Path
) -> None:
    workload, truth = shifted
    undisturbed = run_experiment(workload, quick, unseen=truth.unseen)
    for events in (1, 6, 9, 13):
        folder = tmp_path / str(events)
        with pytest.raises(InterruptedRunError):
            run_experiment(workload, quick, [StopAfter(events)], checkpoints=folder, unseen=truth.unseen)
        resumed = run_experiment(workload, quick, checkpoints=folder, unseen=truth.unseen)
        same(undisturbed, resumed)


def test_cut_off_again_and_again(shifted: tuple[Workload, TargetTruth], quick: RunConfig, tmp_path: Path) -> None:
    undisturbed = run_experiment(shifted[0], quick)
    for _ in range(6):
        try:
            same(undisturbed, run_experiment(shifted[0], quick, [StopAfter(4)], checkpoints=tmp_path))
        except InterruptedRunError:
            continue
    same(undisturbed, run_experiment(shifted[0], quick, checkpoints=tmp_path))


@pytest.mark.parametrize("size", [0, 3, 40])
def test_few_or_no_validation_pairs(quick: RunConfig, size: int) -> None:
    source = open_data(find_sample("bibliography_clean").path)
    target = open_data(find_sample("bibliography_scraped").path)
    workload, truth = build_workload(source, target, train_fraction=0.2, validation_size=size)
    results = run_experiment(workload, quick)
    for result in results.values():
        assert np.isfinite(result.probability).all()
        assert len(result.probability) == len(truth.labels)
    if not size:
        assert not results.pop("target forest").probability.any()  # without a label, no match
        assert all(result.labels_used == ("source",) for result in results.values())
        for method in ("risk", "risk+"):
            np.testing.assert_array_equal(results[method].probability, results["tradition"].probability)


@pytest.mark.parametrize("label", [0, 1])
def test_validation_pairs_of_one_class_choose_nothing(
    shifted: tuple[Workload, TargetTruth], quick: RunConfig, label: int
) -> None:
    """They would choose whatever says that class most: the last epoch and the starting matcher are kept."""
    workload = shifted[0]
    one_class = dataclasses.replace(workload, validation=workload.validation.take(workload.validation.labels == label))
    config = with_methods(quick, "risk", "risk+", "self-training", "supervised", "forest")
    notes = Notes()
    results = run_experiment(one_class, config, [notes])
    assert results["tradition"].record["best_epoch"] == quick.tune.epochs
    for method in ("risk", "risk+", "self-training"):
        np.testing.assert_array_equal(results[method].probability, results["tradition"].probability)
        assert results[method].record["best_iteration"] == 0
        assert "iteration 0, the matcher before adaptation, is kept" in results[method].record["lacked"][0]
    assert [len(results[method].record["rows"]) for method in ("risk", "self-training")] == [4, 4]  # to be seen
    np.testing.assert_array_equal(notes.adapted, results["tradition"].probability)
    used = {method: result.labels_used for method, result in results.items()}
    learned = dict.fromkeys(("supervised", "forest"), ("source", "validation"))  # from pairs of one class too
    assert used == dict.fromkeys(("tradition", "risk", "risk+", "self-training"), ("source",)) | learned
    assert all(one.record["labels_used"] == ["source"] for one in notes.iterations)
    assert {results[method].record["validation_f1"] for method in ("tradition", "risk", "self-training")} == {None}
    assert "both classes" in results["risk+"].record["lacked"][0]


def test_rules_may_be_worth_nothing_on_the_source(shifted: tuple[Workload, TargetTruth], quick: RunConfig) -> None:
    config = dataclasses.replace(quick, adapt=dataclasses.replace(quick.adapt, source_prior_pairs=0.0))
    assert np.isfinite(run_experiment(shifted[0], with_methods(config, "risk+"))["risk+"].probability).all()


def test_transfer_needs_a_neural_matcher(shifted: tuple[Workload, TargetTruth], quick: RunConfig) -> None:
    with pytest.raises(MatcherError, match="toy"):
        run_experiment(shifted[0], with_methods(quick, "transfer"))


def test_transfer_runs_and_repeats(shifted: tuple[Workload, TargetTruth], quick: RunConfig) -> None:
    config = dataclasses.replace(
        with_methods(quick, "transfer"), matcher=MatcherConfig(kind="sif", width=16, head=16), tune=TuneConfig(epochs=2)
    )
    notes = Notes()
    first, second = (run_experiment(shifted[0], config, [notes]) for _ in range(2))
    same(first, second)
    assert [step for step in notes.steps if step[0] == "transfer"] == 2 * [("transfer", 1, 2), ("transfer", 2, 2)]
    assert (first["transfer"].probability != first["tradition"].probability).any()


def test_transfer_mixes_both_sides_in_every_batch() -> None:
    lengths, source = np.random.default_rng(0).integers(1, 4000, 3000), 2000
    batches = list(_mixed_batches(lengths, source, 64, seed=3))
    ours = np.concatenate([rows[~is_target] for rows, is_target in batches])
    theirs = np.concatenate([rows[is_target] for rows, is_target in batches])
    assert sorted(ours) == list(range(source))
    assert ((theirs >= source) & (theirs < len(lengths))).all()
    assert all(2 * is_target.sum() == len(rows) for rows, is_target in batches)
    assert max(lengths[rows].sum() for rows, _ in batches) <= 1.2 * MAX_WORDS
    spread = np.mean([np.ptp(lengths[rows]) for rows, _ in batches])
    assert spread < 1000  # of 4000, if lengths were mixed
