"""All settings, as frozen dataclasses split by concern. Each field carries its why.

A config goes to the code it concerns and to nothing else: rule search never sees a matcher's
learning rate. `to_json` / `from_json` round-trip; unknown or out-of-range values are refused by name.
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any, Self

from riskcore.errors import ConfigError


def setting(default: Any, why: str, low: float | None = None, high: float | None = None) -> Any:
    """A config field with its reason and, for numbers, the closed range it must lie in."""
    return dataclasses.field(default=default, metadata={"why": why, "low": low, "high": high})


@dataclasses.dataclass(frozen=True)
class Config:
    """Base of all configs: range checks on creation, JSON both ways."""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value, low, high = getattr(self, field.name), field.metadata.get("low"), field.metadata.get("high")
            if value is None or isinstance(value, bool) or (low is None and high is None):
                continue
            if not isinstance(value, int | float):
                raise ConfigError(f"{type(self).__name__}.{field.name} must be a number, not {value!r}.")
            if not (low is None or value >= low) or not (high is None or value <= high):
                raise ConfigError(
                    f"{type(self).__name__}.{field.name} is {value}; it must lie between "
                    f"{'-inf' if low is None else low} and {'inf' if high is None else high}."
                )

    def to_json(self) -> str:
        return json.dumps(dataclasses.asdict(self), sort_keys=True)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        known = {field.name: field for field in dataclasses.fields(cls)}
        unknown = sorted(set(values) - set(known))
        if unknown:
            raise ConfigError(f"{cls.__name__} has no setting named {', '.join(unknown)}. Known: {', '.join(known)}.")
        return cls(**{name: _like(known[name].default, value) for name, value in values.items()})

    @classmethod
    def from_json(cls, text: str) -> Self:
        return cls.from_dict(json.loads(text))


def _like(default: Any, value: Any) -> Any:
    """JSON knows lists only; fields whose default is a tuple get a tuple back."""
    return tuple(value) if isinstance(default, tuple) and isinstance(value, list) else value


@dataclasses.dataclass(frozen=True)
class DataConfig(Config):
    """What is accepted as input, and what counts as missing."""

    missing_words: tuple[str, ...] = setting(
        ("null", "nan", "n/a", "n.a.", "#n/a", "<na>", "unknown", "unk."),
        "a whole cell reading one of these (any case, spaces around it ignored) is missing, as is an empty one; "
        "'NA' and 'None' stay text, being real names and country codes",
    )
    max_rows: int = setting(5_000_000, "a table or pair file larger than this does not fit in memory", 1)
    max_columns: int = setting(500, "more columns than this is a broken delimiter, not a schema", 2)
    max_cell_chars: int = setting(1_000_000, "a longer cell is a broken quote, not a value", 1)
    max_file_bytes: int = setting(4_000_000_000, "refuse what cannot be read in minutes", 1)
    examples_per_problem: int = setting(20, "rows named one by one for each kind of problem; the rest are counted", 1)
    type_sample: int = setting(2_000, "values looked at to infer an attribute's type: enough to be stable", 1)


@dataclasses.dataclass(frozen=True)
class MetricConfig(Config):
    """How record pairs become numbers."""

    chunk_pairs: int = setting(20_000, "pairs scored at a time: memory does not grow with the workload", 1)
    max_chars: int = setting(1_000, "characters of a value that edit-based metrics look at: their cost is quadratic", 8)
    max_tokens: int = setting(5_000, "words of a value that token metrics look at", 8)
    max_elements: int = setting(30, "elements of a set that are compared with each other: cost is quadratic", 1)
    element_match: float = setting(0.85, "similarity at which two set elements are each other's counterpart", 0, 1)
    workers: int = setting(1, "threads for the C++ scorers; the web server wants the other core", 1)


@dataclasses.dataclass(frozen=True)
class RuleConfig(Config):
    """The one-sided rule search."""

    depth: int = setting(2, "conditions in a rule; 3 finds more rules than people read", 1, 4)
    min_support: int = setting(5, "pairs a rule must fire on: fewer is anecdote", 1)
    match_impurity: float = setting(0.1, "Gini a match side must stay under to be a rule", 0, 0.5)
    unmatch_impurity: float = setting(0.1, "Gini an unmatch side must stay under to be a rule", 0, 0.5)
    class_weight: float = setting(1000.0, "weight of the class that a cut must not let slip through", 1)
