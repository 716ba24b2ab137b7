"""Files and folders that are complete or absent: written under another name, flushed to disk, then renamed.

The temporary name is one that no reader looks for, so a half-written file is never read. Disk failures become one clear
error, and the temporary file is removed so that a full disk has space for what follows.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from riskcore.errors import StorageError
from riskcore.storage.checksums import PART, checked, note_folder, note_removed, note_written

ROWS_PER_GROUP = 2_048  # a page of 50 pairs reads at most 50 of them; larger ones cost more, smaller ones gain nothing

_REASONS = {
    errno.ENOSPC: ("the disk is full", "Free some space and resume the run: its progress is kept."),
    errno.EDQUOT: ("the disk quota is used up", "Free some space and resume the run: its progress is kept."),
    errno.EROFS: ("the file system is read-only", "Make the folder writable, or choose another with --runs."),
    errno.EACCES: ("permission is denied", "Make the folder writable, or choose another with --runs."),
    errno.EPERM: ("permission is denied", "Make the folder writable, or choose another with --runs."),
}


def write_text(path: Path, text: str) -> None:
    """The text as a whole file."""
    _write(path, lambda stream: stream.write(text.encode("utf-8")))


def write_bytes(path: Path, content: bytes) -> None:
    """The bytes as a whole file."""
    _write(path, lambda stream: stream.write(content))


def write_stream(path: Path, fill: Callable[[IO[bytes]], Any]) -> None:
    """What `fill` writes as a whole file; for content that is made piece by piece."""
    _write(path, fill)


def write_json(path: Path, value: Any) -> None:
    write_text(path, json_text(value))


def json_text(value: Any) -> str:
    """The value as `write_json` writes it."""
    return json.dumps(value, indent=1, ensure_ascii=False, default=str) + "\n"


def write_parquet(path: Path, table: pa.Table, rows_per_group: int = ROWS_PER_GROUP) -> None:
    """The table as a whole file, in row groups small enough to be skipped."""
    _write(path, lambda stream: pq.write_table(table, stream, row_group_size=rows_per_group, compression="zstd"))


def write_parquet_chunks(path: Path, schema: pa.Schema, tables: Iterable[pa.Table]) -> None:
    """Tables of one schema, made one at a time, as one whole file with a row group for each."""

    def fill(stream: IO[bytes]) -> None:
        with pq.ParquetWriter(stream, schema, compression="zstd") as writer:
            for table in tables:
                writer.write_table(table)

    _write(path, fill)


def private_folder(folder: Path) -> None:
    """Make a folder that only its owner can look into. One that is there already is left as it is."""
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)


def _write(path: Path, fill: Callable[[IO[bytes]], Any]) -> None:
    part = path.with_name(f".{path.name}{PART}")
    with writing(path):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with part.open("wb") as stream:
                fill(stream)
                stream.flush()
                os.fsync(stream.fileno())
            note_written(path, part)
            os.replace(part, path)
            _sync_folder(path.parent)
        except BaseException:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
            raise


@contextlib.contextmanager
def folder_in_place(folder: Path, replace: bool = False) -> Iterator[Path]:
    """A new folder beside `folder` to write into; it becomes `folder` at the end, or is removed on any error. Only its
    owner can look into it.

    With `replace`, a folder of that name is moved away first and removed last; on any error it is still there, or the
    error says where.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    old = beside.with_name(f"{beside.name}-old")
    try:
        yield beside
        if replace and folder.is_dir():
            os.rename(folder, old)
        note_folder(folder, beside)
        try:
            os.rename(beside, folder)
        except BaseException:
            _move_back(old, folder)
            raise
        _sync_folder(folder.parent)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    shutil.rmtree(old, ignore_errors=True)


def _move_back(old: Path, folder: Path) -> None:
    """Undo the first step of a replacement. The old folder is the only copy: it is never removed here."""
    try:
        if old.is_dir():
            os.rename(old, folder)
    except OSError as error:
        reason = error.strerror or str(error)
        raise StorageError(
            f"{folder} could not be replaced, and its content could not be moved back: {reason}. It is complete in "
            f"{old}. Rename that folder to {folder.name}."
        ) from error


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turns disk failures into one clear error about the path."""
    try:
        yield
    except OSError as error:
        raise storage_error(path, error) from error


def storage_error(path: Path, error: OSError) -> StorageError:
    """What happened, where, and what to do."""
    reason, cure = _REASONS.get(error.errno or 0, (error.strerror or str(error), "Check the disk and the folder."))
    return StorageError(f"{path} cannot be written: {reason}. {cure}")


def _sync_folder(folder: Path) -> None:
    """The rename itself survives a power failure only once its folder is on disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError:  # some network file systems cannot; the file itself is safe
        pass
    finally:
        os.close(descriptor)


def remove_file(path: Path) -> None:
    """Remove a file on purpose; one that is not there is fine."""
    if path.is_file():
        note_removed(path)
        path.unlink(missing_ok=True)


def remove_folder(folder: Path) -> None:
    """Remove a folder with all in it on purpose, as far as the system allows it."""
    if folder.is_dir():
        note_removed(folder)
        shutil.rmtree(folder, ignore_errors=True)


def remove_parts(folder: Path) -> None:
    """Remove what a killed writer left unfinished. Only the worker that holds the run may do this."""
    for part in folder.rglob(f"*{PART}"):
        with contextlib.suppress(OSError):
            part.unlink()


def read_text(path: Path) -> str:
    """The text of a file that was written whole."""
    return checked(path).read_text(encoding="utf-8")


def read_json(path: Path, cure: str = "Restore it, or run again.", sealed: bool = False) -> Any:
    """The JSON value in a file that was written whole; `cure` ends the error about one that cannot be read. A `sealed`
    document has a digest of its own: its reader says what was altered."""
    try:
        return json.loads(path.read_text(encoding="utf-8") if sealed else read_text(path))
    except (OSError, ValueError) as error:
        raise StorageError(f"{path} cannot be read: {error}. {cure}") from error
