"""What people decided about pairs. Entries are only added: withdrawing a verdict adds an entry too.

Each entry has a digest of itself and of the entry before it, so that an alteration outside Riskcore can be detected.
"""

from __future__ import annotations

import dataclasses
import logging
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from riskcore.audit.chain import FIELDS, chain_problems, entry_digest
from riskcore.audit.journal import update_journal
from riskcore.audit.seal import LogHead, Sealer, as_recorded, record_head
from riskcore.data.problems import shown
from riskcore.errors import RiskcoreError
from riskcore.runs.retention import refuse_forgotten
from riskcore.runs.store.database import runs, verdicts
from riskcore.runs.store.run_record import RunNotFoundError, RunRecord
from riskcore.runs.store.run_store import RunStore

_log = logging.getLogger(__name__)

VERDICTS = ("match", "non-match", "unsure")
WITHDRAWN = "withdrawn"
MAX_NOTE = 10_000  # characters; a longer note is a pasted file
MAX_NAME = 200
MAX_AT_ONCE = 10_000  # entries of one click
MAX_BROUGHT = 100_000  # verdicts of one file
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


@dataclasses.dataclass(frozen=True)
class Brought:
    """A verdict that was given elsewhere, to be added to the log; without a time, it counts as given now."""

    pair_id: str
    verdict: str
    note: str = ""
    who: str = ""
    at: datetime | None = None


Entered = tuple[str, str]  # a pair's id, and its verdict or WITHDRAWN
Reader = Callable[[str | None], Mapping[str, Verdict]]  # the current verdicts, of this person or of anyone
Entries = Callable[[], list[Verdict]]  # all entries of a run, the oldest first


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

    def bring(self, run: str, brought: Sequence[Brought]) -> list[Verdict]:
        """Record verdicts that were given elsewhere, with their own people, notes and times, in one transaction; those
        that are there already, or older than what the same person has said since, are left out."""
        if len(brought) > MAX_BROUGHT:
            raise VerdictError(f"{len(brought):,} verdicts are too many at once. Split the file: {MAX_BROUGHT:,} each.")
        for one in brought:
            _check_word(one.verdict)
            _check_texts(one.note, one.who)
        return self._add(run, lambda entries: unrecorded(entries(), brought).new)

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

    def entries(self, run: str, start: int = 1) -> list[Verdict]:
        """Every entry of a run from this number on, the oldest first."""
        return [_entry(row) for row in self._rows(verdicts.c.run == run, verdicts.c.number >= start)]

    def size(self, run: str) -> int:
        """How many entries a run has. As entries are only added, the same number means the same verdicts."""
        wanted = sa.select(sa.func.count()).select_from(verdicts).where(verdicts.c.run == run)
        return int(self.store.database.fetch(lambda tx: tx.execute(wanted).scalar_one()))

    def head(self, run: str) -> LogHead:
        """The state of a run's log, which `audit verify RUN --expect` compares a later one with."""
        latest = sa.select(verdicts.c.number, verdicts.c.digest).where(verdicts.c.run == run)
        latest = latest.order_by(verdicts.c.number.desc()).limit(1)
        row = self.store.database.fetch(lambda tx: tx.execute(latest).first())
        return LogHead(row.number, row.digest) if row else LogHead()

    def problems(self, run: str) -> list[str]:
        """Entries that are missing or were altered; empty if each follows from the one before. `log_check.check_log`
        looks at the seals too."""
        rows = self._rows(verdicts.c.run == run)
        return chain_problems([{name: getattr(row, name) for name in FIELDS} for row in rows])

    def _append(self, run: str, choose: Callable[[Reader], list[Entered]], note: str, who: str) -> list[Verdict]:
        """Add what `choose` returns, all with one note and by one person. It may look at the current verdicts."""

        def chosen(entries: Entries) -> list[Brought]:
            return [Brought(pair, verdict, note, who) for pair, verdict in choose(lambda one: _current(entries(), one))]

        _check_texts(note, who)
        return self._add(run, chosen)

    def _add(self, run: str, choose: Callable[[Entries], Sequence[Brought]]) -> list[Verdict]:
        """Add what `choose` returns. It may look at all entries so far: no other writer adds any meanwhile."""
        record, sealer = self.store.get(run), Sealer(self.store)
        refuse_forgotten(record.folder)
        of_run = sa.select(verdicts).where(verdicts.c.run == record.id)
        added: list[dict[str, Any]] = []
        sound = True

        def append(tx: sa.Connection) -> None:
            nonlocal sound
            # Holding the run's row makes writers queue: each sees the entry before its own.
            tx.execute(sa.select(runs.c.id).where(runs.c.id == record.id).with_for_update())
            if added and _is_there(tx, added[-1]):
                return  # the connection broke just after these were committed
            added.clear()

            def entries() -> list[Verdict]:
                return [_entry(row) for row in tx.execute(of_run.order_by(verdicts.c.number)).all()]

            last = tx.execute(of_run.order_by(verdicts.c.number.desc()).limit(1)).first()
            number, digest = (last.number, last.digest) if last else (0, "")
            added.extend(_chained(record.id, number, digest, choose(entries)))
            if added:
                sound = as_recorded(tx, sealer, record.id, LogHead(number, digest))
                tx.execute(sa.insert(verdicts), added)
                if sound:
                    record_head(tx, sealer, record.id, LogHead(added[-1]["number"], added[-1]["digest"]))

        self.store.database.transact(append, durable=True)
        if added and sound:
            self._copy_elsewhere(record, sealer, LogHead(added[-1]["number"], added[-1]["digest"]))
        elif added:
            _log.error("The verdict log of run %s is not the one that was sealed: new verdicts are not", record.id)
        return [Verdict(**{**row, "at": _moment(row["at"])}) for row in added]

    def _copy_elsewhere(self, record: RunRecord, sealer: Sealer, head: LogHead) -> None:
        """The new head in the seal folder, and the entries in the run's folder. They are recorded already: a failure
        here is logged, and the next verdict makes up for it."""
        try:
            sealer.note(record.id, head)
            if record.folder.is_dir():
                update_journal(self.store, record.id, record.folder)
        except RiskcoreError:
            _log.exception("The verdicts of run %s are recorded, but their second copy is not", record.id)

    def _rows(self, *conditions: Any) -> list[Any]:
        wanted = sa.select(verdicts).where(*conditions).order_by(verdicts.c.number)
        return list(self.store.database.fetch(lambda tx: tx.execute(wanted).all()))


def _chained(run: str, number: int, digest: str, new: Sequence[Brought]) -> Iterator[dict[str, Any]]:
    """New entries after the one of that number and digest."""
    now = time.time()
    for place, one in enumerate(new, start=number + 1):
        entered = {"pair_id": one.pair_id, "verdict": one.verdict, "note": one.note, "who": one.who}
        facts = {"run": run, "number": place, **entered, "at": now if one.at is None else one.at.timestamp()}
        digest = entry_digest(digest, facts)
        yield {**facts, "digest": digest}


def _is_there(tx: sa.Connection, entry: Mapping[str, Any]) -> bool:
    """Whether exactly this entry is in the log: its digest is made of it and of all before it."""
    same = sa.and_(verdicts.c.run == entry["run"], verdicts.c.number == entry["number"])
    return tx.scalar(sa.select(verdicts.c.digest).where(same)) == entry["digest"]


@dataclasses.dataclass(frozen=True)
class Unrecorded:
    """What is left of brought verdicts: those to record, in order; and how many are left out, and why."""

    new: tuple[Brought, ...]
    before: int  # recorded already
    older: int  # than what the same person has said of the pair since


def unrecorded(entries: Iterable[Verdict], brought: Iterable[Brought]) -> Unrecorded:
    """Which of these verdicts a log does not have yet.

    A verdict with a time is new if its person has said nothing of the pair at that time or later. At the very same time
    but with other words, it was edited after it was exported, and counts as given now. A verdict without a time is new
    if it differs from the person's current one.
    """
    known: set[tuple[str, ...]] = set()
    last: dict[tuple[str, str], tuple[datetime | None, str, str]] = {}  # time, verdict and note of the latest entry
    for entry in entries:
        known.add((entry.pair_id, entry.who, entry.verdict, entry.note, entry.at.isoformat()))
        last[entry.pair_id, entry.who] = (entry.at, entry.verdict, entry.note)
    new: list[Brought] = []
    before = older = 0
    for one in sorted(brought, key=lambda each: (each.at is None, 0.0 if each.at is None else each.at.timestamp())):
        key = (one.pair_id, one.who)
        at, verdict, note = last.get(key, (None, "", ""))
        moment = "" if one.at is None else one.at.astimezone(UTC).isoformat()
        if one.at is None:
            again = verdict == one.verdict and one.note in ("", note)
        else:
            again = (*key, one.verdict, one.note, moment) in known
        if again:
            before += 1
        elif one.at is not None and at is not None and one.at < at:
            older += 1
        else:
            edited = one.at is not None and one.at == at
            new.append(dataclasses.replace(one, at=None) if edited else one)
            known.add((*key, one.verdict, one.note, moment))
            last[key] = (one.at or at, one.verdict, one.note)
    return Unrecorded(tuple(new), before, older)


def verdicts_in(folder: Path, who: str | None = None) -> dict[str, Verdict]:
    """The current verdicts on the run in a folder, this person's or anyone's; none if the folder is no longer in its
    store."""
    store = RunStore(folder.absolute().parent)
    try:
        return VerdictLog(store).current(store.get(folder.absolute().name).id, who)
    except RunNotFoundError:
        return {}


def head_in(folder: Path) -> LogHead:
    """The state of the verdict log of the run in a folder; that of an empty log if it is no longer in its store."""
    store = RunStore(folder.absolute().parent)
    try:
        return VerdictLog(store).head(store.get(folder.absolute().name).id)
    except RunNotFoundError:
        return LogHead()


def _check_word(verdict: str) -> None:
    if verdict not in VERDICTS:
        raise VerdictError(f"{verdict!r} is not a verdict. Possible: {', '.join(VERDICTS)}.")


def _check_texts(note: str, who: str) -> None:
    if len(note) > MAX_NOTE or len(who) > MAX_NAME:
        raise VerdictError(f"A note has at most {MAX_NOTE:,} characters, and a name {MAX_NAME}.")


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


# Entries are never rewritten, being part of the digests: a word that version 0.1 used is translated when it is read.
_WORDS_0_1 = {"unmatch": "non-match"}


def _entry(row: Any) -> Verdict:
    verdict = _WORDS_0_1.get(row.verdict, row.verdict)
    return Verdict(row.run, row.pair_id, verdict, row.note, row.who, _moment(row.at), row.number, row.digest)


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
