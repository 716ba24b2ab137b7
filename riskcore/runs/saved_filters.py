"""Filters of the queue that people gave a name, shared by everyone who opens the run.

They are a small file in the run's folder. Whoever changes it holds a lock, so that two web processes lose nothing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from riskcore.errors import ConfigError
from riskcore.runs.folder import RunFolder
from riskcore.storage.files import read_json, write_json
from riskcore.storage.lock import FileLock

MOST = 50  # saved filters of a run
MAX_NAME = 60
MAX_CHARS = 4_000  # of all values together: they come from an address
PATIENCE = 5.0  # seconds to wait for another writer

FilterValue = str | list[float]  # as the address has it, or both ends of a range


@dataclasses.dataclass(frozen=True)
class SavedFilter:
    """A name, what the filters are set to, and who saved it when."""

    name: str
    values: Mapping[str, FilterValue]
    who: str = ""
    at: str = ""  # ISO 8601, UTC


def saved_filters(folder: RunFolder) -> list[SavedFilter]:
    """Those of a run, in the order of their names."""
    if not folder.filters_file.exists():
        return []
    stored = read_json(folder.filters_file, "Remove the file; only the saved filters are lost.")
    return sorted((_read(one) for one in stored), key=lambda one: one.name.lower())


def save_filter(folder: RunFolder, name: str, values: Mapping[str, FilterValue], who: str = "") -> SavedFilter:
    """Save filters under a name; those of that name are replaced."""
    name = " ".join(name.split())
    if not name or len(name) > MAX_NAME:
        raise ConfigError(f"A saved filter needs a name of 1 to {MAX_NAME} characters.")
    if sum(len(str(value)) for value in values.values()) > MAX_CHARS:
        raise ConfigError(f"These filters are too long to be saved: at most {MAX_CHARS:,} characters.")
    new = SavedFilter(name, dict(values), who, datetime.now(UTC).isoformat(timespec="seconds"))

    def add(held: list[SavedFilter]) -> list[SavedFilter]:
        others = [one for one in held if one.name != name]
        if len(others) >= MOST:
            raise ConfigError(f"A run has at most {MOST} saved filters. Remove one first.")
        return [*others, new]

    _change(folder, add)
    return new


def remove_filter(folder: RunFolder, name: str) -> None:
    """Remove the saved filters of this name, if there are any."""
    _change(folder, lambda held: [one for one in held if one.name != name])


def _change(folder: RunFolder, change: Callable[[list[SavedFilter]], list[SavedFilter]]) -> None:
    with FileLock(folder.path / "filters.lock", PATIENCE):
        write_json(folder.filters_file, [dataclasses.asdict(one) for one in change(saved_filters(folder))])


def _read(stored: Mapping[str, Any]) -> SavedFilter:
    return SavedFilter(
        str(stored.get("name") or ""),
        dict(stored.get("values") or {}),
        str(stored.get("who") or ""),
        str(stored.get("at") or ""),
    )
