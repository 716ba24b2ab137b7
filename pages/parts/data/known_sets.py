"""Data sets that the screens offer: the bundled samples, uploaded files, and registered folders.

What a person entered about a set (types, counterparts of a source's attributes) is kept beside the data folder's sets
in `registered.json`. A damaged file is reported, never replaced: what it holds is stored nowhere else.
"""

from __future__ import annotations

import dataclasses
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from riskcore.data import list_samples
from riskcore.data.archive import unpack
from riskcore.errors import ConfigError, StorageError
from riskcore.paths import data_root
from riskcore.storage.files import folder_in_place, read_json, write_bytes, write_json, writing
from riskcore.storage.lock import FileLock

FOLDER_FILES = tuple(
    f"{stem}.{ending}" for stem in ("tableA", "tableB", "train", "valid", "test") for ending in ("csv", "parquet")
)
MAX_UNPACKED = 1_000_000_000  # bytes; as much as an analyst's workload has, and no bomb
MAX_MEMBERS = 1_000
MAX_RATIO = 200.0
PATIENCE = 10.0  # seconds to wait for another registration; each takes milliseconds
_CURE = "Repair it or restore a copy; if that is impossible, move it away and register the data sets again."
_ENTERED = ("types", "maps")
_UNSAFE = re.compile(r"[^a-z0-9_-]+")


@dataclasses.dataclass(frozen=True)
class KnownSet:
    """A data set that can be chosen, with the types and counterparts that a person entered."""

    path: str
    title: str
    note: str = ""
    types: dict[str, str] = dataclasses.field(default_factory=dict)
    maps: dict[str, dict[str, str]] = dataclasses.field(default_factory=dict)  # source path: source name: own name


class Upload(Protocol):
    """The parts of Streamlit's uploaded file that are used here."""

    name: str

    def getvalue(self) -> bytes: ...


def known_sets() -> dict[str, KnownSet]:
    """Every set by its path: samples first, then registered and uploaded ones."""
    said = _read()
    found = {str(s.path): KnownSet(str(s.path), s.title, s.description) for s in list_samples()}
    for path in (*_uploaded(), *said):
        found.setdefault(path, KnownSet(path, Path(path).stem, path))
    entered = {path: {key: entry[key] for key in _ENTERED if key in entry} for path, entry in said.items()}
    return {path: dataclasses.replace(one, **entered.get(path, {})) for path, one in found.items()}


def register(path: str, types: dict[str, str] | None = None, maps: dict[str, dict[str, str]] | None = None) -> None:
    """Remember a set; what is given replaces what was registered before."""
    with writing(data_root()):
        data_root().mkdir(parents=True, exist_ok=True)
    with FileLock(_file().with_name(f".{_file().name}.lock"), PATIENCE):  # two people may register at once
        said = _read()
        entry = said.setdefault(path, {})
        if types is not None:
            entry["types"] = types
        if maps is not None:
            entry["maps"] = {**entry.get("maps", {}), **maps}
        write_json(_file(), said)


def save_upload(name: str, files: Iterable[Upload]) -> Path:
    """Keep uploaded files as a data set of that name; returns the folder or file of pairs."""
    with writing(data_root()):
        return _save(data_root(), _clean(name), list(files))


def _save(home: Path, name: str, files: list[Upload]) -> Path:
    home.mkdir(parents=True, exist_ok=True)
    if (home / name).exists() or any((home / f"{name}.{ending}").exists() for ending in ("csv", "parquet")):
        raise ConfigError(f"There is already a data set called {name}. Choose another name.")
    if len(files) == 1 and files[0].name not in FOLDER_FILES:
        return _save_one(home, name, files[0])
    strangers = [file.name for file in files if file.name not in FOLDER_FILES]
    if strangers:
        raise ConfigError(
            f"These files are not part of the format: {', '.join(strangers)}. A folder has tableA.csv, tableB.csv, "
            "train.csv, valid.csv and test.csv; or upload one file of pairs, or one zip."
        )
    with folder_in_place(home / name) as folder:
        for file in files:
            (folder / file.name).write_bytes(file.getvalue())
    return home / name


def _save_one(home: Path, name: str, file: Upload) -> Path:
    ending = Path(file.name).suffix.lower()
    if ending == ".zip":
        return _save_zip(home / name, file)
    if ending not in (".csv", ".parquet"):
        raise ConfigError(f"{file.name} is neither csv, parquet nor zip. Upload one of these.")
    path = home / f"{name}{ending}"
    write_bytes(path, file.getvalue())
    return path


def _save_zip(folder: Path, file: Upload) -> Path:
    with tempfile.NamedTemporaryFile(suffix=".zip") as packed, folder_in_place(folder) as beside:
        packed.write(file.getvalue())
        packed.flush()
        unpack(Path(packed.name), beside, MAX_UNPACKED, MAX_MEMBERS, MAX_RATIO)
    return folder


def _clean(name: str) -> str:
    clean = _UNSAFE.sub("_", name.strip().lower()).strip("_-")[:60]
    if not clean:
        raise ConfigError("The data set needs a name of letters and digits.")
    return clean


def _uploaded() -> list[str]:
    if not data_root().is_dir():
        return []
    entries = sorted(data_root().iterdir())
    folders = [e for e in entries if (e / "tableA.csv").is_file() or (e / "tableA.parquet").is_file()]
    files = [e for e in entries if e.is_file() and e.suffix in (".csv", ".parquet")]
    return [str(entry) for entry in (*folders, *files) if not entry.name.startswith(".")]


def _file() -> Path:
    return data_root() / "registered.json"


def _read() -> dict[str, dict]:
    file = _file()
    if not file.exists():
        return {}
    said = read_json(file, _CURE)
    if not isinstance(said, dict) or not all(_is_entry(entry) for entry in said.values()):
        raise StorageError(f"{file} is not a list of registered data sets. {_CURE}")
    return said


def _is_entry(entry: object) -> bool:
    """Whether this can be what was entered about a set. Other fields are left as they are."""
    if not isinstance(entry, dict) or not all(isinstance(entry.get(key, {}), dict) for key in _ENTERED):
        return False
    return all(isinstance(one, dict) for one in entry.get("maps", {}).values())
