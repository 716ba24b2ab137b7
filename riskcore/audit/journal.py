"""A second copy of a run's verdicts, in its folder: one line of JSON for each entry of the log, only ever added to.

The store is what counts. The journal is brought up to date after every verdict, so that a store that was lost can be
made again from the run folders (`riskcore runs rescue`), with every digest as it was.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from riskcore.audit.chain import FIELDS, chain_problems
from riskcore.audit.seal import LogHead, Sealer, departure, record_head
from riskcore.errors import StorageError
from riskcore.runs.store.database import runs, verdicts
from riskcore.runs.store.run_store import RunStore
from riskcore.storage.files import writing
from riskcore.storage.lock import FileLock

JOURNAL = "verdicts.jsonl"
_PATIENCE = 10.0  # seconds to wait for another process that writes to the same journal
_TAIL = 262_144  # bytes: the last line is in them, since notes and names have a limit


def update_journal(store: RunStore, run: str, folder: Path) -> None:
    """Add the entries of the log that the journal does not have yet, and wait until they are on disk."""
    file = folder / JOURNAL
    with FileLock(folder / f".{JOURNAL}.lock", _PATIENCE), writing(file):
        last, end = _last(file)
        wanted = sa.select(verdicts).where(verdicts.c.run == run, verdicts.c.number > last)
        with store.database.read() as tx:
            rows = tx.execute(wanted.order_by(verdicts.c.number)).all()
        if not rows:
            return
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT, 0o600)
        with open(descriptor, "wb") as stream:
            stream.truncate(end)  # a line that a power failure cut off
            stream.seek(end)
            for row in rows:
                stream.write(json.dumps({name: getattr(row, name) for name in FIELDS}).encode() + b"\n")
            stream.flush()
            os.fsync(stream.fileno())


def read_journal(folder: Path) -> list[dict[str, Any]]:
    """Every entry of a run's journal, the oldest first; a line that was cut off at the end is left out."""
    file = folder / JOURNAL
    if not file.is_file():
        return []
    found: list[dict[str, Any]] = []
    lines = file.read_bytes().split(b"\n")
    for number, line in enumerate(lines, start=1):
        if not line:
            continue
        try:
            entry = json.loads(line)
            found.append({name: entry[name] for name in FIELDS})
        except (ValueError, KeyError, TypeError) as error:
            if number == len(lines):
                break
            raise StorageError(f"Line {number:,} of {file} cannot be read: {error}. Restore the file.") from error
    return found


def journal_problems(store: RunStore, run: str) -> list[str]:
    """How the journal of a run differs from its log, in sentences."""
    folder = store.get(run).folder
    try:
        copied = read_journal(folder)
    except StorageError as error:
        return [str(error)]
    wanted = sa.select(verdicts).where(verdicts.c.run == run).order_by(verdicts.c.number)
    with store.database.read() as tx:
        recorded = [{name: getattr(row, name) for name in FIELDS} for row in tx.execute(wanted).all()]
    if copied != recorded[: len(copied)]:
        return [f"{folder / JOURNAL} is not the verdict log. Remove it: the next verdict writes it anew."]
    if len(copied) < len(recorded):
        return [f"{folder / JOURNAL} lacks {len(recorded) - len(copied):,} entries. The next verdict adds them."]
    return []


def restore_verdicts(store: RunStore, run: str) -> int:
    """The verdicts of a run's journal in a store that has none of it; returns how many. The chain is checked first."""
    entries, sealer = read_journal(store.get(run).folder), Sealer(store)
    noted = sealer.noted(run)
    problem = next(iter(chain_problems(entries)), None) or (departure(entries, noted) if noted else None)
    if problem:
        raise StorageError(f"The journal of run {run} is not intact: {problem} Restore it from a backup.")
    with store.database.write(durable=True) as tx:
        tx.execute(sa.select(runs.c.id).where(runs.c.id == run).with_for_update())
        if tx.execute(sa.select(verdicts.c.number).where(verdicts.c.run == run).limit(1)).first() is not None:
            return 0
        if entries:
            tx.execute(sa.insert(verdicts), entries)
            record_head(tx, sealer, run, LogHead(len(entries), entries[-1]["digest"]))
    return len(entries)


def _last(file: Path) -> tuple[int, int]:
    """The number of the last whole entry, 0 without any, and where it ends."""
    if not file.is_file():
        return 0, 0
    size = file.stat().st_size
    with file.open("rb") as stream:
        stream.seek(max(0, size - _TAIL))
        tail = stream.read()
    whole = tail.rfind(b"\n") + 1
    if not whole:
        return 0, 0
    start = tail.rfind(b"\n", 0, whole - 1) + 1
    return int(json.loads(tail[start : whole - 1])["number"]), size - len(tail) + whole
