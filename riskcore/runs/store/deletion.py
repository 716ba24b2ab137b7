"""Deleting a run: its folder, its rows and what SQLite keeps of them; a tombstone stays.

The folder is first given a name that no reader looks for, with a note in it of who deleted the run. Whatever a kill
leaves undone after that, `finish_deletions` does when the store is used next.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import sqlalchemy as sa

from riskcore.errors import BusyError, StorageError
from riskcore.runs.store.database import Database, deletions, events, runs, verdicts
from riskcore.storage.files import read_json, write_json, writing
from riskcore.storage.lock import FolderLock

DOOMED = ".deleted-"  # how the name of a folder begins whose run is being deleted
_NOTE = "deletion.json"


class Tombstone(NamedTuple):
    """What is left of a deleted run."""

    run: str
    name: str
    who: str
    at: datetime
    verdicts: int
    head: str


def delete_run(database: Database, root: Path, run: str, who: str) -> None:
    """Remove everything of a run that no worker holds. Done when this returns; finished later if this is killed."""
    folder, doomed = root / run, root / f"{DOOMED}{run}"
    note = {"who": who, "at": time.time()}
    with writing(folder):
        if folder.is_dir():
            with FolderLock(folder):
                write_json(folder / _NOTE, note)
                os.replace(folder, doomed)
        else:  # a run whose folder is gone already has only rows to delete
            doomed.mkdir(mode=0o700, exist_ok=True)
            write_json(doomed / _NOTE, note)
    _finish(database, doomed)


def finish_deletions(database: Database, root: Path) -> int:
    """Finish what killed processes left of their deletions; returns how many there were."""
    found = sorted(root.glob(f"{DOOMED}*"))
    for doomed in found:
        with contextlib.suppress(BusyError, StorageError):  # another process is at it, or the disk refuses: next time
            _finish(database, doomed, wait=False)  # whoever lists runs does not wait for those who write
    return len(found)


def tombstones(database: Database) -> list[Tombstone]:
    """What is left of deleted runs, the newest first."""
    with database.read() as tx:
        rows = tx.execute(sa.select(deletions).order_by(deletions.c.at.desc())).all()
    return [
        Tombstone(row.run, row.name, row.who, datetime.fromtimestamp(row.at, UTC), row.verdicts, row.head)
        for row in rows
    ]


def _finish(database: Database, doomed: Path, wait: bool = True) -> None:
    run = doomed.name.removeprefix(DOOMED)
    note = _noted(doomed)
    with database.write(durable=True, wait=wait) as tx:
        row = tx.execute(sa.select(runs.c.name).where(runs.c.id == run).with_for_update()).first()
        if row is not None:
            last = sa.select(verdicts).where(verdicts.c.run == run).order_by(verdicts.c.number.desc()).limit(1)
            entry = tx.execute(last).first()
            tx.execute(
                sa.insert(deletions).values(
                    run=run,
                    name=row.name,
                    who=str(note.get("who", "")),
                    at=float(note.get("at") or time.time()),
                    verdicts=entry.number if entry else 0,
                    head=entry.digest if entry else "",
                )
            )
        for table, column in ((verdicts, verdicts.c.run), (events, events.c.run), (runs, runs.c.id)):
            tx.execute(sa.delete(table).where(column == run))
    for inside in doomed.glob("*"):
        if inside.is_dir() and not inside.is_symlink():
            shutil.rmtree(inside, ignore_errors=True)
        elif inside.name != _NOTE:
            inside.unlink(missing_ok=True)
    database.forget_deleted(wait)
    shutil.rmtree(doomed, ignore_errors=True)  # last: while it is there, the deletion is not finished
    if doomed.exists():
        raise StorageError(
            f"The files of the deleted run {run} could not be removed: they are in {doomed}. Remove this folder, or "
            "start Riskcore again once it can be written to."
        )


def _noted(doomed: Path) -> dict[str, Any]:
    """Who deleted the run and when; empty where an older version began the deletion."""
    file = doomed / _NOTE
    with contextlib.suppress(StorageError):
        found = read_json(file) if file.is_file() else {}
        return found if isinstance(found, dict) else {}
    return {}
