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
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from riskcore.data import open_data
from riskcore.data.bring.arrange import MATCHES_FILE
from riskcore.data.bring.found_candidates import CANDIDATES_FILE, fitting
from riskcore.errors import StorageError
from riskcore.paths import child_environment, data_root
from riskcore.storage.files import read_json, write_json, write_parquet, writing

BLOCKING = ".blocking"
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
    return data_root() / BLOCKING / f"{Path(path).name}-{place}"


def may_search(path: str) -> bool:
    """Whether candidates can be added to the data set: it is a folder that can be written."""
    return Path(path).is_dir() and os.access(path, os.W_OK)


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
        folder.mkdir(parents=True)
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
    write_json(folder / "job.json", {"pid": child.pid, "started": time.time()})


def state(path: str) -> BlockingState | None:
    """How the search of this data set stands; None if there is none."""
    folder = _folder(path)
    if not (folder / "job.json").is_file():
        return None
    job = read_json(folder / "job.json")
    seconds = time.time() - job["started"]
    if _is_alive(int(job["pid"])):
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


def accept(path: str) -> None:
    """Make the found pairs the data set's candidates, but for those that it has in another file, with a label."""
    found = pairs_file(path)
    if not found.is_file():
        raise StorageError("The candidates are no longer there. Search again.")
    write_parquet(Path(path) / CANDIDATES_FILE, fitting(pq.read_table(found), open_data(path)))
    shutil.rmtree(_folder(path), ignore_errors=True)


def cancel(path: str) -> None:
    """Stop the search, if one is running, and drop what it found."""
    folder = _folder(path)
    with contextlib.suppress(StorageError, KeyError, OSError):
        pid = int(read_json(folder / "job.json")["pid"])
        if _is_alive(pid):
            os.killpg(pid, signal.SIGTERM)  # it has a session of its own
            if pid in _children:
                _children.pop(pid).wait(timeout=10)
    shutil.rmtree(folder, ignore_errors=True)


def _is_alive(pid: int) -> bool:
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
