"""The search against the published one restated with decision stumps, and what pruning must keep."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from riskcore.config import RuleConfig
from riskcore.metrics.kinds import KINDS, Metric
from riskcore.metrics.values import MetricMatrix
from riskcore.rules.firing import fire
from riskcore.rules.generation import extract, generate, merge, prune
from riskcore.rules.rule import MATCH, NON_MATCH, Condition, Rule
from riskcore.rules.rule_set import RuleSet, measure_rules

BOUNDED = [kind for kind, known in KINDS.items() if not known.flag]


def matrix_of(X: np.ndarray) -> MetricMatrix:
    rounded = np.round(np.asarray(X, dtype=np.float32), 4)
    return MetricMatrix(rounded, tuple(Metric(f"x{n}", BOUNDED[n]) for n in range(rounded.shape[1])))


def stump_sides(values: np.ndarray, y: np.ndarray, weights: dict[int, float]) -> tuple[np.ndarray, np.ndarray] | None:
    """The two sides of a depth-1 tree's cut, as masks over all values; missing ones are on neither."""
    known = ~np.isnan(values)
    if known.sum() < 2:
        return None
    tree = DecisionTreeClassifier(max_depth=1, class_weight=weights).fit(values[known, None], y[known]).tree_
    if tree.node_count < 3:
        return None
    below = known & (values <= np.float32(tree.threshold[0]))
    return below, known & ~below


def brute_force(X: np.ndarray, y: np.ndarray, config: RuleConfig) -> set[tuple[bytes, bool]]:
    """Every pure side, as (rows it holds, is it a match rule), one stump per node, metric and weighting."""
    rules: set[tuple[bytes, bool]] = set()

    def is_pure(rows: np.ndarray) -> bool:
        rate = y[rows].mean() if rows.any() else 0.5
        limit = config.match_impurity if rate > 0.5 else config.non_match_impurity
        return rows.sum() >= config.min_support and 2 * rate * (1 - rate) < limit

    def grow(node: np.ndarray, depth: int) -> None:
        for metric in range(X.shape[1]):
            for weights in ({0: config.class_weight, 1: 1.0}, {0: 1.0, 1: config.class_weight}):
                sides = stump_sides(np.where(node, X[:, metric], np.nan), y, weights)
                if sides is None:
                    continue
                pure = [is_pure(side) for side in sides]
                rules.update(
                    (side.tobytes(), bool(y[side].mean() > 0.5)) for side, ok in zip(sides, pure, strict=True) if ok
                )
                if sum(pure) == 1 and depth < config.depth:
                    other = sides[pure.index(False)]
                    if other.sum() >= 2 * config.min_support:
                        grow(other, depth + 1)

    grow(np.ones(len(y), dtype=bool), 1)
    return rules


def fired_sets(found: RuleSet, matrix: MetricMatrix) -> set[tuple[bytes, bool]]:
    fired = fire(found.rules, matrix).toarray()
    return {(np.ascontiguousarray(fired[:, n]).tobytes(), rule.outcome == MATCH) for n, rule in enumerate(found.rules)}


def noisy(seed: int, pairs: int, metrics: int, levels: int = 1000) -> tuple[MetricMatrix, np.ndarray]:
    """Labels that follow the first metrics, with noise, ties and missing values."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, levels, (pairs, metrics)) / levels
    y = ((X[:, 0] + 0.5 * X[:, 1] + rng.normal(0, 0.1, pairs)) > 0.9).astype(np.int8)
    X[rng.random(X.shape) < 0.15] = np.nan
    return matrix_of(X), y


@pytest.mark.parametrize(("seed", "depth", "levels"), [(0, 1, 1000), (1, 2, 1000), (2, 2, 7), (3, 3, 20), (4, 2, 2)])
def test_finds_the_same_rules_as_one_stump_per_candidate(seed: int, depth: int, levels: int) -> None:
    matrix, y = noisy(seed, 300, 5, levels)
    config = RuleConfig(depth=depth)
    expected = brute_force(matrix.values, y, config)
    assert expected
    assert fired_sets(extract(matrix, y, config), matrix) == expected


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(*[st.sampled_from([float("nan"), 0.0, 0.1, 0.25, 0.5, 1.0, 7.0])] * 3, st.booleans()),
        min_size=1,
        max_size=40,
    ),
    st.sampled_from([1, 2, 5]),
    st.sampled_from([0.05, 0.1, 0.4]),
)
def test_small_data(rows: list[tuple[float, float, float, bool]], support: int, impurity: float) -> None:
    matrix = matrix_of(np.array([row[:3] for row in rows]))
    y = np.array([row[3] for row in rows], dtype=np.int8)
    config = RuleConfig(depth=3, min_support=support, match_impurity=impurity, non_match_impurity=0.1)
    assert fired_sets(extract(matrix, y, config), matrix) == brute_force(matrix.values, y, config)


def test_large_neighbouring_values_cut_like_the_stump() -> None:
    base = np.float32(40_000)
    values = np.array([base, np.nextafter(base, np.float32(1e9)), np.nextafter(base, np.float32(1e9)) + 1] * 10)
    y = np.array([0, 1, 1] * 10, dtype=np.int8)
    matrix = MetricMatrix(values.astype(np.float32)[:, None], (Metric("x", "gap"),))
    assert fired_sets(extract(matrix, y, RuleConfig()), matrix) == brute_force(matrix.values, y, RuleConfig())


def test_support_and_matches_are_those_of_the_fired_pairs() -> None:
    matrix, y = noisy(5, 400, 6)
    found = extract(matrix, y, RuleConfig())
    again = measure_rules(found, fire(found.rules, matrix), y)
    np.testing.assert_array_equal(found.support, again.support)
    np.testing.assert_array_equal(found.matches, again.matches)
    np.testing.assert_allclose(found.match_rate, found.matches / found.support)


def test_every_rule_is_pure_enough_and_supported() -> None:
    matrix, y = noisy(6, 400, 6)
    found = generate(matrix, y)
    assert len(found) > 0
    gini = 2 * found.match_rate * (1 - found.match_rate)
    assert (gini < 0.1).all()
    assert (found.support >= 5).all()
    assert ((found.match_rate > 0.5) == [rule.outcome == MATCH for rule in found.rules]).all()


def test_pruning_drops_only_what_a_kept_rule_says() -> None:
    matrix, y = noisy(7, 2000, 8)
    rng = np.random.default_rng(7)
    echoes = matrix.values[:, :2] + rng.normal(0, 0.05, (2000, 2))  # metrics that say nearly the same, as real ones do
    matrix = matrix_of(np.hstack([echoes, matrix.values]))
    found = extract(matrix, y, RuleConfig())
    kept = prune(found)
    assert 0 < len(kept) < len(found)
    purity = dict(zip(found.rules, found.purity, strict=True))
    for rule in set(found.rules) - set(kept.rules):
        assert any(
            rule.outcome == other.outcome and rule.implies(other) and purity[other] >= purity[rule]
            for other in kept.rules
        ), rule.text
    for rule in kept.rules:
        assert not any(
            rule != other and rule.outcome == other.outcome and rule.implies(other) and purity[other] >= purity[rule]
            for other in kept.rules
        ), rule.text


@pytest.mark.parametrize("overlap", [0.5, 0.8, 0.95, 1.0])
def test_merging_drops_only_what_a_kept_rule_fires_on_nearly_alike(overlap: float) -> None:
    matrix, y = noisy(8, 1500, 6)
    echoes = matrix.values + np.random.default_rng(8).normal(0, 0.02, matrix.values.shape)
    matrix = matrix_of(np.hstack([matrix.values, echoes]))
    found = prune(extract(matrix, y, RuleConfig()))
    kept = merge(found, matrix, overlap)
    fires = dict(zip(found.rules, fire(found.rules, matrix).toarray().T, strict=True))

    def alike(one: Rule, other: Rule) -> bool:
        a, b = fires[one], fires[other]
        return one.outcome == other.outcome and (a & b).sum() >= overlap * (a | b).sum()

    assert 0 < len(kept) < len(found) or (overlap == 1.0 and len(kept) == len(found))
    assert list(kept.rules) == [rule for rule in found.rules if rule in set(kept.rules)]
    assert not any(alike(a, b) for a, b in itertools.combinations(kept.rules, 2))
    for rule in set(found.rules) - set(kept.rules):
        assert any(alike(rule, other) and len(other.conditions) <= len(rule.conditions) for other in kept.rules)


def test_of_two_equal_rules_one_stays() -> None:
    rule = Rule((Condition("x", "edit", ">", 0.5),), MATCH)
    twice = RuleSet((rule, rule), np.array([9, 9]), np.array([9, 9]))
    assert prune(twice).rules == (rule,)


@pytest.mark.parametrize("labels", [np.zeros(50, np.int8), np.ones(50, np.int8)])
def test_one_class_gives_no_rules(labels: np.ndarray) -> None:
    assert len(generate(matrix_of(np.random.default_rng(0).random((50, 3))), labels)) == 0


def test_all_missing_and_no_pairs_give_no_rules() -> None:
    assert len(generate(matrix_of(np.full((20, 2), np.nan)), np.arange(20) % 2)) == 0
    assert len(generate(matrix_of(np.zeros((0, 2))), np.zeros(0, np.int8))) == 0


def test_a_rule_that_never_fires_has_no_rate() -> None:
    matrix, y = noisy(8, 50, 3)
    never = Rule((Condition("x0", BOUNDED[0], ">", 99.0),), NON_MATCH)
    kept = measure_rules(RuleSet((never,), np.zeros(1, int), np.zeros(1, int)), fire([never], matrix), y)
    assert kept.support.tolist() == [0]
    assert np.isnan(kept.match_rate).all()


def test_rule_sets_round_trip_as_json() -> None:
    matrix, y = noisy(9, 300, 4)
    found = generate(matrix, y)
    again = RuleSet.from_json(found.to_json())
    assert again.rules == found.rules
    np.testing.assert_array_equal(again.support, found.support)
    np.testing.assert_array_equal(again.matches, found.matches)


def test_same_data_same_rules() -> None:
    matrix, y = noisy(10, 300, 4)
    assert generate(matrix, y).rules == generate(matrix, y).rules
