"""What `riskcore doctor` finds out: one line each, with a cure where something is not as it should be."""

from __future__ import annotations

import dataclasses
from enum import StrEnum


class Level(StrEnum):
    """How bad it is. A warning is something to look at; with an error, work fails or nobody is protected."""

    OK = "ok"
    WARNING = "warning"
    ERROR = "error"


@dataclasses.dataclass(frozen=True)
class Finding:
    """The result of one check."""

    check: str
    level: Level
    said: str
    cure: str = ""


def ok(check: str, said: str) -> Finding:
    return Finding(check, Level.OK, said)


def warning(check: str, said: str, cure: str) -> Finding:
    return Finding(check, Level.WARNING, said, cure)


def error(check: str, said: str, cure: str) -> Finding:
    return Finding(check, Level.ERROR, said, cure)


def some(names: list[str], most: int = 3) -> str:
    """The first few of many names, and how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"
