"""Reading a data set from disk and checking it.

`open_data` gives a data set or raises one error that lists every problem; `inspect_data` gives both the data
set, if it can be used, and the problems.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

from riskcore.config import DataConfig
from riskcore.data.checks import check_pairs
from riskcore.data.dataset import DataSet
from riskcore.data.folder import read_folder
from riskcore.data.pair_file import read_pair_file
from riskcore.data.problems import DataFormatError, Problem, ProblemLog, visible
from riskcore.data.tables import FORMATS


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
    data = _read(path, log, config)
    if data is not None:
        check_pairs(data, log)
    problems = log.problems
    if data is None or log.has_errors:
        return None, problems
    whole = path.absolute()
    return dataclasses.replace(data, name=whole.stem, warnings=tuple(problems), origin=str(whole)), problems


def _read(path: Path, log: ProblemLog, config: DataConfig) -> DataSet | None:
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
