"""Simpler rules: conditions that carry nothing are dropped, and small samples are judged by a lower bound.

The search looks at what earlier cuts have not taken, so many of its rules keep a condition that points the other way:
"the prices differ and the titles are alike: non-match". As in C4.5rules, a condition is dropped wherever the shorter
rule is as good on the labelled pairs, by the lower confidence bound of its purity. A condition of the other direction
stays only where it carries; a rule with no condition of its own direction is dropped.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from riskcore.config import RuleConfig
from riskcore.metrics.kinds import KINDS
from riskcore.metrics.values import MetricMatrix
from riskcore.rules.firing import fired_bits, packed_bits
from riskcore.rules.rule import MATCH, Condition, Outcome, Rule
from riskcore.rules.rule_set import RuleSet


def points_to(condition: Condition, outcome: Outcome) -> bool:
    """Whether a condition is of the rule's own direction: alike for a match, unlike for a non-match."""
    alike = (condition.side == ">") != KINDS[condition.kind].difference
    return alike == (outcome == MATCH)


def lower_bound(right: np.ndarray, pairs: np.ndarray, z: float) -> np.ndarray:
    """Wilson's lower confidence bound of a share, `right` of `pairs`; 0 where there are no pairs."""
    right, pairs = np.asarray(right, dtype=np.float64), np.asarray(pairs, dtype=np.float64)
    share = np.divide(right, pairs, out=np.zeros_like(right), where=pairs > 0)
    spread = z * np.sqrt(share * (1 - share) * pairs + z * z / 4)
    total = pairs + z * z
    return np.divide(right + z * z / 2 - spread, total, out=np.zeros_like(right), where=pairs > 0)


def simplify(found: RuleSet, matrix: MetricMatrix, labels: np.ndarray, config: RuleConfig) -> RuleSet:
    """The rules without conditions that carry nothing, each once, with their record on these labelled pairs."""
    records = _Records(found, matrix, labels, config.bound_z)
    simple = [records.simplest(rule) for rule in found.rules]
    kept = list(dict.fromkeys(rule for rule in simple if rule is not None and records.is_pure(rule, config)))
    counts = np.array([records.counts(rule.conditions) for rule in kept], dtype=np.int64).reshape(-1, 2)
    return RuleSet(tuple(kept), counts[:, 0], counts[:, 1])


class _Records:
    """How many labelled pairs meet some conditions, and how many of these match; counted once."""

    def __init__(self, found: RuleSet, matrix: MetricMatrix, labels: np.ndarray, z: float) -> None:
        conditions = list(dict.fromkeys(condition for rule in found.rules for condition in rule.conditions))
        self._row = {condition: row for row, condition in enumerate(conditions)}
        self._bits = fired_bits([Rule((condition,), MATCH) for condition in conditions], matrix)
        self._matches = packed_bits(np.asarray(labels, dtype=bool)[None, :])[0]
        self._known: dict[tuple[Condition, ...], tuple[int, int]] = {}
        self._z = z

    def counts(self, conditions: Sequence[Condition]) -> tuple[int, int]:
        """Pairs that meet all conditions, and those of them that match."""
        key = tuple(conditions)
        if key not in self._known:
            bits = np.bitwise_and.reduce(self._bits[[self._row[condition] for condition in key]], axis=0)
            both = np.bitwise_count(np.stack([bits, bits & self._matches])).sum(axis=1, dtype=np.int64)
            self._known[key] = int(both[0]), int(both[1])
        return self._known[key]

    def bound(self, conditions: Sequence[Condition], outcome: Outcome) -> float:
        """The lower bound of the share of pairs that have the outcome, among those that meet the conditions."""
        pairs, matches = self.counts(conditions)
        right = matches if outcome == MATCH else pairs - matches
        return float(lower_bound(np.array([right]), np.array([pairs]), self._z)[0])

    def simplest(self, rule: Rule) -> Rule | None:
        """The rule after dropping, one by one, what it is as good without: conditions of the other direction first."""
        conditions = list(rule.conditions)
        if not any(points_to(condition, rule.outcome) for condition in conditions):
            return None
        while len(conditions) > 1:
            best = self.bound(conditions, rule.outcome)
            shorter = [
                (not points_to(one, rule.outcome), self.bound(rest, rule.outcome), rest)
                for one, rest in ((one, [other for other in conditions if other != one]) for one in conditions)
                if any(points_to(other, rule.outcome) for other in rest)
            ]
            as_good = [one for one in shorter if one[1] >= best]
            if not as_good:
                break
            conditions = max(as_good, key=lambda one: one[:2])[2]
        return Rule(tuple(conditions), rule.outcome)

    def is_pure(self, rule: Rule, config: RuleConfig) -> bool:
        """Whether the lower bound of the rule's purity keeps its impurity within the limit of its class."""
        bound = self.bound(rule.conditions, rule.outcome)
        limit = config.match_impurity if rule.outcome == MATCH else config.non_match_impurity
        return bound > 0.5 and 2 * bound * (1 - bound) < limit
