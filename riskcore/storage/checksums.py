"""The SHA-256 of every file written into a folder, so that a damaged one is named before wrong numbers are read of it.

A folder whose list exists (`keep_checksums` makes it) gains a line for every file that is written below it, before the
file gets its name: whatever a reader finds was listed, even after a kill. A file is sound if its content is any that
was listed for it, since a kill may leave the line of a content that never came. What is not listed, or lies in a folder
without a list, is read as it is: it cannot be checked.

Disks and copies damage files; people who mean to deceive can change file and list alike. Against them there are the
sealed log and the sign-offs of `riskcore.audit`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import hashlib
import os
import time
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from riskcore.errors import DamagedFileError

LIST = "riskcore-checksums.txt"
PART = ".part"  # how the name of a file ends that is being written
RECHECK_SECONDS = 600.0  # a disk may damage a file without changing its time: look again now and then
_DEPTH = 4  # folders between a file and its list, at most
_REMEMBERED = 20_000  # files that were found sound
_CHUNK = 1 << 20
_REMOVED = "removed"  # in place of a digest
_GROWING = (".log", ".lock", ".jsonl")  # files that are not written whole

_Signature = tuple[int, int, int]
_sound: dict[Path, tuple[_Signature, float]] = {}
_lists: dict[Path, tuple[_Signature, Listing]] = {}


@dataclasses.dataclass(frozen=True)
class Listing:
    """What a list says: for each file the digests of all contents that it was given, the last one last."""

    digests: dict[str, tuple[str, ...]]
    damaged_lines: tuple[int, ...] = ()


@dataclasses.dataclass(frozen=True)
class FolderCheck:
    """What became of the files of a folder, by their names in it; `listed` is None for a folder without a list."""

    listed: int | None
    damaged: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    damaged_lines: tuple[int, ...] = ()  # of the list itself: what they said of a file is lost
    unlisted: tuple[str, ...] = ()  # nothing can be said of them; files that grow, such as logs, never are listed
    bytes_read: int = 0

    @property
    def sound(self) -> bool:
        return not (self.damaged or self.missing or self.damaged_lines)


def file_hash(path: Path) -> str:
    """SHA-256 of a file, read in pieces."""
    with path.open("rb") as stream:
        return _hash(stream)


def keep_checksums(folder: Path) -> None:
    """Begin the list of a folder; one that is there goes on. What lies in the folder already cannot be checked."""
    _append(folder / LIST, [])


def vouch_for(folder: Path) -> None:
    """Begin the list of a folder with all files that are in it already."""
    _append(folder / LIST, [_line(file_hash(path), _name(folder, path)) for path in _files(folder)])


def note_written(path: Path, content: Path | None = None) -> None:
    """List a file that is about to get the name `path`; its content is that of `content`."""
    root = list_folder(path)
    if root is not None and not _hidden(_name(root, path)):
        _append(root / LIST, [_line(file_hash(content or path), _name(root, path))])


def note_folder(folder: Path, content: Path) -> None:
    """List the files of a folder that is about to get the name `folder`."""
    root = list_folder(folder)
    if root is not None and not _hidden(_name(root, folder)):
        place = _name(root, folder)
        _append(root / LIST, [_line(file_hash(one), f"{place}/{_name(content, one)}") for one in _files(content)])


def note_removed(path: Path) -> None:
    """List that a file, or a folder with all in it, is about to be removed on purpose."""
    root = list_folder(path)
    if root is not None:
        _append(root / LIST, [_line(_REMOVED, _name(root, path) + ("/" if path.is_dir() else ""))])


def checked(path: Path) -> Path:
    """The path, once its content is known to be one that was written; a `DamagedFileError` names it otherwise.

    A file is read for this once in a process, and again when it was changed or some minutes have passed.
    """
    root = list_folder(path)
    if root is None:
        return path
    with contextlib.suppress(OSError):  # whoever opens it next says what is wrong
        known, now = _sound.get(path), time.monotonic()
        if known and known[0] == _signature(path.stat()) and now - known[1] < RECHECK_SECONDS:
            return path
        with path.open("rb") as stream:
            signature = _signature(os.fstat(stream.fileno()))
            recorded = read_list(root).digests.get(_name(root, path))
            if recorded and _hash(stream) not in recorded:
                raise DamagedFileError(damage(path, root))
        if len(_sound) >= _REMEMBERED:
            _sound.clear()
        _sound[path] = (signature, now)
    return path


def damage(path: Path, root: Path) -> str:
    """The sentence about a damaged file."""
    return (
        f"{path} is damaged: its content is not what was written. `riskcore runs repair {root.name}` computes it again "
        "where that is possible; else restore it from a backup."
    )


def check_folder(folder: Path) -> FolderCheck:
    """Read every listed file of a folder, whether it was read before or not."""
    if not (folder / LIST).is_file():
        return FolderCheck(None)
    _lists.pop(folder / LIST, None)  # it may be damaged itself
    listing = read_list(folder)
    damaged, missing, size = [], [], 0
    for name, recorded in sorted(listing.digests.items()):
        path = folder / name
        try:
            size += path.stat().st_size
            if file_hash(path) not in recorded:
                damaged.append(name)
        except FileNotFoundError:
            missing.append(name)
        except OSError:  # the disk refuses to read it
            damaged.append(name)
    names = (_name(folder, path) for path in _files(folder) if path.suffix not in _GROWING)
    unlisted = tuple(name for name in names if name not in listing.digests)
    return FolderCheck(len(listing.digests), tuple(damaged), tuple(missing), listing.damaged_lines, unlisted, size)


def read_list(folder: Path) -> Listing:
    """The list of a folder, read again whenever it has changed."""
    file = folder / LIST
    try:
        signature = _signature(file.stat())
        known = _lists.get(file)
        if known is None or known[0] != signature:
            known = (signature, _parsed(file.read_bytes()))
            _lists[file] = known
    except FileNotFoundError:
        return Listing({})
    return known[1]


def rewrite_list(folder: Path, digests: dict[str, tuple[str, ...]]) -> None:
    """Replace the list of a folder that nobody else writes to, whole or not at all."""
    part = folder / f".{LIST}{PART}"
    part.unlink(missing_ok=True)
    _append(part, [_line(digest, name) for name, several in digests.items() for digest in several])
    os.replace(part, folder / LIST)


def list_folder(path: Path) -> Path | None:
    """The folder above a file that has a list; None if there is none."""
    for folder in path.absolute().parents[:_DEPTH]:
        if (folder / LIST).is_file():
            return folder
    return None


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != LIST and not _hidden(_name(folder, path)):
            yield path


def _name(root: Path, path: Path) -> str:
    return path.absolute().relative_to(root.absolute()).as_posix()


def _hidden(name: str) -> bool:
    """Whether no reader looks for the file: it is being written, or its folder is."""
    return any(part.startswith(".") for part in name.split("/"))


def _hash(stream: IO[bytes]) -> str:
    found = hashlib.sha256()
    while piece := stream.read(_CHUNK):
        found.update(piece)
    return found.hexdigest()


def _signature(found: os.stat_result) -> _Signature:
    return found.st_ino, found.st_size, found.st_mtime_ns


def _line(digest: str, name: str) -> bytes:
    """A line with a check of itself: the list is a file like any other."""
    said = f"{digest} {name}".encode("utf-8", "surrogateescape")
    return b"%08x %s\n" % (zlib.crc32(said), said)


def _parsed(content: bytes) -> Listing:
    digests: dict[str, tuple[str, ...]] = {}
    damaged = []
    for number, line in enumerate(content.split(b"\n"), start=1):
        check, _, said = line.partition(b" ")
        if not line:
            continue
        if check != b"%08x" % zlib.crc32(said):
            damaged.append(number)
            continue
        digest, _, name = said.decode("utf-8", "surrogateescape").partition(" ")
        if digest == _REMOVED:
            for gone in [one for one in digests if one == name or (name.endswith("/") and one.startswith(name))]:
                del digests[gone]
        else:
            before = tuple(one for one in digests.get(name, ()) if one != digest)
            digests[name] = (*before, digest)
    return Listing(digests, tuple(damaged))


def _append(file: Path, lines: Iterable[bytes]) -> None:
    """Add lines and wait until they are on disk. One write: lines of several processes do not mix."""
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        size = os.fstat(descriptor).st_size
        cut_off = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"  # by a power failure or a full disk
        text = (b"\n" if cut_off else b"") + b"".join(lines)
        if os.write(descriptor, text) < len(text):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
