"""A file with both records of a pair in each row, taken apart: distinct records, and pairs of their numbers.

DuckDB does it outside memory, so the file may be larger than that. Records that are the same, value by value (or by
`left_id` and `right_id`, where both are there), are one.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from riskcore.columns import LEFT, RIGHT
from riskcore.config import DataConfig
from riskcore.data.pairs import Table
from riskcore.data.text_file import ID, TextFile
from riskcore.errors import ConfigError, StorageError
from riskcore.storage.parquet import THREADS, quoted

_MEMORY = "700MB"


@dataclasses.dataclass(frozen=True)
class _Side:
    """One of a pair's two records."""

    name: str  # of its table in the query
    prefix: str
    columns: tuple[str, ...]
    identified: bool  # by an id of its own, not by its values

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that tell records apart."""
        return (self.prefix + ID,) if self.identified else self.columns

    @property
    def values(self) -> tuple[str, ...]:
        return tuple(name for name in self.columns if not (self.identified and name == self.prefix + ID))

    def collect(self) -> str:
        """Distinct records in the order in which they are first seen."""
        keys = ", ".join(map(quoted, self.keys))
        firsts = [f"first({quoted(name)} ORDER BY place) AS {quoted(name)}" for name in self.columns]
        others = "".join(f", {one}" for name, one in zip(self.columns, firsts, strict=True) if name not in self.keys)
        grouped = f"SELECT min(place) AS seen, {keys}{others} FROM pairs GROUP BY {keys}"
        numbered = f"SELECT row_number() OVER (ORDER BY seen) - 1 AS number, * FROM ({grouped})"
        return f"CREATE OR REPLACE TABLE {self.name} AS {numbered}"

    def join(self) -> str:
        same = (f"pairs.{quoted(key)} IS NOT DISTINCT FROM {self.name}.{quoted(key)}" for key in self.keys)
        return f"JOIN {self.name} ON {' AND '.join(same)}"


def records_and_pairs(path: Path, workspace: Path, config: DataConfig) -> tuple[Table, Table, Path]:
    """Both tables, and a parquet file with the numbers of each pair's records, in the order of the file."""
    workspace.mkdir(parents=True, exist_ok=True)
    rows_file, database = workspace / "rows.parquet", workspace / "pairs.duckdb"
    settings: dict[str, str | bool | int | float | list[str]] = {
        "threads": THREADS,
        "memory_limit": _MEMORY,
        "temp_directory": str(workspace / "duckdb"),
    }
    database.unlink(missing_ok=True)
    connection = duckdb.connect(str(database), config=settings)
    try:
        numbered = f"SELECT row_number() OVER () - 1 AS place, * FROM {_scan(path)}"
        connection.execute(f"CREATE TABLE pairs AS {numbered}")
        sides = _sides(connection, path)
        for side in sides:
            connection.execute(side.collect())
        joined = (
            f"SELECT l.number::INTEGER AS l, r.number::INTEGER AS r FROM pairs {' '.join(one.join() for one in sides)}"
        )
        connection.execute(f"COPY ({joined} ORDER BY place) TO {_text(rows_file)} (FORMAT parquet)")
        left, right = (_table(connection, side, config) for side in sides)
    except duckdb.Error as error:
        raise StorageError(f"{path.name} cannot be taken apart: {error}. Check the file.") from error
    finally:
        connection.close()
        database.unlink(missing_ok=True)
    return left, right, rows_file


def _sides(connection: duckdb.DuckDBPyConnection, path: Path) -> list[_Side]:
    names = [row[0] for row in connection.execute("DESCRIBE pairs").fetchall()]
    identified, sides = LEFT + ID in names and RIGHT + ID in names, []
    for table, prefix in (("l", LEFT), ("r", RIGHT)):
        columns = tuple(name for name in names if name.startswith(prefix))
        if not columns:
            raise ConfigError(
                f"{path.name} has no column that begins with {prefix}. Name the values of both records so."
            )
        sides.append(_Side(table, prefix, columns, identified))
    return sides


def _scan(path: Path) -> str:
    if path.suffix.lower() == ".parquet":
        return f"read_parquet({_text(path)})"
    return f"read_csv({_text(path)}, all_varchar = true, header = true, quote = '\"', escape = '\"', parallel = false)"


def _text(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"


def _table(connection: duckdb.DuckDBPyConnection, side: _Side, config: DataConfig) -> Table:
    texts = ", ".join(f"CAST({quoted(name)} AS VARCHAR) AS {quoted(name)}" for name in side.columns)
    found: pa.Table = connection.sql(f"SELECT seen, {texts} FROM {side.name} ORDER BY number").to_arrow_table()
    file = TextFile(side.prefix, found, np.arange(len(found)))
    values = file.values(side.values, config)
    values = values.set_axis([name.removeprefix(side.prefix) for name in side.values], axis=1)
    if side.identified:
        return Table(side.name, file.ids(side.prefix + ID), values)
    numbers = [str(place + 1) for place in found.column("seen").to_pylist()]
    return Table(side.name, np.array(numbers, dtype=object), values)
