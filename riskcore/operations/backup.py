"""`riskcore backup`: everything of a project in one file, while runs train and people judge.

For each run: its state is read first, then its folder is taken as it is at one moment, then the store's rows, all of
one moment. So the verdict log has every verdict that a file of the folder refers to, and a run counts as done only if
its folder was complete. Runs that were not done are in the backup with their checkpoints, to be resumed.
"""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from riskcore.audit.seal import Sealer
from riskcore.errors import BusyError, ConfigError, RiskcoreError
from riskcore.operations.archive import ArchiveWriter, BackupError, new_archive
from riskcore.operations.places import BESIDE_RUNS, Places, paths_of
from riskcore.operations.store_rows import Row, as_line, rows_of, snapshot_of, stored_tables
from riskcore.runs.store.database import runs, verdicts
from riskcore.runs.store.migrations import REVISIONS
from riskcore.runs.store.run_record import RunRecord, RunState
from riskcore.runs.store.run_store import RunStore
from riskcore.storage.files import read_json
from riskcore.storage.snapshot import snapshots, take_snapshot, visible_files
from riskcore.version import __version__

FORMAT = 1  # of the archive
RUNS, DATA, STORE, SEAL = "runs", "data", "store", "seal"  # its folders
REGISTERED = "registered.json"  # what people entered about data sets, in the data folder
HIDDEN_DATA = (".brought", ".scores", ".quarantine")  # what people uploaded and is no data set; the rest passes
KEY, HEADS = f"{SEAL}/key", f"{SEAL}/heads.json"
INTERRUPTED = "The run was not done when the backup was made. Resume it: it continues from its last checkpoint."


@dataclasses.dataclass(frozen=True)
class BackupFacts:
    """What is in a backup, and what is not."""

    file: str
    bytes: int
    digest: str
    runs: tuple[str, ...]
    unfinished: tuple[str, ...]  # of the runs: they can be resumed
    verdicts: int  # entries of all logs
    files: int
    outside: tuple[str, ...]  # data sets and models that runs name and that lie elsewhere: not in the backup
    without_folder: tuple[str, ...]  # runs whose folder is gone
    with_keys: bool
    seconds: float


@dataclasses.dataclass(frozen=True)
class _Kept:
    """What was found before the rows were read."""

    records: dict[str, RunRecord]
    folders: dict[str, Path]  # the snapshot of each run that has a folder


def write_backup(
    store: RunStore, file: Path, data: Path, chosen: Sequence[str] | None = None, with_keys: bool = False
) -> BackupFacts:
    """Write a backup of all runs and data sets, or of these runs and what they are made from."""
    began, file, data = time.monotonic(), file.absolute(), data.absolute()
    _check_place(file, store.root, data)
    records = _records(store, chosen)
    with snapshots(store.root) as home:
        kept = _Kept(records, _take_folders(records, home))
        with new_archive(file) as archive:
            counts = _write_store(archive, store, kept, every=chosen is None)
            for run in counts["runs"]:
                if run in kept.folders:
                    _add_folder(archive, f"{RUNS}/{run}", kept.folders[run])
            named = {path for run in counts["runs"] for path in _named(records[run])}
            _write_beside(archive, store.root, None if chosen is None else named)
            _write_data(archive, data, None if chosen is None else named)
            if with_keys:
                _write_keys(archive, Sealer(store), counts["runs"])
            about = _about(store, data, counts, with_keys)
            digest = archive.finish(about)
    return BackupFacts(
        file=str(file),
        bytes=file.stat().st_size,
        digest=digest,
        runs=tuple(counts["runs"]),
        unfinished=tuple(counts["unfinished"]),
        verdicts=counts["verdicts"],
        files=len(archive.files),
        outside=tuple(sorted(str(path) for path in named if _is_outside(path, store.root, data))),
        without_folder=tuple(run for run in counts["runs"] if run not in kept.folders),
        with_keys=with_keys,
        seconds=round(time.monotonic() - began, 3),
    )


def _check_place(file: Path, root: Path, data: Path) -> None:
    if file.suffix.lower() != ".zip":
        raise ConfigError(f"{file} does not end in .zip. Give a name that does, such as riskcore-backup.zip.")
    if file.exists():
        raise BackupError(f"{file} is there already, and a backup is never overwritten. Choose another name.")
    if not file.parent.is_dir():
        raise BackupError(f"There is no folder {file.parent}. Make it, or choose another.")
    real = file.parent.resolve() / file.name
    if any(real.is_relative_to(one.resolve()) for one in (root, data)):
        raise BackupError(f"{file} lies among what is backed up. Choose a place outside, on another disk if possible.")


def _records(store: RunStore, chosen: Sequence[str] | None) -> dict[str, RunRecord]:
    found = {record.id: record for record in store.list()}
    if chosen is None:
        if not found and not store.root.is_dir():
            raise BackupError(f"There is no folder of runs {store.root}. Name it with --runs.")
        return found
    wanted = [store.get(one).id for one in chosen]
    return {run: found[run] for run in wanted}


def _take_folders(records: dict[str, RunRecord], home: Path) -> dict[str, Path]:
    """A snapshot of every run's folder; a run whose folder is gone, or has just been deleted, has none."""
    found = {}
    for run, record in records.items():
        if record.folder.is_dir():
            try:
                take_snapshot(record.folder, home / run)
            except BusyError:
                if record.folder.is_dir():
                    raise
            else:
                found[run] = home / run
    return found


def _write_store(archive: ArchiveWriter, store: RunStore, kept: _Kept, every: bool) -> dict[str, Any]:
    """The rows of all tables, as of one moment; which runs there are, which of them are not done, and all entries."""
    found: dict[str, Any] = {"runs": [], "unfinished": [], "rows": {}}
    with store.database.read() as tx:
        snapshot_of(tx)
        # A run that was begun after the folders were taken is left out of all tables.
        known = set(tx.scalars(sa.select(runs.c.id))) & set(kept.records)
        for table in stored_tables():
            rows = rows_of(tx, table, known, every)
            if table is runs:
                rows = (_settled(row, kept.records[row["id"]], found["unfinished"]) for row in rows)
            found["rows"][table.name] = _add_rows(archive, table.name, rows)
    return {**found, "runs": sorted(known), "verdicts": found["rows"][verdicts.name]}


def _settled(row: Row, record: RunRecord, unfinished: list[str]) -> Row:
    """The row of a run whose worker, if it had one, is gone. Its state is the one from before its folder was taken."""
    gone: Row = {name: None for name in ("pid", "host", "beat", "ticket") if name in row} | {"cancel": False}
    if record.state is RunState.DONE or (record.state.over and record.state is not RunState.LOST):
        return {**row, **gone, "state": record.state.value}
    unfinished.append(row["id"])
    return {**row, **gone, "state": RunState.FAILED.value, "error": INTERRUPTED, "ended": time.time()}


def _add_rows(archive: ArchiveWriter, name: str, rows: Iterator[Row]) -> int:
    count = 0

    def lines() -> Iterator[bytes]:
        nonlocal count
        for row in rows:
            count += 1
            yield as_line(row)

    archive.add(f"{STORE}/{name}.jsonl", lines())
    return count


def _add_folder(archive: ArchiveWriter, name: str, folder: Path) -> None:
    for inside in visible_files(folder):
        archive.add_file(f"{name}/{inside}", folder / inside)


def _write_beside(archive: ArchiveWriter, root: Path, named: Collection[Path] | None) -> None:
    """Labels and matchers beside the runs: all of them, or those that are named."""
    for folder in BESIDE_RUNS:
        for inside in visible_files(root / folder):
            if named is None or root / folder / inside in named:
                archive.add_file(f"{RUNS}/{folder}/{inside}", root / folder / inside)


def _write_data(archive: ArchiveWriter, data: Path, named: Collection[Path] | None) -> None:
    """The data folder: data sets, what was entered about them, and uploads; or the data sets that are named."""
    if not data.is_dir():
        return
    folders = [data, *(data / name for name in HIDDEN_DATA if named is None)]
    for folder in folders:
        for inside in visible_files(folder):
            path = folder / inside
            wanted = named is None or any(path == one or path.is_relative_to(one) for one in named)
            if wanted and path != data / REGISTERED:
                _add_if_there(archive, f"{DATA}/{path.relative_to(data).as_posix()}", path)
    if named is not None:
        for path in named:  # scores and uploads that a run is made from lie in hidden folders
            if path.is_file() and path.is_relative_to(data) and f"{DATA}/{path.relative_to(data)}" not in archive.files:
                _add_if_there(archive, f"{DATA}/{path.relative_to(data).as_posix()}", path)
    if (data / REGISTERED).is_file():
        said: dict[str, Any] = read_json(data / REGISTERED)
        entered = {path: one for path, one in said.items() if named is None or Path(path) in named}
        archive.add(f"{DATA}/{REGISTERED}", [json.dumps(entered, ensure_ascii=False).encode()])


def _add_if_there(archive: ArchiveWriter, name: str, path: Path) -> None:
    """A file of the data folder; one that was deleted since the folder was listed is left out."""
    try:
        with path.open("rb"):
            archive.add_file(name, path)
    except FileNotFoundError:
        pass


def _write_keys(archive: ArchiveWriter, sealer: Sealer, known: Sequence[str]) -> None:
    """The key that seals verdict logs, and the heads that the seal folder has noted."""
    if not sealer.has_key:
        return
    archive.add(KEY, [sealer.key_text().encode("ascii")])
    noted = {run: sealer.noted(run) for run in known}
    heads = {run: dataclasses.asdict(head) for run, head in noted.items() if head is not None}
    archive.add(HEADS, [json.dumps(heads).encode("ascii")])


def _about(store: RunStore, data: Path, counts: dict[str, Any], with_keys: bool) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": __version__,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "store": store.database.engine.dialect.name,
        "revision": REVISIONS[-1],
        "places": dataclasses.asdict(Places.of(store.root, data)),
        "with_keys": with_keys,
        **{name: counts[name] for name in ("runs", "unfinished", "verdicts", "rows")},
    }


def _named(record: RunRecord) -> list[Path]:
    """What the run is made from; nothing where its settings cannot be read."""
    try:
        return list(paths_of(record.config))
    except RiskcoreError:
        return []


def _is_outside(path: Path, root: Path, data: Path) -> bool:
    samples = Path(Places.of(root, data).app) / "sample_data"
    return not any(path.is_relative_to(one) for one in (root, data, samples))
