"""From metrics and labels to a readable rule set, in three steps: extract, prune, merge."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from riskcore.config import RuleConfig
from riskcore.metrics.kinds import Metric
from riskcore.metrics.values import MetricMatrix
from riskcore.rules.firing import fired_bits
from riskcore.rules.one_sided import Cut, search
from riskcore.rules.rule import MATCH, NON_MATCH, Condition, Rule
from riskcore.rules.rule_set import RuleSet
from riskcore.rules.simplification import lower_bound, simplify

_WORDS_AT_ONCE = 4_000_000  # 64-bit words of rules' bits compared at a time: 32 MB


def generate(
    matrix: MetricMatrix,
    labels: np.ndarray,
    config: RuleConfig | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> RuleSet:
    """The rule set of a labelled source: everything the search finds, pruned for reading."""
    config = config or RuleConfig()
    if not len(labels):
        return RuleSet.empty()
    found = extract(matrix, labels, config, on_progress)
    if config.simplify:
        found = simplify(found, matrix, labels, config)
    found = merge(prune(found, config.bound_z if config.simplify else 0.0), matrix, config.same_overlap)
    found = dataclasses.replace(found, stands_for=np.ones(len(found), dtype=np.int64))  # the same rule counts once
    return merge(found, matrix, config.merge_overlap) if config.simplify else found


def target_rules(matrix: MetricMatrix, labels: np.ndarray, shared: int, config: RuleConfig) -> RuleSet:
    """Rules that labelled pairs of the target teach on attributes that the source lacks: one condition on one of the
    metrics after the `shared` ones. With more, a few hundred labels find more rules than people read. None where the
    labels are of one class."""
    if len(np.unique(labels)) < 2:
        return RuleSet.empty()
    own = MetricMatrix(matrix.values[:, shared:], matrix.metrics[shared:])
    return generate(own, labels, dataclasses.replace(config, depth=1))


def extract(
    matrix: MetricMatrix,
    labels: np.ndarray,
    config: RuleConfig,
    on_progress: Callable[[int, int], None] | None = None,
) -> RuleSet:
    """Every rule the search finds, one per distinct set of pairs and class."""
    found = list(search(matrix.values, labels, config, on_progress).values())
    rules = tuple(
        Rule(tuple(_condition(cut, matrix.metrics) for cut in one.path), MATCH if one.outcome else NON_MATCH)
        for one in found
    )
    support = np.array([one.support for one in found], dtype=np.int64)
    return RuleSet(rules, support, np.array([one.matches for one in found], dtype=np.int64))


def prune(found: RuleSet, z: float = 0.0) -> RuleSet:
    """Drop each rule that a more general one of its class, at least as pure, makes redundant.

    Purity is judged by its lower bound, `z` standard deviations below what was observed.
    """
    purity = lower_bound(found.right, found.support, z)
    by_shape: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for row, rule in enumerate(found.rules):
        by_shape[_shape(rule.conditions, rule.outcome)].append(row)

    def is_said(row: int) -> bool:
        rule = found.rules[row]
        return any(
            purity[other] >= purity[row] and rule.implies(found.rules[other]) and _precedes(found, other, row)
            for shape in _more_general_shapes(rule)
            for other in by_shape.get(shape, ())
            if other != row
        )

    return found.take([row for row in range(len(found)) if not is_said(row)])


def merge(found: RuleSet, matrix: MetricMatrix, overlap: float) -> RuleSet:
    """Of rules of one class that fire on nearly the same pairs, keep the one that is simplest to read; it stands for
    the others."""
    bits = fired_bits(found.rules, matrix)
    outcome = np.array([rule.outcome == MATCH for rule in found.rules], dtype=bool)
    length = np.array([len(rule.conditions) for rule in found.rules], dtype=np.int64)
    support, gone, kept = found.support, np.zeros(len(found), dtype=bool), []
    stands_for = found.stands_for.copy()
    for row in np.lexsort((-found.purity, -support, length)):
        if gone[row]:
            continue
        kept.append(int(row))
        of_a_size = (support >= overlap * support[row]) & (overlap * support <= support[row])
        near = np.flatnonzero(of_a_size & ~gone & (outcome == outcome[row]))
        both = _shared(bits, near, row)
        similar = near[both >= overlap * (support[row] + support[near] - both)]
        gone[similar] = True
        stands_for[row] = found.stands_for[similar].sum()
    return dataclasses.replace(found, stands_for=stands_for).take(sorted(kept))


def _shared(bits: np.ndarray, rows: np.ndarray, row: int) -> np.ndarray:
    """How many pairs each of these rules fires on together with one rule; some rules at a time, to bound memory."""
    step = max(1, _WORDS_AT_ONCE // max(1, bits.shape[1]))
    parts = [
        np.bitwise_count(bits[rows[start : start + step]] & bits[row]).sum(axis=1, dtype=np.int64)
        for start in range(0, len(rows), step)
    ]
    return np.concatenate(parts)


def _precedes(found: RuleSet, other: int, row: int) -> bool:
    """Of two rules that say the same, the first stays."""
    return not found.rules[other].implies(found.rules[row]) or other < row


def _more_general_shapes(rule: Rule) -> Iterator[tuple[Any, ...]]:
    for size in range(1, len(rule.conditions) + 1):
        for some in combinations(rule.conditions, size):
            yield _shape(some, rule.outcome)


def _shape(conditions: Sequence[Condition], outcome: str) -> tuple[Any, ...]:
    """What a rule looks at, whatever its cuts."""
    return (outcome, *((condition.attribute, condition.kind, condition.side) for condition in conditions))


def _condition(cut: Cut, metrics: Sequence[Metric]) -> Condition:
    metric = metrics[cut.metric]
    return Condition(metric.attribute, metric.kind, cut.side, cut.threshold)  # type: ignore[arg-type]
