"""Whether a run's verdict log is as it was recorded, and how much of that can be proven.

Four places are compared: the entries, whose digests form a chain; the number of entries and the head in the run's row,
with their keyed seal; the head that the seal folder has noted; and a head that someone wrote down elsewhere.
"""

from __future__ import annotations

import dataclasses
import hmac
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from riskcore.audit.chain import Entry, chain_problems
from riskcore.audit.log_entries import recorded_entries
from riskcore.audit.seal import LogHead, Sealer, departure
from riskcore.runs.store.database import runs
from riskcore.runs.store.run_store import RunStore

LIMITS = (
    "Not proven: that the person behind a name gave the verdict, and that nobody who can write to both the store and "
    "the seal folder has rewritten both. A head that was kept elsewhere, in an export, a dossier or on paper, tells: "
    "compare it with `riskcore audit verify RUN --expect HEAD`."
)


@dataclasses.dataclass(frozen=True)
class LogCheck:
    """What was found out about a log, in sentences."""

    head: LogHead
    proven: tuple[str, ...]
    unproven: tuple[str, ...]
    problems: tuple[str, ...]  # empty: as it was recorded, as far as this can be known


@dataclasses.dataclass(frozen=True)
class _Sealed:
    """What the run's row says of its log; the seal is None where none was made."""

    head: LogHead
    seal: str | None


def check_log(store: RunStore, run: str, expect: str | None = None, sealer: Sealer | None = None) -> LogCheck:
    """Compare all places that know of a run's log. `expect` is a head that was written down earlier."""
    sealer = Sealer(store) if sealer is None else sealer
    noted = sealer.noted(run)
    entries, row = _read(store, run)
    problems = chain_problems(entries)
    head = LogHead(len(entries), entries[-1]["digest"] if entries else "")
    proven, unproven = [], []
    if not problems and entries:
        proven.append("No entry was altered, removed from the middle or put in between: the digests form a chain.")
    for words, found in (_row_check(run, entries, row, sealer), _note_check(entries, noted)):
        problems += found
        proven += words if not found else []
    if entries and not sealer.has_key:
        unproven.append("The log's seal cannot be checked: the key is not in this machine's seal folder.")
    elif entries and row.seal is None:
        unproven.append("The log has no seal: an earlier version recorded it.")
        problems += _unsealed(entries, sealer)
    elif entries and noted is None:
        unproven.append(
            "The seal folder knows no head of this run in this store, which may have been moved here: that the log is "
            "not an older copy of itself is not proven."
        )
    if expect:
        words, found = _expectation(entries, expect)
        problems += found
        proven += words
    return LogCheck(head, () if problems else tuple(proven), tuple(unproven), tuple(problems))


def _read(store: RunStore, run: str) -> tuple[list[dict[str, Any]], _Sealed]:
    """The entries and the run's row; an entry that is added in between does not count."""
    wanted = sa.select(runs.c.log_size, runs.c.log_head, runs.c.log_seal).where(runs.c.id == run)
    with store.database.read() as tx:
        row = tx.execute(wanted).first()
    entries = recorded_entries(store, run)
    if row is None or row.log_seal is None:
        return entries, _Sealed(LogHead(), None)
    return entries, _Sealed(LogHead(row.log_size or 0, row.log_head or ""), row.log_seal)


def _row_check(run: str, entries: Sequence[Entry], row: _Sealed, sealer: Sealer) -> tuple[list[str], list[str]]:
    if row.seal is None or not sealer.has_key:
        return [], []
    if not hmac.compare_digest(sealer.seal(run, row.head), row.seal):
        return [], ["The seal of the verdict log does not fit: the run's row was altered, or the key is another."]
    found = departure(entries, row.head)
    if found:
        return [], [f"{found} The seal in the run's row says so."]
    return [f"The seal in the run's row covers {row.head.size:,} entries."], []


def _unsealed(entries: Sequence[Entry], sealer: Sealer) -> list[str]:
    """Since there is a key, every entry is sealed; later ones without a seal came from elsewhere."""
    later = [one for one in entries if one["at"] > sealer.key_time]
    if not later:
        return []
    return [f"{len(later):,} entries have no seal, though all verdicts have been sealed since the key was made."]


def _note_check(entries: Sequence[Entry], noted: LogHead | None) -> tuple[list[str], list[str]]:
    if noted is None:
        return [], []
    found = departure(entries, noted)
    if found:
        return [], [f"{found} The seal folder has noted {noted.size:,} entries."]
    return ["The seal folder has noted the same head."], []


def _expectation(entries: Sequence[Entry], expect: str) -> tuple[list[str], list[str]]:
    wanted = expect.strip().lower()
    place = next((number for number, one in enumerate(entries, start=1) if one["digest"] == wanted), None)
    if place is None:
        return [], [f"No entry of the verdict log has the expected head {wanted[:64]!r}: it was rewritten or cut off."]
    later = len(entries) - place
    return [f"The expected head is that of entry {place:,}; {later:,} entries were added since."], []
