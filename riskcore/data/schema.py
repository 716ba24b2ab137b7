"""Attributes and their types: what an attribute's values mean decides which metrics it gets."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from statistics import median

from riskcore.config import DataConfig
from riskcore.data.numbers import is_number
from riskcore.data.pairs import Table
from riskcore.data.values import compact, elements, fold, is_numeric_word, words
from riskcore.errors import ConfigError


class AttributeType(StrEnum):
    """How the values of an attribute are to be read."""

    NAME = "name"  # a short string: title, venue, song
    SET = "set"  # a list of entities: authors, genres
    TEXT = "text"  # a long description
    NUMBER = "number"  # a year, price, duration, quantity or date
    CODE = "code"  # a model number, phone, isbn


@dataclasses.dataclass(frozen=True)
class Attribute:
    """One attribute shared by both tables of a workload."""

    name: str
    type: AttributeType


# Shares and lengths at which a type is recognised. Overridable per attribute, so they need only be sensible.
_NUMBER_SHARE = 0.6
_CODE_SHARE = 0.7
_SET_SHARE = 0.5
_SET_ELEMENT_WORDS = 3
_TEXT_WORDS = 12
_LONG_NUMBER = 7  # digits from which a bare number is an identifier: a phone, an isbn


def infer_types(
    tables: Sequence[Table],
    attributes: Sequence[str],
    overrides: Mapping[str, str] | None = None,
    config: DataConfig | None = None,
) -> tuple[Attribute, ...]:
    """Type each attribute from a spread of its values; `overrides` (attribute to type) win."""
    overrides, sample = overrides or {}, (config or DataConfig()).type_sample
    check_types(overrides, attributes)
    return tuple(
        Attribute(name, AttributeType(overrides[name]) if name in overrides else _infer(_spread(tables, name, sample)))
        for name in attributes
    )


def type_of(values: Sequence[str]) -> AttributeType:
    """The type that these values seem to have."""
    return _infer([folded for value in values if (folded := fold(value))])


def check_types(overrides: Mapping[str, str], attributes: Sequence[str]) -> None:
    """Refuses types of unknown attributes, and unknown types."""
    known = [kind.value for kind in AttributeType]
    for name, kind in overrides.items():
        if name not in attributes:
            raise ConfigError(f"No attribute is called {name!r}. Attributes: {', '.join(attributes)}.")
        if kind not in known:
            raise ConfigError(f"{kind!r} is not an attribute type (given for {name!r}). Types: {', '.join(known)}.")


def _spread(tables: Sequence[Table], attribute: str, size: int) -> list[str]:
    """Up to `size` non-missing values, evenly spread over each table that has the attribute."""
    found: list[str] = []
    for table in tables:
        if attribute in table.attributes:
            values = [value for value in table.text(attribute) if value is not None]
            step = max(1, len(values) * len(tables) // size)
            found.extend(fold(value) for value in values[::step])
    return [value for value in found if value]


def _infer(folded: Sequence[str]) -> AttributeType:
    if not folded:
        return AttributeType.NAME
    if _share(folded, _is_code) >= _CODE_SHARE:
        return AttributeType.CODE
    if _share(folded, is_number) >= _NUMBER_SHARE:
        return AttributeType.NUMBER
    if median(len(words(value)) for value in folded) > _TEXT_WORDS:
        return AttributeType.TEXT
    return AttributeType.SET if _is_set(folded) else AttributeType.NAME


def _share(folded: Sequence[str], test: Callable[[str], bool]) -> float:
    return sum(map(test, folded)) / len(folded)


def _is_code(folded: str) -> bool:
    """One or two groups with a digit; bare numbers only when too long to be a quantity."""
    if is_number(folded):
        digits = compact(folded)
        return digits.isdigit() and len(digits) >= _LONG_NUMBER and "." not in folded
    return len(folded.split()) <= 2 and is_numeric_word(folded) and len(compact(folded)) >= 3


def _is_set(folded: Sequence[str]) -> bool:
    lists = [parts for parts in map(elements, folded) if len(parts) > 1]
    if len(lists) < _SET_SHARE * len(folded):
        return False
    return median(len(words(part)) for parts in lists for part in parts) <= _SET_ELEMENT_WORDS
