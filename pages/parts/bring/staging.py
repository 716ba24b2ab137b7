"""Files that were uploaded and are not a data set yet: where they wait, and what a person said about them so far.

They wait in a hidden folder of the data folder. Whatever goes wrong, no data set has come into being and no name is
taken.
"""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

import streamlit as st

from riskcore.data.bring.files import BroughtFile, ReadOptions, read_brought, unpacked
from riskcore.data.bring.plan import Attribute, LeftOut
from riskcore.data.bring.roles import Recognised
from riskcore.errors import ConfigError
from riskcore.paths import data_root
from riskcore.storage.files import writing

WAITING = ".brought"
KEPT_SECONDS = 24 * 3600  # that unfinished uploads are kept
_STATE = "bring"


class Upload(Protocol):
    """The parts of Streamlit's uploaded file that are used here."""

    name: str

    def getvalue(self) -> bytes: ...


@dataclasses.dataclass
class Bring:
    """One visit to the wizard. What is None is as suggested."""

    folder: Path
    paths: tuple[Path, ...]
    name: str = ""  # of the data set
    step: int = 0
    options: dict[str, ReadOptions] = dataclasses.field(default_factory=dict)
    roles: tuple[Recognised, ...] | None = None
    table_ids: dict[str, str | None] = dataclasses.field(default_factory=dict)  # by file
    ids: tuple[str | None, str | None] | None = None
    attributes: tuple[Attribute, ...] | None = None
    left_out: tuple[LeftOut, ...] = ()
    types: dict[str, str] = dataclasses.field(default_factory=dict)
    written: str | None = None  # the data set's folder

    def forget_choices(self) -> None:
        """Suggest anew, after a file is read in another way."""
        self.roles = self.ids = self.attributes = None
        self.table_ids.clear()

    def files(self) -> tuple[BroughtFile, ...]:
        """The files as they are read; read again only when one of them or its options change."""
        stamps = tuple((str(path), path.stat().st_mtime_ns) for path in self.paths)
        return _read(stamps, tuple(sorted(self.options.items())))


@st.cache_resource(max_entries=3, show_spinner="Reading the files …")
def _read(stamps: tuple[tuple[str, int], ...], options: tuple[tuple[str, ReadOptions], ...]) -> tuple[BroughtFile, ...]:
    return read_brought([Path(path) for path, _ in stamps], dict(options))


def current() -> Bring | None:
    """The visit of this session, if its files are still there."""
    found: Bring | None = st.session_state.get(_STATE)
    if found is not None and found.written is None and not all(path.exists() for path in found.paths):
        st.session_state.pop(_STATE)
        return None
    return found


def begin(files: Iterable[Upload]) -> Bring:
    """Keep the uploaded files, unpack the archives among them, and begin with them."""
    drop()
    folder, paths = stage(files)
    found = Bring(folder, tuple(paths))
    st.session_state[_STATE] = found
    return found


def stage(files: Iterable[Upload]) -> tuple[Path, list[Path]]:
    """Write uploaded files into a folder of their own. On any error nothing is left."""
    home = data_root() / WAITING
    with writing(home):
        home.mkdir(parents=True, exist_ok=True)
        _remove_old(home)
        folder = Path(tempfile.mkdtemp(dir=home))
    try:
        with writing(folder):
            return folder, unpacked([_kept(folder, file) for file in files], folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _kept(folder: Path, file: Upload) -> Path:
    name = Path(file.name).name
    path = folder / name
    if not name or name.startswith(".") or path.exists():
        raise ConfigError(f"{file.name!r} cannot be used: two files have this name, or it is hidden. Rename the file.")
    path.write_bytes(file.getvalue())
    return path


def drop() -> None:
    """Forget the visit and its files."""
    found: Bring | None = st.session_state.pop(_STATE, None)
    if found is not None:
        shutil.rmtree(found.folder, ignore_errors=True)


def _remove_old(home: Path) -> None:
    for folder in home.iterdir():
        with contextlib.suppress(OSError):
            if time.time() - folder.stat().st_mtime > KEPT_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)
