"""What a reviewer saw: which attributes were masked when a verdict was given, and which of them had been revealed.

It stands at the end of the verdict's note, as `[masked: price, year; revealed: price]`, so that every export has it.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from urllib.parse import unquote

from riskcore.audit.verdicts import WITHDRAWN, Verdict

NOTHING = "none"
_NOTE = re.compile(r"\[masked: ([^][;]+); revealed: ([^][;]+)\]\s*$")
_SPECIAL = re.compile(r"[%,;\[\]#]|^none$")  # of attributes' names, in a note


@dataclasses.dataclass(frozen=True)
class Disclosure:
    """The masked attributes of one verdict, and those of them that were revealed before it."""

    masked: tuple[str, ...]
    revealed: tuple[str, ...]

    @property
    def share(self) -> float:
        return len(self.revealed) / len(self.masked)


@dataclasses.dataclass(frozen=True)
class DisclosureSummary:
    """The verdicts of a person, or of all, that were given with masked attributes."""

    who: str | None
    verdicts: int
    needed: int  # verdicts before which something was revealed
    disclosed: float  # mean share of the masked attributes that were revealed


def with_disclosure(note: str, masked: Iterable[str], revealed: Iterable[str]) -> str:
    """The note with what was masked and revealed at its end; as it is where nothing was masked."""
    names = tuple(masked)
    if not names:
        return note
    shown = [name for name in names if name in set(revealed)]
    words = f"[masked: {_listed(names)}; revealed: {_listed(shown)}]"
    return f"{note.rstrip()} {words}" if note.strip() else words


def disclosure_of(note: str) -> Disclosure | None:
    """What the note of a verdict says of it; None where nothing was masked."""
    found = _NOTE.search(note)
    if found is None:
        return None
    masked, revealed = (_names(part) for part in found.groups())
    return Disclosure(masked, tuple(name for name in revealed if name in masked)) if masked else None


def summarize_disclosure(entries: Iterable[Verdict]) -> list[DisclosureSummary]:
    """Of the verdicts that stand: all of them, then each person's; empty where nothing was ever masked."""
    standing: dict[tuple[str, str], Disclosure | None] = {}
    for entry in entries:
        key = (entry.pair_id, entry.who)
        standing[key] = None if entry.verdict == WITHDRAWN else disclosure_of(entry.note)
    by_person: dict[str, list[Disclosure]] = {}
    for (_, who), one in standing.items():
        if one is not None:
            by_person.setdefault(who, []).append(one)
    if not by_person:
        return []
    everyone = [one for found in by_person.values() for one in found]
    return [_summary(None, everyone), *(_summary(who, found) for who, found in sorted(by_person.items()))]


def _summary(who: str | None, found: list[Disclosure]) -> DisclosureSummary:
    needed = sum(bool(one.revealed) for one in found)
    return DisclosureSummary(who, len(found), needed, sum(one.share for one in found) / len(found))


def _listed(names: Iterable[str]) -> str:
    return ", ".join(_SPECIAL.sub(_escaped, name) for name in names) or NOTHING


def _escaped(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode())


def _names(text: str) -> tuple[str, ...]:
    return () if text.strip() == NOTHING else tuple(unquote(one) for one in text.split(", "))
