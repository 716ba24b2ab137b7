"""The data that a workload's name stands for: one folder, or two as in DA2DS, and attributes with different names."""

from __future__ import annotations

import csv
import dataclasses
from collections.abc import Sequence
from pathlib import Path

from riskcore.errors import ConfigError

SYNONYMS = (("author", "authors"),)  # the names of one attribute in different public data sets


@dataclasses.dataclass(frozen=True)
class DataLocation:
    """The folders of a workload's data."""

    source: Path
    target: Path | None
    attribute_map: tuple[str, ...] = ()


def find_workload(data: Path, name: str, attribute_map: Sequence[str] = ()) -> DataLocation:
    """The folder of that name under `data`, or the two folders that a name such as DA2DS combines."""
    location = workload_or_none(data, name, attribute_map)
    if location is None:
        there = ", ".join(sorted(folder.name for folder in data.iterdir() if _is_data(folder))) or "none"
        raise ConfigError(f"{data} has no data for the workload {name!r}. Folders that hold a tableA: {there}.")
    return location


def workload_or_none(data: Path, name: str, attribute_map: Sequence[str] = ()) -> DataLocation | None:
    """The same, or None if a folder is missing."""
    if not data.is_dir():
        raise ConfigError(f"{data} is not a folder. Give --data the folder that contains one folder per data set.")
    if _is_data(data / name):
        return DataLocation(data / name, None)
    for at in (index for index, letter in enumerate(name) if letter == "2"):  # MB20K contains a 2 itself
        source, target = data / name[:at], data / name[at + 1 :]
        if name[:at] and name[at + 1 :] and _is_data(source) and _is_data(target):
            return DataLocation(source, target, tuple(attribute_map) or _renamed(source, target))
    return None


def _is_data(folder: Path) -> bool:
    return any((folder / f"tableA.{ending}").is_file() for ending in ("csv", "parquet"))


def _renamed(source: Path, target: Path) -> tuple[str, ...]:
    """Attributes known to have a different name in the target."""
    ours, theirs = _attributes(source), _attributes(target)
    pairs = [pair for names in SYNONYMS for pair in (names, names[::-1])]
    return tuple(f"{a}={b}" for a, b in pairs if a in ours and b in theirs and a not in theirs and b not in ours)


def _attributes(folder: Path) -> set[str]:
    file = folder / "tableA.csv"
    if not file.is_file():
        return set()
    # Another encoding is reported, with what to do about it, when the cell reads the data.
    with file.open(encoding="utf-8-sig", errors="replace", newline="") as lines:
        return set(next(csv.reader(lines), []))
