"""What `riskcore doctor` looks at on the machine: Python and libraries, the clock, the disk, and who may read files."""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import re
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import sqlalchemy as sa

from riskcore.operations.finding import Finding, error, ok, some, warning
from riskcore.paths import app_folder, installed, seal_folder
from riskcore.runs.store.database import runs
from riskcore.runs.store.run_store import STORE_FILE, RunStore
from riskcore.version import __version__

PYTHONS = ((3, 11), (3, 14))  # from this on, and before that
LEAST_FREE = 2e9  # bytes
TIMES_LARGEST = 3  # a run writes checkpoints and states beside its results
NEWEST = 50  # runs whose size is measured
FILES = 20_000  # that are counted at most
_AHEAD = 60.0  # seconds that clocks of machines may differ
_BUILT = 1_767_225_600.0  # 2026-01-01: no right clock is before this version
_PIN = re.compile(r"^([A-Za-z0-9_.-]+)(?:\[[^\]]*\])?==([^\s;]+)")


def check_versions() -> Iterator[Finding]:
    """Python, and every library against its pin: results are recorded with these versions."""
    now = sys.version_info[:2]
    words = f"Python {sys.version.split()[0]}, Riskcore {__version__}"
    if PYTHONS[0] <= now < PYTHONS[1]:
        yield ok("python", words)
    else:
        yield error("python", f"{words}: not tested with it", "Use Python 3.11, 3.12 or 3.13.")
    wrong, missing, pinned = [], [], pins()
    for name, version in pinned.items():
        try:
            there = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            missing.append(name)
        else:
            if there.partition("+")[0] != version:  # torch calls its CPU build 2.13.0+cpu
                wrong.append(f"{name} {there} (pinned {version})")
    cure = "Install Riskcore again into an environment of its own."
    if missing:
        yield error("libraries", f"Not installed: {some(missing)}", cure)
    if wrong:
        yield warning("libraries", f"Other versions than tested: {some(wrong)}", cure)
    if not missing and not wrong:
        yield ok("libraries", f"All {len(pinned)} have the pinned versions")


def pins() -> dict[str, str]:
    """The pinned version of each library: from the wheel's metadata or, in a checkout, from requirements.txt."""
    if installed():
        lines = [one for one in importlib.metadata.requires("riskcore") or () if "extra ==" not in one]
    else:
        lines = (app_folder() / "requirements.txt").read_text(encoding="utf-8").splitlines()
    return {found[1]: found[2] for found in map(_PIN.match, lines) if found}


def check_clock(store: RunStore) -> Iterator[Finding]:
    """Whether the clock is behind this version, or behind what is recorded already."""
    now = time.time()
    if now < _BUILT:
        yield error("clock", f"It is set to {_moment(now)}, before this version was made", "Set the clock.")
        return
    latest = _latest_entry(store)
    if latest > now + _AHEAD:
        yield warning("clock", f"It is behind the store, which has an entry of {_moment(latest)}", "Set the clock.")
    else:
        yield ok("clock", f"{_moment(now)} UTC")


def _latest_entry(store: RunStore) -> float:
    """The latest moment in the store; 0 without any, or where it cannot be read: its own line says so."""
    if not store.exists():
        return 0.0
    wanted = sa.select(sa.func.max(runs.c.created), sa.func.max(runs.c.beat))
    try:
        with store.database.engine.connect() as connection:
            return max(one or 0.0 for one in connection.execute(wanted).one())
    except sa.exc.DBAPIError:
        return 0.0


def check_disk(store: RunStore) -> Iterator[Finding]:
    """Whether there is room for the next runs."""
    there = next(one for one in (store.root, *store.root.parents) if one.is_dir())
    free = shutil.disk_usage(there).free
    largest = _largest_run(store.root)
    words = f"{free / 1e9:,.1f} GB free for {store.root}"
    if free < max(LEAST_FREE, TIMES_LARGEST * largest):
        needed = f"the largest of the newest runs has {largest / 1e9:,.2f} GB"
        cure = "Free some space: back up and delete runs that nobody needs, or move the folder to a larger disk."
        yield warning("disk", f"{words}; {needed}", cure)
    else:
        yield ok("disk", words)


def _largest_run(root: Path) -> int:
    """Bytes of the largest of the newest runs; whoever has more files than are counted is taken as measured so far."""
    sizes, left = [0], FILES
    names = sorted((one.name for one in os.scandir(root) if _is_run(one)), reverse=True) if root.is_dir() else []
    for name in names[:NEWEST]:
        size = 0
        for where, _, files in os.walk(root / name):
            left -= len(files)
            for file in files:
                with contextlib.suppress(OSError):
                    size += os.stat(os.path.join(where, file), follow_symlinks=False).st_size
        sizes.append(size)
        if left < 0:
            break
    return max(sizes)


def check_permissions(store: RunStore, data: Path) -> Iterator[Finding]:
    """Whether others on this machine can read what only the server's user should: one look at each run's folder."""
    folders = [one for one in (store.root, data, seal_folder()) if one.is_dir()]
    files = [*store.root.glob(f"{STORE_FILE}*"), seal_folder() / "key", data / "registered.json"]
    if store.root.is_dir():
        folders += [Path(one.path) for one in os.scandir(store.root) if _is_run(one)]
    # In a folder that only its owner can enter, nobody else reads a file, whatever its own permissions are.
    closed = {one for one in folders if not _mode(one) & 0o077}
    files = [one for one in files if one.is_file() and one.parent not in closed]
    inside = [one for one in folders if one.parent not in closed or one == store.root]
    open_ones = [str(one) for one in (*inside, *files) if _mode(one) & 0o077]
    if open_ones:
        cure = "chmod 700 on folders, 600 on files; and run Riskcore as a user of its own."
        yield warning("permissions", f"Others on this machine can read {some(open_ones)}", cure)
    else:
        yield ok("permissions", "Only the owner can read runs, data and keys")


def _mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def _is_run(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False) and os.path.exists(os.path.join(entry.path, "run.json"))


def _moment(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(seconds))
