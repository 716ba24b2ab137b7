"""Deleting the personal data of a run: its folder is replaced by one with figures alone, and its rows are cleared.

The new folder is complete before the old one gets a name that no reader looks for. Whatever a kill leaves undone after
that, `finish_forgetting` does when the store is used next, as with deleted runs.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import sqlalchemy as sa

from riskcore.errors import BusyError, StorageError
from riskcore.runs.store.database import Database, events, runs, verdicts
from riskcore.storage.files import read_json, write_json, writing
from riskcore.storage.lock import FolderLock
from riskcore.storage.snapshot import sweep_snapshots

FORGETTING, KEPT = ".forgotten-", ".kept-"  # how the names of the old and of the new folder begin
_NOTE = "also-delete.json"  # in the old folder: paths outside of it that go with it


def kept_folder(root: Path, run: str) -> Path:
    """Where the folder with figures alone is made; one that a kill left half made is removed first."""
    kept = root / f"{KEPT}{run}"
    shutil.rmtree(kept, ignore_errors=True)
    kept.mkdir(mode=0o700)
    return kept


def forget_run(database: Database, root: Path, run: str, also: Sequence[Path]) -> None:
    """Put the folder with figures in place of the run's and delete the rest, with these files and folders outside."""
    folder, old = root / run, root / f"{FORGETTING}{run}"
    with writing(folder), FolderLock(folder):
        write_json(folder / _NOTE, [str(path) for path in also])
        os.rename(folder, old)
        os.rename(root / f"{KEPT}{run}", folder)
    _finish(database, root, old)


def finish_forgetting(database: Database, root: Path) -> int:
    """Finish what killed processes left; returns how many runs that were."""
    found = sorted(root.glob(f"{FORGETTING}*"))
    for old in found:
        with contextlib.suppress(BusyError, StorageError, OSError):  # another process is at it: next time
            _finish(database, root, old, wait=False)
    return len(found)


def _finish(database: Database, root: Path, old: Path, wait: bool = True) -> None:
    run = old.name.removeprefix(FORGETTING)
    if not (root / run).is_dir():  # killed between the two names; the new folder is complete
        os.rename(root / f"{KEPT}{run}", root / run)
    note = old / _NOTE
    also = [Path(one) for one in read_json(note)] if note.is_file() else []
    with database.write(durable=True, wait=wait) as tx:
        tx.execute(sa.delete(verdicts).where(verdicts.c.run == run))
        tx.execute(sa.update(runs).where(runs.c.id == run).values(error=None))
        _clear_errors(tx, run)
    for path in also:
        _remove(path)
    for inside in old.glob("*"):
        if inside != note:
            _remove(inside)
    sweep_snapshots(root)
    database.forget_deleted(wait)
    shutil.rmtree(old, ignore_errors=True)  # last: while it is there, this is not finished
    if old.exists():
        raise StorageError(
            f"Files of run {run} could not be deleted: they are in {old}. Remove this folder, or start Riskcore again "
            "once it can be written to."
        )


def _clear_errors(tx: sa.Connection, run: str) -> None:
    """Errors of a run may quote its data; its other events are figures."""
    wanted = sa.select(events.c.sequence, events.c.record).where(events.c.run == run, events.c.kind == "state")
    for sequence, record in tx.execute(wanted).all():
        told = json.dumps({**json.loads(record), "error": None})
        this = sa.and_(events.c.run == run, events.c.sequence == sequence)
        tx.execute(sa.update(events).where(this).values(record=told))


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
