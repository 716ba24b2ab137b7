"""Scores against plain counting, scikit-learn and simulation."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from riskcore.data.labels import UNKNOWN as UNKNOWN_IN_FILES
from riskcore.evaluation import (
    UNKNOWN,
    EvaluationError,
    average_precision,
    confusion,
    f1_interval,
    precision_recall_points,
    score_method,
)
from riskcore.evaluation.scores import ThresholdCurve, thinned
from tests.evaluation.drawn import labels, pairs_of, probabilities, truths


def test_unknown_is_what_files_call_unknown():
    assert UNKNOWN == UNKNOWN_IN_FILES


def test_scores_by_hand():
    cells = confusion(np.array([1, 1, 1, 0, 0, -1]), np.array([1, 1, 0, 1, 0, 1]))
    assert (cells.tp, cells.fp, cells.fn, cells.tn) == (2, 1, 1, 1)
    assert (cells.precision, cells.recall, cells.f1, cells.errors, cells.pairs) == (2 / 3, 2 / 3, 2 / 3, 2, 5)


@given(pairs_of(truth=truths, label=labels))
def test_scores_agree_with_scikit_learn(drawn):
    truth, label = drawn["truth"], drawn["label"]
    known = truth >= 0
    cells = confusion(truth, label)
    assert cells.pairs == known.sum()
    if (truth[known] | label[known]).any():
        assert cells.f1 == pytest.approx(metrics.f1_score(truth[known], label[known], zero_division=0.0))
    else:
        assert cells.f1 is None
    has_match, says_match = bool(truth[known].any()), bool(label[known].any())
    assert (cells.recall is None, cells.precision is None) == (not has_match, not says_match)


@given(pairs_of(truth=truths, label=labels), st.integers(0, 5))
def test_unknown_truth_changes_nothing(drawn, seed):
    truth, label = drawn["truth"], drawn["label"]
    known = truth >= 0
    assert confusion(truth, label) == confusion(truth[known], label[known])
    assert f1_interval(truth, label, 20, seed) == f1_interval(truth[known], label[known], 20, seed)


def test_interval_matches_resampling_pairs_one_by_one():
    chance = np.random.default_rng(0)
    truth = (chance.random(400) < 0.3).astype(int)
    label = np.where(chance.random(400) < 0.15, 1 - truth, truth)
    rows = [np.flatnonzero(truth == value) for value in (0, 1)]
    slow = []
    for _ in range(2000):
        drawn = np.concatenate([chance.choice(of_class, len(of_class)) for of_class in rows])
        slow.append(confusion(truth[drawn], label[drawn]).f1)
    assert f1_interval(truth, label, samples=20_000) == pytest.approx(np.quantile(slow, [0.025, 0.975]), abs=0.006)


def test_interval_covers_the_truth_about_as_often_as_it_says():
    chance, hits = np.random.default_rng(1), 0
    truth = np.repeat([1, 0], [200, 600])
    expected = 2 * 160 / (2 * 160 + 30 + 40)  # recall 0.8, 5 % of the non-matches
    for trial in range(200):
        label = chance.random(800) < np.where(truth, 0.8, 0.05)
        low, high = f1_interval(truth, label, samples=400, seed=trial)
        hits += low <= expected <= high
    assert 180 <= hits <= 199


def test_interval_follows_the_seed_and_shrinks_to_a_point_without_errors():
    truth, label = np.array([1, 0] * 50), np.array([1, 0, 1, 1] * 25)
    assert f1_interval(truth, label, seed=3) == f1_interval(truth, label, seed=3)
    assert f1_interval(truth, truth) == (1, 1)


@given(pairs_of(truth=truths, p=probabilities))
def test_the_curve_counts_at_every_threshold(drawn):
    curve = precision_recall_points(drawn["truth"], drawn["p"])
    if not (drawn["truth"] == 1).any():
        assert len(curve) == 0
        assert curve.best is None
        return
    for i, threshold in enumerate(curve.threshold):
        cells = confusion(drawn["truth"], drawn["p"] >= threshold)
        expected = [np.nan if score is None else score for score in (cells.precision, cells.recall, cells.f1)]
        assert (curve.precision[i], curve.recall[i], curve.f1[i]) == pytest.approx(expected, nan_ok=True)


def test_best_threshold_is_the_one_nearest_the_middle():
    curve = ThresholdCurve(np.linspace(0, 1, 5), *(np.array([0.5, 1, 1, 1, 0.5]) for _ in range(3)))
    assert curve.best == 2


@given(pairs_of(truth=truths, p=probabilities))
def test_precision_recall_agrees_with_scikit_learn(drawn):
    truth, p = drawn["truth"], drawn["p"]
    known = truth >= 0
    curve = precision_recall_points(truth, p)
    if not truth[known].astype(bool).any():
        assert len(curve) == 0
        assert average_precision(truth, p) is None
        return
    precision, recall, _ = metrics.precision_recall_curve(truth[known], p[known])
    assert curve.recall == pytest.approx(recall[:-1])
    assert curve.precision == pytest.approx(precision[:-1])
    assert average_precision(truth, p) == pytest.approx(metrics.average_precision_score(truth[known], p[known]))


def test_thinning_keeps_ends_and_best():
    chance = np.random.default_rng(2)
    truth = (chance.random(20_000) < 0.2).astype(int)
    p = np.clip(chance.normal(0.3 + 0.3 * truth, 0.2), 0, 1)
    full, thin = precision_recall_points(truth, p, points=10**9), precision_recall_points(truth, p, points=100)
    assert 50 <= len(thin) <= 102
    assert (thin.threshold[0], thin.threshold[-1]) == (full.threshold[0], full.threshold[-1])
    assert thin.f1[thin.best] == full.f1[full.best]
    assert np.diff(thin.recall).min() >= -0.02


@given(st.integers(0, 5000), st.integers(2, 300))
def test_thinned_positions_rise_and_hold_both_ends(count, points):
    kept = thinned(count, points)
    assert len(kept) <= max(points, 2) + 2
    assert (np.diff(kept) > 0).all()
    if count:
        assert (kept[0], kept[-1]) == (0, count - 1)


def test_method_row_is_json_and_null_without_labels():
    p = np.array([0.9, 0.4, 0.8, 0.5])
    row = json.loads(json.dumps(score_method(np.array([1, 1, 0, 1]), p)))
    assert (row["tp"], row["fp"], row["fn"], row["tn"], row["labelled_pairs"]) == (2, 1, 1, 0, 4)
    assert row["f1"] == 2 / 3
    for absent in (None, np.full(4, -1)):
        row = score_method(absent, p)
        assert row.pop("labelled_pairs") == 0
        assert set(row.values()) == {None}


def test_what_does_not_belong_together_is_refused():
    with pytest.raises(EvaluationError, match="3 true labels for 2 pairs"):
        confusion(np.array([1, 0, 1]), np.array([1, 0]))
    with pytest.raises(EvaluationError, match="True labels must be"):
        confusion(np.array([1, 2]), np.array([1, 0]))
    with pytest.raises(EvaluationError, match="Labels must be"):
        confusion(np.array([1, 0]), np.array([1, -1]))
    with pytest.raises(EvaluationError, match="Probabilities must lie"):
        average_precision(np.array([1]), np.array([np.nan]))
