"""What `riskcore doctor` looks at of runs: workers and their heartbeats, folders, and what killed processes left."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from riskcore.errors import StorageError
from riskcore.operations.doctor_machine import NEWEST
from riskcore.operations.finding import Finding, error, ok, some, warning
from riskcore.runs.store.database import runs
from riskcore.runs.store.deletion import DOOMED
from riskcore.runs.store.forgetting import FORGETTING, KEPT
from riskcore.runs.store.liveness import observed_state
from riskcore.runs.store.run_record import RunState
from riskcore.runs.store.run_store import RunStore
from riskcore.storage.checksums import LIST, read_list
from riskcore.storage.snapshot import PREFIX as SNAPSHOT

WAITED = 3600.0  # seconds that a run may wait before somebody should look
_OLD = 24 * 3600.0  # seconds after which a hidden folder is nobody's work any more


def check_workers(store: RunStore) -> Iterator[Finding]:
    """How many runs are being worked on, wait or are lost, and the oldest heartbeat."""
    rows = [row for row in _rows(store) if row.state in (RunState.WAITING.value, RunState.RUNNING.value)]
    now = time.time()
    states = {row.id: observed_state(row, now) for row in rows}
    running = [row for row in rows if states[row.id] is RunState.RUNNING]
    lost = [row.id for row in rows if states[row.id] is RunState.LOST]
    waiting = [row for row in rows if states[row.id] is RunState.WAITING]
    beats = [now - (row.beat or now) for row in running]
    oldest = f", the oldest heartbeat {max(beats):.0f} s ago" if beats else ""
    words = f"{len(running):,} running{oldest}; {len(waiting):,} waiting"
    long = [row.id for row in waiting if now - row.created > WAITED]
    if lost:
        yield warning("workers", f"{words}; lost: {some(lost)}", "`riskcore runs resume RUN`, or cancel or delete it.")
    elif long and not running:
        cure = "Start a worker, start the run on its screen, or delete it."
        yield warning("workers", f"{words}; waiting for more than an hour while nothing runs: {some(long)}", cure)
    else:
        yield ok("workers", words)


def check_folders(store: RunStore) -> Iterator[Finding]:
    """Folders that the store does not know, runs without a folder, and listed files that the newest runs lack."""
    rows = _rows(store)
    known = {row.id for row in rows}
    if not store.root.is_dir():
        yield ok("run folders", "There are no runs yet")
        return
    there = {one.name for one in os.scandir(store.root) if one.is_dir() and not one.name.startswith(".")}
    unknown = sorted(name for name in there - known if (store.root / name / "run.json").is_file())
    gone = sorted(known - there)
    damaged = _damaged(store.root, [row for row in rows if row.id in there])
    failed = sum(row.state == RunState.FAILED.value for row in rows)
    if gone:
        yield error("run folders", f"Without a folder: {some(gone)}", "Restore them from a backup, or delete the runs.")
    if damaged:
        yield error("run folders", f"Damaged: {some(damaged)}", "`riskcore runs check RUN`, then `runs repair RUN`.")
    if unknown:
        yield warning("run folders", f"Not in the store: {some(unknown)}", "`riskcore runs rescue` takes them in.")
    if not (gone or damaged or unknown):
        yield ok("run folders", f"{len(rows):,} runs, {failed:,} of them failed; no file of the newest is missing")


def check_leftovers(root: Path, data: Path) -> Iterator[Finding]:
    """What killed processes left: deleted data that is still there, and hidden folders that nobody writes to."""
    hidden = [Path(one.path) for where in (root, data) if where.is_dir() for one in os.scandir(where) if one.is_dir()]
    hidden = [one for one in hidden if one.name.startswith(".")]
    kept = [one.name for one in hidden if one.name.startswith(_UNFINISHED)]
    taken = [one.name for one in hidden if one.name.startswith(SNAPSHOT)]
    old = [one.name for one in hidden if one.name not in (*kept, *taken) and _is_forgotten(one)]
    if kept:
        cure = "`riskcore runs list` finishes it for runs, and opening Data sets for data sets."
        yield warning("leftovers", f"Deletions that a kill left unfinished: {some(kept)}", cure)
    if taken:
        cure = "None if a backup is being made now; else the next one removes them."
        yield warning("leftovers", f"Snapshots of a backup: {some(taken)}", cure)
    if old:
        yield warning("leftovers", f"Hidden folders of killed processes: {some(old)}", "Remove them.")
    if not (kept or taken or old):
        yield ok("leftovers", "none")


_UNFINISHED = (DOOMED, FORGETTING, KEPT)
_OWN = (".brought", ".uploads", ".scores", ".quarantine", ".blocking", ".streamlit")  # hidden folders that belong


def _is_forgotten(folder: Path) -> bool:
    if folder.name in _OWN:
        return False
    with contextlib.suppress(OSError):
        return time.time() - folder.stat().st_mtime > _OLD
    return False


def _damaged(root: Path, rows: list[sa.Row]) -> list[str]:
    """Of the newest runs, those that are done without results, or whose list of files is damaged or names one that is
    not there. Files are not read."""
    found = []
    for row in sorted(rows, key=lambda one: -one.created)[:NEWEST]:
        folder = root / row.id
        with contextlib.suppress(StorageError):
            listing = read_list(folder) if (folder / LIST).is_file() else None
            lacks = row.state == RunState.DONE.value and not (folder / "results.json").is_file()
            if lacks or (
                listing and (listing.damaged_lines or any(not (folder / n).exists() for n in listing.digests))
            ):
                found.append(row.id)
    return found


def _rows(store: RunStore) -> list[sa.Row]:
    """The rows of all runs; none where the store has none, or cannot be read: its own line says why."""
    if not store.exists():
        return []
    columns = [runs.c[name] for name in runs.c.keys() if name not in ("config", "error")]  # noqa: SIM118
    try:
        with store.database.engine.connect() as connection:
            return list(connection.execute(sa.select(*columns)).all())
    except DBAPIError:
        return []
