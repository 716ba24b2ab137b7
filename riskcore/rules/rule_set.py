"""Rules with their record on the labelled pairs they were learned from. Reading one needs no compiler."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from riskcore.rules.rule import MATCH, Rule, RuleFormatError


@dataclasses.dataclass(frozen=True, eq=False)
class RuleSet:
    """Rules with their record on the labelled pairs they were learned from."""

    rules: tuple[Rule, ...]
    support: np.ndarray  # int64: pairs each rule fires on
    matches: np.ndarray  # int64: those of them that match

    def __len__(self) -> int:
        return len(self.rules)

    @property
    def match_rate(self) -> np.ndarray:
        """Share of matches among the pairs a rule fires on; NaN for a rule that fires on none."""
        return np.divide(self.matches, self.support, out=np.full(len(self), np.nan), where=self.support > 0)

    @property
    def purity(self) -> np.ndarray:
        """Share of fired pairs that have the rule's class."""
        rate = self.match_rate
        return np.where([rule.outcome == MATCH for rule in self.rules], rate, 1 - rate)

    def take(self, rows: Sequence[int]) -> RuleSet:
        index = np.asarray(rows, dtype=np.int64)
        return RuleSet(tuple(self.rules[row] for row in rows), self.support[index], self.matches[index])

    def to_json(self) -> str:
        rows = zip(self.rules, self.support.tolist(), self.matches.tolist(), strict=True)
        return json.dumps([{**rule.to_json(), "support": n, "matches": m, "text": rule.text} for rule, n, m in rows])

    @classmethod
    def from_json(cls, text: str) -> RuleSet:
        try:
            rows: list[dict[str, Any]] = json.loads(text)
            counts = [(int(row["support"]), int(row["matches"])) for row in rows]
        except (ValueError, KeyError, TypeError) as error:
            raise RuleFormatError(f"This is no rule set: {error}.") from error
        support, matches = np.array(counts, dtype=np.int64).reshape(-1, 2).T
        return cls(tuple(Rule.from_json(row) for row in rows), support, matches)


def measure_rules(rules: Sequence[Rule], fired: sparse.sparray, labels: np.ndarray) -> RuleSet:
    """Given rules with their support and matches among pairs of any part: source, validation or target."""
    support = np.asarray(fired.sum(axis=0), dtype=np.int64)
    matches = np.asarray(fired.T.astype(np.int64) @ np.asarray(labels, dtype=np.int64))
    return RuleSet(tuple(rules), support, matches)
