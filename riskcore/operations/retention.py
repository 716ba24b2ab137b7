"""`riskcore runs forget`: delete the personal data of runs and keep their estimates.

What a run was made from goes too, where it lies in the data folder and no other run needs it. A note in the run's
folder says who did it and when, and holds the figures; it has a digest, sealed with the key of the seal folder.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from riskcore.audit.log_check import check_log
from riskcore.audit.log_entries import pairs_by_person, pairs_by_verdict, recorded_entries
from riskcore.audit.seal import LogHead, Sealer
from riskcore.audit.verdicts import VerdictLog
from riskcore.errors import ConfigError, StorageError
from riskcore.operations.backup import REGISTERED
from riskcore.operations.kept_figures import figures_of, pseudonyms, write_kept_files
from riskcore.operations.places import BESIDE_RUNS, Places, paths_of
from riskcore.runs.folder import RunFolder
from riskcore.runs.retention import FILE, Retained, is_forgotten
from riskcore.runs.store.forgetting import forget_run, kept_folder
from riskcore.runs.store.run_record import RunRecord, RunState, RunStateError
from riskcore.runs.store.run_store import RunStore
from riskcore.storage.checksums import vouch_for
from riskcore.storage.files import read_json, write_json
from riskcore.storage.lock import FileLock
from riskcore.storage.snapshot import visible_files

_PATIENCE = 10.0  # seconds to wait for another process that registers a data set
_BELONGS = ".belongs.json"  # in folders of uploads: the data set that was made of them


@dataclasses.dataclass(frozen=True)
class Plan:
    """What would be deleted of a run, and what would stay."""

    run: str
    name: str
    files: int
    bytes: int
    verdicts: int
    people: int
    data: tuple[str, ...]  # files and folders outside the run's own that go
    data_kept: tuple[str, ...]  # what the run was made from and stays, with the reason


def runs_to_forget(store: RunStore, chosen: Sequence[str], older_than: float | None) -> list[RunRecord]:
    """These runs, or all, that ended so many days ago; those that are forgotten already are left out."""
    if not chosen and older_than is None:
        raise ConfigError("Name runs, or say how old they are with --older-than DAYS.")
    records = [store.get(one) for one in chosen] if chosen else store.list()
    records = [one for one in records if not is_forgotten(one.folder)]
    if older_than is None:
        return records
    before = datetime.now(UTC) - timedelta(days=older_than)
    return [one for one in records if one.state.over and (one.ended or one.created) < before]


def plan_forgetting(store: RunStore, records: Sequence[RunRecord], data: Path, keep_data: bool = False) -> list[Plan]:
    """What forgetting these runs would delete. Nothing is changed."""
    going = {one.id for one in records}
    needed = _needed_by_others(store, going)
    return [_plan(store, record, data.absolute(), needed, keep_data) for record in records]


def forget(store: RunStore, plan: Plan, data: Path, who: str) -> Retained:
    """Delete the personal data of one run, as planned. Deleted when this returns; finished later if this is killed."""
    record = store.get(plan.run)
    if record.state in (RunState.RUNNING, RunState.WAITING):
        raise RunStateError(f"Run {record.id} is {record.state}. Cancel it first.")
    if not record.folder.is_dir():
        raise StorageError(f"Run {record.id} has no folder, so no figures can be kept. Delete the run.")
    folder, log = RunFolder(record.folder), VerdictLog(store)
    entries, recorded = log.entries(record.id), recorded_entries(store, record.id)
    checked, names = check_log(store, record.id), pseudonyms(entries)
    # Figures come first: whatever cannot be read is an error before anything is deleted.
    kept: dict[str, Any] = figures_of(folder, entries)
    place = kept_folder(store.root, record.id)
    write_kept_files(folder, place, entries)
    unsealed = Retained(
        run=record.id,
        who=who,
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        removed={"files": plan.files, "bytes": plan.bytes, "verdicts": len(entries), "people": len(names)},
        entries=checked.head.size,
        head=checked.head.digest,
        problems=checked.problems,
        estimate=kept["estimate"],
        agreement=kept["agreement"],
        verdicts=pairs_by_verdict(recorded),
        people={names[one]: count for one, count in pairs_by_person(recorded).items()},
        sign_offs=tuple(kept["sign_offs"]),
        data_deleted=plan.data,
        data_kept=plan.data_kept,
    )
    digest = unsealed.compute_digest()
    note = dataclasses.replace(unsealed, digest=digest, seal=note_seal(store, record.id, unsealed.entries, digest))
    write_json(place / FILE, note.to_json())
    vouch_for(place)
    if VerdictLog(store).size(record.id) != len(entries):
        raise RunStateError(f"Verdicts on run {record.id} are being given at this moment. Try again.")
    forget_run(store.database, store.root, record.id, [Path(one) for one in plan.data])
    _forget_registered(data.absolute(), plan.data)
    return note


def note_seal(store: RunStore, run: str, entries: int, digest: str) -> str:
    """The keyed seal of a note."""
    return Sealer(store).seal(f"{run} retention", LogHead(entries, digest))


def _plan(store: RunStore, record: RunRecord, data: Path, needed: set[Path], keep_data: bool) -> Plan:
    names = list(visible_files(record.folder)) if record.folder.is_dir() else []
    size = 0
    for name in names:
        with contextlib.suppress(FileNotFoundError):
            size += (record.folder / name).stat().st_size
    entries = VerdictLog(store).entries(record.id)
    going, staying = [], []
    for path in dict.fromkeys(paths_of(record.config)):
        reason = _why_kept(path, store.root, data, needed, keep_data)
        if reason:
            staying.append(f"{path}: {reason}")
        elif path.exists():
            going += [path, *_uploads_of(path, data)]
    return Plan(
        record.id,
        record.name,
        len(names),
        size,
        len(entries),
        len({one.who for one in entries}),
        tuple(map(str, going)),
        tuple(staying),
    )


def _why_kept(path: Path, root: Path, data: Path, needed: set[Path], keep_data: bool) -> str:
    """Why what a run was made from stays; empty if it goes."""
    if path.is_relative_to(Path(Places.of(root, data).app) / "sample_data"):
        return "it is a bundled sample"
    if any(path == other or path in other.parents or other in path.parents for other in needed):
        return "another run needs it"
    if any(path.is_relative_to(root / folder) for folder in BESIDE_RUNS):
        return ""
    if not path.is_relative_to(data) or path == data:
        return "it lies outside the data folder: delete it there"
    return "--keep-data" if keep_data else ""


def _needed_by_others(store: RunStore, going: set[str]) -> set[Path]:
    others = [one for one in store.list() if one.id not in going and not is_forgotten(one.folder)]
    return {path for one in others for path in paths_of(one.config)}


def _uploads_of(path: Path, data: Path) -> list[Path]:
    """Folders of uploads that a data set was made of, and of searches in it."""
    found = []
    for note in data.glob(f".*/*/{_BELONGS}"):
        with contextlib.suppress(StorageError, KeyError, TypeError):
            if read_json(note)["set"] == str(path):
                found.append(note.parent)
    return found


def _forget_registered(data: Path, gone: Sequence[str]) -> None:
    """Remove what people entered about data sets that were deleted."""
    file = data / REGISTERED
    if not (file.is_file() and gone):
        return
    with FileLock(file.with_name(f".{file.name}.lock"), _PATIENCE):
        said: dict[str, Any] = read_json(file)
        left = {path: one for path, one in said.items() if path not in gone}
        if left != said:
            write_json(file, left)
