"""Credits against a loop over flipped pairs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from riskcore.evaluation import EvaluationError, responsibilities
from tests.evaluation.drawn import shifted


def plain(truth, before, after, fired, outcomes, weights):
    """Credit by rule of all flips, the fixed and the broken; and flips nobody spoke for."""
    credit, silent = np.zeros((3, len(weights))), [0, 0, 0]
    for t, b, a, rules in zip(truth, before, after, fired, strict=True):
        if a == b:
            continue
        groups = [0] + ([1] if t == a else []) + ([2] if t == b else [])
        speakers = [f for f in np.flatnonzero(rules) if outcomes[f] == a and weights[f] > 0]
        for group in groups:
            silent[group] += not speakers
            for f in speakers:
                credit[group, f] += weights[f] / sum(weights[s] for s in speakers)
    return credit, silent


@given(st.integers(0, 10_000))
def test_credits_against_a_loop(seed):
    chance = np.random.default_rng(seed)
    truth, before, after = shifted(40, seed)
    fired = chance.random((40, 6)) < 0.3
    outcomes, weights = chance.integers(0, 2, 6), chance.choice([0.0, 0.5, 2.0], 6)
    found = responsibilities(truth, before, after, sparse.csr_array(fired), outcomes, weights)
    credit, silent = plain(truth, before, after, fired, outcomes, weights)
    for i, name in enumerate(("credit", "fixed", "broken")):
        by_rule = dict.fromkeys(range(6), 0.0) | {rule.rule: getattr(rule, name) for rule in found.rules}
        assert [by_rule[f] for f in range(6)] == pytest.approx(credit[i])
    assert [found.unexplained, found.unexplained_fixed, found.unexplained_broken] == silent
    assert sum(rule.credit for rule in found.rules) + found.unexplained == pytest.approx((before != after).sum())
    ranked = [rule.credit for rule in found.rules]
    assert ranked == sorted(ranked, reverse=True)


def test_who_fixed_and_who_broke():
    truth, before, after = np.array([1, 1, 0, 0]), np.array([0, 0, 0, 1]), np.array([1, 1, 1, 1])
    fired = sparse.csr_array(np.array([[1, 1, 0], [1, 0, 0], [0, 1, 1], [1, 1, 1]]))
    found = responsibilities(truth, before, after, fired, np.array([1, 1, 0]), np.array([3.0, 1.0, 9.0]))
    assert [(r.rule, r.fixed, r.fixed_pairs) for r in found.by_fixed()] == [(0, 1.75, 2), (1, 0.25, 1)]
    assert [(r.rule, r.broken, r.pairs) for r in found.by_broken()] == [(1, 1.0, 2)]


def test_without_truth_flips_are_still_explained():
    fired = sparse.csr_array(np.array([[1], [1]]))
    found = responsibilities(None, np.array([0, 0]), np.array([1, 0]), fired, np.array([1]), np.array([0.1]))
    (rule,) = found.rules
    assert (rule.credit, rule.pairs, rule.fixed, rule.broken_pairs) == (1, 1, None, None)
    assert (found.unexplained, found.unexplained_fixed, found.by_fixed()) == (0, None, ())


def test_no_rules_and_wrong_shapes():
    nothing = responsibilities(
        np.array([1]), np.array([0]), np.array([1]), sparse.csr_array((1, 0)), np.empty(0), np.empty(0)
    )
    assert (nothing.rules, nothing.unexplained_fixed, nothing.unexplained_broken) == ((), 1, 0)
    with pytest.raises(EvaluationError, match="has 2 rows for 1 pairs"):
        responsibilities(None, np.array([0]), np.array([1]), sparse.csr_array((2, 0)), np.empty(0), np.empty(0))
