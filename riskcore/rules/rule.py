"""A one-sided rule: a few conditions on metrics, and the class that nearly all pairs meeting them have.

A frozen, hashable value. Its text is readable and exact: `Rule.parse(rule.text) == rule`.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from typing import Any, Literal

import numpy as np

from riskcore.errors import RiskcoreError
from riskcore.metrics.kinds import KINDS, Metric

Side = Literal["<=", ">"]
Outcome = Literal["match", "non-match"]
MATCH: Outcome = "match"
NON_MATCH: Outcome = "non-match"

_PLAIN_NAME = re.compile(r"[^\W\d][\w-]*")
_QUOTED_NAME = r'"(?:[^"\\]|\\.)*"'
_NAME = rf"(?:{_PLAIN_NAME.pattern}|{_QUOTED_NAME})"
_NUMBER = r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?"
_FLAG_CUT = 0.5


class RuleFormatError(RiskcoreError):
    """A text or JSON value that is not a rule."""


@dataclasses.dataclass(frozen=True, order=True)
class Condition:
    """`metric <= cut` or `metric > cut`. A missing metric meets neither."""

    attribute: str
    kind: str
    side: Side
    cut: float

    @property
    def metric(self) -> Metric:
        return Metric(self.attribute, self.kind)

    @property
    def text(self) -> str:
        name = (
            self.attribute if _PLAIN_NAME.fullmatch(self.attribute) else json.dumps(self.attribute, ensure_ascii=False)
        )
        return _template(self.kind, self.side, self.cut).replace("{cut}", _digits(self.cut)).replace("{a}", name)

    def holds(self, values: np.ndarray) -> np.ndarray:
        """Which of these metric values (float32, NaN = missing) meet the condition."""
        exact = values.astype(np.float64)  # in float32 a cut may round onto a value
        return exact <= self.cut if self.side == "<=" else exact > self.cut

    def implies(self, other: Condition) -> bool:
        """Whether every value that meets this condition also meets the other."""
        if (self.attribute, self.kind, self.side) != (other.attribute, other.kind, other.side):
            return False
        return self.cut <= other.cut if self.side == "<=" else self.cut >= other.cut


@dataclasses.dataclass(frozen=True, order=True)
class Rule:
    """All conditions together point to one class. Conditions are kept sorted and merged: equal rules are equal."""

    conditions: tuple[Condition, ...]
    outcome: Outcome

    def __post_init__(self) -> None:
        object.__setattr__(self, "conditions", _merge(self.conditions))

    @cached_property
    def text(self) -> str:
        """ "year differs by more than 0.5 -> non-match" """
        return f"{' and '.join(condition.text for condition in self.conditions)} -> {self.outcome}"

    @property
    def key(self) -> str:
        """A name for the rule that is the same in every run: its text."""
        return self.text

    def implies(self, other: Rule) -> bool:
        """Whether every pair this rule fires on is one the other fires on too, whatever the data."""
        return all(any(mine.implies(theirs) for mine in self.conditions) for theirs in other.conditions)

    def to_json(self) -> dict[str, Any]:
        conditions = [dataclasses.asdict(condition) for condition in self.conditions]
        return {"conditions": conditions, "outcome": self.outcome}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Rule:
        try:
            conditions = tuple(Condition(**condition) for condition in value["conditions"])
            rule = cls(conditions, value["outcome"])
        except (KeyError, TypeError) as error:
            raise RuleFormatError(f"This is no rule: {value!r} ({error}).") from error
        return _checked(rule)

    @classmethod
    def parse(cls, text: str) -> Rule:
        """The rule that a text stands for."""
        body, arrow, outcome = text.rpartition(" -> ")
        conditions = next(_read_conditions(body), None) if arrow else None
        if conditions is None:
            raise RuleFormatError(f"This text is no rule: {text!r}. A rule reads 'year differs -> non-match'.")
        return _checked(cls(conditions, outcome))  # type: ignore[arg-type]


def _digits(cut: float) -> str:
    """As few digits as give the same number back."""
    return repr(float(cut)).removesuffix(".0")


def _is_sound(condition: Condition) -> bool:
    known = condition.kind in KINDS and condition.side in ("<=", ">") and isinstance(condition.attribute, str)
    return known and isinstance(condition.cut, int | float) and math.isfinite(condition.cut)


def _checked(rule: Rule) -> Rule:
    if not rule.conditions or not all(map(_is_sound, rule.conditions)) or rule.outcome not in (MATCH, NON_MATCH):
        raise RuleFormatError(f"This is no rule: {rule!r}.")
    return rule


def _merge(conditions: Sequence[Condition]) -> tuple[Condition, ...]:
    """Sorted, with only the tightest of several conditions on one side of one metric."""
    kept = [one for one in set(conditions) if not any(other != one and other.implies(one) for other in conditions)]
    return tuple(sorted(kept))


def _template(kind: str, side: Side, cut: float) -> str:
    known = KINDS[kind]
    if known.flag and cut != _FLAG_CUT:  # the texts of a flag leave the cut out
        return f"{{a}} [{kind}] {side} {{cut}}"
    return known.above if side == ">" else known.below


@cache
def _patterns() -> tuple[tuple[str, Side, re.Pattern[str]], ...]:
    """Every form a condition's text can take."""
    sides: tuple[Side, Side] = ("<=", ">")
    return tuple(
        (kind, side, _pattern(template))
        for kind in KINDS
        for side in sides
        for template in dict.fromkeys(_template(kind, side, cut) for cut in (_FLAG_CUT, 2 * _FLAG_CUT))
    )


def _pattern(template: str) -> re.Pattern[str]:
    pattern = re.escape(template).replace(re.escape("{a}"), f"(?P<a>{_NAME})")
    return re.compile(pattern.replace(re.escape("{cut}"), f"(?P<cut>{_NUMBER})"))


def _read_conditions(text: str) -> Iterator[tuple[Condition, ...]]:
    """Every way to read a text as conditions joined by "and": a label may itself hold an "and"."""
    for kind, side, pattern in _patterns():
        found = pattern.match(text)
        if not found:
            continue
        name = found["a"]
        attribute = json.loads(name) if name.startswith('"') else name
        cut = float(found["cut"]) if "cut" in pattern.groupindex else _FLAG_CUT
        condition, rest = Condition(attribute, kind, side, cut), text[found.end() :]
        if not rest:
            yield (condition,)
        elif rest.startswith(" and "):
            yield from ((condition, *others) for others in _read_conditions(rest[len(" and ") :]))
