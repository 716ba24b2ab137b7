"""Estimates of precision, recall and F1 against closed forms, brute force and simulated audits."""

import dataclasses
import itertools
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskcore.audit.estimate import (
    Estimate,
    Ring,
    StratumCounts,
    audit_design,
    enough,
    estimate,
    expected_errors,
    next_pairs,
    review_outcome,
    verdicts_needed,
    with_missed,
)
from riskcore.audit.estimate.calibration import SAFETY, SAFETY_FEW, Figure, _ends
from riskcore.audit.estimate.estimators import difference_total, stratified_total
from riskcore.audit.estimate.measures import f1_slopes, measures
from riskcore.audit.estimate.missed import interval_draws, ring_audit
from riskcore.audit.estimate.model import AuditModel
from riskcore.audit.estimate.posterior import TEMPER, SideModel, side_moments, side_posterior
from riskcore.audit.estimate.strata import Strata, allocate
from riskcore.blocking.missed import chapman
from riskcore.errors import ConfigError

MATCH, NON_MATCH = 1, 0


def population(seed=0, size=3000, matches=500):
    """Labels with calibrated risk, and the truth."""
    generator = np.random.default_rng(seed)
    label = np.zeros(size, dtype=np.int8)
    label[:matches] = 1
    risk = 10 ** generator.uniform(-5, -2.5, size)
    hard = generator.random(size) < np.where(label == 1, 0.3, 0.1)
    risk[hard] = 10 ** generator.uniform(-2.5, -0.3, int(hard.sum()))
    return label, risk, np.where(generator.random(size) < risk, 1 - label, label)


def judged(strata, label, truth, rows):
    """The counts after verdicts on these rows."""
    wrong = label != truth
    return [
        StratumCounts(
            int(strata.side[h]),
            int(strata.pairs[h]),
            float(strata.risk[h]),
            int((strata.of_pair[rows] == h).sum()),
            int(wrong[rows][strata.of_pair[rows] == h].sum()),
        )
        for h in range(len(strata))
    ]


def test_a_census_is_exact_and_has_no_width():
    label, risk, truth = population(size=400, matches=100)
    strata = audit_design(label, risk)
    found = estimate(judged(strata, label, truth, np.arange(400)))
    tp = int(((label == 1) & (truth == 1)).sum())
    fp, fn = int(((label == 1) & (truth == 0)).sum()), int(((label == 0) & (truth == 1)).sum())
    wanted = {"precision": tp / (tp + fp), "recall": tp / (tp + fn), "f1": 2 * tp / (2 * tp + fp + fn)}
    for name, value in wanted.items():
        one = getattr(found, name)
        assert (one.value, one.low, one.high) == pytest.approx((value,) * 3)
    assert (found.false_positives.value, found.false_negatives.value) == (fp, fn)
    assert verdicts_needed(found.strata) == 0


@given(st.integers(1, 50), st.data())
def test_measures_by_counting(matches, data):
    fp, fn = data.draw(st.integers(0, matches)), data.draw(st.integers(0, 50))
    found, tp = measures(matches, np.array(fp), np.array(fn)), matches - fp
    assert found["precision"] == pytest.approx(tp / matches)
    assert found["recall"] == pytest.approx(tp / (tp + fn) if tp + fn else 1)
    assert found["f1"] == pytest.approx(2 * tp / (2 * tp + fp + fn))


def test_slopes_of_f1_are_its_derivatives():
    step = 1e-4
    slopes = f1_slopes(100, np.array(12.0), np.array(7.0))
    at = {d: measures(100, np.array(12 + d[0]), np.array(7 + d[1]))["f1"] for d in ((0, 0), (step, 0), (0, step))}
    assert slopes[0] == pytest.approx((at[0, 0] - at[step, 0]) / step, rel=1e-3)
    assert slopes[1] == pytest.approx((at[0, 0] - at[0, step]) / step, rel=1e-3)


def test_one_stratum_is_simple_random_sampling():
    total = stratified_total(np.array([200]), np.array([50]), np.array([5]))
    assert total.value == 20
    assert total.variance == pytest.approx(200**2 * (1 - 50 / 200) * (0.1 * 0.9 * 50 / 49) / 50)
    assert stratified_total(np.array([40]), np.array([40]), np.array([3])).variance == 0


def test_the_difference_estimator_is_unbiased_over_all_samples():
    wrong = np.array([1, 0, 0, 1, 0, 0, 1])
    of_pair = np.array([0, 0, 0, 0, 1, 1, 1])
    risk = np.array([0.9, 0.2, 0.1, 0.4, 0.3, 0.2, 0.6])
    values, variances = [], []
    for first in itertools.combinations(range(4), 2):
        for second in itertools.combinations(range(4, 7), 2):
            rows = np.array([*first, *second])
            found = difference_total(of_pair, risk, rows, wrong[rows], power=0.7)
            values.append(found.value)
            variances.append(found.variance)
    assert np.mean(values) == pytest.approx(3)
    assert np.mean(variances) == pytest.approx(np.var(values))  # and so is its variance
    plain = difference_total(of_pair, risk, rows, wrong[rows], power=0.0)
    assert plain.value == pytest.approx(
        stratified_total([4, 3], [2, 2], [wrong[[2, 3]].sum(), wrong[[5, 6]].sum()]).value
    )


def test_power_is_0_where_risk_says_nothing_and_1_where_it_says_all():
    of_pair, rows = np.zeros(100, dtype=int), np.arange(50)
    wrong = (np.arange(100) % 5 == 0).astype(int)
    assert difference_total(of_pair, np.full(100, 0.2), rows, wrong[rows]).power == 0
    certain = difference_total(of_pair, wrong.astype(float), rows, wrong[rows])
    assert (certain.power, certain.variance, certain.value) == pytest.approx((1, 0, 20))


def test_the_posterior_is_that_of_brute_force():
    model = SideModel.of(np.array([0.01, 0.2]))
    errors, seen = np.array([[1, 3]]), np.array([[20, 10]])
    found = side_posterior(model, errors, seen)
    rate = 1 / (1 + np.exp(-model.odds))
    likelihood = rate ** errors[0][:, None] * (1 - rate) ** (seen - errors)[0][:, None]
    by_stratum = (likelihood * np.exp(model.node_prior)).sum(-1)
    whole = np.exp(model.prior) * by_stratum.prod(1)
    power = TEMPER + (1 - TEMPER) * whole[model.calibrated].sum() / whole.sum()
    weight = np.exp(model.prior) * by_stratum.prod(1) ** power
    mean = (rate * likelihood * np.exp(model.node_prior)).sum(-1) / by_stratum
    assert found.rates()[0] == pytest.approx((weight[:, None] * mean).sum(0) / weight.sum())
    pairs = np.array([1020, 10])
    draws = found.draws(pairs - seen, 4000, np.random.default_rng(0)).sum(2)
    moments = side_moments(model, pairs, errors, seen)
    assert moments.mean[0] == pytest.approx(1000 * found.rates()[0, 0], rel=1e-4)
    assert draws.mean() == pytest.approx(moments.mean[0], rel=0.1)
    assert draws.std() == pytest.approx(moments.variance[0] ** 0.5, rel=0.2)
    prior, after = (one[model.calibrated].sum() / one.sum() for one in (np.exp(model.prior), whole))
    odds = np.log(after / (1 - after)) - np.log(prior / (1 - prior))
    assert moments.evidence[0] == pytest.approx(odds, abs=1e-3)


@given(st.integers(0, 1000), st.integers(1, 60))
def test_allocation_adds_up_and_stays_within_the_strata(seed, extra):
    generator = np.random.default_rng(seed)
    pairs = generator.integers(1, 40, 6)
    drawn = generator.integers(0, pairs + 1, (3, 6))
    more = allocate(pairs, generator.random((3, 6)), drawn, extra)
    assert (more >= 0).all()
    assert (drawn + more <= pairs).all()
    assert (more.sum(1) == np.minimum(extra, pairs.sum() - drawn.sum(1))).all()


def test_allocation_is_neymans_where_nothing_binds():
    more = allocate(np.array([1000, 500, 200]), np.array([[0.1, 0.4, 0.5]]), np.zeros((1, 3), dtype=int), 80)
    assert more.tolist() == [[20, 40, 20]]


def test_strata_follow_the_order_of_the_risks_only():
    label, risk, _ = population()
    one, other = audit_design(label, risk), audit_design(label, risk**3)
    assert (one.of_pair == other.of_pair).all()
    assert (np.diff(one.risk[one.side == NON_MATCH]) > 0).all()
    assert one.pairs.sum() == len(label)


def test_a_stratum_without_risk_is_drawn_all_the_same():
    label, risk = np.repeat([0, 1], [900, 100]), np.zeros(1000)
    risk[850:950] = 0.4
    strata = audit_design(label, risk)
    rows = next_pairs(strata, judged(strata, label, label, np.array([], dtype=int)), np.zeros(1000, dtype=bool), 60, 1)
    assert len(set(rows)) == 60
    assert (np.bincount(strata.of_pair[rows], minlength=len(strata)) >= 2).all()
    with pytest.raises(ConfigError, match="2,000 pairs cannot be drawn"):
        next_pairs(strata, [], np.zeros(1000, dtype=bool), 2000, 1)


def test_verdicts_move_draws_to_where_the_errors_are():
    label, risk = np.repeat([0, 1], [2000, 300]), np.full(2300, 0.02)
    strata = audit_design(label, risk)
    counts = [
        dataclasses.replace(one, judged=10, errors=4 if number == 0 else 0)
        for number, one in enumerate(judged(strata, label, label, np.array([], dtype=int)))
    ]
    drawn = np.zeros(2300, dtype=bool)
    for number in range(len(strata)):
        drawn[np.flatnonzero(strata.of_pair == number)[:10]] = True
    rows = next_pairs(strata, counts, drawn, 100, 0)
    share = (strata.of_pair[rows] == 0).mean()
    assert share > 1.3 * strata.pairs[0] / strata.pairs.sum()
    assert not drawn[rows].any()


def test_strata_beside_many_errors_are_looked_at_whatever_their_risk():
    side, pairs = np.zeros(4, dtype=np.int8), np.array([900, 300, 90, 50])
    strata = Strata(side, pairs, np.array([0, 0, 0, 0.3]), np.empty(0, dtype=np.int64))
    errors, seen = np.array([[0, 0, 0, 6]]), np.array([[10, 6, 4, 20]])
    more = AuditModel(strata).next(errors, seen, seen, 60)[0]
    shares = more / pairs
    assert shares[2] > 2 * shares[1], more  # beside the errors, and farther away
    assert more.sum() == 60


def test_ends_are_farther_where_many_errors_are_left():
    even, skewed = (
        Figure(zero, zero + mean, zero + mean, zero + 1, zero + 900, zero, zero + 9, zero + 9)
        for zero, mean in ((np.zeros(1), 100.0), (np.zeros(1), 1.0))
    )
    scores = np.random.default_rng(0).normal(0, 0.6, (1, 400))
    (low, high), (near_low, near_high) = (_ends(scores, one, np.array([400.0]), 0.95) for one in (even, skewed))
    assert low < near_low < 0 < near_high < high
    assert low[0] / near_low[0] == pytest.approx(SAFETY_FEW / SAFETY, rel=0.05)  # the middle is almost 0


@pytest.mark.parametrize("warp", ["as it is", "risk^0.3", "risk^3", "shuffled within label"])
def test_intervals_cover_in_simulated_audits(warp):
    from riskcore.bench.audit.simulate import Population, design_audits, random_audits, warped

    one = Population("made", "risk+", *population(3))
    found, true = design_audits(one, warped(one, warp), (200,), 200, seed=1)[200], one.true_measures()
    coverage = {name: ((low <= true[name]) & (true[name] <= high)).mean() for name, (_, low, high) in found.items()}
    assert min(coverage.values()) >= 0.9, coverage
    if warp == "as it is":  # a risk that is wrong promises neither
        assert np.mean(list(coverage.values())) < 0.99, coverage
        plain = random_audits(one, 200, 200, 1)["f1"]
        assert (found["f1"][2] - found["f1"][1]).mean() < 0.6 * (plain[2] - plain[1]).mean()


def test_unsure_verdicts_widen_the_interval_to_either_side():
    strata = [StratumCounts(MATCH, 300, 0.05, 60, 3), StratumCounts(NON_MATCH, 900, 0.01, 60, 1)]
    plain = estimate(strata)
    unsure = estimate([dataclasses.replace(strata[0], unsure=8), strata[1]])
    assert unsure.f1.low < plain.f1.low
    assert unsure.f1.high >= plain.f1.value
    low, high = unsure.unsure_bounds["precision"]
    assert low < unsure.precision.value < high
    assert (unsure.verdicts, unsure.unsure, unsure.unsure_share) == (120, 8, pytest.approx(8 / 128))
    assert plain.unsure_bounds["f1"] == (plain.f1.value, plain.f1.value)


def test_pairs_known_before_the_draw_are_counted_and_teach_nothing():
    strata = [StratumCounts(MATCH, 300, 0.05, 60, 3), StratumCounts(NON_MATCH, 900, 0.01, 60, 1)]
    without = estimate(strata)
    known = estimate([*strata, StratumCounts(MATCH, 40, 0.5, 40, 30, known=True)])
    assert known.false_positives.value == pytest.approx(without.false_positives.value + 30)
    assert known.false_positives.high - known.false_positives.low == pytest.approx(
        without.false_positives.high - without.false_positives.low
    )
    assert (known.verdicts, known.known) == (120, 40)
    with pytest.raises(ConfigError, match="is said to be known"):
        estimate([StratumCounts(MATCH, 40, 0.5, 39, 30, known=True)])


def test_counts_that_cannot_be_are_refused():
    with pytest.raises(ConfigError, match="errors cannot exceed verdicts"):
        estimate([StratumCounts(MATCH, 40, 0.5, 3, 4)])
    with pytest.raises(ConfigError, match="probabilities"):
        audit_design(np.array([0, 1]), np.array([0.5, 1.5]))
    with pytest.raises(ConfigError, match="one risk for each"):
        audit_design(np.array([0, 1]), np.array([0.5]))


def test_an_estimate_survives_json():
    found = estimate([StratumCounts(MATCH, 300, 0.05, 60, 3, 2), StratumCounts(NON_MATCH, 900, 0.01, 60, 1)])
    found = with_missed(found, [Ring(5000, 200, 1)])
    assert Estimate.from_dict(json.loads(json.dumps(found.to_dict()))) == found
    assert "verdicts" in found.sentence


def test_the_meter_counts_down():
    label, risk, truth = population()
    strata = audit_design(label, risk)
    none = judged(strata, label, truth, np.array([], dtype=int))
    rows = next_pairs(strata, none, np.zeros(len(label), dtype=bool), 150, 0)
    some = judged(strata, label, truth, rows)
    first, later = (verdicts_needed(one, half_width=0.01) for one in (none, some))
    assert 0 < later < first
    assert verdicts_needed(some, half_width=0.015) < later
    assert verdicts_needed(some, half_width=0.4) == 0
    assert enough(estimate(some), 0.4)
    assert not enough(estimate(some), 0.001)
    with pytest.raises(ConfigError, match="no measure 'F2'"):
        verdicts_needed(some, measure="F2")


def test_missed_matches_lower_recall_and_leave_precision():
    found = estimate([StratumCounts(MATCH, 300, 0.05, 60, 3), StratumCounts(NON_MATCH, 900, 0.01, 60, 1)])
    census = with_missed(found, [Ring(50, 50, 10), Ring(100, 100, 0)])
    assert (census.missed.low, census.missed.value, census.missed.high) == (10, 10, 10)
    assert census.recall.value < found.recall.value
    assert census.precision == found.precision
    none = with_missed(found, [Ring(100, 100, 0)])
    assert none.recall.value == pytest.approx(found.recall.value)
    with pytest.raises(ConfigError, match="Ring 0"):
        ring_audit([Ring(10, 11, 0)])


def test_capture_and_recapture_keeps_its_interval():
    found = chapman((90, 85, 80))
    draws = interval_draws(found.found, found.low, found.high, np.random.default_rng(0), 20_000)
    assert np.quantile(draws, [0.025, 0.5, 0.975]) == pytest.approx([found.low, found.found, found.high], abs=0.01)
    unknown = dataclasses.replace(found, found=None, reason="Not known: too few.")
    with pytest.raises(ConfigError, match="too few"):
        with_missed(estimate([StratumCounts(MATCH, 300, 0.05, 60, 3)]), unknown)
    base = estimate([StratumCounts(MATCH, 300, 0.05, 300, 0), StratumCounts(NON_MATCH, 900, 0.01, 900, 0)])
    assert with_missed(base, found).recall.low == pytest.approx(found.low, abs=0.01)


def test_plans_of_a_review_match_what_it_finds():
    label, risk, truth = population(5)
    plans = {one.ranking: one for one in expected_errors(label, risk, 200, {"confidence": -np.arange(len(risk))})}
    assert set(plans) == {"risk", "confidence", "random"}
    assert plans["risk"].errors.value == pytest.approx(np.sort(risk)[-200:].sum())
    assert plans["random"].errors.value == pytest.approx(200 * risk.mean())
    assert plans["risk"].f1.value > plans["random"].f1.value
    outcome = review_outcome("risk", risk, label, truth, 200)
    assert outcome.errors in plans["risk"].errors
    assert outcome.f1 in plans["risk"].f1
    assert review_outcome("risk", risk, label, truth, len(label)).f1 == 1
    with pytest.raises(ConfigError, match="cannot be reviewed"):
        expected_errors(label, risk, 10_000)
