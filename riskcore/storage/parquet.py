"""Reading Parquet files: with DuckDB to search many rows, by row group to fetch a few."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from riskcore.errors import StorageError

THREADS = 2  # enough for a page of a million pairs in well under a second


@contextlib.contextmanager
def searching() -> Iterator[duckdb.DuckDBPyConnection]:
    """A new connection, since web sessions run side by side. It can read files and nothing else."""
    connection = duckdb.connect(":memory:", config={"threads": THREADS, "autoinstall_known_extensions": False})
    try:
        yield connection
    except (duckdb.IOException, duckdb.InvalidInputException) as error:
        raise StorageError(f"A file of the run cannot be read: {error}") from error
    finally:
        connection.close()


def frame(connection: duckdb.DuckDBPyConnection, query: str, values: Sequence[Any] = ()) -> pd.DataFrame:
    return connection.execute(query, list(values)).df()


def scan(file: Path) -> str:
    """The file as a table in a query. Its name comes from this project; quotes in the root are doubled."""
    return "read_parquet('" + str(file).replace("'", "''") + "')"


def quoted(column: str) -> str:
    """A column's name in a query; attributes come from data and may hold anything."""
    return '"' + column.replace('"', '""') + '"'


def take_rows(file: Path, rows: Sequence[int] | np.ndarray, columns: Sequence[str] | None = None) -> pa.Table:
    """These rows of a file whose records lie in row order, in the order asked: only their row groups are read."""
    wanted = np.asarray(rows, dtype=np.int64)
    try:
        with pq.ParquetFile(file, memory_map=True) as source:
            return _gather(source, wanted, None if columns is None else list(columns))
    except (OSError, pa.ArrowInvalid) as error:
        raise StorageError(f"{file} cannot be read: {error}.") from error


def _gather(source: pq.ParquetFile, wanted: np.ndarray, columns: list[str] | None) -> pa.Table:
    sizes = [source.metadata.row_group(group).num_rows for group in range(source.num_row_groups)]
    ends = np.cumsum(sizes)
    groups = np.searchsorted(ends, wanted, side="right")
    used = np.unique(groups)
    if not len(used):
        nothing = source.schema_arrow.empty_table()
        return nothing if columns is None else nothing.select(columns)
    read = source.read_row_groups(used.tolist(), columns=columns, use_threads=False)
    starts = np.concatenate([[0], ends])[:-1]
    offsets = dict(zip(used.tolist(), np.concatenate([[0], np.cumsum(np.take(sizes, used))])[:-1], strict=True))
    places = [int(row - starts[group] + offsets[group]) for row, group in zip(wanted, groups.tolist(), strict=True)]
    return read.take(pa.array(places, pa.int64()))
