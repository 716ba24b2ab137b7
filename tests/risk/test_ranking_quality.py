"""AUROC, intervals and review curves against brute force, scikit-learn and simulation."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from riskcore.config import RiskConfig
from riskcore.risk import RiskModelError, auroc, compare, errors_found
from riskcore.risk.baselines import Ranking
from riskcore.risk.ranking_quality import _bootstrap, lead_interval

scored = st.lists(st.tuples(st.sampled_from([0.0, 0.1, 0.5, 0.9]), st.booleans()), max_size=25)


def interval_of(scores, wrong, config=None, seed=0):
    """The interval of one ranking, compared with nothing."""
    return compare([Ranking("one", scores)], wrong, config=config, seed=seed)[0].interval


@given(scored)
def test_auroc_counts_ordered_pairs_and_half_of_the_ties(pairs):
    scores, wrong = np.array([s for s, _ in pairs]), np.array([w for _, w in pairs], dtype=bool)
    contests = [(a > b) + (a == b) / 2 for a, b in itertools.product(scores[wrong], scores[~wrong])]
    found = auroc(scores, wrong)
    if contests:
        assert found == pytest.approx(np.mean(contests))
        assert found == pytest.approx(roc_auc_score(wrong, scores))
    else:
        assert found is None


@given(scored, st.integers(1, 30))
def test_precision_is_the_mean_over_the_orders_of_tied_pairs(pairs, count):
    scores, wrong = np.array([s for s, _ in pairs]), np.array([w for _, w in pairs], dtype=bool)
    if not len(scores):
        return
    count = min(count, len(scores))
    found = errors_found(scores, wrong)[count] / count
    cut = np.sort(scores)[::-1][count - 1]
    above, tied = scores > cut, scores == cut
    expected = wrong[above].sum() + wrong[tied].mean() * (count - above.sum())
    assert found == pytest.approx(expected / count)


def test_errors_found_starts_at_zero_and_ends_with_all():
    curve = errors_found(np.array([0.9, 0.5, 0.5, 0.1]), np.array([1, 1, 0, 1]))
    assert curve.tolist() == [0, 1, 1.5, 2, 3]
    assert errors_found(np.empty(0), np.empty(0)).tolist() == [0]


def test_a_resample_is_what_recomputing_it_gives():
    chance = np.random.default_rng(1)
    scores, wrong = np.round(chance.random(80), 1), chance.random(80) < 0.3
    drawn = _bootstrap([scores], wrong, RiskConfig(bootstrap_samples=20), seed=9)
    again = np.random.default_rng(9)
    for row in drawn:
        rows = again.integers(80, size=80)
        assert row[0] == pytest.approx(auroc(scores[rows], wrong[rows]))


def test_interval_covers_the_truth_about_as_often_as_it_says():
    chance = np.random.default_rng(2)
    config, hits = RiskConfig(bootstrap_samples=200), 0
    truth = 0.7602499389065233  # P(N(1, 1) > N(0, 1)) = Phi(1 / sqrt(2))
    for trial in range(100):
        wrong = chance.random(300) < 0.3
        low, high = interval_of(chance.normal(wrong.astype(float), 1), wrong, config, seed=trial)
        hits += low <= truth <= high
    assert 88 <= hits <= 100


def test_lead_is_paired():
    chance = np.random.default_rng(3)
    wrong = chance.random(500) < 0.3
    good = chance.normal(wrong.astype(float), 1)
    slightly_worse = good + chance.normal(0, 0.3, 500)
    low, high = lead_interval(good, slightly_worse, wrong)
    own_low, own_high = interval_of(good, wrong)
    assert high - low < (own_high - own_low) / 2  # what both share cancels
    assert lead_interval(good, good, wrong) == (0, 0)


def test_compare_all_against_the_first():
    chance = np.random.default_rng(4)
    wrong = chance.random(400) < 0.25
    good = Ranking("risk", chance.normal(2.0 * wrong, 1), ("source", "validation"))
    poor = Ranking("confidence", chance.normal(0.3 * wrong, 1))
    config = RiskConfig(bootstrap_samples=200)
    first, second = compare([good, poor], wrong, reviews=(50, 1000), config=config, seed=1)
    assert first.auroc == auroc(good.scores, wrong)
    assert first.interval == interval_of(good.scores, wrong, config, seed=1)
    assert (first.lead, first.lead_interval) == (0, (0, 0))
    assert second.lead == pytest.approx(first.auroc - second.auroc)
    assert second.lead_interval == lead_interval(good.scores, poor.scores, wrong, config, seed=1)
    assert second.lead_interval[0] > 0
    assert first.labels_used == ("source", "validation")
    assert first.precision == {50: errors_found(good.scores, wrong)[50] / 50}  # there are no 1000 to review
    assert first.errors_found == {50: errors_found(good.scores, wrong)[50]}


def test_what_cannot_be_computed_is_none():
    (only,) = compare([Ranking("risk", np.array([0.2, 0.4]))], np.array([False, False]))
    assert only.auroc is None
    assert only.interval is None
    assert only.lead is None
    assert only.lead_interval is None
    with pytest.raises(RiskModelError, match="do not score the 3 pairs compared: risk"):
        compare([Ranking("risk", np.array([0.2, 0.4]))], np.zeros(3))
