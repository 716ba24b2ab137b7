"""Finding candidate pairs for a data set in a process of its own: `riskcore block`, its progress and its report.

The pairs wait in a hidden folder of the data folder until a person accepts them; then they become the data set's
`pairs.parquet`. An interrupted search goes on where it stopped.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pages.parts.data import belongings
from pages.parts.frame.actions import requires
from riskcore.access import Role
from riskcore.data.bring.arrange import MATCHES_FILE
from riskcore.errors import BusyError, StorageError
from riskcore.paths import child_environment, data_root
from riskcore.runs.store.liveness import this_host
from riskcore.sandbox import calls
from riskcore.storage.files import private_folder, read_json, write_json, writing

STOPPING_SECONDS = 10.0  # a search that is stopped has ended by then
SILENT_SECONDS = 600.0  # a search on another machine that has told nothing for longer has been interrupted
_SHARE = re.compile(r"(\d+) %")
_children: dict[int, subprocess.Popen[bytes]] = {}  # a finished child is a zombie until its exit code is read


@dataclasses.dataclass(frozen=True)
class BlockingState:
    """A search for candidates: `running`, `done` with its report, or `failed` with the reason."""

    name: str
    seconds: float = 0.0
    share: float = 0.0
    words: str = ""
    report: dict[str, Any] | None = None


def _folder(path: str) -> Path:
    """Where a search waits; two folders of the same name have two."""
    place = hashlib.sha256(path.encode()).hexdigest()[:8]
    return data_root() / belongings.BLOCKING / f"{Path(path).name}-{place}"


def may_search(path: str) -> bool:
    """Whether candidates can be added to the data set: it is a folder that can be written."""
    return Path(path).is_dir() and os.access(path, os.W_OK)


@requires(Role.OPERATOR)
def start(path: str, top: int, keys: Sequence[str] = (), attributes: Sequence[str] = ()) -> None:
    """Search the data set at this path. What an earlier search with other settings found is dropped."""
    cancel(path)
    folder = _folder(path)
    command = [sys.executable, "-m", "riskcore", "block", path, "--out", str(folder / "pairs.parquet"), "--json"]
    command += ["--top", str(top), *(word for key in keys for word in ("--key", key))]
    command += [word for name in attributes for word in ("--attribute", name)]
    matches = Path(path) / MATCHES_FILE
    command += ["--known", str(matches)] if matches.is_file() else []
    with writing(folder):
        shutil.rmtree(folder, ignore_errors=True)
        private_folder(data_root())
        private_folder(folder.parent)
        folder.mkdir()
        belongings.note(folder, path)
        with (folder / "report.json").open("wb") as out, (folder / "progress.log").open("wb") as log:
            child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=log,
                env=child_environment(),
                start_new_session=True,
            )
    _children[child.pid] = child
    write_json(folder / "job.json", {"pid": child.pid, "host": this_host(), "started": time.time()})


def state(path: str) -> BlockingState | None:
    """How the search of this data set stands; None if there is none."""
    folder = _folder(path)
    if not (folder / "job.json").is_file():
        return None
    job = read_json(folder / "job.json")
    seconds = time.time() - job["started"]
    if _is_alive(folder, job):
        lines = (folder / "progress.log").read_text(encoding="utf-8", errors="replace").splitlines()
        shares = [int(found[1]) for line in lines if (found := _SHARE.search(line))]
        return BlockingState("running", seconds, shares[-1] / 100 if shares else 0.0, lines[-1] if lines else "")
    try:
        report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    except ValueError:
        log = (folder / "progress.log").read_text(encoding="utf-8", errors="replace").strip()
        return BlockingState("failed", seconds, words=log[-2_000:] or "It was interrupted.")
    return BlockingState("done", seconds, 1.0, report=report)


def pairs_file(path: str) -> Path:
    """The found pairs that are not accepted yet."""
    return _folder(path) / "pairs.parquet"


@requires(Role.OPERATOR)
def accept(path: str) -> None:
    """Make the found pairs the data set's candidates, but for those that it has in another file, with a label."""
    found = pairs_file(path)
    if not found.is_file():
        raise StorageError("The candidates are no longer there. Search again.")
    calls.accept_candidates(Path(path), found)
    shutil.rmtree(_folder(path), ignore_errors=True)


@requires(Role.OPERATOR)
def cancel(path: str) -> None:
    """Stop the search, if one is running, and drop what it found."""
    folder, job = _folder(path), {}
    with contextlib.suppress(StorageError):
        job = read_json(folder / "job.json")
    if job and _is_alive(folder, job):
        if job.get("host", this_host()) != this_host():
            raise BusyError(f"The search runs on {job['host']} and cannot be stopped from here. Wait until it is done.")
        with contextlib.suppress(OSError):
            os.killpg(int(job["pid"]), signal.SIGTERM)  # it has a session of its own
        until = time.monotonic() + STOPPING_SECONDS  # whichever web process started it
        while _is_alive(folder, job) and time.monotonic() < until:
            time.sleep(0.05)
    shutil.rmtree(folder, ignore_errors=True)


def _is_alive(folder: Path, job: Mapping[str, Any]) -> bool:
    """Whether the search still runs. On another machine nobody can look for its process, but its progress is seen."""
    if job.get("host", this_host()) == this_host():
        return _process_is_alive(int(job["pid"]))
    report, log = folder / "report.json", folder / "progress.log"
    if not log.is_file() or (report.is_file() and report.stat().st_size):
        return False
    return time.time() - log.stat().st_mtime < SILENT_SECONDS


def _process_is_alive(pid: int) -> bool:
    child = _children.get(pid)
    if child is not None:
        if child.poll() is None:
            return True
        _children.pop(pid)
        return False
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as command:
            return b"riskcore" in command.read()  # the number may be another process's by now
    except OSError:
        return False
