"""Shares that add up, drops that are what muting does, changes that do what they say."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from riskcore.config import RiskConfig
from riskcore.risk import explain_pair, explain_pairs, prior_model, smallest_changes
from riskcore.risk.explain import MATCHER, rounded
from tests.risk.synthetic import random_model, random_pairs


def test_shares_sum_to_mean_and_variance():
    model, (x, fired) = random_model(25), random_pairs(80, 25)
    many = explain_pairs(model, x, fired)
    scores = model.score(x, fired)
    assert np.allclose(np.bincount(many.pair, many.mu_share), scores.mu, rtol=0, atol=1e-14)
    assert np.allclose(np.bincount(many.pair, many.variance_share), scores.sigma**2, rtol=0, atol=1e-14)
    for i in range(80):
        one = many.of(i)
        assert one.mu == math.fsum(part.mu_share for part in one.contributions)
        assert one.sigma == math.sqrt(one.variance)
        assert one.risk == scores.risk[i]
        assert len(one.contributions) == fired[[i]].nnz + 1


def test_drop_is_what_muting_the_rule_does():
    model, (x, fired) = random_model(10), random_pairs(40, 10, share=0.4)
    many = explain_pairs(model, x, fired)
    for entry in np.flatnonzero(many.column != MATCHER):
        pair, column = many.pair[entry], many.column[entry]
        muted = model.with_rules(muted=[model.rules[column]]).score(x, fired)
        assert abs(many.risk_without[entry] - muted.risk[pair]) < 1e-12
        assert abs(many.drop[entry] - (many.scores.risk[pair] - muted.risk[pair])) < 1e-12


def test_without_the_matcher_the_rules_speak_alone_and_without_rules_nobody_does():
    model = prior_model(["yes", "no"], np.array([1.0, 0.0]), np.array([9, 9]))
    (voice,) = explain_pair(model, 0.8, []).contributions
    assert voice.rule is None
    assert math.isnan(voice.risk_without)
    parts = {part.rule: part for part in explain_pair(model, 0.8, ["no"]).contributions}
    # Called a match, with only "no" (mean 0, deviation 0.05) left: nearly certainly wrong.
    assert parts[None].risk_without > 0.9
    assert parts["no"].drop > 0


def test_one_pair_is_one_of_many():
    model, (x, fired) = random_model(15), random_pairs(20, 15)
    many = explain_pairs(model, x, fired)
    for i in range(20):
        names = [model.rules[column] for column in fired[[i]].indices]
        assert explain_pair(model, x[i], names[::-1]) == many.of(i)


def test_no_pairs():
    assert len(explain_pairs(random_model(4), np.empty(0), sparse.csr_array((0, 4)))) == 0


@given(st.lists(st.floats(0, 1), max_size=30), st.integers(0, 5))
def test_rounded_shares_still_sum_to_the_rounded_total(shares, decimals):
    shown = rounded(shares, decimals)
    assert round(math.fsum(shown), decimals) == pytest.approx(round(math.fsum(shares) * 10**decimals) / 10**decimals)
    assert all(abs(a - b) <= 10**-decimals * (1 + 1e-9) for a, b in zip(shares, shown, strict=True))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1000), st.integers(0, 7), st.floats(0.05, 0.95), st.floats(0, 1))
def test_the_fewest_rules_to_mute_are_those_a_search_of_all_subsets_finds(seed, rules, level, x):
    model = random_model(rules, seed)
    change = smallest_changes(model, x, model.rules, level)

    def risk(muted):
        return explain_pair(model.with_rules(muted=muted), x, model.rules).risk

    enough = [
        muted
        for size in range(rules + 1)
        for muted in itertools.combinations(model.rules, size)
        if risk(muted) <= level
    ]
    assert change.risk == pytest.approx(risk(()), abs=1e-12)
    if not enough:
        assert change.mute is None
        return
    assert change.fewest
    assert len(change.mute) == len(enough[0])
    assert change.mute_risk == pytest.approx(risk(change.mute), abs=1e-12)
    assert change.mute_risk == pytest.approx(min(risk(m) for m in enough if len(m) == len(enough[0])), abs=1e-12)


def test_with_many_rules_the_search_turns_greedy_and_says_so():
    count = 40
    names = [f"no {i}" for i in range(count)]
    model = prior_model(names, np.zeros(count), np.full(count, 9))
    change = smallest_changes(model, 0.9, names, 0.8, config=RiskConfig(mute_sets_tried=100))
    assert change.mute is not None
    assert not change.fewest
    assert explain_pair(model.with_rules(muted=change.mute), 0.9, names).risk <= 0.8
    # All rules are alike, so greedy is in fact smallest here: one fewer is not enough.
    assert explain_pair(model.with_rules(muted=change.mute[1:]), 0.9, names).risk > 0.8


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 1000), st.floats(0.1, 0.9), st.floats(0, 1))
def test_the_nearest_output_of_the_matcher_does_it_and_nothing_nearer_does(seed, level, x):
    model = random_model(5, seed)
    label = int(x >= 0.5)
    change = smallest_changes(model, x, model.rules, level)
    if change.probability is None:
        assert change.probability_risk is None
        return
    assert (change.probability >= 0.5) == bool(label)
    assert explain_pair(model, change.probability, model.rules, label).risk <= level + 1e-12
    between = np.linspace(x, change.probability, 200)[:-1]
    fired = sparse.csr_array(np.ones((len(between), 5)))
    risks = model.score(between, fired, np.full(len(between), label)).risk
    if change.probability != x:
        assert (risks > level - 1e-9).all()


def test_already_low_enough_needs_nothing():
    model = random_model(3)
    change = smallest_changes(model, 0.9, [], 1.0)
    assert change.mute == ()
    assert change.probability == 0.9
    assert change.other_label_risk == pytest.approx(explain_pair(model, 0.9, [], 0).risk)
