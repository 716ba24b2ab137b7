"""A data set: two tables of records and the labelled pairs over them, as read from disk and checked.

`open_data` gives a data set or raises one error that lists every problem; `inspect_data` gives both the data
set, if it can be used, and the problems. What a run makes of a data set is a `Workload`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

import pandas as pd

from riskcore.config import DataConfig
from riskcore.data.checks import check_pairs
from riskcore.data.fingerprint import Fingerprint
from riskcore.data.folder import read_folder
from riskcore.data.html_table import html_table
from riskcore.data.labels import UNKNOWN
from riskcore.data.pair_file import read_pair_file
from riskcore.data.pairs import LabelledPairs, Table
from riskcore.data.parsed import Content
from riskcore.data.problems import DataFormatError, Problem, ProblemLog, visible
from riskcore.data.tables import FORMATS


@dataclasses.dataclass(frozen=True, eq=False)
class DataSet:
    """Records and pairs of one folder or file. Labels are 1, 0, or `UNKNOWN` (outside train and valid only)."""

    name: str
    left: Table
    right: Table
    splits: Mapping[str, LabelledPairs]
    warnings: tuple[Problem, ...] = ()
    origin: str = ""  # the absolute path it was read from, or `frames:NAME` (see `origin`)

    @property
    def self_join(self) -> bool:
        """Whether both sides are the same table."""
        return self.left is self.right

    @property
    def attributes(self) -> tuple[str, ...]:
        """Attributes that both tables have, in the left table's order."""
        return tuple(name for name in self.left.attributes if name in self.right.attributes)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the content: records, pairs, labels, splits and their order; not of names or formats."""
        digest = Fingerprint()
        for table in (self.left, self.right):
            digest.add_table(table)
        for name, pairs in self.splits.items():
            digest.add_pairs(name, pairs)
        return digest.hexdigest()

    def __len__(self) -> int:
        return sum(map(len, self.splits.values()))

    def overview(self) -> pd.DataFrame:
        """A row per split: its pairs, by label."""
        counts = {
            name: [int((pairs.labels == label).sum()) for label in (1, 0, UNKNOWN)]
            for name, pairs in self.splits.items()
        }
        rows = [(name, sum(count), *count) for name, count in counts.items()]
        return pd.DataFrame(rows, columns=["split", "pairs", "matches", "non-matches", "unlabelled"])

    def __repr__(self) -> str:
        parts = ", ".join(f"{name} {len(pairs):,}" for name, pairs in self.splits.items())
        return f"DataSet({visible(self.name)}: {self._records}, {len(self):,} pairs ({parts}))"

    def _repr_html_(self) -> str:
        return html_table(f"{self.name}: {self._records}, attributes {', '.join(self.attributes)}", self.overview())

    @property
    def _records(self) -> str:
        return (
            f"{len(self.left):,} records" if self.self_join else f"{len(self.left):,} and {len(self.right):,} records"
        )


def open_data(path: str | Path, config: DataConfig | None = None) -> DataSet:
    """The data set at the path. Raises `DataFormatError` with every problem if it cannot be used."""
    data, problems = inspect_data(path, config)
    if data is None:
        errors = [problem for problem in problems if problem.severity == "error"]
        raise DataFormatError([_with_folder(problem, Path(path)) for problem in errors])
    return data


def _with_folder(problem: Problem, path: Path) -> Problem:
    """The problem with its file's full path: a run reads two folders whose files have the same names."""
    if not path.is_dir() or problem.file is None:
        return problem
    return dataclasses.replace(problem, file=visible(str(path / problem.file)))


def inspect_data(path: str | Path, config: DataConfig | None = None) -> tuple[DataSet | None, list[Problem]]:
    """The data set, or None if it has errors, and everything that was found: errors first, then warnings."""
    config = config or DataConfig()
    path, log = Path(path), ProblemLog(config.examples_per_problem)
    content = _read(path, log, config)
    if content is not None:
        check_pairs(content, log)
    problems = log.problems
    if content is None or log.has_errors:
        return None, problems
    splits = {split.name: split.pairs for split in content.splits}
    origin = str(path.absolute())
    return DataSet(path.absolute().stem, content.left, content.right, splits, tuple(problems), origin), problems


def _read(path: Path, log: ProblemLog, config: DataConfig) -> Content | None:
    try:
        if path.is_dir():
            return read_folder(path, log, config)
        if path.is_file() and path.suffix in FORMATS:
            return read_pair_file(path, log, config)
        _refuse(path, log)
    except (OSError, ValueError) as error:  # a folder that may not be entered; a path that no system has
        reason = getattr(error, "strerror", None) or str(error)
        log.add("unreadable_file", f"It cannot be read: {visible(reason)}.", "Check the path.", visible(str(path)))
    return None


def _refuse(path: Path, log: ProblemLog) -> None:
    shown_path = visible(str(path))
    if not path.exists():
        cure = "Check the path; it is a folder with tableA.csv, or a csv or parquet file of pairs."
        log.add("path_missing", "There is nothing here.", cure, shown_path)
    else:
        cure = "Give a folder with tableA.csv, or a .csv or .parquet file of pairs."
        log.add("not_a_data_set", "This is neither a folder nor a csv or parquet file.", cure, shown_path)
