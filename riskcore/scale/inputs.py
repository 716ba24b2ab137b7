"""What can be scored: two tables and candidates between them, from a file or found on the way, or a file of pairs.

Tables are read whole; pairs are streamed, so there may be any number of them. Wherever they come from, they become rows
of the run's tables with the new records behind their own, in the order of their source.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from riskcore.apply.records import Records, named_as_in_run
from riskcore.blocking import block
from riskcore.blocking.steps import OnProgress
from riskcore.columns import LEFT, LEFT_ID, RIGHT, RIGHT_ID
from riskcore.config import BlockConfig, DataConfig
from riskcore.data.bring.csv_form import detect_csv
from riskcore.data.folder import TABLES, read_table
from riskcore.data.pairs import Table
from riskcore.data.problems import DataFormatError, ProblemLog, visible
from riskcore.data.tables import FORMATS, read_text_file
from riskcore.errors import ConfigError
from riskcore.runs.bundle.read import Bundle
from riskcore.scale.pair_values import records_and_pairs

Rows = tuple[np.ndarray, np.ndarray]
_READ_AT_ONCE = 1 << 16  # pairs, whose ids become objects
_SHOWN = 5  # unknown ids named in an error


@dataclasses.dataclass(frozen=True, eq=False)
class PairStream:
    """Pairs of rows of two tables, in pieces of any length."""

    stream: Callable[[], Iterator[Rows]]
    pairs: int | None  # how many, where that is known before the stream is read
    words: tuple[str, ...]  # what the fingerprint says of where the pairs come from

    def parts(self, size: int) -> Iterator[Rows]:
        """The same pairs, `size` at a time."""
        held: list[Rows] = []
        count = 0
        for left, right in self.stream():
            held.append((left, right))
            count += len(left)
            while count >= size:
                whole = tuple(np.concatenate([one[side] for one in held]) for side in (0, 1))
                yield whole[0][:size], whole[1][:size]
                held, count = [(whole[0][size:], whole[1][size:])], count - size
        if count:
            yield np.concatenate([one[0] for one in held]), np.concatenate([one[1] for one in held])


@dataclasses.dataclass(frozen=True, eq=False)
class ScoreInput:
    """Two tables, and pairs of their rows."""

    left: Table
    right: Table
    pairs: PairStream


def open_input(
    bundle: Bundle,
    pairs: Path | None,
    left: Path | None = None,
    right: Path | None = None,
    *,
    top: int | None = None,
    workspace: Path,
    on_progress: OnProgress | None = None,
) -> ScoreInput:
    """What there is to score. `pairs` is a folder with tables and, perhaps, `pairs`; or a file of pairs, whose ids are
    those of the tables `left` and `right`, else of the run's records. Without pairs, candidates are found."""
    if pairs is not None and pairs.is_dir():
        left, right = (_find(pairs, stem) for stem in TABLES)
        if left is None:
            raise ConfigError(f"{visible(str(pairs))} has no tableA.csv or tableA.parquet. Add it, or give a file.")
        pairs = _find(pairs, "pairs")
    records = Records(bundle)
    if pairs is not None and left is None and _has_values(pairs):
        return _of_values(records, pairs, workspace)
    if left is None:
        if pairs is None:
            raise ConfigError("There is nothing to score. Give a file of pairs or two tables.")
        rows = np.arange(len(records.left)), np.arange(len(records.right))
        return _of_ids(records, pairs, (records.left.ids, rows[0]), (records.right.ids, rows[1]))
    tables = _tables(left, right, bundle)
    if pairs is None:
        return _of_blocking(records, tables, top, on_progress)
    left_rows = records.add_left(tables[0])
    right_rows = left_rows if tables[1] is None else records.add_right(tables[1])
    right_ids = tables[0].ids if tables[1] is None else tables[1].ids
    return _of_ids(records, pairs, (tables[0].ids, left_rows), (right_ids, right_rows))


def _find(folder: Path, stem: str) -> Path | None:
    found = [path for suffix in FORMATS if (path := folder / f"{stem}{suffix}").exists()]
    return found[0] if found else None


def _tables(left: Path, right: Path | None, bundle: Bundle) -> tuple[Table, Table | None]:
    """Both tables; the second is None in a self-join. One error names everything that is wrong with them."""
    config = bundle.config.data
    log = ProblemLog(config.examples_per_problem)
    found = [_table(path, log, config) for path in (left, right) if path is not None]
    errors = [problem for problem in log.problems if problem.severity == "error"]
    if errors:
        raise DataFormatError(errors)
    one, other = found[0], found[1] if len(found) > 1 else None
    assert one is not None
    if other is None and not bundle.facts["self_join"]:
        raise ConfigError(f"Run {bundle.facts['run']} has two tables. Give both: --left FILE --right FILE.")
    if other is not None and bundle.facts["self_join"] and not _same(one, other):
        raise ConfigError(f"Run {bundle.facts['run']} compares records of one table. Give one: --left FILE.")
    return one, None if bundle.facts["self_join"] else other


def _same(one: Table, other: Table) -> bool:
    return np.array_equal(one.ids, other.ids) and one.values.equals(other.values)


def _table(path: Path, log: ProblemLog, config: DataConfig) -> Table | None:
    if not path.is_file():
        raise ConfigError(f"There is no table at {visible(str(path))}. Check the path.")
    return read_table(path.name, read_text_file(path, log, config), log, config)


def _of_blocking(
    records: Records, tables: tuple[Table, Table | None], top: int | None, on_progress: OnProgress | None
) -> ScoreInput:
    """Candidates are found between the tables and stay in memory as row numbers."""
    config = BlockConfig() if top is None else BlockConfig(top=top)
    named = [None if table is None else named_as_in_run(records.bundle, table) for table in tables]
    assert named[0] is not None
    found = block(named[0], named[1], config, on_progress)
    left_rows = records.add_left(tables[0])
    right_rows = left_rows if tables[1] is None else records.add_right(tables[1])

    def stream() -> Iterator[Rows]:
        yield left_rows[found.left_rows].astype(np.int32), right_rows[found.right_rows].astype(np.int32)

    words = ("blocking", dataclasses.replace(config, threads=1).to_json())
    return ScoreInput(records.left, records.right, PairStream(stream, len(found), words))


def _of_ids(
    records: Records, pairs: Path, left: tuple[np.ndarray, np.ndarray], right: tuple[np.ndarray, np.ndarray]
) -> ScoreInput:
    """A file of `ltable_id` and `rtable_id`; each side comes with its ids and the rows that they have here."""
    sides = [(name, pd.Index(ids, dtype=object), rows.astype(np.int32)) for name, (ids, rows) in _named(left, right)]
    if len(records.left) + len(records.right) > 2**31 - 1:
        raise ConfigError("There are more than two billion records. Split the tables.")

    def stream() -> Iterator[Rows]:
        first = 0
        for batch in _batches(pairs, (LEFT_ID, RIGHT_ID)):
            found = []
            for name, index, rows in sides:
                places = index.get_indexer(pd.Index(_trimmed(batch.column(name)), dtype=object))
                if (places < 0).any():
                    raise ConfigError(_unknown(pairs, name, batch.column(name), places, first))
                found.append(rows[places])
            first += batch.num_rows
            yield found[0], found[1]

    return ScoreInput(records.left, records.right, PairStream(stream, _row_count(pairs), ("ids", *_state(pairs))))


def _named(
    left: tuple[np.ndarray, np.ndarray], right: tuple[np.ndarray, np.ndarray]
) -> tuple[tuple[str, tuple[np.ndarray, np.ndarray]], ...]:
    return (LEFT_ID, left), (RIGHT_ID, right)


def _of_values(records: Records, pairs: Path, workspace: Path) -> ScoreInput:
    """A file with both records of a pair in each row: records are told apart first."""
    left, right, rows_file = records_and_pairs(pairs, workspace, records.bundle.config.data)
    left_rows = records.add_left(left).astype(np.int32)
    right_rows = records.add_right(right).astype(np.int32)

    def stream() -> Iterator[Rows]:
        with pq.ParquetFile(rows_file, pre_buffer=False) as file:
            for batch in file.iter_batches(batch_size=_READ_AT_ONCE):
                yield left_rows[batch.column(0).to_numpy()], right_rows[batch.column(1).to_numpy()]

    found = PairStream(stream, _row_count(rows_file), ("values", *_state(pairs)))
    return ScoreInput(records.left, records.right, found)


def _has_values(path: Path) -> bool:
    """Whether the file has values of both records, not only their ids."""
    names = _names(path)
    return any(name.startswith(LEFT) for name in names) and any(name.startswith(RIGHT) for name in names)


def _names(path: Path) -> list[str]:
    if not path.is_file():
        raise ConfigError(f"There is nothing at {visible(str(path))}. Check the path.")
    if path.suffix.lower() == ".parquet":
        try:
            return list(pq.read_schema(path).names)
        except (OSError, pa.ArrowInvalid) as error:
            raise ConfigError(f"{path.name} is no parquet file that can be read: {error}.") from error
    with _csv(path) as reader:
        return list(reader.schema.names)


def _batches(path: Path, wanted: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
    missing = [name for name in wanted if name not in _names(path)]
    if missing:
        raise ConfigError(f"{path.name} has no column {missing[0]}. A file of pairs has {' and '.join(wanted)}.")
    try:
        if path.suffix.lower() == ".parquet":
            with pq.ParquetFile(path, pre_buffer=False) as file:  # else the bytes of all pairs stay in memory
                yield from file.iter_batches(batch_size=_READ_AT_ONCE, columns=list(wanted))
            return
        with _csv(path, wanted) as reader:
            yield from reader
    except (OSError, pa.ArrowInvalid) as error:
        raise ConfigError(f"{path.name} cannot be read: {error}. Correct the file, or write it as parquet.") from error


def _csv(path: Path, wanted: tuple[str, ...] = ()) -> pa_csv.CSVStreamingReader:
    form = detect_csv(path)
    types = dict.fromkeys(wanted, pa.large_string())
    try:
        return pa_csv.open_csv(
            path,
            read_options=pa_csv.ReadOptions(encoding=form.encoding, block_size=1 << 22),
            parse_options=pa_csv.ParseOptions(delimiter=form.delimiter, newlines_in_values=True),
            convert_options=pa_csv.ConvertOptions(column_types=types, include_columns=list(wanted) or None),
        )
    except (OSError, pa.ArrowInvalid, pa.ArrowKeyError) as error:
        raise ConfigError(f"{path.name} cannot be read as csv: {error}.") from error


def _trimmed(column: pa.Array) -> np.ndarray:
    """Ids as texts; whole numbers that were written as floats have no fraction."""
    kind = column.type
    if pa.types.is_floating(kind):
        column = column.cast(pa.int64())
    texts: np.ndarray = column.cast(pa.large_string()).to_numpy(zero_copy_only=False)
    return texts


def _unknown(path: Path, name: str, column: pa.Array, places: np.ndarray, first: int) -> str:
    odd = np.flatnonzero(places < 0)
    examples = ", ".join(f"{column[row].as_py()!r} (row {first + row + 1:,})" for row in odd[:_SHOWN].tolist())
    return (
        f"{path.name} names records that are in no table, in column {name}: {examples}. Score the pairs of the tables "
        "that they were found in."
    )


def _row_count(path: Path) -> int | None:
    if path.suffix.lower() != ".parquet":
        return None
    with pq.ParquetFile(path) as file:
        return int(file.metadata.num_rows)


def _state(path: Path) -> tuple[str, ...]:
    """What tells a file from another one with its name."""
    found = path.stat()
    return path.name, str(found.st_size), str(found.st_mtime_ns)
