"""Unpacking untrusted archives: only the files of the format, nothing outside the folder, nothing too large.

An archive that tries anything else (absolute paths, `..`, links, a bomb) is refused whole, before a byte is
written. Files are written to a temporary folder beside the final one, which is renamed only when it is complete.
"""

from __future__ import annotations

import stat
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from riskcore.errors import DownloadError

FILES = ("tableA.csv", "tableB.csv", "train.csv", "valid.csv", "test.csv")
_CHUNK = 1 << 16


def unpack(archive: Path, folder: Path, max_bytes: int, max_members: int, max_ratio: float) -> None:
    """Write the data files of the zip archive into an existing folder, without subfolders, checking each file's CRC."""
    try:
        with zipfile.ZipFile(archive) as source:
            members = _data_members(source, max_bytes, max_members, max_ratio)
            for name, member in members.items():
                write_member(source, member, folder / name)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        raise DownloadError(f"The archive is damaged or not a zip file ({error}). Try again later.") from error


def _data_members(
    source: zipfile.ZipFile, max_bytes: int, max_members: int, max_ratio: float
) -> dict[str, zipfile.ZipInfo]:
    """The members to unpack by file name. Refuses the archive if any member, wanted or not, is unsafe."""
    members = source.infolist()
    if len(members) > max_members:
        raise DownloadError(f"The archive contains {len(members):,} files; at most {max_members:,} are accepted.")
    for member in members:
        check_member(member, max_ratio)
    wanted = [m for m in members if not m.is_dir() and "__MACOSX" not in m.filename and _name(m) in FILES]
    found = {_name(member): member for member in wanted}
    absent = [name for name in FILES if name not in found]
    if absent or len(found) < len(wanted):
        fault = f"lacks {', '.join(absent)}" if absent else "contains a data file twice"
        raise DownloadError(f"The archive {fault}; it is not a data set of the expected format.")
    if sum(member.file_size for member in wanted) > max_bytes:
        raise DownloadError(f"The archive unpacks to more than {max_bytes:,} bytes. Raise max_unpacked_bytes.")
    return found


def _name(member: zipfile.ZipInfo) -> str:
    return PurePosixPath(member.filename).name


def check_member(member: zipfile.ZipInfo, max_ratio: float) -> None:
    """Refuses a member that would be written elsewhere, is a link, or is a bomb."""
    name = member.filename
    parts = PurePosixPath(name.replace("\\", "/")).parts
    if not name or ".." in parts or name.startswith(("/", "\\")) or ":" in name or "\0" in name:
        raise DownloadError(f"The archive contains an unsafe path ({name!r}). Nothing was unpacked.")
    if stat.S_ISLNK(member.external_attr >> 16):
        raise DownloadError(f"The archive contains a link ({name!r}). Nothing was unpacked.")
    if member.file_size > max_ratio * max(member.compress_size, 1) + _CHUNK:
        raise DownloadError(
            f"The archive contains a file with an impossible compression ratio ({name!r}). Nothing was unpacked."
        )


def write_member(source: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path) -> None:
    """Copy one member; the zip module checks its CRC, and the size it declared is never exceeded."""
    left = member.file_size
    try:
        opened = source.open(member)
    except OSError as error:  # a damaged directory points before the beginning of the file
        raise zipfile.BadZipFile(f"{_name(member)} is not where the archive says") from error
    with opened as packed, path.open("xb") as plain:
        while chunk := packed.read(_CHUNK):
            left -= len(chunk)
            if left < 0:
                raise DownloadError(
                    f"{_name(member)} in the archive is larger than its declared size. Nothing was unpacked."
                )
            plain.write(chunk)
