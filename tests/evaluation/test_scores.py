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
from riskcore.evaluation.scores import Confusion, ThresholdCurve, thinned
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


@given(pairs_of(truth=truths, label=labels))
def test_unknown_truth_changes_nothing(drawn):
    truth, label = drawn["truth"], drawn["label"]
    known = truth >= 0
    assert confusion(truth, label) == confusion(truth[known], label[known])
    assert f1_interval(truth, label) == f1_interval(truth[known], label[known])


@pytest.mark.parametrize("matches", [27, 108])
@pytest.mark.parametrize("f1", [0.7, 0.9, 0.95, 0.98, 0.99])
@pytest.mark.parametrize("missed", [0.2, 0.8])  # share of the errors that are missed matches
def test_intervals_cover_as_often_as_they_say(matches, f1, missed):
    """A bootstrap of F1 covered in 41 of 100 cases with 27 matches and an F1 of 0.99: most samples had no error."""
    errors = 2 * (1 - f1) / (f1 + 2 * missed * (1 - f1))  # per match
    shares = np.array([1 - missed * errors, (1 - missed) * errors, missed * errors]) / 4
    drawn = np.random.default_rng(0).multinomial(4 * matches, [*shares, 1 - shares.sum()], size=4000)
    counts, times = np.unique(drawn, axis=0, return_counts=True)
    found = [Confusion(*row).f1_interval() for row in counts.tolist()]
    hits = sum(n for ends, n in zip(found, times, strict=True) if ends and ends[0] <= f1 <= ends[1])
    assert 0.93 <= hits / 4000 <= 0.97


def test_interval_of_f1_by_hand():
    """9 of 10 is 59.6 to 98.2 % by Wilson; F1 is 18 of 19."""
    cells = Confusion(tp=9, fp=1, fn=0, tn=5)
    low, high = 0.59585, 0.98212
    assert cells.precision_interval() == pytest.approx((low, high), abs=1e-5)
    assert cells.f1_interval() == pytest.approx((2 * low / (1 + low), 2 * high / (1 + high)), abs=1e-5)
    assert cells.recall_interval() == (pytest.approx(9 / (9 + 1.959964**2)), 1)


@given(st.builds(Confusion, *[st.integers(0, 50)] * 4))
def test_intervals_hold_the_score_and_are_never_a_point(cells):
    pairs = ("precision", "recall", "f1")
    for score, ends in ((getattr(cells, name), getattr(cells, f"{name}_interval")()) for name in pairs):
        assert (score is None) == (ends is None)
        if ends is not None:
            assert 0 <= ends[0] <= score <= ends[1] <= 1
            assert ends[0] < ends[1]


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
