"""Computing the damaged files of a finished run again.

The run is worked on once more in a hidden folder beside its files: with its sound files and checkpoints, so that only
what the damage touched is trained again, and with the same data, settings and seed. A file takes the place of a damaged
one only if it is the same to the byte, by the checksum of when it was first written. What people made (verdicts, lists,
sign-offs, guidelines) is not computed, and stays for a backup to restore.
"""

from __future__ import annotations

import dataclasses
import hashlib
import shutil
import tempfile
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from riskcore.columns import SUMMARY_COLUMNS
from riskcore.errors import RiskcoreError, StorageError
from riskcore.runs.folder import RunFolder
from riskcore.runs.retention import refuse_forgotten
from riskcore.runs.store.database import runs, sqlite_url
from riskcore.runs.store.run_record import RunRecord, RunState, RunStateError
from riskcore.runs.store.run_store import STORE_FILE, RunStore
from riskcore.runs.worker.execute import Data, Engine, execute
from riskcore.runs.worker.results import iteration_rows
from riskcore.storage.checksums import (
    FolderCheck,
    check_folder,
    file_hash,
    keep_checksums,
    note_removed,
    note_written,
    read_list,
    rewrite_list,
)
from riskcore.storage.files import json_text, private_folder, read_json, write_bytes, writing
from riskcore.storage.lock import FolderLock

_PLACE = ".repair-"  # how the name of the hidden folder begins
_BY_METHOD = ("scores", "models", "states")  # folders with files of each method's iterations
_COMPUTED = frozenset(
    (
        "run.json", "results.json", "comparison.json", "summary.json", "rules.json", "rules-validation.json",
        "pairs.parquet", "other_pairs.parquet", "records.parquet", "extra.parquet", "truth.parquet", "metrics.parquet",
        "fired.parquet", "scores", "models", "states", "matcher", "bundle", "sheets", "checkpoint",
    )
)  # fmt: skip
_CHECKPOINT = "checkpoint"


@dataclasses.dataclass(frozen=True)
class Repair:
    """What became of the damaged and missing files, by their names in the run's folder."""

    repaired: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()  # checkpoints, which a finished run does not need
    left: Mapping[str, str] = dataclasses.field(default_factory=dict)  # and why


def repair_run(store: RunStore, run: str, data: Data | None = None, engine: Engine | None = None) -> Repair:
    """Compute what is damaged or missing again. The files of the run change only where the result is the same."""
    record = store.get(run)
    refuse_forgotten(record.folder)
    if record.state is not RunState.DONE:
        raise RunStateError(f"Run {record.id} is {record.state}, and only a finished run is repaired. Resume it first.")
    with FolderLock(record.folder):
        found = check_folder(record.folder)
        if found.listed is None:
            raise StorageError(
                f"Run {record.id} was recorded before files had checksums, so damage cannot be told. Run again."
            )
        if found.sound:
            return Repair()
        for old in record.folder.glob(f"{_PLACE}*"):
            shutil.rmtree(old, ignore_errors=True)
        if found.damaged_lines:
            rewrite_list(record.folder, read_list(record.folder).digests)
        return _Work(store, record, found).do(data, engine)


class _Work:
    """The repair of one run."""

    def __init__(self, store: RunStore, record: RunRecord, found: FolderCheck) -> None:
        self.store, self.record, self.folder = store, record, record.folder
        self.bad = [*found.damaged, *found.missing]
        self.unlisted = found.unlisted if found.damaged_lines else ()
        self.digests = read_list(record.folder).digests
        self.repaired: list[str] = []
        self.removed: list[str] = []
        self.left: dict[str, str] = {}

    def do(self, data: Data | None, engine: Engine | None) -> Repair:
        for name in list(self.bad):
            if name.split("/")[0] == _CHECKPOINT:
                self._remove_checkpoint(name)
            elif name.split("/")[0] not in _COMPUTED:
                self._leave(name, "People made it, or it was asked for later: restore it from a backup.")
        if "summary.json" in self.bad:
            self._place("summary.json", self._summary_of_events())
        if self.bad or self.unlisted:
            with writing(self.folder), tempfile.TemporaryDirectory(prefix=_PLACE, dir=self.folder) as place:
                self._compute(Path(place), data, engine)
        return Repair(tuple(self.repaired), tuple(self.removed), self.left)

    def _remove_checkpoint(self, name: str) -> None:
        note_removed(self.folder / name)
        (self.folder / name).unlink(missing_ok=True)
        self.digests = read_list(self.folder).digests
        self.bad.remove(name)
        self.removed.append(name)

    def _compute(self, place: Path, data: Data | None, engine: Engine | None) -> None:
        scratch = self._scratch(place)
        copy = place / self.record.id
        try:
            execute(scratch, self.record.id, data=data, engine=engine)
        except RiskcoreError as error:
            for name in list(self.bad):
                self._leave(name, f"It could not be computed again: {error}")
            return
        if file_hash(copy / "run.json") not in self.digests.get("run.json", ()):
            reason = "The run's data or program has changed, so it cannot be computed again. Run again."
            for name in list(self.bad):
                self._leave(name, reason)
            return
        for name in list(self.bad):
            again = copy / name
            self._place(name, self._results(again) if name == "results.json" else _content(again))
            if name in self.bad:
                self._leave(name, "What was computed again differs from what was recorded. Run again.")
        for name in self.unlisted:  # their line of the list is lost
            if (copy / name).is_file() and file_hash(copy / name) == file_hash(self.folder / name):
                note_written(self.folder / name)

    def _scratch(self, place: Path) -> RunStore:
        """A store of its own with the run in it, as it was before its worker began, and what is sound of its files."""
        scratch = RunStore(place, sqlite_url(place / STORE_FILE))
        copy = place / self.record.id
        private_folder(copy)
        keep_checksums(copy)
        dropped = set(self.bad) | {"run.json"} | self._checkpoints_to_drop()
        for name in self.digests:
            if name not in dropped and name.split("/")[0] in _COMPUTED:
                (copy / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(self.folder / name, copy / name)
        with self.store.database.read() as tx:
            row = tx.execute(sa.select(runs).where(runs.c.id == self.record.id)).one()
        kept = {name: getattr(row, name) for name in ("id", "name", "created", "config")}
        with scratch.database.write() as tx:
            tx.execute(sa.insert(runs).values(**kept, state=RunState.WAITING.value))
        return scratch

    def _checkpoints_to_drop(self) -> set[str]:
        """Those of methods with a damaged iteration: a method that has its checkpoint is not trained again."""
        methods = methods_of(self.bad)
        if "summary.json" in self.bad:  # the store has no events of the run
            methods |= set(RunFolder(self.folder).methods())
        return {f"{_CHECKPOINT}/{method}{ending}.safetensors" for method in methods for ending in ("", "-done")}

    def _summary_of_events(self) -> bytes:
        """summary.json from the events of the store, which hold every row."""
        rows: dict[tuple[str, int], dict[str, Any]] = {}
        for event in self._events("iteration_end"):
            rows[event["method"], event["iteration"]] = {name: event.get(name) for name in SUMMARY_COLUMNS}
        return json_text(list(rows.values())).encode()

    def _results(self, file: Path) -> bytes | None:
        """The results with what was measured when they were first computed, such as seconds: the store knows it."""
        if not file.exists():
            return None
        found = read_json(file)
        for event in self._events("method_end"):
            found["methods"][event["method"]] = {name: value for name, value in event.items() if name != "method"}
        for event in self._events("measured"):
            found |= event
        return json_text({**found, "iterations": iteration_rows(RunFolder(self.folder))}).encode()

    def _events(self, kind: str) -> Iterator[dict[str, Any]]:
        after = 0
        while batch := self.store.events(self.record.id, after):
            yield from (one.record for one in batch if one.kind == kind)
            after = batch[-1].sequence

    def _place(self, name: str, content: bytes | None) -> None:
        """Put the content in place if it is what was recorded."""
        if content is None or _digest(content) != self.digests[name][-1]:
            return
        write_bytes(self.folder / name, content)
        self.bad.remove(name)
        self.repaired.append(name)

    def _leave(self, name: str, reason: str) -> None:
        self.bad.remove(name)
        self.left[name] = reason


def methods_of(names: Collection[str]) -> set[str]:
    """The methods whose iterations these files hold."""
    found = set()
    for name in names:
        first, *rest = name.split("/")
        if first in _BY_METHOD and rest and rest[-1].startswith("iteration-"):
            found.add(rest[0] if len(rest) > 1 else "risk")
        elif first == "matcher":
            found.add("risk")
    return found


def _content(file: Path) -> bytes | None:
    return file.read_bytes() if file.is_file() else None


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
