"""Data sets that the screens know: the bundled samples, what was uploaded, and folders someone registered.

What a person said about a set (types, counterparts of a source's attributes) is kept beside the data folder's sets
in one JSON file, written beside its place and renamed into it.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from riskcore.data import list_samples
from riskcore.data.archive import folder_in_place, unpack
from riskcore.errors import ConfigError
from riskcore.paths import data_root

FOLDER_FILES = tuple(
    f"{stem}.{ending}" for stem in ("tableA", "tableB", "train", "valid", "test") for ending in ("csv", "parquet")
)
MAX_UNPACKED = 1_000_000_000  # bytes; as much as an analyst's workload has, and no bomb
MAX_MEMBERS = 1_000
MAX_RATIO = 200.0
_UNSAFE = re.compile(r"[^a-z0-9_-]+")


@dataclasses.dataclass(frozen=True)
class KnownSet:
    """A data set that can be chosen, and what was said about it."""

    path: str
    title: str
    note: str = ""
    types: dict[str, str] = dataclasses.field(default_factory=dict)
    maps: dict[str, dict[str, str]] = dataclasses.field(default_factory=dict)  # source path: source name: own name


class Upload(Protocol):
    """The part of Streamlit's uploaded file that is used here."""

    name: str

    def getvalue(self) -> bytes: ...


def known_sets() -> dict[str, KnownSet]:
    """Every set by its path: samples first, then registered and uploaded ones."""
    said = _read()
    found = {str(s.path): KnownSet(str(s.path), s.title, s.description) for s in list_samples()}
    for path in (*_uploaded(), *said):
        found.setdefault(path, KnownSet(path, Path(path).stem, path))
    return {path: dataclasses.replace(one, **said.get(path, {})) for path, one in found.items()}


def register(path: str, types: dict[str, str] | None = None, maps: dict[str, dict[str, str]] | None = None) -> None:
    """Remember a set; what is given replaces what was said before."""
    said = _read()
    entry = said.setdefault(path, {})
    if types is not None:
        entry["types"] = types
    if maps is not None:
        entry["maps"] = {**entry.get("maps", {}), **maps}
    _write(said)


def save_upload(name: str, files: Iterable[Upload]) -> Path:
    """Keep uploaded files as a data set of that name; returns the folder or file of pairs."""
    name, files = _clean(name), list(files)
    home = data_root()
    home.mkdir(parents=True, exist_ok=True)
    if (home / name).exists() or any((home / f"{name}.{ending}").exists() for ending in ("csv", "parquet")):
        raise ConfigError(f"There is a data set called {name} already. Choose another name.")
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
    _replace(path, file.getvalue())
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
    try:
        said = json.loads(_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    kept = ("types", "maps")
    return {path: {key: entry[key] for key in kept if key in entry} for path, entry in said.items()}


def _write(said: dict[str, dict]) -> None:
    data_root().mkdir(parents=True, exist_ok=True)
    _replace(_file(), json.dumps(said, indent=1).encode())


def _replace(path: Path, content: bytes) -> None:
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".", delete=False) as beside:
        beside.write(content)
    os.replace(beside.name, path)
