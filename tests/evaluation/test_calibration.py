"""Calibration against plain loops and known answers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss

from riskcore.evaluation import EvaluationError, calibration_change, measure_calibration, reliability
from tests.evaluation.drawn import pairs_of, probabilities, truths


@given(pairs_of(truth=truths, p=probabilities), st.integers(1, 8))
def test_table_against_a_loop_over_its_bins(drawn, bins):
    truth, p = drawn["truth"], drawn["p"]
    known = truth >= 0
    found = measure_calibration(truth, p, bins)
    if not known.any():
        assert (found.ece, found.brier, found.bins) == (None, None, ())
        return
    ece = 0.0
    for part in found.bins:
        inside = known & (p >= part.low) & (p <= part.high)
        assert inside.sum() == part.pairs
        assert (part.predicted, part.observed) == pytest.approx((p[inside].mean(), truth[inside].mean()))
        ece += inside.sum() / known.sum() * abs(p[inside].mean() - truth[inside].mean())
    assert sum(part.pairs for part in found.bins) == known.sum() == found.pairs
    assert len(found.bins) <= bins
    assert found.ece == pytest.approx(ece)
    assert found.brier == pytest.approx(brier_score_loss(truth[known], p[known]))
    assert 0 <= found.ece <= found.largest_gap <= 1


@given(pairs_of(truth=truths, p=probabilities), st.randoms(use_true_random=False))
def test_order_of_pairs_changes_nothing(drawn, chance):
    truth, p = drawn["truth"], drawn["p"]
    order = np.array(chance.sample(range(len(p)), len(p)), dtype=int)
    first, second = reliability(truth, p), reliability(truth[order], p[order])
    assert [(b.pairs, b.low, b.high) for b in first] == [(b.pairs, b.low, b.high) for b in second]
    assert [b.observed for b in first] == [b.observed for b in second]


def test_distinct_probabilities_fall_into_equal_bins():
    p = np.linspace(0, 1, 150)
    assert [part.pairs for part in reliability(np.ones(150, dtype=int), p, bins=15)] == [10] * 15


def test_a_calibrated_matcher_has_little_error_and_an_overconfident_one_much():
    chance = np.random.default_rng(0)
    p = chance.random(50_000)
    truth = (chance.random(50_000) < p).astype(int)
    change = calibration_change(truth, before=(p > 0.5).astype(float), after=p)
    assert change.after.ece < 0.01
    assert change.before.ece == pytest.approx(0.25, abs=0.01)  # mean distance of p from its label
    assert change.ece == change.after.ece - change.before.ece
    assert change.after.brier == pytest.approx(1 / 6, abs=0.005)  # E[p (1 - p)]
    assert change.brier < 0


def test_absent_labels_give_nothing():
    change = calibration_change(None, np.array([0.2]), np.array([0.4]))
    assert (change.ece, change.brier, change.before.pairs, change.after.largest_gap) == (None, None, 0, None)
    with pytest.raises(EvaluationError, match="at least one bin"):
        reliability(np.array([1]), np.array([0.5]), bins=0)


@pytest.mark.parametrize(("matches", "pairs"), [(0, 10), (10, 10), (3, 10), (40, 100), (1, 1)])
def test_the_interval_of_a_bin_is_wilsons(matches, pairs):
    """Its ends are the shares at which the observed one is 1.96 standard errors away."""
    table = reliability(np.array([1] * matches + [0] * (pairs - matches)), np.full(pairs, 0.5))
    (part,) = table
    low, high = part.interval()
    assert 0 <= low <= part.observed <= high <= 1
    for end in (low, high):
        if 0 < end < 1:
            error = np.sqrt(end * (1 - end) / pairs)
            assert abs(part.observed - end) == pytest.approx(1.959964 * error, rel=1e-5)
