"""Attributes and their types: what an attribute's values mean decides which metrics it gets."""

from __future__ import annotations

import dataclasses
from enum import StrEnum


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
