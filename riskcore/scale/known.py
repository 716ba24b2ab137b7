"""The scored sets that a project has: those in `scored` in the folder of runs, and registered ones elsewhere.

A set goes by the name of its folder. Where two have the same, the later one gets a number.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

from riskcore.errors import ConfigError, RiskcoreError, StorageError
from riskcore.scale.folder import ScoredFacts, ScoredFolder
from riskcore.storage.files import private_folder, read_json, write_json, writing
from riskcore.storage.lock import FileLock

DEFAULT = "scored"  # in the folder of runs
PATIENCE = 10.0  # seconds to wait for another registration; each takes milliseconds
_CURE = "Repair it or restore a copy; if that is impossible, move it away and register the sets again."


@dataclasses.dataclass(frozen=True)
class KnownScored:
    """One set: complete, being made, or one that cannot be read."""

    name: str
    folder: ScoredFolder
    facts: ScoredFacts | None  # None where it is not complete, or cannot be read
    problem: str = ""  # why it cannot be opened

    @property
    def run(self) -> str | None:
        return None if self.facts is None else self.facts["run"]


def default_place(runs: Path) -> Path:
    """Where scored sets of a project go unless another place is named."""
    return runs / DEFAULT


def known_scored(runs: Path) -> list[KnownScored]:
    """All sets of a project, by name."""
    own = default_place(runs)
    paths = sorted(path for path in own.iterdir() if not path.name.startswith(".")) if own.is_dir() else []
    folders = [path for path in paths if (path / "scored.json").is_file() or (path / "plan.json").is_file()]
    found: dict[str, KnownScored] = {}
    for path in dict.fromkeys([*folders, *map(Path, _read(runs))]):
        name, number = path.name, 2
        while name in found:
            name, number = f"{path.name}-{number}", number + 1
        found[name] = _opened(name, path)
    return list(found.values())


def find_scored(runs: Path, name: str) -> KnownScored:
    """The set of that name."""
    for one in known_scored(runs):
        if one.name == name:
            return one
    raise StorageError(f"There is no scored set {name[:200]!r} in {default_place(runs)}, nor is one registered.")


def scored_of_run(runs: Path, run: str) -> list[KnownScored]:
    """The complete sets that were scored with a run."""
    return [one for one in known_scored(runs) if one.run == run]


def register_scored(runs: Path, path: Path) -> str:
    """Remember a set that lies elsewhere; the name it goes by."""
    path = path.absolute()
    ScoredFolder(path).facts()
    if path.parent != default_place(runs).absolute():
        with writing(default_place(runs)):
            private_folder(default_place(runs))
        with FileLock(_file(runs).with_name(f".{_file(runs).name}.lock"), PATIENCE):
            write_json(_file(runs), list(dict.fromkeys([*_read(runs), str(path)])))
    return next(one.name for one in known_scored(runs) if one.folder.path.absolute() == path)


def forget_scored(runs: Path, name: str) -> Path:
    """Forget a registered set; its files stay. One in the project's own folder is known as long as it is there."""
    path = find_scored(runs, name).folder.path
    with FileLock(_file(runs).with_name(f".{_file(runs).name}.lock"), PATIENCE):
        registered = _read(runs)
        if str(path) not in registered:
            raise ConfigError(
                f"{name} lies in {default_place(runs)} itself. Delete or move its folder to be rid of it."
            )
        write_json(_file(runs), [one for one in registered if one != str(path)])
    return path


def _opened(name: str, path: Path) -> KnownScored:
    folder = ScoredFolder(path)
    try:
        return KnownScored(name, folder, folder.facts())
    except RiskcoreError as error:
        return KnownScored(name, folder, None, str(error))


def _file(runs: Path) -> Path:
    return default_place(runs) / "registered.json"


def _read(runs: Path) -> list[str]:
    file = _file(runs)
    if not file.exists():
        return []
    said = read_json(file, _CURE)
    if not isinstance(said, list) or not all(isinstance(one, str) for one in said):
        raise StorageError(f"{file} is not a list of scored sets. {_CURE}")
    return said
