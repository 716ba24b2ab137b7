"""Files read as text, the rule for what is missing, and the step from text columns to a `Table`.

Nothing is guessed: every cell is text. A cell is missing when it is empty or blank, or when the whole of it is
one of `DataConfig.missing_words`, in any case and with any space around it. Ids are never missing by a word.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from riskcore.config import DataConfig
from riskcore.data.columns import Columns, file_too_large
from riskcore.data.csv_file import read_csv
from riskcore.data.parquet_file import read_parquet
from riskcore.data.problems import ProblemLog, shown

FORMATS = (".csv", ".parquet")
ID = "id"


@dataclasses.dataclass(frozen=True, eq=False)
class TextFile:
    """One file: its name, its columns as text, and the row in the file of each record."""

    name: str
    columns: pa.Table
    rows: np.ndarray

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.columns.column_names)

    def ids(self, column: str) -> np.ndarray:
        """The column as ids: text without surrounding space, '' where there is none."""
        trimmed = pc.utf8_trim_whitespace(pc.fill_null(self.columns.column(column), ""))
        return trimmed.to_pandas().to_numpy(dtype=object)

    def values(self, names: Sequence[str], config: DataConfig) -> pd.DataFrame:
        """The columns as a text frame, NaN where missing."""
        columns = {name: _missing_as_null(self.columns.column(name), config) for name in names}
        return pd.DataFrame({name: _series(column) for name, column in columns.items()}, index=range(len(self)))

    def text(self, column: str, config: DataConfig) -> np.ndarray:
        """The column as an object array of trimmed text, '' where missing."""
        known = pc.fill_null(_missing_as_null(self.columns.column(column), config), "")
        return pc.utf8_trim_whitespace(known).to_pandas().to_numpy(dtype=object)


def read_text_file(path: Path, log: ProblemLog, config: DataConfig) -> TextFile | None:
    """The file as text with all its faults logged; None if nothing of it can be used."""
    file = path.name
    try:
        if not _is_readable(path, log, config):
            return None
        read = read_csv if path.suffix == ".csv" else read_parquet
        columns = read(path, file, log, config)
    except OSError as error:
        reason = error.strerror or str(error)
        log.add("unreadable_file", f"The file cannot be read: {reason}.", "Check its permissions.", file)
        return None
    return None if columns is None else text_file(columns, file, log, config)


def text_file(columns: Columns, name: str, log: ProblemLog, config: DataConfig) -> TextFile:
    """Text columns under a name, whether they come from a file or a frame; cells that are too long are logged."""
    return TextFile(name, _capped(columns, name, log, config), columns.rows)


def _is_readable(path: Path, log: ProblemLog, config: DataConfig) -> bool:
    if not path.is_file():
        log.add("unreadable_file", "This is not a regular file.", "Put a csv or parquet file there.", path.name)
        return False
    size = path.stat().st_size
    if size > config.max_file_bytes:
        file_too_large(size, path.name, log, config)
    return size <= config.max_file_bytes


def _capped(columns: Columns, file: str, log: ProblemLog, config: DataConfig) -> pa.Table:
    """The columns without cells that are too long: each is logged and taken out."""
    table = columns.table
    for number, name in enumerate(table.column_names):
        lengths = pc.utf8_length(table.column(number))
        if (pc.max(lengths).as_py() or 0) <= config.max_cell_chars:
            continue
        long = np.flatnonzero(pc.greater(pc.fill_null(lengths, 0), config.max_cell_chars).to_numpy())
        _log_long(long, lengths.to_numpy(), columns.rows, name, file, log, config)
        short = pc.if_else(pc.greater(lengths, config.max_cell_chars), None, table.column(number))
        table = table.set_column(number, name, short)
    return table


def _log_long(
    long: np.ndarray, lengths: np.ndarray, rows: np.ndarray, name: str, file: str, log: ProblemLog, config: DataConfig
) -> None:
    def describe(position: int) -> str:
        return f"A cell has {int(lengths[long[position]]):,} characters; at most {config.max_cell_chars:,} are read."

    log.add_rows("cell_too_long", rows[long], describe, "Close a broken quote, or shorten the cell.", file, name)


def _missing_as_null(column: pa.ChunkedArray, config: DataConfig) -> pa.ChunkedArray:
    words = pa.array(["", *(word.strip().lower() for word in config.missing_words)], pa.large_string())
    plain = pc.utf8_lower(pc.utf8_trim_whitespace(column))
    return pc.if_else(pc.is_in(plain, words), pa.scalar(None, pa.large_string()), column)


def _series(column: pa.ChunkedArray) -> pd.Series:
    return column.to_pandas().astype("str")


def missing_columns(file: TextFile, wanted: Sequence[str], log: ProblemLog) -> bool:
    """Whether any wanted column is not there; each is logged with the names that are."""
    absent = [name for name in wanted if name not in file.names]
    found = ", ".join(shown(name) for name in file.names[:10]) or "none"
    for name in absent:
        cure = f"Add it, or rename one of those found ({found}); the delimiter is a comma."
        log.add_header("missing_column", f"There is no column {shown(name)}.", cure, file.name, name)
    return bool(absent)
