"""Data sets that the screens offer: the bundled samples, uploaded files, and registered folders.

What a person entered about a set (its title, types, counterparts of a source's attributes) is kept beside the data
folder's sets in `registered.json`. A damaged file is reported, never replaced: what it holds is stored nowhere else.
"""

from __future__ import annotations

import dataclasses
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pages.parts.data.belongings import DELETED, delete_path, finish_deletions, remove_belongings
from pages.parts.frame.actions import requires
from riskcore.access import Role
from riskcore.data import list_samples
from riskcore.errors import ConfigError, StorageError
from riskcore.paths import data_root
from riskcore.storage.files import private_folder, read_json, write_json, writing
from riskcore.storage.lock import FileLock

PATIENCE = 10.0  # seconds to wait for another registration; each takes milliseconds
_CURE = "Repair it or restore a copy; if that is impossible, move it away and register the data sets again."
_ENTERED = ("types", "maps")
_UNSAFE = re.compile(r"[^\w-]+")


@dataclasses.dataclass(frozen=True)
class KnownSet:
    """A data set that can be chosen, with the types and counterparts that a person entered."""

    path: str
    title: str
    note: str = ""
    types: dict[str, str] = dataclasses.field(default_factory=dict)
    maps: dict[str, dict[str, str]] = dataclasses.field(default_factory=dict)  # source path: source name: own name


def known_sets() -> dict[str, KnownSet]:
    """Every set by its path: samples first, then registered and uploaded ones."""
    finish_deletions()
    said = _read()
    found = {str(s.path): KnownSet(str(s.path), s.title, s.description) for s in list_samples()}
    for path in (*_uploaded(), *said):
        found.setdefault(path, KnownSet(path, Path(path).stem, path))
    entered = {path: {key: entry[key] for key in (*_ENTERED, "title") if key in entry} for path, entry in said.items()}
    return {path: dataclasses.replace(one, **entered.get(path, {})) for path, one in found.items()}


@requires(Role.OPERATOR)
def register(
    path: str,
    types: dict[str, str] | None = None,
    maps: dict[str, dict[str, str]] | None = None,
    title: str | None = None,
) -> None:
    """Remember a set; what is given replaces what was registered before."""
    with _changing() as said:
        entry = said.setdefault(path, {})
        if types is not None:
            entry["types"] = types
        if maps is not None:
            entry["maps"] = {**entry.get("maps", {}), **maps}
        if title is not None:
            entry["title"] = title


@contextmanager
def _changing() -> Iterator[dict[str, dict]]:
    """What is registered, to be changed; written at the end. Two people may register at once."""
    with writing(data_root()):
        private_folder(data_root())
    with FileLock(_file().with_name(f".{_file().name}.lock"), PATIENCE):
        said = _read()
        yield said
        write_json(_file(), said)


def path_of(name: str) -> Path:
    """Where the data set that is shown under this name is; if there is none, where it would be."""
    clean = _clean(name)
    known = {path: one for path, one in known_sets().items() if is_own(path)}
    for path, one in known.items():
        if _slug(one.title) == clean:
            return Path(path)
    free, number = data_root() / clean, 2
    while free.exists():  # the folder of a set that is called otherwise by now
        free, number = data_root() / f"{clean}-{number}", number + 1
    return free


def is_own(path: str) -> bool:
    """Whether the data folder holds it: then it can be deleted. Samples and other folders are only forgotten."""
    return Path(path).parent == data_root() and Path(path).exists()


@requires(Role.OPERATOR)
def rename(path: str, title: str) -> None:
    """Show the set under another name. Its folder stays, since runs name it."""
    if not title.strip():
        raise ConfigError("The data set needs a name.")
    register(path, title=title.strip())


@requires(Role.OWNER)
def remove(path: str) -> None:
    """Forget a set, and delete it with all that was kept for it if the data folder holds it. Runs keep their own copies
    of pairs and records. Where this is killed, the set is there as before, or the next start deletes the rest."""
    own = is_own(path)
    with _changing() as said:
        said.pop(path, None)
    if own:
        with writing(Path(path)):
            gone = Path(path).rename(data_root() / f"{DELETED}{uuid.uuid4().hex[:8]}")  # at once, not file by file
        delete_path(gone)
    remove_belongings(path)


def _clean(name: str) -> str:
    clean = _slug(name)
    if not clean:
        raise ConfigError("The data set needs a name of letters and digits.")
    return clean


def _slug(name: str) -> str:
    """The name as that of a folder, in any script; empty if nothing of it can be used."""
    return _UNSAFE.sub("_", name.strip().lower()).strip("_-")[:60]


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
    titled = isinstance(entry.get("title", ""), str)
    return titled and all(isinstance(one, dict) for one in entry.get("maps", {}).values())
