"""What each attribute contributes, against brute force: parts add up, and each is what its definition says."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier

from riskcore.config import MatcherConfig, RiskConfig, StackConfig
from riskcore.data.pairs import Pairs
from riskcore.data.schema import Attribute, AttributeType
from riskcore.matchers import create
from riskcore.matchers.base import Examples, Matcher, Views
from riskcore.metrics.kinds import Metric
from riskcore.risk import prior_model
from riskcore.risk.balance import BROUGHT, OTHER_CANDIDATES, WHOLE_RECORD
from riskcore.rules.rule import Rule
from riskcore.training import attribution
from riskcore.training.attribution import MatcherViews, Parts, Subjects
from riskcore.training.base_learners import _linear_model
from riskcore.training.fitted_learners import log_odds
from riskcore.training.forest import forest_proba, with_flags
from riskcore.training.stored_forest import StoredForest
from tests.matchers.people import people

FLOOR = 1e-3


@pytest.fixture(scope="module")
def metrics() -> np.ndarray:
    chance = np.random.default_rng(3)
    values = chance.random((300, 5)).astype(np.float32)
    values[chance.random(values.shape) < 0.1] = np.nan
    return values


@pytest.fixture(scope="module")
def labels(metrics: np.ndarray) -> np.ndarray:
    return (np.nan_to_num(metrics[:, 0]) + np.nan_to_num(metrics[:, 1]) > 1).astype(np.int8)


def test_the_parts_of_a_forest_add_up_to_its_log_odds(metrics: np.ndarray, labels: np.ndarray) -> None:
    forest = RandomForestClassifier(25, random_state=0).fit(with_flags(metrics), labels)
    stored = StoredForest.of(forest)
    subject_of = np.array([0, 0, 1, 1, 2])
    found = attribution.forest_parts(stored, metrics, subject_of, 3, FLOOR)
    expected = log_odds(forest_proba(forest, metrics), FLOOR)
    assert np.allclose(found.by_metric.total, expected, atol=1e-9)
    whole = found.of_groups(np.ones(len(found.sizes)), FLOOR)
    assert np.allclose(whole.total, expected, atol=1e-9)
    assert np.allclose(whole.parts[:, 0], found.by_metric.parts[:, :2].sum(axis=1))


def test_a_forest_credits_the_metric_that_was_asked_about(metrics: np.ndarray, labels: np.ndarray) -> None:
    """Path by path, in plain Python, for one tree."""
    tree = RandomForestClassifier(1, random_state=1).fit(with_flags(metrics), labels)
    base, moved = StoredForest.of(tree).contributions(metrics)
    inner, inputs = tree.estimators_[0].tree_, with_flags(metrics)
    for row in range(0, 300, 37):
        expected, node = np.zeros(5), 0
        while inner.children_left[node] >= 0:
            asked = inner.feature[node]
            left = inputs[row, asked] <= inner.threshold[node]
            below = inner.children_left[node] if left else inner.children_right[node]
            expected[asked % 5] += inner.value[below, 0, 1] - inner.value[node, 0, 1]
            node = below
        assert np.allclose(moved[row], expected)
    assert base == pytest.approx(inner.value[0, 0, 1])


def test_trees_drawn_anew_are_a_forest_of_these_trees(metrics: np.ndarray, labels: np.ndarray) -> None:
    forest = RandomForestClassifier(4, random_state=0).fit(with_flags(metrics), labels)
    stored = StoredForest.of(forest)
    each = [stored.some_trees(np.array([tree])).predict_proba(metrics) for tree in range(4)]
    drawn = stored.some_trees(np.array([2, 0, 2])).predict_proba(metrics)
    assert np.allclose(drawn, (2 * each[2] + each[0]) / 3)


def test_the_parts_of_a_linear_model_add_up(metrics: np.ndarray, labels: np.ndarray) -> None:
    linear = _linear_model(metrics, labels, np.ones(len(labels)), StackConfig(), shared_only=True)
    found = attribution.linear_parts(linear, metrics, FLOOR)
    base, moved = linear.contributions(metrics)
    assert found.parts.shape == metrics.shape
    # Changing one metric changes its own part only.
    other = metrics.copy()
    other[:, 3] = 0.9
    _, changed = linear.contributions(other)
    assert np.allclose(np.delete(changed, 3, axis=1), np.delete(moved, 3, axis=1))
    assert not np.allclose(changed[:, 3], moved[:, 3])
    exact = 1 / (1 + np.exp(-(base + moved.sum(axis=1))))
    assert np.allclose(found.total, log_odds(exact, FLOOR), atol=1e-9)


values_of_sets = st.lists(st.floats(-5, 5), min_size=8, max_size=8)


@given(values_of_sets)
def test_shapley_values_are_the_mean_over_all_orders(given_values: list[float]) -> None:
    sets = attribution._shown(3, None)
    values = np.array([given_values])
    at = {one: place for place, one in enumerate(sets)}
    expected = np.zeros(3)
    for order in itertools.permutations(range(3)):
        for size, player in enumerate(order):
            before, after = frozenset(order[:size]), frozenset(order[: size + 1])
            expected[player] += (values[0, at[after]] - values[0, at[before]]) / 6
    assert np.allclose(attribution.shapley(values, sets, None, 3)[0], expected)


@given(st.integers(7, 9), st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_sampled_orders_add_up_and_are_exact_for_a_sum(players: int, seed: int) -> None:
    orders = attribution._orders(players)
    sets = attribution._shown(players, orders)
    worth = np.random.default_rng(seed).normal(size=players)
    values = np.array([[sum(worth[player] for player in one) for one in sets]])
    assert np.allclose(attribution.shapley(values, sets, orders, players)[0], worth)


def test_rules_and_matcher_share_what_a_risk_model_expects() -> None:
    rules = (
        Rule.parse("title word overlap is above 0.6 -> match"),
        Rule.parse("year differs and title word overlap is above 0.4 -> non-match"),
        Rule.parse("record leads the next candidate by at most 0.1 on both sides -> non-match"),
    )
    model = prior_model([rule.key for rule in rules], np.array([0.9, 0.05, 0.2]), np.array([40, 30, 20]), RiskConfig())
    fired = sparse.csr_array(np.array([[1, 0, 0], [0, 1, 1], [1, 1, 1], [0, 0, 0]], dtype=bool))
    subjects = Subjects(["title", "year"])
    shares = np.zeros((4, len(subjects)))
    shares[:, 0] = [0.3, -0.2, 0.1, 0.4]
    nothing = np.full(4, 0.4)
    views = MatcherViews(nothing, shares, Parts(log_odds(nothing, 1e-9), np.zeros_like(shares)))
    found = attribution.rule_parts(model, fired, views, rules, subjects, FLOOR)
    mu = model.score(nothing + shares.sum(axis=1), fired).mu
    assert np.allclose(found.parts.total, log_odds(mu, FLOOR))
    at = {name: place for place, name in enumerate(subjects.names)}
    # The second rule says non-match because of the year, although the titles are alike.
    assert found.parts.parts[1, at["year"]] < 0
    assert found.parts.parts[1, at[OTHER_CANDIDATES]] < 0
    assert found.parts.parts[0, at["title"]] > 0
    assert found.parts.parts[3, at["year"]] == 0
    # The factor gives a fired rule's part.
    weight, mean = model.effective_weight[0], model.mean[0]
    title = found.factor[0] * (weight * (mean - 0.5) + model.matcher_weight(np.array([0.7]))[0] * 0.3)
    assert found.parts.parts[0, at["title"]] == pytest.approx(title)


def _trained(kind: str, wide: bool) -> tuple[Matcher, Examples, tuple[Metric, ...]]:
    pairs = people(40)
    attributes = [Attribute(name, AttributeType.NAME) for name in pairs.left.attributes]
    kinds = [(one.name, "jaccard") for one in attributes] + [("record", "cosine")]
    chance = np.random.default_rng(0)
    examples = Examples(pairs, chance.random((len(pairs), len(kinds))).astype(np.float32))
    matcher = create(MatcherConfig(kind=kind, wide=wide, width=8, head=8), attributes)
    matcher.begin(examples, 0)
    return matcher, examples, tuple(Metric(*one) for one in kinds)


@pytest.mark.parametrize(("kind", "wide"), [("attention", False), ("hybrid", False), ("sif", True), ("toy", False)])
def test_hiding_an_attribute_is_the_same_as_having_no_value_of_it(kind: str, wide: bool) -> None:
    matcher, examples, metrics = _trained(kind, wide)
    count = len(matcher.attributes)
    seen = np.ones((3, count + 1), dtype=bool)
    seen[1, 0], seen[2, :] = False, False
    owner = np.arange(len(metrics))
    views = Views(seen, owner)
    found = matcher.predict_views(examples, views)
    assert np.allclose(found, Matcher.predict_views(matcher, examples, views), atol=1e-6)
    assert np.allclose(found[:, 0], matcher.predict_proba(examples), atol=1e-6)
    assert np.ptp(found[:, 2]) < 1e-6  # nothing is seen: all pairs look alike


def test_a_matcher_s_parts_add_up_on_both_scales() -> None:
    matcher, examples, metrics = _trained("attention", False)
    subjects = Subjects([one.name for one in matcher.attributes])
    probability = matcher.predict_proba(examples)
    views = attribution.look(matcher, examples, probability, metrics, subjects)
    assert np.allclose(views.nothing + views.shares.sum(axis=1), probability, atol=1e-12)
    assert np.allclose(views.log_odds.total, log_odds(probability, 1e-12), atol=1e-9)
    assert not views.shares[:, subjects.names.index(WHOLE_RECORD)].any()  # it does not see metrics
    clipped = attribution.matcher_parts(views, 0.4)
    assert np.allclose(clipped.total, log_odds(probability, 0.4), atol=1e-9)


def test_scores_that_were_brought_are_one_part() -> None:
    class Brought:
        looks_at_records = False

    subjects = Subjects(["title"])
    probability = np.array([0.0, 0.2, 1.0])
    views = attribution.look(Brought(), None, probability, (), subjects)  # type: ignore[arg-type]
    at = subjects.names.index(BROUGHT)
    assert np.allclose(views.log_odds.parts[:, at], log_odds(probability, attribution.CLOSEST))
    assert np.allclose(views.nothing + views.shares.sum(axis=1), probability)


def test_subjects_know_whole_records_from_other_candidates() -> None:
    subjects = Subjects(["title", "year"])
    metrics = [Metric("year", "gap"), Metric("record", "jaccard"), Metric("record", "lead")]
    assert [subjects.names[place] for place in subjects.of_metrics(metrics)] == ["year", WHOLE_RECORD, OTHER_CANDIDATES]


def test_pairs_without_values_keep_their_tables_and_ids() -> None:
    pairs: Pairs = people(4)
    name = pairs.left.attributes[0]
    from riskcore.matchers.base import without_values

    hidden = without_values(pairs, [name])
    assert all(value is None for value in hidden.left.text(name))
    assert (hidden.left.text(pairs.left.attributes[1]) == pairs.left.text(pairs.left.attributes[1])).all()
    assert hidden.ids is pairs.ids
    assert without_values(pairs, []) is pairs
