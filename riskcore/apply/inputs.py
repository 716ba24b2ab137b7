"""What may be given to `apply`: a data set, a file of pairs, a file of pairs of ids, or a table of new records."""

from __future__ import annotations

import dataclasses
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa

from riskcore.apply.candidates import RIGHT_SIDE, candidates_between, candidates_of
from riskcore.apply.records import Records
from riskcore.blocking.steps import OnProgress
from riskcore.columns import LEFT, LEFT_ID, RIGHT, RIGHT_ID
from riskcore.config import DataConfig
from riskcore.data.bring.archive import ZIP
from riskcore.data.bring.files import read_file, unpacked
from riskcore.data.dataset import DataSet
from riskcore.data.folder import read_table, rows_of
from riskcore.data.pair_file import pairs_in
from riskcore.data.pairs import Pairs, Table
from riskcore.data.problems import DataFormatError, ProblemLog, visible
from riskcore.data.reading import open_data
from riskcore.data.text_file import ID, TextFile
from riskcore.data.workload import pooled
from riskcore.errors import ConfigError

NUMBERED = "none"  # in place of a column of ids: the number of the row


def read_new(
    path: Path,
    records: Records,
    side: str = RIGHT_SIDE,
    top: int | None = None,
    id_column: str = ID,
    on_progress: OnProgress | None = None,
) -> Pairs:
    """The pairs to be scored. Of a table, they are the candidates of its records among those of the run."""
    config = records.bundle.config.data
    if path.is_dir():
        return pairs_of(records, open_data(path, config), top)
    if not path.exists():
        raise ConfigError(f"There is nothing at {visible(str(path))}. Check the path.")
    if path.suffix.lower() == ZIP:
        return _unzipped(path, records, side, top, id_column, on_progress)
    brought = read_file(path, config=config)
    if brought.text is None or brought.errors:
        raise DataFormatError(list(brought.errors))
    file, log = brought.text, ProblemLog(config.examples_per_problem)
    if any(name.startswith(LEFT) for name in file.names) and any(name.startswith(RIGHT) for name in file.names):
        data = pairs_in(file, path.stem, log, config)
        if data is None or log.has_errors:
            raise _errors(log)
        return pairs_of(records, data)
    if {LEFT_ID, RIGHT_ID} <= set(file.names):
        return _pairs_of_ids(records, file, log)
    table = _table(path, file, id_column, log, config)
    return candidates_of(records, table, side, top, on_progress)


def _unzipped(
    path: Path, records: Records, side: str, top: int | None, id_column: str, on_progress: OnProgress | None
) -> Pairs:
    """What is in an archive: one file, or a folder of tables and pairs."""
    with tempfile.TemporaryDirectory() as inside:
        files = unpacked([path], Path(inside))
        only = files[0] if len(files) == 1 else files[0].parent
        return read_new(only, records, side, top, id_column, on_progress)


def pairs_of(records: Records, data: DataSet, top: int | None = None) -> Pairs:
    """All pairs of a data set, whatever their split; labels are left aside. Where it has no pairs, candidates are found
    between its tables."""
    if not data.splits:
        return candidates_between(records, data.left, data.right, top)
    return records.place(pooled(data).without_labels())


def _pairs_of_ids(records: Records, file: TextFile, log: ProblemLog) -> Pairs:
    """Pairs of the run's own records, by their ids."""
    left = rows_of(file, LEFT_ID, records.left, log)
    right = rows_of(file, RIGHT_ID, records.right, log)
    if log.has_errors:
        raise _errors(log)
    return records.pairs(np.asarray(left, dtype=np.int64), np.asarray(right, dtype=np.int64))


def _table(path: Path, file: TextFile, id_column: str, log: ProblemLog, config: DataConfig) -> Table:
    """A table of new records; `NUMBERED` instead of a column numbers its rows."""
    if id_column == NUMBERED and NUMBERED not in file.names:
        numbers = pa.chunked_array([pa.array([str(row) for row in range(1, len(file) + 1)], pa.large_string())])
        kept = file.columns.drop_columns([ID]) if ID in file.names else file.columns
        file = dataclasses.replace(file, columns=kept.add_column(0, ID, numbers))
    elif id_column != ID:
        if id_column not in file.names:
            raise ConfigError(f"{file.name} has no column {id_column!r} for the ids. It has: {', '.join(file.names)}.")
        kept = file.columns.drop_columns([ID]) if ID in file.names else file.columns
        names = [ID if name == id_column else name for name in kept.column_names]
        file = dataclasses.replace(file, columns=kept.rename_columns(names))
    table = read_table(path.name, file, log, config)
    if table is None or log.has_errors:
        raise _errors(log)
    return table


def _errors(log: ProblemLog) -> DataFormatError:
    return DataFormatError([problem for problem in log.problems if problem.severity == "error"])
