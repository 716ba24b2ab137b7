"""The tree against brute force over all cuts, and on groups that were planted."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riskcore.audit.splitting import LEAST_DECREASE, MOST_MISSING, grow
from riskcore.metrics.kinds import Metric
from riskcore.metrics.values import MetricMatrix

METRICS = (Metric("title", "jaccard"), Metric("authors", "edit"), Metric("year", "gap"))


def matrix(values):
    return MetricMatrix(np.asarray(values, dtype=np.float32), METRICS[: np.asarray(values).shape[1]])


def meets(found, conditions):
    holds = [condition.holds(found.column(condition.metric.key)) for condition in conditions]
    return np.logical_and.reduce(holds)


def gini(flagged, weight):
    total = weight.sum()
    return 0.0 if total == 0 else total * 2 * weight[flagged].sum() / total * (1 - weight[flagged].sum() / total)


def best_by_hand(found, flagged, least):
    """The largest decrease of the impurity over every metric and every value as a cut."""
    weight = np.where(flagged, 0.5 / flagged.sum(), 0.5 / (~flagged).sum())
    best = LEAST_DECREASE * 0.5
    for column in found.values.T:
        known = ~np.isnan(column)
        if flagged[known].sum() < (1 - MOST_MISSING) * flagged.sum():
            continue
        for cut in np.unique(column[known])[:-1]:
            low, high = known & (column <= cut), known & (column > cut)
            if min(low.sum(), high.sum()) >= least:
                parts = [gini(flagged[rows], weight[rows]) for rows in (known, low, high)]
                best = max(best, parts[0] - parts[1] - parts[2])
    return best, weight


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4))
def test_the_first_cut_is_the_best_of_all(seed, least):
    chance = np.random.default_rng(seed)
    values = chance.integers(0, 6, (40, 3)) / 5
    values[chance.random((40, 3)) < 0.08] = np.nan
    found, flagged = matrix(values), chance.random(40) < 0.3
    if not 0 < flagged.sum() < 40:
        return
    wanted, weight = best_by_hand(found, flagged, least)
    leaves = grow(found, flagged, depth=1, leaves=2, least=least)
    if wanted == LEAST_DECREASE * 0.5:
        assert leaves == []
        return
    low, high = (meets(found, conditions) for conditions in leaves)
    known = low | high
    decrease = gini(flagged[known], weight[known]) - gini(flagged[low], weight[low]) - gini(flagged[high], weight[high])
    assert decrease == pytest.approx(wanted)
    assert min(low.sum(), high.sum()) >= least


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_leaves_share_no_pair_and_keep_to_their_limits(seed):
    chance = np.random.default_rng(seed)
    values = chance.random((300, 3)).round(2)
    values[chance.random((300, 3)) < 0.05] = np.nan
    found, flagged = matrix(values), chance.random(300) < np.where(values[:, 0] > 0.5, 0.6, 0.1)
    leaves = grow(found, flagged, depth=3, leaves=8, least=9)
    assert len(leaves) <= 8
    assert all(1 <= len(conditions) <= 3 for conditions in leaves)
    members = np.array([meets(found, conditions) for conditions in leaves])
    if len(leaves):
        assert members.sum(axis=0).max() == 1
        assert members.sum(axis=1).min() >= 9


def test_a_planted_group_is_found_with_short_cuts():
    chance = np.random.default_rng(0)
    values = np.column_stack([chance.random(2000), chance.random(2000), chance.integers(0, 5, 2000)])
    found = matrix(values)
    flagged = (found.values[:, 0] > 0.7) & (found.values[:, 2] > 2)
    leaves = grow(found, flagged, depth=3, leaves=8, least=5)
    (planted,) = [conditions for conditions in leaves if flagged[meets(found, conditions)].any()]
    assert np.array_equal(meets(found, planted), flagged)
    assert [(one.attribute, one.side) for one in sorted(planted)] == [("title", ">"), ("year", ">")]
    assert all(len(repr(one.cut)) <= 6 for one in planted)


def test_a_metric_that_many_flagged_pairs_lack_is_not_cut():
    """It would separate perfectly what it knows, and leave most of the flagged pairs in no group."""
    flagged = np.arange(200) < 50
    perfect = np.where(flagged, 1.0, 0.0)
    perfect[:20] = np.nan
    fair = np.where(np.arange(200) < 60, 1.0, 0.0)
    leaves = grow(matrix(np.column_stack([perfect, fair])), flagged, depth=1, leaves=2, least=5)
    assert {condition.attribute for conditions in leaves for condition in conditions} == {"authors"}


def test_nothing_to_separate():
    values = np.zeros((50, 2))
    assert grow(matrix(values), np.arange(50) < 5, 3, 8, 5) == []
    assert grow(matrix(values), np.zeros(50, dtype=bool), 3, 8, 5) == []
    assert grow(matrix(values), np.ones(50, dtype=bool), 3, 8, 5) == []
    assert grow(matrix(np.full((50, 2), np.nan)), np.arange(50) < 5, 3, 8, 5) == []
