"""Reading Parquet files: with DuckDB to search many rows, by row group to fetch a few, or whole columns.

No reader of Parquet notices a flipped bit by itself, so each file is checked against the list of its folder first.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from riskcore.errors import StorageError
from riskcore.storage.checksums import checked
from riskcore.storage.row_groups import ROW_GROUPS
from riskcore.storage.time_limit import limit, stopped_in_time, too_long

THREADS = 2  # enough for a page of a million pairs in well under a second; shared by all queries of a process
_starting = threading.Lock()


@contextlib.contextmanager
def searching() -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection of its own, since web sessions run side by side; the tables it makes go with it. It is stopped when
    it takes longer than the limit."""
    with _starting:
        connection = _database().cursor()
    try:
        with stopped_in_time(connection.interrupt):
            yield connection
    except duckdb.InterruptException as error:
        raise too_long(limit() or 0.0) from error
    except (duckdb.IOException, duckdb.InvalidInputException) as error:
        raise StorageError(f"A file of the run cannot be read: {error}") from error
    finally:
        connection.close()


@functools.lru_cache(maxsize=1)
def _database() -> duckdb.DuckDBPyConnection:
    """An empty database in memory: to make one for each query would take longer than many a query. It can read files
    and nothing else."""
    found = duckdb.connect(":memory:", config={"threads": THREADS, "autoinstall_known_extensions": False})
    atexit.register(_close_database)  # or the library complains on stderr when the process ends
    return found


def _close_database() -> None:
    _database().close()
    _database.cache_clear()


def frame(connection: duckdb.DuckDBPyConnection, query: str, values: Sequence[Any] = ()) -> pd.DataFrame:
    return connection.execute(query, list(values)).df()


def scan(file: Path) -> str:
    """The file as a table in a query. Its name comes from this project; quotes in the root are doubled."""
    return "read_parquet('" + str(checked(file)).replace("'", "''") + "')"


def quoted(column: str) -> str:
    """A column's name in a query; attributes come from data and may hold anything."""
    return '"' + column.replace('"', '""') + '"'


def take_rows(file: Path, rows: Sequence[int] | np.ndarray, columns: Sequence[str] | None = None) -> pa.Table:
    """These rows of a file whose records lie in row order, in the order asked: only their row groups are read."""
    wanted = np.asarray(rows, dtype=np.int64)
    try:
        return ROW_GROUPS.take(checked(file), wanted, columns)
    except (OSError, pa.ArrowInvalid) as error:
        raise StorageError(f"{file} cannot be read: {error}.") from error


def load_columns(file: Path, columns: Sequence[str] | None = None, filters: Any = None) -> pa.Table:
    """These columns of all rows, or of those that meet the filters; without names, all columns."""
    try:
        return pq.read_table(checked(file), columns=None if columns is None else list(columns), filters=filters)
    except (OSError, pa.ArrowInvalid) as error:
        raise StorageError(f"{file} cannot be read: {error}.") from error


def schema_of(file: Path) -> pa.Schema:
    """The columns of a file with their types, and what was stored about them."""
    try:
        return pq.read_schema(checked(file))
    except (OSError, pa.ArrowInvalid) as error:
        raise StorageError(f"{file} cannot be read: {error}.") from error


def column_names(file: Path) -> list[str]:
    """The names of a file's columns, in order."""
    return list(schema_of(file).names)


def row_count(file: Path) -> int:
    """How many rows a file has."""
    with row_groups(file) as source:
        return int(source.metadata.num_rows)


def row_groups(file: Path) -> pq.ParquetFile:
    """A file to be read piece by piece; its caller closes it."""
    try:
        return pq.ParquetFile(checked(file))
    except (OSError, pa.ArrowInvalid) as error:
        raise StorageError(f"{file} cannot be read: {error}.") from error
