"""Fixed and broken against plain loops, McNemar against scipy, the paired interval against resampled pairs."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from riskcore.evaluation import EvaluationError, compare_labels, confusion, f1_change_interval, flips_by_class, mcnemar
from tests.evaluation.drawn import labels, pairs_of, shifted, truths


@given(pairs_of(truth=truths, before=labels, after=labels))
def test_flips_against_a_loop(drawn):
    truth, before, after = drawn["truth"], drawn["before"], drawn["after"]
    found = compare_labels(truth, before, after, samples=10)
    rows = list(zip(truth, before, after, strict=True))
    assert found.flipped.tolist() == [i for i, (_, b, a) in enumerate(rows) if a != b]
    if not (truth >= 0).any():
        assert found.fixed is None
        assert found.broken is None
        assert set(vars(found.counts).values()) == {None}
        assert (found.p_value, found.f1_before, found.f1_change, found.f1_change_interval) == (None,) * 4
        return
    assert found.fixed.tolist() == [i for i, (t, b, a) in enumerate(rows) if t >= 0 and b != t and a == t]
    assert found.broken.tolist() == [i for i, (t, b, a) in enumerate(rows) if t >= 0 and b == t and a != t]
    assert (found.counts.fixed, found.counts.broken) == (len(found.fixed), len(found.broken))
    assert found.counts.fn_flipped == sum(t == 1 and b == 0 and a == 1 for t, b, a in rows)
    assert found.counts.tn_flipped == sum(t == 0 and b == 0 and a == 1 for t, b, a in rows)
    assert found.counts.tp == sum(t == 1 and b == 1 for t, b, a in rows)
    assert (found.f1_before, found.f1_after) == (confusion(truth, before).f1, confusion(truth, after).f1)


@given(pairs_of(truth=truths, before=labels, after=labels))
def test_going_back_swaps_fixed_and_broken(drawn):
    there = compare_labels(drawn["truth"], drawn["before"], drawn["after"], samples=10)
    back = compare_labels(drawn["truth"], drawn["after"], drawn["before"], samples=10)
    assert there.p_value == back.p_value
    assert np.array_equal(there.fixed, back.broken)
    assert there.f1_change is None or there.f1_change == pytest.approx(-back.f1_change)


@given(st.integers(0, 3000), st.integers(0, 3000))
def test_mcnemar_is_the_exact_binomial_test(fixed, broken):
    expected = binomtest(fixed, fixed + broken).pvalue if fixed + broken else 1.0
    assert mcnemar(fixed, broken) == pytest.approx(expected, rel=1e-9, abs=1e-250)


@given(st.integers(0, 200), st.integers(0, 200))
def test_mcnemar_in_whole_numbers(fixed, broken):
    total = fixed + broken
    tail = Fraction(2 * sum(math.comb(total, k) for k in range(min(fixed, broken) + 1)), 2**total)
    assert mcnemar(fixed, broken) == pytest.approx(float(min(tail, 1)), rel=1e-9)


def test_mcnemar_by_hand():
    assert mcnemar(5, 0) == 2 / 2**5
    assert mcnemar(0, 0) == 1
    assert mcnemar(1, 1) == 1
    assert mcnemar(None, None) is None


@pytest.mark.parametrize(("matches", "most"), [(27, 1.0), (108, 0.985)])
@pytest.mark.parametrize("recall", [0.6, 0.8, 0.9, 0.97])
def test_paired_interval_covers_at_least_as_often_as_it_says(matches, most, recall):
    """A paired bootstrap covered in 55 of 100 cases with 27 matches and few flips: many samples had no flip at all."""
    missed, alarms = 1 - recall, (1 - recall) / 4
    of_matches = np.array([missed / 2, missed / 2, 0.01 * recall, 0.99 * recall])  # before x after
    of_others = np.array([0.995 * (1 - alarms), 0.005 * (1 - alarms), alarms / 2, alarms / 2])
    shares = np.concatenate([0.75 * of_others, 0.25 * of_matches])
    change, hits = _f1_change(shares), 0
    for trial, cells in enumerate(np.random.default_rng(3).multinomial(4 * matches, shares, size=500)):
        truth, before, after = (np.repeat(np.arange(8) >> bit & 1, cells) for bit in (2, 1, 0))
        low, high = f1_change_interval(truth, before, after, samples=400, seed=trial)
        hits += low <= change <= high
    assert 0.93 <= hits / 500 <= most


def _f1_change(shares):
    cells = shares.reshape(2, 2, 2)
    before, after = (2 * of[1, 1] / (2 * of[1, 1] + of[0, 1] + of[1, 0]) for of in (cells.sum(2), cells.sum(1)))
    return after - before


def test_paired_interval_is_that_of_a_bootstrap_with_many_pairs():
    truth, before, after = shifted(20_000, seed=1)
    chance = np.random.default_rng(2)
    known = truth >= 0
    cells = np.bincount((4 * truth + 2 * before + after)[known], minlength=8)
    slow = [_f1_change(drawn) for drawn in chance.multinomial(cells.sum(), cells / cells.sum(), size=2000)]
    found = f1_change_interval(truth, before, after, samples=20_000)
    assert found == pytest.approx(np.quantile(slow, [0.025, 0.975]), abs=0.001)
    assert compare_labels(truth, before, after, seed=4).f1_change_interval == f1_change_interval(
        truth, before, after, seed=4
    )


def test_equal_labels_of_few_pairs_do_not_prove_equal_methods():
    truth, before, _ = shifted(200)
    low, high = f1_change_interval(truth, before, before)
    assert low < 0 < high
    many = f1_change_interval(np.tile(truth, 100), np.tile(before, 100), np.tile(before, 100))
    assert many[1] - many[0] < (high - low) / 20
    assert compare_labels(truth, before, before).p_value == 1


def test_one_class_only_still_answers():
    found = compare_labels(np.zeros(4, dtype=int), np.array([0, 1, 1, 0]), np.array([0, 0, 1, 0]))
    assert (found.counts.fixed, found.counts.tp, found.f1_before, found.f1_after) == (1, 0, 0, 0)
    assert flips_by_class(np.ones(2, dtype=int), np.array([0, 1]), np.array([1, 0])).broken == 1


def test_uneven_labels_are_refused():
    with pytest.raises(EvaluationError, match="3 labels for 2 pairs"):
        compare_labels(None, np.array([0, 1]), np.array([0, 1, 1]))
