"""Unpacking the tables in any zip archive, also in folders and in archives inside it, within limits.

The archive is refused whole if anything in it is unsafe (see `riskcore.data.archive`). Files that are no tables are
skipped.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from riskcore.data.archive import check_member, write_member
from riskcore.data.problems import DataFormatError, Problem, visible
from riskcore.errors import DownloadError

MAX_UNPACKED = 1_000_000_000  # bytes in all; as much as an analyst's tables have, and no bomb
MAX_MEMBERS = 1_000
MAX_RATIO = 200.0
MAX_DEPTH = 3  # archives inside archives
ZIP = ".zip"
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError)


def unpack_tables(archive: Path, folder: Path, endings: Sequence[str]) -> list[Path]:
    """Write every file with one of these endings into an existing folder. Names are those inside the archive; where two
    folders have the same one, the folder's name goes in front."""
    try:
        return _Unpacking(folder, tuple(endings)).unpack(archive, 1)
    except _DAMAGED as error:
        reason = f"The archive is damaged, locked or not a zip file ({visible(str(error))})."
        raise _refused(archive, reason) from error
    except DownloadError as error:
        raise _refused(archive, str(error)) from error
    except OSError as error:  # such as a name that is too long for this system
        raise _refused(archive, f"The archive cannot be unpacked here ({error.strerror}).") from error


def _refused(archive: Path, reason: str) -> DataFormatError:
    cure = "Pack the tables again, without links and passwords."
    return DataFormatError([Problem("corrupt_archive", reason, cure, visible(archive.name))])


class _Unpacking:
    """What was unpacked so far, of all archives together."""

    def __init__(self, folder: Path, endings: tuple[str, ...]) -> None:
        self._folder, self._endings = folder, endings
        self._bytes = self._members = 0

    def unpack(self, archive: Path, depth: int) -> list[Path]:
        if depth > MAX_DEPTH:
            raise DownloadError(f"Archives are nested more than {MAX_DEPTH} deep. Nothing was unpacked.")
        found: list[Path] = []
        with zipfile.ZipFile(archive) as source:
            members = self._checked(source)
            for member in members:
                path = self._free(PurePosixPath(member.filename.replace("\\", "/")))
                write_member(source, member, path)
                if path.suffix.lower() == ZIP:
                    found.extend(self.unpack(path, depth + 1))
                    path.unlink()
                else:
                    found.append(path)
        return found

    def _checked(self, source: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
        members = source.infolist()
        self._members += len(members)
        if self._members > MAX_MEMBERS:
            raise DownloadError(f"The archive contains more than {MAX_MEMBERS:,} files.")
        for member in members:
            check_member(member, MAX_RATIO)
        wanted = [member for member in members if not member.is_dir() and self._is_table(member.filename)]
        self._bytes += sum(member.file_size for member in wanted)
        if self._bytes > MAX_UNPACKED:
            raise DownloadError(f"The archive unpacks to more than {MAX_UNPACKED:,} bytes.")
        return wanted

    def _is_table(self, name: str) -> bool:
        path = PurePosixPath(name.replace("\\", "/"))
        hidden = "__MACOSX" in path.parts or path.name.startswith(".")
        return not hidden and path.suffix.lower() in (*self._endings, ZIP)

    def _free(self, member: PurePosixPath) -> Path:
        path = self._folder / member.name
        if path.exists():
            path = self._folder / "-".join(member.parts)
        number = 2
        while path.exists():
            path = self._folder / f"{member.stem}-{number}{member.suffix}"
            number += 1
        return path
