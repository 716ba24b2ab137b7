"""Rules with their record on the labelled pairs they were learned from. Reading one needs no compiler."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from riskcore.rules.rule import MATCH, Rule, RuleFormatError

SOURCE, VALIDATION = "source", "validation"  # what a rule was learned from


@dataclasses.dataclass(frozen=True, eq=False)
class RuleSet:
    """Rules with their record on the labelled pairs they were learned from, the source's unless it is said."""

    rules: tuple[Rule, ...]
    support: np.ndarray  # int64: pairs each rule fires on
    matches: np.ndarray  # int64: those of them that match
    from_validation: np.ndarray = None  # type: ignore[assignment]  # bool: learned from validation pairs; else the source
    stands_for: np.ndarray = None  # type: ignore[assignment]  # int64: similar rules merged into it, itself included

    def __post_init__(self) -> None:
        if self.from_validation is None:
            object.__setattr__(self, "from_validation", np.zeros(len(self.rules), dtype=bool))
        if self.stands_for is None:
            object.__setattr__(self, "stands_for", np.ones(len(self.rules), dtype=np.int64))

    @classmethod
    def empty(cls) -> RuleSet:
        return cls((), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.rules)

    @property
    def match_rate(self) -> np.ndarray:
        """Share of matches among the pairs a rule fires on; NaN for a rule that fires on none."""
        return np.divide(self.matches, self.support, out=np.full(len(self), np.nan), where=self.support > 0)

    @property
    def right(self) -> np.ndarray:
        """Fired pairs that have the rule's class."""
        return np.where([rule.outcome == MATCH for rule in self.rules], self.matches, self.support - self.matches)

    @property
    def purity(self) -> np.ndarray:
        """Share of fired pairs that have the rule's class; NaN for a rule that fires on none."""
        return np.divide(self.right, self.support, out=np.full(len(self), np.nan), where=self.support > 0)

    def take(self, rows: Sequence[int]) -> RuleSet:
        index = np.asarray(rows, dtype=np.int64)
        rules = tuple(self.rules[row] for row in rows)
        counts = (self.support, self.matches, self.from_validation, self.stands_for)
        return RuleSet(rules, *(count[index] for count in counts))

    def followed_by(self, validation: RuleSet) -> RuleSet:
        """These rules, then those that were learned from the validation pairs."""
        return RuleSet(
            (*self.rules, *validation.rules),
            np.concatenate([self.support, validation.support]),
            np.concatenate([self.matches, validation.matches]),
            np.concatenate([self.from_validation, np.ones(len(validation), dtype=bool)]),
            np.concatenate([self.stands_for, validation.stands_for]),
        )

    def to_json(self) -> str:
        origin = [VALIDATION if validation else SOURCE for validation in self.from_validation.tolist()]
        known = {
            "support": self.support.tolist(),
            "matches": self.matches.tolist(),
            "learned_from": origin,
            "stands_for": self.stands_for.tolist(),
        }
        facts = (dict(zip(known, row, strict=True)) for row in zip(*known.values(), strict=True))
        return json.dumps(
            [{**rule.to_json(), **row, "text": rule.text} for rule, row in zip(self.rules, facts, strict=True)]
        )

    @classmethod
    def from_json(cls, text: str) -> RuleSet:
        try:
            rows: list[dict[str, Any]] = json.loads(text)
            counts = [(int(row["support"]), int(row["matches"])) for row in rows]
            from_validation = [row.get("learned_from", SOURCE) == VALIDATION for row in rows]
            stands_for = [int(row.get("stands_for", 1)) for row in rows]
        except (ValueError, KeyError, TypeError) as error:
            raise RuleFormatError(f"This is no rule set: {error}.") from error
        support, matches = np.array(counts, dtype=np.int64).reshape(-1, 2).T
        taught, similar = np.array(from_validation, dtype=bool), np.array(stands_for, dtype=np.int64)
        return cls(tuple(Rule.from_json(row) for row in rows), support, matches, taught, similar)


def measure_rules(found: RuleSet, fired: sparse.sparray, labels: np.ndarray) -> RuleSet:
    """The rules with their support and matches among pairs of any part: source, validation or target."""
    support = np.asarray(fired.sum(axis=0), dtype=np.int64)
    matches = np.asarray(fired.T.astype(np.int64) @ np.asarray(labels, dtype=np.int64))
    return RuleSet(found.rules, support, matches, found.from_validation, found.stands_for)
