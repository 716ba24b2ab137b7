"""Applying a run in a process of its own, for the screens: what was asked, how far it is, and what came out.

A job is a folder in the run's `applied/`. It survives a reload of the page and the web server itself. This module needs
no engine: the process that works on a job is `python -m riskcore.apply FOLDER`.
"""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from riskcore.paths import child_environment
from riskcore.runs.folder import RunFolder
from riskcore.runs.store.liveness import process_exists, this_host
from riskcore.storage.files import read_json, remove_file, remove_folder, write_bytes, write_json, writing

STARTING = timedelta(seconds=60)  # a job without a process for longer has none: its web server ended before it began
SILENT_SECONDS = 600.0  # a job on another machine that has told nothing for longer has been interrupted
KEPT = 5  # finished jobs of a run; older ones are removed when a new one starts
_ASKED, _DONE, _ERROR, _PROGRESS, _CANCEL, _PID, _LOG = (
    "job.json", "done.json", "error.json", "progress.json", "cancel", "pid", "log.txt"
)  # fmt: skip
_children: list[subprocess.Popen[bytes]] = []


@dataclasses.dataclass(frozen=True)
class Asked:
    """What is to be scored, and how."""

    name: str  # of the file, as its owner calls it
    method: str
    side: str = "right"
    kind: str = "csv"  # of the answers
    matches_only: bool = False
    id_column: str = "id"


@dataclasses.dataclass(frozen=True)
class Job:
    """One job. Nothing is cached, since the process that works on it changes its files."""

    folder: Path

    @property
    def asked(self) -> Asked:
        return Asked(**read_json(self.folder / _ASKED)["asked"])

    @property
    def started(self) -> datetime:
        return datetime.fromisoformat(read_json(self.folder / _ASKED)["started"])

    @property
    def run(self) -> RunFolder:
        return RunFolder(self.folder.parents[1])

    @property
    def new_file(self) -> Path:
        """The file to be scored; removed once it is."""
        return self.folder / f"new{Path(self.asked.name).suffix.lower()}"

    @property
    def answers(self) -> Path:
        """The file with the answers, once the job is done."""
        return self.folder / f"answers.{self.asked.kind}"

    @property
    def about(self) -> dict[str, Any] | None:
        """The facts about the answers; None while they are not there."""
        file = self.folder / _DONE
        return read_json(file) if file.exists() else None

    @property
    def error(self) -> str | None:
        """Why there are no answers; None where there are, or while the job goes on."""
        file = self.folder / _ERROR
        if file.exists():
            return str(read_json(file)["error"])
        if (self.folder / _DONE).exists() or self._alive:
            return None
        if (self.folder / _DONE).exists():  # written while the process ended
            return None
        if not (self.folder / _PID).exists():
            return "The process that was to score the records did not start. Try again."
        return "The process that scored the records has ended without an answer. Try again."

    @property
    def going_on(self) -> bool:
        return self.about is None and self.error is None

    @property
    def progress(self) -> tuple[str, float]:
        """What is being done, and the share of all that is over."""
        file = self.folder / _PROGRESS
        found: Mapping[str, Any] = read_json(file) if file.exists() else {"what": "starting", "share": 0.0}
        return str(found["what"]), float(found["share"])

    @property
    def cancelled(self) -> bool:
        return (self.folder / _CANCEL).exists()

    @property
    def _alive(self) -> bool:
        _reap_children()
        file = self.folder / _PID
        if not file.exists():
            return datetime.now(UTC) - self.started < STARTING
        pid, _, host = file.read_text(encoding="utf-8").partition(" ")
        if not host or host == this_host():
            return process_exists(int(pid))
        told = [one.stat().st_mtime for one in (file, self.folder / _PROGRESS) if one.exists()]
        return time.time() - max(told) < SILENT_SECONDS  # nobody can look for a process of another machine

    # What the process reports.

    def report(self, what: str, share: float) -> None:
        write_json(self.folder / _PROGRESS, {"what": what, "share": share})

    def finish(self, about: Mapping[str, Any]) -> None:
        write_json(self.folder / _DONE, dict(about))
        remove_file(self.new_file)

    def fail(self, error: str) -> None:
        write_json(self.folder / _ERROR, {"error": error})
        remove_file(self.new_file)

    def cancel(self) -> None:
        """Ask the process to stop; it does at its next step."""
        write_bytes(self.folder / _CANCEL, b"")

    def remove(self) -> None:
        """Delete the job with its answers."""
        remove_folder(self.folder)


def jobs_of(run: RunFolder) -> list[Job]:
    """The run's jobs, the latest first."""
    folders = (path for path in run.applied.glob("*") if (path / _ASKED).is_file())
    return [Job(path) for path in sorted(folders, reverse=True)]


def start_job(run: RunFolder, content: bytes, asked: Asked) -> Job:
    """Keep the file and start a process that scores it; where that fails, nothing of the job stays."""
    finished = [one for one in jobs_of(run) if not one.going_on]
    for old in finished[KEPT - 1 :]:
        old.remove()
    now = datetime.now(UTC)
    job = Job(run.applied / f"{now:%Y%m%d-%H%M%S-%f}-{uuid.uuid4().hex[:4]}")
    try:
        write_json(job.folder / _ASKED, {"asked": dataclasses.asdict(asked), "started": now.isoformat()})
        write_bytes(job.new_file, content)
        _spawn(job)
    except BaseException:
        job.remove()
        raise
    return job


def _spawn(job: Job) -> None:
    """A process in a session of its own, writing to the job's log."""
    environment = {**child_environment(), "PYTHONUNBUFFERED": "1"}
    with writing(job.folder), (job.folder / _LOG).open("ab") as log:
        child = subprocess.Popen(
            [sys.executable, "-m", "riskcore.apply", str(job.folder)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=environment,
            cwd=os.getcwd(),
            start_new_session=True,
        )
    _reap_children()
    _children.append(child)
    try:
        write_bytes(job.folder / _PID, f"{child.pid} {this_host()}".encode())
    except BaseException:
        child.kill()  # nobody would know of it
        child.wait()
        raise


def _reap_children() -> None:
    """Read the exit codes of ended processes: until then each stays a zombie."""
    _children[:] = [child for child in _children if child.poll() is None]
