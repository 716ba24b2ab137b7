"""Bounds of what the matcher could still say, against what it says; the strongest competitors, against brute force."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from riskcore.config import RiskConfig
from riskcore.data.pairs import Pairs, Table
from riskcore.risk import RiskModel, prior_model
from riskcore.risk.log_odds import log_odds
from riskcore.scale.bounds import SLACK, Bounds, rule_bounds
from riskcore.scale.strongest import Strongest
from riskcore.training.competition import CandidatePool

FLOOR = 1e-3
SEEDS = st.integers(0, 2**32 - 1)


@given(SEEDS)
def test_no_value_between_the_ends_leaves_the_bounds(seed: int) -> None:
    draw = np.random.default_rng(seed)
    low = draw.normal(0, 3, (20, 5))
    high = low + draw.choice([0.0, 1.0], (1, 5)) * draw.gamma(2, 1, (20, 5))
    bounds, weights, offset = Bounds(low, high), draw.normal(0, 1, 5), draw.normal()
    least, most = bounds.margins(offset, weights)
    spread = bounds.widest_spread()
    for _ in range(20):
        inputs = low + draw.random((20, 5)) ** draw.choice([0.1, 1, 10]) * (high - low)
        margin = offset + inputs @ weights
        assert (margin >= least - SLACK).all()
        assert (margin <= most + SLACK).all()
        assert (inputs.std(axis=1) <= spread + SLACK).all()


def test_the_bounds_are_met_at_their_corners() -> None:
    bounds = Bounds(np.array([[-1.0, 2.0, 5.0]]), np.array([[1.0, 4.0, 5.0]]))
    low, high = bounds.margins(0.5, np.array([1.0, -2.0, 0.5]))
    assert low == pytest.approx([0.5 - 1 - 8 + 2.5])
    assert high == pytest.approx([0.5 + 1 - 4 + 2.5])
    assert bounds.widest_spread() == pytest.approx([np.std([-1.0, 4.0, 5.0])])  # of the four corners


def a_model(draw: np.random.Generator, rules: int) -> RiskModel:
    model = prior_model([f"rule {place}" for place in range(rules)], draw.random(rules), np.full(rules, 10))
    return dataclasses.replace(model, weight=draw.gamma(1, 1, rules))


@given(SEEDS)
def test_rules_stay_within_their_bounds_whatever_the_matcher_says(seed: int) -> None:
    draw = np.random.default_rng(seed)
    model = a_model(draw, 8)
    fired = sparse.csr_array(draw.random((30, 8)) < 0.3)
    low, high = rule_bounds(model, fired, FLOOR)
    for probability in (np.zeros(30), np.ones(30), draw.random(30), np.full(30, 0.5)):
        mu = log_odds(model.score(probability, fired, config=RiskConfig()).mu, FLOOR)
        assert (mu >= low - SLACK).all()
        assert (mu <= high + SLACK).all()


def a_table(rows: int) -> Table:
    return Table("some", np.array([str(row) for row in range(rows)], dtype=object), pd.DataFrame(index=range(rows)))


@pytest.mark.parametrize("self_join", [False, True])
@given(seed=SEEDS)
def test_the_strongest_competitors_are_those_of_a_pool_in_memory(self_join: bool, seed: int) -> None:
    draw = np.random.default_rng(seed)
    left_table = a_table(6)
    right_table = left_table if self_join else a_table(5)
    count = 25
    left, right = draw.integers(0, 6, count), draw.integers(0, len(right_table), count)
    margin = np.round(draw.normal(0, 1, count), 1)  # ties are common
    parts = [slice(0, 7), slice(7, 8), slice(8, count)]
    pairs = Pairs(left_table, right_table, left, right, np.full(count, "", dtype=object))
    expected = CandidatePool([pairs]).strongest(margin)
    found = Strongest(6, len(right_table), self_join)
    for part in parts:
        found.add(left[part], right[part], margin[part])
    for part in parts:
        np.testing.assert_array_equal(found.against(left[part], right[part], margin[part]), expected[part])
