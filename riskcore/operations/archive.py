"""The file of a backup: a zip archive with a manifest of all its files, and a digest of the whole at its end.

The last 64 bytes are the SHA-256 of all bytes before, as hexadecimal digits; to zip they are a comment. So one altered
byte anywhere is found before anything is unpacked. The manifest, the last entry, states size and SHA-256 of every
other. Whoever alters a file on purpose can compute both anew: the digest of a backup belongs to another place.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import IO, Any

from riskcore.errors import RiskcoreError
from riskcore.storage.checksums import PART
from riskcore.storage.files import writing

MANIFEST = "manifest.json"
_DIGEST = 64  # bytes at the end
_CHUNK = 1 << 20
_MANIFEST_MOST = 512 << 20  # bytes: about three million files
_PACKED = (".parquet", ".safetensors", ".zip", ".gz", ".xlsx", ".npz")  # not compressed a second time
_MOMENT = (1980, 1, 1, 0, 0, 0)


class BackupError(RiskcoreError):
    """A backup cannot be made, read or restored."""


class ArchiveWriter:
    """Files of a new archive, one after the other; `finish` writes the manifest and the digest."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._zip = zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=3)
        self.files: dict[str, dict[str, Any]] = {}

    def add_file(self, name: str, path: Path) -> None:
        """A file from the disk, read in pieces."""
        with path.open("rb") as content:
            self.add(name, iter(lambda: content.read(_CHUNK), b""))

    def add(self, name: str, pieces: Iterable[bytes]) -> None:
        """A file that is made piece by piece."""
        self.files[name] = self._write(name, pieces)

    def finish(self, about: Mapping[str, Any]) -> str:
        """Complete the archive; returns its digest."""
        text = json.dumps({**about, "files": self.files}, ensure_ascii=False, indent=0)
        self._write(MANIFEST, [text.encode("utf-8", "surrogateescape")])
        self._zip.comment = b"0" * _DIGEST
        self._zip.close()
        digest = _digest(self._stream)
        self._stream.seek(-_DIGEST, os.SEEK_END)
        self._stream.write(digest.encode("ascii"))
        return digest

    def _write(self, name: str, pieces: Iterable[bytes]) -> dict[str, Any]:
        entry = zipfile.ZipInfo(name, _MOMENT)
        entry.compress_type = zipfile.ZIP_STORED if name.endswith(_PACKED) else zipfile.ZIP_DEFLATED
        entry.external_attr = (stat.S_IFREG | 0o600) << 16
        found, size = hashlib.sha256(), 0
        with self._zip.open(entry, "w", force_zip64=True) as target:
            for piece in pieces:
                target.write(piece)
                found.update(piece)
                size += len(piece)
        return {"bytes": size, "sha256": found.hexdigest()}


@contextlib.contextmanager
def new_archive(file: Path) -> Iterator[ArchiveWriter]:
    """An archive that has its name once it is complete, and can be read by its owner alone. `finish` it inside."""
    part = file.with_name(f".{file.name}{PART}")
    with writing(file):
        part.unlink(missing_ok=True)  # of a process that was killed
        descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(descriptor, "w+b") as stream:
                yield ArchiveWriter(stream)
                stream.flush()
                os.fsync(stream.fileno())
            os.rename(part, file)
        except BaseException:
            part.unlink(missing_ok=True)
            raise


class ArchiveReader:
    """An archive whose digest, manifest and names have been checked. `verify` reads all of it, `extract` writes it."""

    def __init__(self, file: Path) -> None:
        self.file = file
        try:
            with file.open("rb") as stream:
                self.digest = _digest(stream)
                stream.seek(-_DIGEST, os.SEEK_END)
                stated = stream.read()
        except OSError as error:
            raise BackupError(f"{file} cannot be read: {error.strerror or error}. Check the name.") from error
        if stated != self.digest.encode("ascii"):
            raise BackupError(
                f"{file} is not a whole backup of Riskcore, or was altered: it does not end with its own digest. "
                "Nothing was restored. Use another copy."
            )
        try:
            self._zip = zipfile.ZipFile(file)
            self.about: dict[str, Any] = self._manifest()
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError, OSError) as error:
            raise self._unusable(str(error)) from error
        self.files: dict[str, dict[str, Any]] = self.about.get("files", {})
        self._check_names()

    @property
    def size(self) -> int:
        """Bytes of all files, unpacked."""
        return sum(int(one["bytes"]) for one in self.files.values())

    def verify(self) -> None:
        """Read every file and compare it with the manifest; an error names the first that differs."""
        for name in self.files:
            for _ in self._pieces(name):
                pass

    def names(self, folder: str) -> list[str]:
        """Files below a folder of the archive, by their names in it."""
        return [name.removeprefix(f"{folder}/") for name in self.files if name.startswith(f"{folder}/")]

    def extract(self, folder: str, place: Path) -> None:
        """Write all files below a folder of the archive, checked again; only their owner can read them."""
        for name in self.names(folder):
            target = place / name
            _private_folders(place, target.parent)
            descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
            with os.fdopen(descriptor, "wb") as stream:
                for piece in self._pieces(f"{folder}/{name}"):
                    stream.write(piece)
                stream.flush()
                os.fsync(stream.fileno())

    def read(self, name: str, most: int = 64 << 20) -> bytes:
        """A small file."""
        if int(self.files[name]["bytes"]) > most:
            raise self._unusable(f"{name} has more than {most:,} bytes")
        return b"".join(self._pieces(name))

    def lines(self, name: str) -> Iterator[bytes]:
        """The lines of a file, one at a time; the file has been verified before."""
        with self._zip.open(name) as stream:
            yield from stream

    def _pieces(self, name: str) -> Iterator[bytes]:
        """The content of a file, never more than the manifest states; an error at its end if it is another one."""
        stated, found, left = self.files[name], hashlib.sha256(), int(self.files[name]["bytes"])
        try:
            with self._zip.open(name) as stream:
                while piece := stream.read(min(_CHUNK, left + 1)):
                    left -= len(piece)
                    if left < 0:
                        break
                    found.update(piece)
                    yield piece
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError) as error:
            raise self._unusable(f"{name}: {error}") from error
        if left or found.hexdigest() != stated["sha256"]:
            raise self._unusable(f"the content of {name} is not what the manifest states")

    def _manifest(self) -> dict[str, Any]:
        entry = self._zip.NameToInfo.get(MANIFEST)
        if entry is None or entry.file_size > _MANIFEST_MOST:
            raise ValueError("it has no manifest that can be read")
        found = json.loads(self._zip.read(entry).decode("utf-8", "surrogateescape"))
        if not isinstance(found, dict) or not _is_listing(found.get("files")):
            raise ValueError("its manifest does not list files")
        return found

    def _check_names(self) -> None:
        held = sorted(self._zip.namelist())
        if held != sorted([*self.files, MANIFEST]):
            raise self._unusable("its files are not those that the manifest lists")
        for info in self._zip.infolist():
            if not _is_safe(info.filename):
                raise self._unusable(f"the name {info.filename[:200]!r} leads out of its folder")
            if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
                raise self._unusable(f"{info.filename[:200]!r} is not a plain file")
            if info.filename != MANIFEST and info.file_size != self.files[info.filename]["bytes"]:
                raise self._unusable(f"the size of {info.filename[:200]!r} is not what the manifest states")

    def _unusable(self, reason: str) -> BackupError:
        return BackupError(f"{self.file} cannot be restored: {reason}. Nothing was restored. Use another copy.")

    def close(self) -> None:
        self._zip.close()


def _digest(stream: IO[bytes]) -> str:
    """SHA-256 of all but the last 64 bytes."""
    left = stream.seek(0, os.SEEK_END) - _DIGEST
    stream.seek(0)
    found = hashlib.sha256()
    if left < 0:
        raise OSError(0, "it is shorter than a digest")
    while left and (piece := stream.read(min(_CHUNK, left))):
        found.update(piece)
        left -= len(piece)
    return found.hexdigest()


def _is_listing(found: Any) -> bool:
    return isinstance(found, dict) and all(
        isinstance(one, dict)
        and isinstance(one.get("bytes"), int)
        and one["bytes"] >= 0
        and isinstance(one.get("sha256"), str)
        for one in found.values()
    )


def _is_safe(name: str) -> bool:
    """Whether the name stays below the folder it is unpacked into, on every platform."""
    parts = PurePosixPath(name).parts
    plain = not name.startswith("/") and "\\" not in name and "\0" not in name and not name.endswith("/")
    return plain and bool(parts) and ".." not in parts and name == "/".join(parts)


def _private_folders(place: Path, folder: Path) -> None:
    """Make a folder below `place`, and those between, for their owner alone."""
    missing = [one for one in (folder, *folder.parents) if one.is_relative_to(place) and not one.exists()]
    for one in reversed(missing):
        one.mkdir(mode=0o700)
