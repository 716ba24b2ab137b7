"""A rule is a value: its text and JSON round-trip, and it fires as its conditions say."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riskcore.metrics.kinds import KINDS, Metric
from riskcore.metrics.values import MetricMatrix
from riskcore.rules.firing import fire, fired_on
from riskcore.rules.rule import MATCH, NON_MATCH, Condition, Rule, RuleFormatError

CUTS = st.one_of(st.just(0.5), st.floats(-1e6, 1e6, allow_nan=False), st.integers(0, 50).map(float))
NAMES = st.one_of(
    st.sampled_from(["year", "title", "Song_Name", "a and b", 'say "hi"', "x -> match", "é", "1st", "{cut}", "{a}"]),
    st.text(),
)
CONDITIONS = st.builds(Condition, NAMES, st.sampled_from(sorted(KINDS)), st.sampled_from(["<=", ">"]), CUTS)
RULES = st.builds(Rule, st.lists(CONDITIONS, min_size=1, max_size=3).map(tuple), st.sampled_from([MATCH, NON_MATCH]))


@settings(max_examples=300, deadline=None)
@given(RULES)
def test_text_and_json_round_trip(rule: Rule) -> None:
    assert Rule.parse(rule.text) == rule
    assert Rule.from_json(json.loads(json.dumps(rule.to_json()))) == rule
    assert hash(Rule.parse(rule.text)) == hash(rule)


METRICS = tuple(Metric("x", kind) for kind in ("edit", "gap", "differs"))
VALUES = st.one_of(st.just(float("nan")), st.sampled_from([0.0, 0.25, 0.5, 0.7501, 1.0, 3.0]))
FIREABLE = st.builds(
    Rule,
    st.lists(
        st.builds(Condition, st.just("x"), st.sampled_from([m.kind for m in METRICS]), st.sampled_from(["<=", ">"]),
                  st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])),
        min_size=1, max_size=3,
    ).map(tuple),
    st.sampled_from([MATCH, NON_MATCH]),
)  # fmt: skip


def meets(condition: Condition, value: float) -> bool:
    return value <= condition.cut if condition.side == "<=" else value > condition.cut  # NaN meets neither


@settings(max_examples=200, deadline=None)
@given(st.lists(FIREABLE, max_size=6), st.lists(st.tuples(VALUES, VALUES, VALUES), max_size=9))
def test_firing_equals_brute_force(rules: list[Rule], rows: list[tuple[float, ...]]) -> None:
    matrix = MetricMatrix(np.array(rows, dtype=np.float32).reshape(-1, len(METRICS)), METRICS)
    column = {metric.kind: index for index, metric in enumerate(METRICS)}
    brute = np.array([[all(meets(c, row[column[c.kind]]) for c in rule.conditions) for rule in rules] for row in rows])
    fired = fire(rules, matrix)
    assert fired.shape == (len(rows), len(rules))
    np.testing.assert_array_equal(fired.toarray(), brute.reshape(len(rows), len(rules)))
    for row, expected in zip(rows, fired.toarray(), strict=True):
        metrics = {metric.key: None if np.isnan(value) else value for metric, value in zip(METRICS, row, strict=True)}
        assert fired_on(rules, metrics) == np.flatnonzero(expected).tolist()


def test_a_metric_that_is_not_stored_is_missing() -> None:
    rule = Rule((Condition("year", "gap", "<=", 1.0),), MATCH)
    assert fired_on([rule], {"year.gap": 0.5}) == [0]
    assert fired_on([rule], {"year.gap": None}) == fired_on([rule], {}) == fired_on([], {}) == []


def test_firing_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("riskcore.rules.firing._DENSE_CELLS", 12)
    values = np.random.default_rng(0).random((40, 3)).astype(np.float32)
    rules = [Rule((Condition("x", "edit", ">", 0.5),), MATCH), Rule((Condition("x", "gap", "<=", 0.2),), NON_MATCH)]
    expected = np.column_stack([values[:, 0] > 0.5, values[:, 1] <= 0.2])
    np.testing.assert_array_equal(fire(rules, MetricMatrix(values, METRICS)).toarray(), expected)


def test_texts_read_well() -> None:
    year = Rule((Condition("year", "gap", ">", 0.5),), NON_MATCH)
    assert year.text == "year differs by more than 0.5 -> non-match"
    both = Rule((Condition("venue", "not_substring", ">", 0.5), Condition("authors", "unmatched", ">", 1.0)), NON_MATCH)
    assert (
        both.text
        == "authors has more than 1 elements without a counterpart and neither venue contains the other -> non-match"
    )


def test_repeated_conditions_merge() -> None:
    loose, tight = Condition("x", "edit", ">", 0.3), Condition("x", "edit", ">", 0.6)
    other_side = Condition("x", "edit", "<=", 0.9)
    assert Rule((loose, tight, other_side, tight), MATCH).conditions == (other_side, tight)


def test_a_tighter_rule_implies_a_looser_one() -> None:
    loose = Rule((Condition("x", "edit", ">", 0.3),), MATCH)
    tight = Rule((Condition("x", "edit", ">", 0.6), Condition("x", "gap", "<=", 1.0)), MATCH)
    assert tight.implies(loose)
    assert not loose.implies(tight)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "year",
        "year differs by more than 0.5",
        "year differs by more than x -> match",
        "year differs -> maybe",
        " -> match",
    ],
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(RuleFormatError):
        Rule.parse(text)


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"conditions": [], "outcome": "match"},
        {"conditions": [{"attribute": "x", "kind": "no such", "side": ">", "cut": 1}], "outcome": "match"},
        {"conditions": [{"attribute": "x", "kind": "edit", "side": "=", "cut": 1}], "outcome": "match"},
        {"conditions": [{"attribute": "x", "kind": "edit", "side": ">", "cut": float("nan")}], "outcome": "match"},
        {"conditions": [{"attribute": "x", "kind": "edit", "side": ">", "cut": "1"}], "outcome": "match"},
        {"conditions": [{"attribute": "x", "kind": "edit"}], "outcome": "match"},
        {"conditions": [{"attribute": "x", "kind": "edit", "side": ">", "cut": 1}], "outcome": "maybe"},
    ],
)
def test_other_json_is_refused(value: dict) -> None:
    with pytest.raises(RuleFormatError):
        Rule.from_json(value)
