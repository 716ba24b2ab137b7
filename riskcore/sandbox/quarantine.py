"""Files that broke their reader: set aside with the reason, and not read again.

An uploaded file is moved into the quarantine, a hidden folder of the data folder. A data set stays where it is, since
runs name it and may have read it before; it is refused until one of its files changes, or a person tries again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import shutil
import time
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from riskcore.errors import StorageError
from riskcore.paths import data_root
from riskcore.sandbox.errors import ReadingError
from riskcore.storage.files import private_folder, read_json, write_json, writing

HOME = ".quarantine"
UPLOADS = (".brought", ".uploads")  # folders of the data folder whose files were uploaded and are no data set yet
KEPT = 20  # files; the oldest goes when another comes
_ABOUT, _REFUSED = "about.json", "refused"


@dataclasses.dataclass(frozen=True)
class SetAside:
    """A file in quarantine."""

    key: str
    name: str
    reason: str
    at: datetime
    size: int


def take(path: Path, reason: str) -> None:
    """Set a file aside: an upload is moved, a data set is remembered as it is now."""
    if not path.exists():
        return
    if _is_upload(path):
        _move(path, reason)
    else:
        about = {"path": str(path), "signature": signature(path), "reason": reason}
        write_json(_note(path), about)


def refuse(path: Path) -> None:
    """Raise the reason why this path is not read, if there is one."""
    reason = reason_of(path)
    if reason is not None:
        raise ReadingError(reason)


def reason_of(path: Path) -> str | None:
    """Why a data set is not read, if its files are those that broke their reader."""
    note = _note(path)
    if not note.exists():
        return None
    about = read_json(note)
    return str(about["reason"]) if about["signature"] == signature(path) else None


def try_again(path: Path) -> None:
    """Forget that a data set broke its reader."""
    with contextlib.suppress(OSError):
        _note(path).unlink()


def set_aside() -> list[SetAside]:
    """The files in quarantine, the latest first."""
    found = []
    for folder in _home().glob("*/"):
        with contextlib.suppress(StorageError, KeyError, ValueError, OSError):  # being moved, or half deleted
            about: dict[str, Any] = read_json(folder / _ABOUT)
            size = (folder / "file").stat().st_size
            at = datetime.fromisoformat(about["at"])
            found.append(SetAside(folder.name, str(about["name"]), str(about["reason"]), at, size))
    return sorted(found, key=lambda one: one.at, reverse=True)


def discard(key: str) -> None:
    """Delete a file in quarantine for good."""
    if key in {one.key for one in set_aside()}:
        shutil.rmtree(_home() / key, ignore_errors=True)


def signature(path: Path) -> list[list[Any]]:
    """Names, sizes and times of a data set's files: other ones are another data set."""
    with contextlib.suppress(OSError):
        files = sorted(one for one in path.iterdir() if one.is_file()) if path.is_dir() else [path]
        return [[one.name, one.stat().st_size, one.stat().st_mtime_ns] for one in files if one.name[:1] != "."]
    return []


def _is_upload(path: Path) -> bool:
    return any(path.absolute().is_relative_to(data_root() / name) for name in UPLOADS)


def _move(path: Path, reason: str) -> None:
    """The note comes first: a file without one would be in quarantine for no reason that anyone knows."""
    private_folder(_home())
    folder = _home() / f"{time.time_ns():020d}-{uuid.uuid4().hex[:6]}"
    with writing(folder):
        folder.mkdir(mode=0o700)
        about = {"name": path.name, "reason": reason, "at": datetime.now(UTC).isoformat()}
        write_json(folder / _ABOUT, about)
        path.chmod(0o600)
        path.rename(folder / "file")
    for old in set_aside()[KEPT:]:
        discard(old.key)


def _note(path: Path) -> Path:
    name = hashlib.sha256(str(path.absolute()).encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return _home() / f"{_REFUSED}-{name}.json"


def _home() -> Path:
    return data_root() / HOME
