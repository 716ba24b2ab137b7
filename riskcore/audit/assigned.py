"""Work lists that are assigned to people: a named set of a run's target pairs, judged in its order.

A list is a file of its own in the run's folder, never overwritten; closing one adds another file. What is judged is not
stored here: it follows from the log of verdicts. Everyone whom a list is assigned to judges all of its pairs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from riskcore.audit.agreement import current_by_person, is_adjudication
from riskcore.audit.verdicts import MAX_AT_ONCE, MAX_NAME, Verdict
from riskcore.columns import PAIR_ID
from riskcore.data.problems import shown
from riskcore.errors import RiskcoreError, StorageError
from riskcore.runs.folder import RunFolder
from riskcore.runs.formats import read_pair_ids
from riskcore.storage.files import read_json, write_json, writing
from riskcore.storage.lock import FileLock

MAX_LISTS = 1_000  # of a run
MAX_PEOPLE = 20
_PATIENCE = 10.0  # seconds to wait for another person's list to be written


class AssignmentError(RiskcoreError):
    """Pairs cannot be assigned like this, or there is no such list."""


@dataclasses.dataclass(frozen=True)
class AssignedList:
    """Pairs to judge, and by whom."""

    number: int  # of the run's lists, from 1
    name: str
    to: tuple[str, ...]  # whoever judges all of them
    pairs: tuple[str, ...]  # in the order in which they are judged
    blind: bool  # both records are shown, and nothing that a model or anyone else has said
    decides: bool  # the verdicts decide conflicts
    source: str  # how the pairs were chosen, in words
    who: str  # made it
    at: str  # ISO 8601, UTC
    closed_by: str = ""
    closed_at: str = ""

    @property
    def open(self) -> bool:
        return not self.closed_at

    @property
    def on_cards(self) -> bool:
        """Whether its pairs are judged on their cards, where everything is shown."""
        return not (self.blind or self.decides)

    def left(self, judged: Mapping[str, Mapping[str, Verdict]], who: str) -> list[str]:
        """The pairs that this person has not judged yet; `judged` is `current_by_person` of the log."""
        return [pair for pair in self.pairs if not self._done(judged.get(pair, {}).get(who))]

    def progress(self, entries: Iterable[Verdict]) -> dict[str, int]:
        """How many of the pairs each of its people has judged."""
        judged = current_by_person(entries)
        return {who: len(self.pairs) - len(self.left(judged, who)) for who in self.to}

    def _done(self, held: Verdict | None) -> bool:
        return held is not None and (not self.decides or is_adjudication(held))


def assign(
    folder: RunFolder,
    name: str,
    to: Sequence[str],
    pairs: Sequence[str],
    *,
    blind: bool = False,
    decides: bool = False,
    source: str = "",
    who: str = "",
) -> AssignedList:
    """Make a list of these target pairs for these people."""
    name, people = name.strip(), tuple(dict.fromkeys(one.strip() for one in to if one.strip()))
    wanted = tuple(dict.fromkeys(pairs))
    _check(folder, name, people, wanted)
    with writing(folder.lists):
        folder.lists.mkdir(exist_ok=True)
    with FileLock(folder.lists / ".lock", _PATIENCE):
        held = lists_of(folder)
        if any(one.name == name for one in held):
            raise AssignmentError(f"There is a work list {shown(name)} already. Choose another name.")
        if len(held) >= MAX_LISTS:
            raise AssignmentError(f"A run has at most {MAX_LISTS:,} work lists.")
        number = max((one.number for one in held), default=0) + 1
        made = AssignedList(number, name, people, wanted, blind, decides, source, who, _now())
        stored = dataclasses.asdict(made)
        write_json(_file(folder, number), {key: stored[key] for key in _STORED})
    return made


def close_list(folder: RunFolder, wanted: str, who: str = "") -> AssignedList:
    """Close the list of this number or name: nobody is asked to work on it any more. Verdicts stay."""
    number = find_list(folder, wanted).number
    with FileLock(folder.lists / ".lock", _PATIENCE):
        if not _closing(folder, number).exists():
            write_json(_closing(folder, number), {"closed_by": who, "closed_at": _now()})
    return _read(folder, number)


def lists_of(folder: RunFolder) -> list[AssignedList]:
    """All lists of a run, the oldest first."""
    if not folder.lists.is_dir():
        return []
    return [_read(folder, int(file.stem.removeprefix("list-"))) for file in sorted(folder.lists.glob("list-*.json"))]


def find_list(folder: RunFolder, wanted: str) -> AssignedList:
    """The list of this number or name."""
    held = lists_of(folder)
    found = [one for one in held if one.name == wanted] or [one for one in held if str(one.number) == wanted]
    if not found:
        names = ", ".join(shown(one.name) for one in held[:10]) or "none"
        raise AssignmentError(f"Run {folder.path.name} has no work list {shown(wanted)}. It has: {names}.")
    return found[0]


def for_person(lists: Iterable[AssignedList], entries: Sequence[Verdict], who: str) -> dict[int, list[str]]:
    """The pairs that a person has left, by the number of each open list that is assigned to them and has any."""
    judged = current_by_person(entries)
    mine = {one.number: one.left(judged, who) for one in lists if one.open and who in one.to}
    return {number: left for number, left in mine.items() if left}


def target_pairs(folder: RunFolder) -> list[str]:
    """The ids of all target pairs, in their order."""
    found: list[str] = read_pair_ids(folder.pairs_file).column(PAIR_ID).to_pylist()
    return found


def _check(folder: RunFolder, name: str, people: Sequence[str], pairs: Sequence[str]) -> None:
    if not 0 < len(name) <= MAX_NAME:
        raise AssignmentError(f"A work list needs a name of at most {MAX_NAME} characters.")
    if not 0 < len(people) <= MAX_PEOPLE or max(map(len, people)) > MAX_NAME:
        raise AssignmentError(
            f"A work list is for 1 to {MAX_PEOPLE} people, whose names have at most {MAX_NAME} characters."
        )
    if not 0 < len(pairs) <= MAX_AT_ONCE:
        raise AssignmentError(f"There are {len(pairs):,} pairs to assign. A work list has 1 to {MAX_AT_ONCE:,}.")
    known = set(target_pairs(folder))
    unknown = [pair for pair in pairs if pair not in known]
    if unknown:
        more = f" and {len(unknown) - 5:,} more" if len(unknown) > 5 else ""
        named = ", ".join(map(shown, unknown[:5])) + more
        raise AssignmentError(f"Run {folder.path.name} has no target pair {named}. Choose pairs of this run.")


_STORED = ("number", "name", "to", "pairs", "blind", "decides", "source", "who", "at")


def _read(folder: RunFolder, number: int) -> AssignedList:
    stored: Any = read_json(_file(folder, number))
    if not isinstance(stored, dict) or set(stored) != set(_STORED):
        raise StorageError(f"{_file(folder, number)} is not a work list of this version of Riskcore. Restore it.")
    closing = _closing(folder, number)
    closed: Any = read_json(closing) if closing.exists() else {}
    return AssignedList(**{**stored, **closed, "to": tuple(stored["to"]), "pairs": tuple(stored["pairs"])})


def _file(folder: RunFolder, number: int) -> Path:
    return folder.lists / f"list-{number:04d}.json"


def _closing(folder: RunFolder, number: int) -> Path:
    return folder.lists / f"closed-{number:04d}.json"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
