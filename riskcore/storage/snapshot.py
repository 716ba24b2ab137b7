"""A folder as it is at one moment, without copying it: hard links in a hidden folder beside it.

Files of this project are replaced and never changed in place, so a link keeps the content of its moment, however long
reading it takes. Files that grow are copied. Whoever takes snapshots holds a lock in their folder; the folders of
killed processes are removed by the next look.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from riskcore.errors import BusyError
from riskcore.storage.checksums import LIST
from riskcore.storage.files import writing
from riskcore.storage.lock import FileLock

PREFIX = ".snapshot-"  # how the name of the hidden folder begins
_LOCK = "in-use.lock"
_GROWING = (".jsonl", ".log")  # with the list of checksums: these are changed in place
_NOT_TAKEN = (".lock",)
_TRIES, _PAUSE = 40, 0.05  # of a folder that is being written to; a worker writes for milliseconds every second or so

_State = dict[str, tuple[int, int, int]]


@contextlib.contextmanager
def snapshots(root: Path) -> Iterator[Path]:
    """A hidden folder in `root` to take snapshots into; removed at the end."""
    sweep_snapshots(root)
    with writing(root):
        home = Path(tempfile.mkdtemp(prefix=PREFIX, dir=root))
    try:
        with FileLock(home / _LOCK):
            yield home
    finally:
        shutil.rmtree(home, ignore_errors=True)


def sweep_snapshots(root: Path) -> int:
    """Remove the snapshots of processes that were killed; returns how many there were."""
    swept = 0
    for home in root.glob(f"{PREFIX}*"):
        if not (home / _LOCK).exists():  # being made at this moment
            continue
        with contextlib.suppress(BusyError), FileLock(home / _LOCK):
            shutil.rmtree(home, ignore_errors=True)
            swept += 1
    return swept


def take_snapshot(folder: Path, place: Path) -> None:
    """Link every file of the folder that has its final name to the same name below `place`. What is there is of one
    moment: if anything changed meanwhile, it is done again."""
    with writing(place):
        for _ in range(_TRIES):
            before = _state(folder)
            if _link(folder, place, before) and _state(folder) == before:
                return
            shutil.rmtree(place, ignore_errors=True)
            time.sleep(_PAUSE)
    raise BusyError(f"{folder} is being written to all the time. Try again in a moment.")


def visible_files(folder: Path) -> Iterator[str]:
    """The names of all files in a folder and below that readers look for: no hidden ones, no locks, no links."""
    for where, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = os.path.join(where, name)
            if not name.startswith(".") and not name.endswith(_NOT_TAKEN) and not os.path.islink(path):
                yield Path(path).relative_to(folder).as_posix()


def _state(folder: Path) -> _State:
    found: _State = {}
    for name in visible_files(folder):
        with contextlib.suppress(FileNotFoundError):  # it is being replaced: the next look sees another state
            about = (folder / name).stat()
            grows = name.endswith(".log")  # at any time, and no other file has to agree with it
            found[name] = (about.st_ino, 0, 0) if grows else (about.st_ino, about.st_size, about.st_mtime_ns)
    return found


def _link(folder: Path, place: Path, names: _State) -> bool:
    """Whether every file could be linked or copied."""
    place.mkdir(mode=0o700, parents=True)
    for name in names:
        source, target = folder / name, place / name
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            if source.name == LIST or source.suffix in _GROWING:
                shutil.copyfile(source, target)
            else:
                _link_or_copy(source, target)
        except FileNotFoundError:
            return False
    return True


def _link_or_copy(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except FileNotFoundError:
        raise
    except OSError:  # a file system without hard links
        shutil.copyfile(source, target)
