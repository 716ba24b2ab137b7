"""What people decided about pairs. Entries are only added: withdrawing a verdict adds an entry too.

Each entry has a digest of itself and of the entry before it, so that an alteration outside Riskcore can be detected.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from riskcore.data.problems import shown
from riskcore.errors import RiskcoreError
from riskcore.runs.store.database import runs, verdicts
from riskcore.runs.store.run_record import RunNotFoundError
from riskcore.runs.store.run_store import RunStore

VERDICTS = ("match", "non-match", "unsure")
WITHDRAWN = "withdrawn"
MAX_NOTE = 10_000  # characters; a longer note is a pasted file
MAX_NAME = 200
MAX_AT_ONCE = 10_000  # entries of one click
BULK, SAMPLED = "bulk: ", "sample of a group"  # how the notes of such verdicts begin


class VerdictError(RiskcoreError):
    """This is not a verdict, or there is none to withdraw."""


@dataclasses.dataclass(frozen=True)
class Verdict:
    """One entry of the log. `withdrawn` withdraws this person's earlier verdict."""

    run: str
    pair_id: str
    verdict: str  # match, non-match, unsure, or withdrawn
    note: str
    who: str
    at: datetime
    number: int = 0  # place in the run's log, from 1
    digest: str = ""


def bulk_note(sampled: int, verdict: str) -> str:
    """The note of verdicts on the rest of a group, given after a sample of it was judged pair by pair."""
    return f"{BULK}sample of {sampled:,}, all {verdict}"


def is_bulk(verdict: Verdict) -> bool:
    """Whether the verdict was given to many pairs at once, after a sample of them."""
    return verdict.note.startswith(BULK)


def is_sampled(verdict: Verdict) -> bool:
    """Whether the verdict was given on a pair of the sample that a group is judged by."""
    return verdict.note.startswith(SAMPLED)


Entered = tuple[str, str]  # a pair's id, and its verdict or WITHDRAWN
Reader = Callable[[str | None], Mapping[str, Verdict]]  # the current verdicts, of this person or of anyone


class VerdictLog:
    """All verdicts of a store's runs."""

    def __init__(self, store: RunStore) -> None:
        self.store = store

    def add(self, run: str, pair_id: str, verdict: str, note: str = "", who: str = "") -> Verdict:
        """Record a verdict. A person's later verdict on the same pair replaces the earlier one."""
        _check_word(verdict)
        return self._append(run, lambda _: [(pair_id, verdict)], note, who)[0]

    def add_many(self, run: str, pair_ids: Sequence[str], verdict: str, note: str = "", who: str = "") -> list[Verdict]:
        """Record one verdict on each of these pairs that has none by anyone, in one transaction: all, or none."""
        _check_word(verdict)
        _check_size(pair_ids)

        def unjudged(current: Reader) -> list[Entered]:
            judged = current(None)
            return [(pair, verdict) for pair in dict.fromkeys(pair_ids) if pair not in judged]

        return self._append(run, unjudged, note, who)

    def undo(self, run: str, pair_id: str, who: str = "") -> Verdict:
        """Withdraw this person's verdict on the pair."""
        if pair_id not in self.current(run, who):
            raise VerdictError(f"{who or 'Nobody'} has no verdict on {shown(pair_id)} to withdraw.")
        return self._append(run, lambda _: [(pair_id, WITHDRAWN)], "", who)[0]

    def undo_many(self, run: str, numbers: Mapping[str, int], who: str = "") -> list[Verdict]:
        """Withdraw these verdicts of a person, each given by its pair and its number, in one transaction.

        A verdict that was replaced or withdrawn since is left alone.
        """
        _check_size(numbers)

        def unchanged(current: Reader) -> list[Entered]:
            held = current(who)
            return [(pair, WITHDRAWN) for pair, at in numbers.items() if pair in held and held[pair].number == at]

        return self._append(run, unchanged, "", who)

    def current(self, run: str, who: str | None = None) -> dict[str, Verdict]:
        """The current verdict on each pair: the latest that was not withdrawn, by this person or, if none is named, by
        any."""
        return _current(self.entries(run), who)

    def history(self, run: str, pair_id: str) -> list[Verdict]:
        """Every entry about one pair, the oldest first."""
        return [_entry(row) for row in self._rows(verdicts.c.run == run, verdicts.c.pair_id == pair_id)]

    def entries(self, run: str) -> list[Verdict]:
        """Every entry of a run, the oldest first."""
        return [_entry(row) for row in self._rows(verdicts.c.run == run)]

    def size(self, run: str) -> int:
        """How many entries a run has. As entries are only added, the same number means the same verdicts."""
        with self.store.database.read() as tx:
            found = tx.execute(sa.select(sa.func.count()).select_from(verdicts).where(verdicts.c.run == run))
            return int(found.scalar_one())

    def verify(self, run: str) -> list[str]:
        """Entries that are missing or were altered outside Riskcore; empty if the log is intact."""
        problems, before = [], ""
        for place, row in enumerate(self._rows(verdicts.c.run == run), start=1):
            if row.number != place:
                problems.append(f"Entry {place} is missing.")
                break
            if row.digest != _digest(before, _facts(row)):
                problems.append(f"Entry {place} ({shown(row.pair_id)}) was altered after it was recorded.")
            before = row.digest
        return problems

    def _append(self, run: str, choose: Callable[[Reader], list[Entered]], note: str, who: str) -> list[Verdict]:
        """Add what `choose` returns. It may look at the current verdicts: no other writer changes them meanwhile."""
        record = self.store.get(run)
        if len(note) > MAX_NOTE or len(who) > MAX_NAME:
            raise VerdictError(f"A note has at most {MAX_NOTE:,} characters, and a name {MAX_NAME}.")
        of_run = sa.select(verdicts).where(verdicts.c.run == record.id)
        with self.store.database.write(durable=True) as tx:
            # Holding the run's row makes writers queue: each sees the entry before its own.
            tx.execute(sa.select(runs.c.id).where(runs.c.id == record.id).with_for_update())

            def current(person: str | None) -> dict[str, Verdict]:
                rows = tx.execute(of_run.order_by(verdicts.c.number)).all()
                return _current([_entry(row) for row in rows], person)

            last = tx.execute(of_run.order_by(verdicts.c.number.desc()).limit(1)).first()
            first, digest, now = (last.number + 1 if last else 1), (last.digest if last else ""), time.time()
            added: list[dict[str, Any]] = []
            for number, (pair, verdict) in enumerate(choose(current), start=first):
                entered = {"pair_id": pair, "verdict": verdict, "note": note, "who": who}
                facts = {"run": record.id, "number": number, **entered, "at": now}
                digest = _digest(digest, facts)
                added.append({**facts, "digest": digest})
            if added:
                tx.execute(sa.insert(verdicts), added)
        return [Verdict(**{**row, "at": _moment(row["at"])}) for row in added]

    def _rows(self, *conditions: Any) -> list[Any]:
        with self.store.database.read() as tx:
            return list(tx.execute(sa.select(verdicts).where(*conditions).order_by(verdicts.c.number)).all())


def verdicts_in(folder: Path, who: str | None = None) -> dict[str, Verdict]:
    """The current verdicts on the run in a folder, this person's or anyone's; none if the folder is no longer in its
    store."""
    store = RunStore(folder.absolute().parent)
    try:
        return VerdictLog(store).current(store.get(folder.absolute().name).id, who)
    except RunNotFoundError:
        return {}


def _check_word(verdict: str) -> None:
    if verdict not in VERDICTS:
        raise VerdictError(f"{verdict!r} is not a verdict. Possible: {', '.join(VERDICTS)}.")


def _check_size(pair_ids: Collection[str]) -> None:
    if len(pair_ids) > MAX_AT_ONCE:
        raise VerdictError(f"{len(pair_ids):,} pairs are too many at once. Take at most {MAX_AT_ONCE:,}.")


def _current(entries: Iterable[Verdict], who: str | None) -> dict[str, Verdict]:
    """What is left of these entries, the oldest first: each person's latest on a pair, unless it was withdrawn."""
    by_person: dict[tuple[str, str], Verdict] = {}
    for entry in entries:
        by_person.pop((entry.pair_id, entry.who), None)  # so that the order is that of the current entries
        if entry.verdict != WITHDRAWN:
            by_person[entry.pair_id, entry.who] = entry
    return {pair: entry for (pair, person), entry in by_person.items() if who is None or person == who}


_FACTS = ("run", "number", "pair_id", "verdict", "note", "who", "at")


def _facts(row: Any) -> dict[str, Any]:
    return {name: getattr(row, name) for name in _FACTS}


def _digest(before: str, facts: dict[str, Any]) -> str:
    text = json.dumps([before, *(facts[name] for name in _FACTS)], ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


# Entries are never rewritten, being part of the digests: a word that version 0.1 used is translated when it is read.
_WORDS_0_1 = {"unmatch": "non-match"}


def _entry(row: Any) -> Verdict:
    verdict = _WORDS_0_1.get(row.verdict, row.verdict)
    return Verdict(row.run, row.pair_id, verdict, row.note, row.who, _moment(row.at), row.number, row.digest)


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
