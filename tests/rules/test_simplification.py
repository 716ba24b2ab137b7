"""Simplified rules: which conditions go, which stay, and by which bound."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from riskcore.config import RuleConfig
from riskcore.evaluation.truth import wilson_interval
from riskcore.metrics.kinds import Metric
from riskcore.metrics.values import MetricMatrix
from riskcore.rules.firing import fire, fired_bits, packed_bits
from riskcore.rules.generation import extract, generate, merge, target_rules
from riskcore.rules.rule import MATCH, NON_MATCH, Condition, Rule
from riskcore.rules.rule_set import RuleSet, measure_rules
from riskcore.rules.simplification import lower_bound, points_to, simplify
from tests.rules.test_generation import noisy

TITLE, PRICE = Metric("title", "jaccard"), Metric("price", "gap")
ALIKE, UNLIKE = Condition("title", "jaccard", ">", 0.3), Condition("title", "jaccard", "<=", 0.3)
DIFFERS, NEAR = Condition("price", "gap", ">", 5), Condition("price", "gap", "<=", 5)


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 60), st.integers(0, 60), st.floats(0.1, 3))
def test_the_lower_bound_is_wilsons(right: int, wrong: int, z: float) -> None:
    found = float(lower_bound(np.array([right]), np.array([right + wrong]), z)[0])
    ends = wilson_interval(right, right + wrong, 2 * float(ndtr(z)) - 1)
    assert found == pytest.approx(0.0 if ends is None else ends[0], abs=1e-9)


def test_eight_of_eight_is_not_a_hundred_per_cent() -> None:
    assert lower_bound(np.array([8, 800]), np.array([8, 800]), 1.0) == pytest.approx([8 / 9, 800 / 801])


def test_directions() -> None:
    assert [points_to(one, NON_MATCH) for one in (ALIKE, UNLIKE, DIFFERS, NEAR)] == [False, True, True, False]
    assert [points_to(one, MATCH) for one in (ALIKE, UNLIKE, DIFFERS, NEAR)] == [True, False, False, True]


def shop(carries: bool) -> tuple[MetricMatrix, np.ndarray]:
    """Prices that differ mean a non-match; where the condition on titles `carries`, only if the titles are alike."""
    rng = np.random.default_rng(0)
    title, price = rng.random(600).round(4), rng.integers(0, 11, 600)
    match = price <= 5
    if carries:
        match |= (title <= 0.3) & (rng.random(600) < 0.8)
    return MetricMatrix(np.column_stack([title, price]).astype(np.float32), (TITLE, PRICE)), match.astype(np.int8)


@pytest.mark.parametrize("carries", [False, True])
def test_a_condition_of_the_other_direction_stays_only_where_it_carries(carries: bool) -> None:
    matrix, labels = shop(carries)
    rule = Rule((ALIKE, DIFFERS), NON_MATCH)
    found = measure_rules(RuleSet((rule,), np.zeros(1, int), np.zeros(1, int)), fire([rule], matrix), labels)
    simple = simplify(found, matrix, labels, RuleConfig())
    assert simple.rules == ((rule,) if carries else (Rule((DIFFERS,), NON_MATCH),))
    fired = fire(simple.rules, matrix).toarray()[:, 0]
    assert (simple.support.tolist(), simple.matches.tolist()) == ([fired.sum()], [labels[fired].sum()])


def test_a_rule_without_a_condition_of_its_own_direction_goes() -> None:
    matrix, labels = shop(carries=False)
    wrong_way = Rule((ALIKE, NEAR), NON_MATCH)
    found = RuleSet((wrong_way,), np.array([10]), np.array([0]))
    assert len(simplify(found, matrix, labels, RuleConfig())) == 0


def test_a_rule_that_is_pure_on_a_few_pairs_goes() -> None:
    matrix = MetricMatrix(np.array([[0.9]] * 10 + [[0.1]] * 300, dtype=np.float32), (TITLE,))
    labels = np.array([1] * 10 + [0] * 300, dtype=np.int8)
    rules = (Rule((ALIKE,), MATCH), Rule((UNLIKE,), NON_MATCH))
    found = RuleSet(rules, np.array([10, 300]), np.array([10, 0]))
    kept = [simplify(found, matrix, labels, RuleConfig(bound_z=z)).rules for z in (1.0, 2.5)]
    assert kept == [rules, rules[1:]]  # ten of ten: at least 91 % by one deviation, 62 % by two and a half


@pytest.mark.parametrize("seed", range(4))
def test_what_is_left_is_as_good_and_points_its_own_way(seed: int) -> None:
    """Against brute force: no single condition can be dropped without a lower bound that is lower."""
    matrix, labels = noisy(seed, 500, 4, levels=40)
    config = RuleConfig()
    found = simplify(extract(matrix, labels, config), matrix, labels, config)
    assert len(found)
    columns = {metric: matrix.values[:, place].astype(float) for place, metric in enumerate(matrix.metrics)}

    def bound(conditions: tuple[Condition, ...], outcome: str) -> float:
        rows = np.ones(len(labels), dtype=bool)
        for one in conditions:
            with np.errstate(invalid="ignore"):
                rows &= columns[one.metric] > one.cut if one.side == ">" else columns[one.metric] <= one.cut
        right = int((labels[rows] == (outcome == MATCH)).sum())
        return float(lower_bound(np.array([right]), np.array([rows.sum()]), config.bound_z)[0])

    for rule in found.rules:
        assert any(points_to(one, rule.outcome) for one in rule.conditions)
        whole = bound(rule.conditions, rule.outcome)
        for rest in itertools.combinations(rule.conditions, len(rule.conditions) - 1):
            if any(points_to(one, rule.outcome) for one in rest):
                assert bound(rest, rule.outcome) < whole


def test_no_rule_of_the_generator_lacks_its_own_direction() -> None:
    matrix, labels = noisy(1, 800, 5)
    simple, plain = (generate(matrix, labels, RuleConfig(simplify=on)) for on in (True, False))
    assert all(any(points_to(one, rule.outcome) for one in rule.conditions) for rule in simple.rules)
    assert 0 < len(simple) < len(plain)
    assert (plain.stands_for == 1).all()


def test_a_merged_rule_stands_for_the_others() -> None:
    values = np.concatenate([np.linspace(0.5, 1, 100), np.linspace(0, 0.49, 100)]).astype(np.float32)[:, None]
    matrix = MetricMatrix(values, (TITLE,))
    cuts = (0.5, 0.51, 0.52, 0.9)
    rules = tuple(Rule((Condition("title", "jaccard", ">", cut),), MATCH) for cut in cuts)
    support = np.array([int((values > cut).sum()) for cut in cuts])
    kept = merge(RuleSet(rules, support, support), matrix, 0.9)
    assert kept.stands_for.tolist() == [3, 1]
    again = RuleSet.from_json(kept.to_json())
    assert (again.rules, again.stands_for.tolist()) == (kept.rules, [3, 1])


def test_rules_of_the_target_look_at_its_own_attributes() -> None:
    rng = np.random.default_rng(0)
    labels = (rng.random(300) < 0.3).astype(np.int8)
    shared = rng.random(300)
    own = np.where(labels == 1, 0.0, rng.integers(1, 9, 300))
    matrix = MetricMatrix(np.column_stack([shared, own]).astype(np.float32), (TITLE, PRICE))
    found = target_rules(matrix, labels, 1, RuleConfig())
    assert found.rules
    assert all(any(one.attribute == "price" for one in rule.conditions) for rule in found.rules)
    assert len(target_rules(matrix, np.zeros(300, np.int8), 1, RuleConfig())) == 0
    both = RuleSet((Rule((ALIKE,), MATCH),), np.array([9]), np.array([9])).followed_by(found)
    again = RuleSet.from_json(both.to_json())
    assert again.from_validation.tolist() == [False, *[True] * len(found)]


def test_bits_of_many_chunks_are_aligned_with_those_of_all_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Labels are packed in one go and compared with bits that were packed chunk by chunk."""
    matrix, _ = noisy(0, 1000, 2)
    name = matrix.metrics[0]
    rules = [Rule((Condition(name.attribute, name.kind, ">", cut),), MATCH) for cut in (0.2, 0.7)]
    whole = fired_bits(rules, matrix)
    monkeypatch.setattr("riskcore.rules.firing._DENSE_CELLS", 64 * 4 * 3)
    assert np.array_equal(fired_bits(rules, matrix), whole)
    assert np.array_equal(packed_bits(fire(rules, matrix).toarray().T), whole)
