"""Exports of scored pairs that the screens asked for: what was asked, how far it is, and where the file is.

A job is a folder in the set's `exports/`. It survives a reload of the page and the web server itself.
"""

from __future__ import annotations

import dataclasses
import subprocess
import sys
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from riskcore.paths import child_environment
from riskcore.runs.store.liveness import process_exists
from riskcore.scale.folder import ScoredFolder
from riskcore.storage.files import read_json, remove_folder, write_bytes, write_json, writing

STARTING = timedelta(seconds=60)  # a job without a process for longer has none: its web server ended before it began
KEPT = 3  # finished exports of a set; older ones are removed when a new one starts, since they may be large
_ASKED, _DONE, _ERROR, _PROGRESS, _CANCEL, _PID = (
    "job.json", "done.json", "error.json", "progress.json", "cancel", "pid"
)  # fmt: skip
_children: list[subprocess.Popen[bytes]] = []


@dataclasses.dataclass(frozen=True)
class AskedExport:
    """What is to be written."""

    kind: str  # csv or parquet
    values: bool  # both records beside each pair
    filters: dict[str, Any]  # of a ScoredQuery
    words: str  # the filters in words


@dataclasses.dataclass(frozen=True)
class ExportJob:
    """One export. Nothing is cached, since the process that works on it changes its files."""

    folder: Path

    @property
    def scored(self) -> ScoredFolder:
        return ScoredFolder(self.folder.parents[1])

    @property
    def asked(self) -> AskedExport:
        return AskedExport(**read_json(self.folder / _ASKED)["asked"])

    @property
    def started(self) -> datetime:
        return datetime.fromisoformat(read_json(self.folder / _ASKED)["started"])

    @property
    def file(self) -> Path:
        return self.folder / f"pairs.{self.asked.kind}"

    @property
    def pairs(self) -> int | None:
        """How many pairs the file has; None while it is not there."""
        file = self.folder / _DONE
        return int(read_json(file)["pairs"]) if file.exists() else None

    @property
    def error(self) -> str | None:
        """Why there is no file; None where there is one, or while it is being written."""
        file = self.folder / _ERROR
        if file.exists():
            return str(read_json(file)["error"])
        if (self.folder / _DONE).exists() or self._alive or (self.folder / _DONE).exists():
            return None
        return "The process that wrote the file has ended before it was done. Try again."

    @property
    def going_on(self) -> bool:
        return self.pairs is None and self.error is None

    @property
    def progress(self) -> tuple[int, float]:
        """Pairs that are written, and the share of all parts that is done."""
        file = self.folder / _PROGRESS
        found = read_json(file) if file.exists() else {"pairs": 0, "share": 0.0}
        return int(found["pairs"]), float(found["share"])

    @property
    def cancelled(self) -> bool:
        return (self.folder / _CANCEL).exists()

    @property
    def _alive(self) -> bool:
        _children[:] = [child for child in _children if child.poll() is None]
        file = self.folder / _PID
        if not file.exists():
            return datetime.now(UTC) - self.started < STARTING
        return process_exists(int(file.read_text(encoding="utf-8")))

    def report(self, pairs: int, share: float) -> None:
        write_json(self.folder / _PROGRESS, {"pairs": pairs, "share": share})

    def finish(self, pairs: int) -> None:
        write_json(self.folder / _DONE, {"pairs": pairs})

    def fail(self, error: str) -> None:
        write_json(self.folder / _ERROR, {"error": error})

    def cancel(self) -> None:
        """Ask the process to stop; it does after the part that it is at."""
        write_bytes(self.folder / _CANCEL, b"")

    def remove(self) -> None:
        """Delete the job with its file."""
        remove_folder(self.folder)


def exports_of(scored: ScoredFolder) -> list[ExportJob]:
    """The exports of a set, the latest first."""
    folders = (path for path in (scored.path / "exports").glob("*") if (path / _ASKED).is_file())
    return [ExportJob(path) for path in sorted(folders, reverse=True)]


def start_export(scored: ScoredFolder, asked: AskedExport) -> ExportJob:
    """Start a process that writes the file; where that fails, nothing of the job stays."""
    for old in [one for one in exports_of(scored) if not one.going_on][KEPT - 1 :]:
        old.remove()
    now = datetime.now(UTC)
    job = ExportJob(scored.path / "exports" / f"{now:%Y%m%d-%H%M%S-%f}-{uuid.uuid4().hex[:4]}")
    try:
        write_json(job.folder / _ASKED, {"asked": dataclasses.asdict(asked), "started": now.isoformat()})
        _spawn(job)
    except BaseException:
        job.remove()
        raise
    return job


def _spawn(job: ExportJob) -> None:
    """A process in a session of its own, writing to the job's log."""
    with writing(job.folder), (job.folder / "log.txt").open("ab") as log:
        child = subprocess.Popen(
            [sys.executable, "-P", "-m", "riskcore.scale.exporting", str(job.folder.absolute())],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**child_environment(), "PYTHONUNBUFFERED": "1"},
            start_new_session=True,
        )
    _children.append(child)
    write_bytes(job.folder / _PID, str(child.pid).encode())
