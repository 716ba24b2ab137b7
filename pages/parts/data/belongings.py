"""What the server keeps for a data set outside its folder, such as the uploaded files it was made of: gone with it."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

from riskcore.errors import StorageError
from riskcore.paths import data_root
from riskcore.sandbox import quarantine
from riskcore.storage.files import read_json, write_json

WAITING, BLOCKING = ".brought", ".blocking"  # uploads that wait, and searches for candidates
DELETED = ".deleted-"  # begins the name of what is being deleted
_NOTE = ".belongs.json"
_finished: set[Path] = set()  # data folders that this process has looked through


def note(folder: Path, path: str) -> None:
    """Remember that the folder was made for the data set at the path."""
    with contextlib.suppress(StorageError):  # the folder is gone: nothing is left to delete
        if folder.is_dir():
            write_json(folder / _NOTE, {"set": path})


def remove_belongings(path: str) -> None:
    """Delete all that was kept for a data set."""
    for folder, owner in _noted():
        if owner == path:
            shutil.rmtree(folder, ignore_errors=True)
    quarantine.try_again(Path(path))


def finish_deletions() -> None:
    """Once in each process, delete what a deletion that was killed has left."""
    if data_root() in _finished:
        return
    _finished.add(data_root())
    for one in data_root().glob(f"{DELETED}*"):
        delete_path(one)
    for folder, owner in _noted():
        if not Path(owner).exists():
            shutil.rmtree(folder, ignore_errors=True)


def delete_path(path: Path) -> None:
    """A file or a folder, as far as it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _noted() -> list[tuple[Path, str]]:
    """The folders that belong to data sets, with these."""
    found = []
    for home in (WAITING, BLOCKING):
        for file in (data_root() / home).glob(f"*/{_NOTE}"):
            with contextlib.suppress(StorageError, KeyError, TypeError):
                found.append((file.parent, str(read_json(file)["set"])))
    return found
