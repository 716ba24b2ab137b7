"""Which data a workload's name means: a folder, or two as in DA2DS, and the attributes they call differently."""

from __future__ import annotations

import csv
import dataclasses
from collections.abc import Sequence
from pathlib import Path

from riskcore.errors import ConfigError

SYNONYMS = (("author", "authors"),)  # one name in one public set, the other in another


@dataclasses.dataclass(frozen=True)
class Place:
    """Where a workload's data lies."""

    source: Path
    target: Path | None
    attribute_map: tuple[str, ...] = ()


def find(data: Path, name: str, attribute_map: Sequence[str] = ()) -> Place:
    """The folder of that name under `data`, or the two that a name such as DA2DS is made of."""
    place = look(data, name, attribute_map)
    if place is None:
        there = ", ".join(sorted(folder.name for folder in data.iterdir() if _is_data(folder))) or "none"
        raise ConfigError(f"{data} has no data for the workload {name!r}. Folders with a tableA there: {there}.")
    return place


def look(data: Path, name: str, attribute_map: Sequence[str] = ()) -> Place | None:
    """The same, or None where a folder is not there."""
    if not data.is_dir():
        raise ConfigError(f"{data} is no folder. Give --data the folder that holds a folder for each data set.")
    if _is_data(data / name):
        return Place(data / name, None)
    for at in (index for index, letter in enumerate(name) if letter == "2"):  # MB20K has a 2 of its own
        source, target = data / name[:at], data / name[at + 1 :]
        if name[:at] and name[at + 1 :] and _is_data(source) and _is_data(target):
            return Place(source, target, tuple(attribute_map) or _renamed(source, target))
    return None


def _is_data(folder: Path) -> bool:
    return any((folder / f"tableA.{ending}").is_file() for ending in ("csv", "parquet"))


def _renamed(source: Path, target: Path) -> tuple[str, ...]:
    """Attributes known to have another name on the other side."""
    ours, theirs = _attributes(source), _attributes(target)
    pairs = [pair for names in SYNONYMS for pair in (names, names[::-1])]
    return tuple(f"{a}={b}" for a, b in pairs if a in ours and b in theirs and a not in theirs and b not in ours)


def _attributes(folder: Path) -> set[str]:
    file = folder / "tableA.csv"
    if not file.is_file():
        return set()
    # What is not UTF-8 is told, with its cure, when the cell reads the data.
    with file.open(encoding="utf-8-sig", errors="replace", newline="") as lines:
        return set(next(csv.reader(lines), []))
