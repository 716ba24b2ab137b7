"""A file as text: named columns, the row in the file of each record, the rule for what is missing, and the caps.

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
from riskcore.data.problems import ProblemLog, shown

ID = "id"
CELL_BYTES = 8  # that a cell takes beside its text: where it begins


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


class TooMuchContentError(Exception):
    """A file has more content than may be held. It carries the bytes counted so far."""

    def __init__(self, size: int) -> None:
        self.size = size
        super().__init__(size)


class Budget:
    """What a file may take in memory, counted while it is read: a small file which stands for gigabytes is refused
    before they are taken."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._taken = 0

    @classmethod
    def of_file(cls, path: Path, config: DataConfig) -> Budget:
        """Its own size and `max_decoded_bytes`."""
        return cls(path.stat().st_size + config.max_decoded_bytes)

    @property
    def left(self) -> int:
        return max(self._most - self._taken, 0)

    def take(self, cells: int, text_bytes: int) -> None:
        """Count these; raises `TooMuchContentError` beyond the limit."""
        self._taken += cells * CELL_BYTES + text_bytes
        if self._taken > self._most:
            raise TooMuchContentError(self._taken)


def too_much_content(size: int, file: str, log: ProblemLog, config: DataConfig) -> None:
    message = f"It stands for at least {size:,} bytes; {config.max_decoded_bytes:,} beyond its own size are read."
    cure = "Check how it was written; split the file, or raise max_decoded_bytes."
    log.add("too_much_content", message, cure, file)


def missing_columns(file: TextFile, wanted: Sequence[str], log: ProblemLog) -> bool:
    """Whether any wanted column is not there; each is logged with the names that are."""
    absent = [name for name in wanted if name not in file.names]
    found = ", ".join(shown(name) for name in file.names[:10]) or "none"
    for name in absent:
        cure = f"Add it, or rename one of those found ({found}); the delimiter is a comma."
        log.add_header("missing_column", f"There is no column {shown(name)}.", cure, file.name, name)
    return bool(absent)


def report_unused(file: TextFile, unused: Sequence[str], known: Sequence[str], cure: str, log: ProblemLog) -> None:
    """Log columns that are not used: an error where one was meant to be one of the known, as `Label` for `label`."""
    meant = {name.casefold(): name for name in known if name not in file.names}
    for name in unused:
        right = meant.get(name.strip().casefold())
        if right is None:
            log.add_header("ignored_column", f"The column {shown(name)} is not used.", cure, file.name, name)
        else:
            message = f"The column {shown(name)} is not {right}: names are taken to the letter."
            log.add_header("misspelt_column", message, f"Rename it to {right}.", file.name, name)


def file_too_large(size: int, file: str, log: ProblemLog, config: DataConfig) -> None:
    message = f"The file has {size:,} bytes; at most {config.max_file_bytes:,} are read."
    log.add("file_too_large", message, "Split the file, or raise max_file_bytes.", file)


def too_many_columns(count: int, file: str, log: ProblemLog, config: DataConfig) -> None:
    message = f"The header has {count:,} columns; at most {config.max_columns:,} are read."
    log.add_header("too_many_columns", message, "Check the delimiter, or raise max_columns.", file)


def column_names(names: list[str], file: str, log: ProblemLog) -> list[str | None]:
    """Trimmed names, None for a column that cannot be used because it has no name or a repeated one."""
    usable: list[str | None] = []
    for position, name in enumerate(name.strip() for name in names):
        if not name:
            message = f"Column number {position + 1} has no name."
            log.add_header("empty_column_name", message, "Name it or delete it.", file, f"#{position + 1}")
        elif name in usable:
            log.add_header("duplicate_column", f"Two columns are named {shown(name)}.", "Rename one.", file, name)
        usable.append(None if not name or name in usable else name)
    return usable


def too_many_rows(file: str, row: int | None, log: ProblemLog, config: DataConfig) -> None:
    message = f"The file has more than {config.max_rows:,} records."
    log.add("too_many_rows", message, "Split the file, or raise max_rows.", file, row)


def _missing_as_null(column: pa.ChunkedArray, config: DataConfig) -> pa.ChunkedArray:
    words = pa.array(["", *(word.strip().lower() for word in config.missing_words)], pa.large_string())
    plain = pc.utf8_lower(pc.utf8_trim_whitespace(column))
    return pc.if_else(pc.is_in(plain, words), pa.scalar(None, pa.large_string()), column)


def _series(column: pa.ChunkedArray) -> pd.Series:
    return column.to_pandas().astype("str")
