"""The other rankings, each against what its definition says."""

from __future__ import annotations

import numpy as np
import pytest

from riskcore.config import RiskConfig
from riskcore.risk import RiskModelError
from riskcore.risk.baselines import (
    Ranking,
    class_distances,
    confidence,
    learned_risk,
    standardised,
    static_rules,
    trust_score,
    uncertainty,
)
from tests.risk.synthetic import random_model, random_pairs


def test_confidence_is_the_distance_from_the_label():
    assert confidence(np.array([0.0, 0.4, 0.5, 0.9])).scores == pytest.approx([0, 0.4, 0.5, 0.1])
    assert confidence(np.array([0.9]), np.array([0])).scores == pytest.approx([0.9])


def test_uncertainty_is_the_variance_of_the_votes():
    ensemble = np.array([[0.9, 0.6, 0.1], [0.8, 0.4, 0.2], [0.7, 0.3, 0.3], [0.6, 0.9, 0.4]])
    assert uncertainty(ensemble).scores == pytest.approx([0, 0.25, 0])
    with pytest.raises(RiskModelError, match="two matchers"):
        uncertainty(ensemble[:1])


def test_static_and_learned_risk_are_the_models():
    prior, model, (x, fired) = random_model(8, learned=False), random_model(8), random_pairs(30, 8)
    assert np.array_equal(static_rules(prior, x, fired).scores, prior.score(x, fired).risk)
    assert static_rules(prior, x, fired).labels_used == ("source",)
    assert np.array_equal(learned_risk(model, x, fired).scores, model.score(x, fired).risk)
    assert learned_risk(model, x, fired).labels_used == ("source", "validation")


def test_trust_score_by_brute_force():
    chance = np.random.default_rng(0)
    train, target = chance.normal(size=(60, 3)), chance.normal(size=(20, 3))
    train_labels, labels = chance.random(60) < 0.4, chance.random(20) < 0.5
    distances = class_distances(train, train_labels, target, RiskConfig(trust_neighbours=3))
    found = trust_score(distances, labels).scores
    near, far = standardised(train, target)
    for i in range(20):
        gaps = np.linalg.norm(near - far[i], axis=1)
        own = np.sort(gaps[train_labels == labels[i]])[:3].mean()
        other = np.sort(gaps[train_labels != labels[i]])[:3].mean()
        assert found[i] == pytest.approx(own / (own + other))


def test_trust_score_with_missing_metrics_few_pairs_and_twins():
    train = np.array([[0.0, np.nan], [1.0, 5.0], [1.0, 5.0]])
    target = np.array([[0.0, np.nan], [1.0, 5.0], [np.nan, np.nan]])
    scores = trust_score(class_distances(train, np.array([0, 1, 1]), target), np.array([0, 1, 1])).scores
    assert scores[:2] == pytest.approx([0, 0])  # each lies on training pairs of its own class
    assert 0 < scores[2] < 1
    both = trust_score(class_distances(np.zeros((2, 1)), np.array([0, 1]), np.zeros((1, 1))), np.array([1])).scores
    assert both == pytest.approx([0.5])  # equally near to both: nothing to say


def test_trust_score_needs_both_classes():
    with pytest.raises(RiskModelError, match="both classes"):
        class_distances(np.zeros((2, 1)), np.array([1, 1]), np.zeros((1, 1)))


def test_a_column_that_is_missing_or_constant_everywhere_does_no_harm():
    train, target = standardised(np.array([[np.nan, 2.0], [np.nan, 2.0]]), np.array([[3.0, 2.0], [np.nan, np.nan]]))
    assert np.isfinite(train).all()
    assert np.isfinite(target).all()


def test_a_ranking_is_one_finite_score_per_pair():
    with pytest.raises(RiskModelError, match="odd"):
        Ranking("odd", np.array([0.1, np.nan]))
    with pytest.raises(RiskModelError, match="odd"):
        Ranking("odd", np.zeros((2, 2)))
