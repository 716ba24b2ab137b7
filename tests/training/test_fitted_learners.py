"""Fitted base learners as arrays: the same answers as scikit-learn's, and the same after storing."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from riskcore.config import RunConfig, StackConfig
from riskcore.data import TargetTruth, Workload
from riskcore.matchers.base import Examples
from riskcore.metrics.matrix import MetricSpace
from riskcore.metrics.values import MetricMatrix
from riskcore.rules.rule_set import RuleSet
from riskcore.training import base_learners
from riskcore.training.base_learners import ScoredPart
from riskcore.training.checkpoint import Checkpoint
from riskcore.training.ensemble import Ensemble
from riskcore.training.evidence import EvidencePart
from riskcore.training.fitted_learners import LinearLearner
from riskcore.training.forest import forest_proba, train_forest, with_flags
from riskcore.training.stored_forest import StoredForest
from tests.training.test_base_learners import evidence_and_matcher


def made_up(seed: int, count: int = 1_500) -> tuple[np.ndarray, np.ndarray]:
    """Metrics with gaps, ties and large values, and labels that follow from some of them."""
    chance = np.random.default_rng(seed)
    metrics = chance.random((count, 12)).round(2).astype(np.float32)
    metrics[:, 4] *= 20_000
    labels = (metrics[:, 0] + 0.5 * chance.random(count) > 0.9).astype(np.int8)
    metrics[chance.random(metrics.shape) < 0.2] = np.nan
    metrics[: count // 2, 5] = np.nan
    metrics[:, 6] = np.nan
    return metrics, labels


def part_of(metrics: np.ndarray) -> ScoredPart:
    matrix = MetricMatrix(metrics, ())
    return ScoredPart(EvidencePart(Examples.__new__(Examples), matrix, RuleSet.empty()), np.zeros(len(metrics)))


@pytest.mark.parametrize("weighted", [False, True])
def test_a_stored_forest_has_the_same_bits_as_scikit_learns(weighted: bool) -> None:
    metrics, labels = made_up(0)
    if weighted:
        weights = np.random.default_rng(1).choice([1.0, 7.3], 1_000)
        forest = RandomForestClassifier(20, random_state=0).fit(with_flags(metrics[:1_000]), labels[:1_000], weights)
    else:
        forest = train_forest(metrics[:1_000], labels[:1_000], 0, 20)
    stored = StoredForest.of(forest)
    np.testing.assert_array_equal(stored.predict_proba(metrics), forest_proba(forest, metrics))
    again = StoredForest(**stored.arrays())
    np.testing.assert_array_equal(again.predict_proba(metrics), forest_proba(forest, metrics))
    assert len(stored.predict_proba(metrics[:0])) == 0


def test_values_next_to_a_threshold_go_where_scikit_learn_sends_them() -> None:
    """Thresholds lie halfway between two values, mostly not on a float32."""
    low = np.random.default_rng(0).random(200).astype(np.float32)
    metrics = np.concatenate([low, np.nextafter(low, np.float32(2))])[:, None]
    labels = np.repeat([0, 1], 200)
    forest = train_forest(metrics, labels, 0, 5)
    np.testing.assert_array_equal(StoredForest.of(forest).predict_proba(metrics), forest_proba(forest, metrics))


@pytest.mark.parametrize("only", [0, 1])
def test_a_stored_forest_of_one_class_predicts_it(only: int) -> None:
    metrics, labels = made_up(0, 40)
    stored = StoredForest.of(train_forest(metrics, np.full_like(labels, only), 0, 3))
    np.testing.assert_array_equal(stored.predict_proba(metrics), np.full(40, float(only)))


def test_a_linear_learner_has_the_same_bits_as_its_pipeline(monkeypatch: pytest.MonkeyPatch) -> None:
    metrics, labels = made_up(0)
    weights, pipelines = np.random.default_rng(2).choice([1.0, 5.0], 1_000), []
    real = LinearLearner.of
    monkeypatch.setattr(LinearLearner, "of", lambda model, *args: pipelines.append(model) or real(model, *args))
    learner = base_learners._linear_model(metrics[:1_000], labels[:1_000], weights, StackConfig(), shared_only=True)
    expected = pipelines[0].predict_proba(metrics)[:, 1]
    assert expected.std() > 0.1
    np.testing.assert_allclose(learner.predict_proba(part_of(metrics)), expected, rtol=0, atol=1e-7)
    alone = base_learners._linear_model(metrics, np.ones_like(labels), np.ones(1_500), StackConfig(), shared_only=True)
    np.testing.assert_array_equal(alone.predict_proba(part_of(metrics)), np.ones(1_500))


def test_an_ensemble_has_the_same_learners_after_a_resume(
    shifted: tuple[Workload, TargetTruth], quick: RunConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evidence, matcher = evidence_and_matcher(shifted[0], quick)
    file = Checkpoint(tmp_path / "base learners.safetensors")
    fresh = Ensemble(matcher, evidence, quick, checkpoint=file)
    monkeypatch.setattr(Ensemble, "_predict", None)  # a second fit would fail
    resumed = Ensemble(matcher, evidence, quick, checkpoint=file)
    some = ScoredPart(evidence.target, matcher.predict_proba(evidence.target.examples))
    floor = quick.stack.probability_floor
    for ensemble in (fresh, resumed):
        found = ensemble.learners.log_odds(some, floor)
        np.testing.assert_array_equal(found, ensemble.log_odds["target"][:, : found.shape[1]])
        tuned = base_learners.fine_tuned_log_odds(matcher, ensemble.learners.fine_tuned, some, floor)
        np.testing.assert_array_equal(tuned, ensemble.log_odds["target"][:, -1])
    json.dumps(resumed.learners.facts())


def test_metric_facts_give_the_same_metrics_without_the_tables(
    shifted: tuple[Workload, TargetTruth], quick: RunConfig
) -> None:
    evidence, _ = evidence_and_matcher(shifted[0], quick)
    (facts,) = evidence.spaces
    assert facts.leads
    found = MetricSpace.of(facts, quick.metric).transform(shifted[0].target)
    np.testing.assert_array_equal(found.values, evidence.target.metrics.values)
    assert found.metrics == evidence.target.metrics.metrics
