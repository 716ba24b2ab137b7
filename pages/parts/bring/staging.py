"""Files that were uploaded and are not a data set yet: where they wait, and what a person said about them so far.

They wait in a hidden folder of the data folder. Whatever goes wrong, no data set has come into being and no name is
taken.
"""

from __future__ import annotations

import dataclasses
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

import streamlit as st

from pages.parts.data import belongings
from pages.parts.frame.actions import requires
from riskcore.access import Role
from riskcore.data.bring.files import BroughtFile, ReadOptions
from riskcore.data.bring.plan import Attribute, LeftOut
from riskcore.data.bring.roles import Recognised
from riskcore.errors import ConfigError
from riskcore.paths import data_root
from riskcore.sandbox import calls
from riskcore.sandbox.errors import ReadingError
from riskcore.sandbox.uploads import remove_older, write_private
from riskcore.storage.files import private_folder, writing

KEPT_SECONDS = 24 * 3600  # that unfinished uploads are kept
_STATE = "bring"
Looked = tuple[tuple[BroughtFile, ...], tuple[Recognised, ...]]


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
    refused: list[str] = dataclasses.field(default_factory=list)  # why files were set aside

    def forget_choices(self) -> None:
        """Suggest anew, after a file is read in another way."""
        self.roles = self.ids = self.attributes = None
        self.table_ids.clear()

    def files(self) -> tuple[BroughtFile, ...]:
        """Summaries of the files; read again only when one of them or its options change."""
        return self._looked()[0]

    def recognised(self) -> tuple[Recognised, ...]:
        """What the files that can be used seem to be."""
        return self._looked()[1]

    def _looked(self) -> Looked:
        """A file that breaks its reader is set aside, and the others are read without it."""
        while True:
            stamps = tuple((str(path), path.stat().st_mtime_ns) for path in self.paths)
            try:
                return _look(stamps, tuple(sorted(self.options.items())))
            except ReadingError as error:
                if error.file not in self.paths:
                    raise
                self.refused.append(str(error))
                self.paths = tuple(path for path in self.paths if path != error.file)

    def note_written(self, path: Path) -> None:
        """Remember which data set the files became: they are deleted with it."""
        self.written = str(path)
        belongings.note(self.folder, self.written)


@st.cache_resource(max_entries=3, show_spinner="Reading the files …", show_time=True)
def _look(stamps: tuple[tuple[str, int], ...], options: tuple[tuple[str, ReadOptions], ...]) -> Looked:
    return calls.look([Path(path) for path, _ in stamps], dict(options))


def current() -> Bring | None:
    """The visit of this session, if its files are still there."""
    found: Bring | None = st.session_state.get(_STATE)
    if found is not None and found.written is None and not all(path.exists() for path in found.paths):
        st.session_state.pop(_STATE)
        return None
    return found


@requires(Role.OPERATOR)
def begin(files: Iterable[Upload]) -> Bring:
    """Keep the uploaded files, unpack the archives among them, and begin with them."""
    drop()
    folder, paths = stage(files)
    found = Bring(folder, tuple(paths))
    st.session_state[_STATE] = found
    return found


@requires(Role.OPERATOR)
def stage(files: Iterable[Upload]) -> tuple[Path, list[Path]]:
    """Write uploaded files into a folder of their own. On any error nothing is left."""
    home = data_root() / belongings.WAITING
    with writing(home):
        private_folder(data_root())
        private_folder(home)
        remove_older(home, KEPT_SECONDS)
        folder = Path(tempfile.mkdtemp(dir=home))
    try:
        with writing(folder):
            return folder, calls.unpack([_kept(folder, file) for file in files], folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _kept(folder: Path, file: Upload) -> Path:
    name = Path(file.name).name
    path = folder / name
    if not name or name.startswith(".") or path.exists():
        raise ConfigError(f"{file.name!r} cannot be used: two files have this name, or it is hidden. Rename the file.")
    write_private(path, file.getvalue())
    return path


def drop() -> None:
    """Forget the visit and its files."""
    found: Bring | None = st.session_state.pop(_STATE, None)
    if found is not None:
        shutil.rmtree(found.folder, ignore_errors=True)
