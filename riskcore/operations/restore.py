"""`riskcore restore`: a project from its backup, into folders that are empty.

Everything is verified before anything is written. Then all is written into hidden folders beside the wanted ones,
which get their names at the end: a restoration that is killed leaves nothing under them. Other databases than SQLite
take all rows in one transaction.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from riskcore.audit.seal import LogHead, Sealer
from riskcore.operations.archive import ArchiveReader, BackupError
from riskcore.operations.backup import DATA, FORMAT, HEADS, KEY, REGISTERED, RUNS, STORE
from riskcore.operations.places import Places, moved
from riskcore.operations.store_rows import Row, check_revision, insert_rows, is_empty, stored_tables
from riskcore.runs.store.database import runs
from riskcore.runs.store.run_store import STORE_FILE, RunStore
from riskcore.storage.checksums import check_folder
from riskcore.storage.files import folder_in_place, write_json

_SPARE = 100 << 20  # bytes to leave free


@dataclasses.dataclass(frozen=True)
class RestoreFacts:
    """What was restored."""

    runs: tuple[str, ...]
    unfinished: tuple[str, ...]  # of the runs: they can be resumed
    verdicts: int
    files: int
    root: str
    data: str | None  # None where the backup has no data
    made: str
    version: str
    keys: str  # what became of the seal key, in words
    damaged: tuple[str, ...]  # files that were damaged when the backup was made
    seconds: float


def restore_backup(file: Path, root: Path, data: Path, url: str | None = None) -> RestoreFacts:
    """Restore a backup into a folder of runs and a data folder that are empty or not there."""
    began, root, data = time.monotonic(), root.absolute(), data.absolute()
    archive = ArchiveReader(file)
    with contextlib.closing(archive):
        _check_kind(archive)
        _check_place(root, "of runs", "--runs")
        with_data = bool(archive.names(DATA))
        if with_data:
            _check_place(data, "of data sets", "--data")
        _check_space(archive, root)
        archive.verify()
        old, new = Places(**archive.about["places"]), Places.of(root, data)
        with contextlib.ExitStack() as undo:
            if with_data:
                _restore_data(archive, data, old, new, undo)
            damaged = _restore_runs(archive, root, old, new, url)
            undo.pop_all()
        keys = _restore_keys(archive, RunStore(root, url))
    about = archive.about
    return RestoreFacts(
        runs=tuple(about["runs"]),
        unfinished=tuple(about["unfinished"]),
        verdicts=int(about["verdicts"]),
        files=len(archive.files),
        root=str(root),
        data=str(data) if with_data else None,
        made=str(about["made"]),
        version=str(about["version"]),
        keys=keys,
        damaged=tuple(damaged),
        seconds=round(time.monotonic() - began, 3),
    )


def _check_kind(archive: ArchiveReader) -> None:
    about = archive.about
    if about.get("format") != FORMAT:
        raise BackupError(
            f"{archive.file} is a backup of format {about.get('format')!r}, and this version reads format {FORMAT}: "
            "update Riskcore. Nothing was restored."
        )
    needed = {"runs", "unfinished", "verdicts", "places", "made", "version", "revision"}
    known = {one.name for one in dataclasses.fields(Places)}
    if not needed <= set(about) or not isinstance(about["places"], dict) or set(about["places"]) != known:
        raise BackupError(f"{archive.file} has an incomplete manifest. Nothing was restored. Use another copy.")
    check_revision(about["revision"])


def _check_place(folder: Path, what: str, option: str) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BackupError(
            f"The folder {what} {folder} is not empty, and a backup is never restored over something. Name an empty "
            f"or new folder with {option}."
        )


def _check_space(archive: ArchiveReader, root: Path) -> None:
    """Refuse what does not fit, before it fills the disk."""
    there = next(one for one in (root, *root.parents) if one.is_dir())
    free = shutil.disk_usage(there).free
    if archive.size + _SPARE > free:
        raise BackupError(
            f"The backup has {archive.size / 1e6:,.0f} MB, and {there} has {free / 1e6:,.0f} MB free. Nothing was "
            "restored. Free some space, or name a folder on another disk."
        )


def _restore_data(archive: ArchiveReader, data: Path, old: Places, new: Places, undo: contextlib.ExitStack) -> None:
    with _in_place(data) as place:
        archive.extract(DATA, place)
        for file in (place / REGISTERED, *place.glob(".brought/*/.belongs.json")):
            if file.is_file():
                write_json(file, moved(json.loads(file.read_text(encoding="utf-8")), old, new))
                file.chmod(0o600)
    undo.callback(shutil.rmtree, data, ignore_errors=True)  # unless the runs come after it


def _restore_runs(archive: ArchiveReader, root: Path, old: Places, new: Places, url: str | None) -> list[str]:
    """The folder of runs with the store; the files in it that were damaged before the backup was made."""
    shared = RunStore(root, url)
    if shared.url is None:
        with _in_place(root) as place:
            archive.extract(RUNS, place)
            os.close(os.open(place / STORE_FILE, os.O_CREAT | os.O_RDWR | os.O_EXCL, 0o600))
            store = RunStore(place)
            with store.database.write(durable=True) as tx:
                _restore_rows(archive, tx, old, new)
            store.database.engine.dispose()
            return _damaged(archive, place)
    if not is_empty(shared.database):
        raise BackupError(
            "The database of RISKCORE_STORE_URL has runs already, and a backup is never restored over something. "
            "Name an empty database. Nothing was restored."
        )
    with contextlib.ExitStack() as undo:
        with shared.database.write(durable=True) as tx:  # committed once the folder has its name
            _restore_rows(archive, tx, old, new)
            with _in_place(root) as place:
                archive.extract(RUNS, place)
                damaged = _damaged(archive, place)
            undo.callback(shutil.rmtree, root, ignore_errors=True)
        undo.pop_all()
    return damaged


def _restore_rows(archive: ArchiveReader, tx: sa.Connection, old: Places, new: Places) -> None:
    def change(row: Row) -> Row:
        return {**row, "config": json.dumps(moved(json.loads(row["config"]), old, new))}

    for table in stored_tables():
        name = f"{STORE}/{table.name}.jsonl"
        if name in archive.files:
            insert_rows(tx, table, archive.lines(name), change if table is runs else None)
    if set(tx.scalars(sa.select(runs.c.id))) != set(archive.about["runs"]):
        raise BackupError(f"{archive.file} does not hold the runs that it lists. Nothing was restored.")


def _damaged(archive: ArchiveReader, place: Path) -> list[str]:
    found = []
    for run in archive.about["runs"]:
        checked = check_folder(place / run)
        found += [f"{run}/{name}" for name in (*checked.damaged, *checked.missing)]
    return found


@contextlib.contextmanager
def _in_place(folder: Path) -> Iterator[Path]:
    """A hidden folder that becomes `folder`, also where that is there and empty."""
    if folder.is_dir() and os.path.ismount(folder):
        raise BackupError(
            f"{folder} is a mounted volume, whose name cannot be given to another folder. Name a folder in it, such "
            f"as {folder / 'runs'}. Nothing was restored."
        )
    with folder_in_place(folder) as place:
        yield place


def _restore_keys(archive: ArchiveReader, store: RunStore) -> str:
    """The seal key, where the backup has it and this machine has none; what became of it, in words."""
    sealer = Sealer(store)
    if KEY not in archive.files:
        return (
            "The backup has no seal key. Put the seal folder's own backup back, or seals of verdict logs cannot be "
            "checked here."
            if not sealer.has_key
            else "The backup has no seal key; that of this machine stays."
        )
    text = archive.read(KEY).decode("ascii").strip()
    if sealer.has_key and sealer.key_text() != text:
        return "This machine has another seal key, which stays: seals from before the backup cannot be checked here."
    sealer.adopt_key(text)
    heads: dict[str, Any] = json.loads(archive.read(HEADS))
    for run, head in heads.items():
        sealer.note(run, LogHead(int(head["size"]), str(head["digest"])))
    return "The seal key and the noted heads are restored."
