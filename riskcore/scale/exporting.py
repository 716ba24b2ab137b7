"""Scored pairs as one csv or Parquet file, part by part: however many there are, one part is in memory.

As a program, it does that for the screens in a process of its own and says how far it is:
`python -m riskcore.scale.exporting JOB`.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv

from riskcore.columns import LEFT, LEFT_ID, LEFT_ROW, PAIR_ID, RIGHT, RIGHT_ID, RIGHT_ROW, VALUE
from riskcore.data.formulas import MAY_RUN, safe_cell
from riskcore.errors import CancelledError, ConfigError, RiskcoreError
from riskcore.pair_ids import pair_ids
from riskcore.scale.export_jobs import ExportJob
from riskcore.scale.folder import ScoredFolder
from riskcore.scale.queries import ScoredQuery, filtered, records_file
from riskcore.storage.files import write_parquet_chunks, write_stream
from riskcore.storage.parquet import load_columns, searching

EXPORT_FORMATS = ("csv", "parquet")
EXPORT_COLUMNS = (PAIR_ID, LEFT_ID, RIGHT_ID, "decision", "probability", "risk", "asked", "bound")
OnPairs = Callable[[int, float], None]  # pairs written so far, and the share of all parts that is done


def export_pairs(
    folder: ScoredFolder,
    file: Path,
    query: ScoredQuery | None = None,
    *,
    kind: str | None = None,
    values: bool = False,
    on_progress: OnPairs | None = None,
) -> int:
    """Write the pairs that meet the filters, in the order in which they came; how many they are. With `values`, both
    records stand beside each pair; all records are in memory for that."""
    kind = kind or file.suffix.lower().removeprefix(".")
    if kind not in EXPORT_FORMATS:
        raise ConfigError(f"{file.name} has no known ending. Use one of: {', '.join(EXPORT_FORMATS)}.")
    export = _Export(folder, query or ScoredQuery(), values, on_progress)
    if kind == "csv":
        write_stream(file, export.write_csv)
    else:
        write_parquet_chunks(file, export.schema, export.tables())
    return export.pairs


class _Export:
    """The tables of one file, part after part."""

    def __init__(self, folder: ScoredFolder, query: ScoredQuery, values: bool, on_progress: OnPairs | None) -> None:
        self.folder, self.query, self.facts = folder, query, folder.facts()
        self.pairs, self._tell = 0, on_progress
        self.records = {side: load_columns(records_file(folder, side)) for side in ("left", "right")} if values else {}
        self.schema = self._schema()

    def tables(self) -> Iterator[pa.Table]:
        """One table per part that has such pairs."""
        columns = ", ".join(f"p.{name}" for name in (LEFT_ROW, RIGHT_ROW, LEFT_ID, RIGHT_ID, "label", *_AS_STORED))
        for part in range(self.facts["parts"]):
            with searching() as connection:  # one for each part: a query has a limit, an export has none
                table, values = filtered(connection, self.folder, self.query, part)
                found: pa.Table = connection.sql(f"SELECT {columns} FROM {table}", params=values).to_arrow_table()
            if len(found):
                yield self._shown(found)
            self.pairs += len(found)
            if self._tell is not None:
                self._tell(self.pairs, (part + 1) / self.facts["parts"])

    def write_csv(self, stream: IO[bytes]) -> None:
        """All of them as csv: cells that a spreadsheet would run are escaped, column names too."""
        safe = pa.schema([(safe_cell(field.name), field.type) for field in self.schema])
        with arrow_csv.CSVWriter(stream, safe) as writer:
            for table in self.tables():
                columns = [_safe(column) if pa.types.is_large_string(column.type) else column for column in table]
                writer.write_table(pa.table(columns, schema=safe))

    def _shown(self, found: pa.Table) -> pa.Table:
        """The stored columns as they are exported."""
        left, right = found.column(LEFT_ID), found.column(RIGHT_ID)
        plain = pc.binary_join_element_wise(left, right, ":")
        with_colons = pc.any(pc.match_substring(left, ":")).as_py() or pc.any(pc.match_substring(right, ":")).as_py()
        ids = pa.array(pair_ids(left.to_pandas(), right.to_pandas())) if with_colons else plain
        columns = [
            ids,
            left,
            right,
            pc.if_else(pc.equal(found.column("label"), 1), "match", "non-match"),
            *(found.column(name) for name in _AS_STORED),
        ]
        for side, rows in (("left", LEFT_ROW), ("right", RIGHT_ROW)):
            if self.records:
                taken = self.records[side].take(found.column(rows))
                columns += [taken.column(VALUE + name) for name in self._names(side)]
        return pa.table(
            [column.cast(field.type) for column, field in zip(columns, self.schema, strict=True)], schema=self.schema
        )

    def _schema(self) -> pa.Schema:
        fields = [(name, _TYPES.get(name, pa.large_string())) for name in EXPORT_COLUMNS]
        if self.records:
            for side, prefix in (("left", LEFT), ("right", RIGHT)):
                fields += [(prefix + name, pa.large_string()) for name in self._names(side)]
        return pa.schema(fields)

    def _names(self, side: str) -> list[str]:
        names = self.records[side].column_names
        return [name.removeprefix(VALUE) for name in names if name.startswith(VALUE)]


_AS_STORED = ("probability", "risk", "asked", "bound")
_TYPES = {"probability": pa.float64(), "risk": pa.float64(), "asked": pa.uint8(), "bound": pa.bool_()}


def _safe(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The column with its formulas as text. Few cells begin with anything but a letter or a digit or have a separator
    in them: only these are looked at one by one."""
    odd = pc.match_substring_regex(column, MAY_RUN).fill_null(False)
    places = np.flatnonzero(odd.to_numpy())
    if not len(places):
        return column
    safe = pa.array([safe_cell(one) for one in column.take(pa.array(places)).to_pylist()], pa.large_string())
    return pc.replace_with_mask(column.combine_chunks(), odd.combine_chunks(), safe)


def work(job: ExportJob) -> bool:
    """Write what was asked for; whether it was done. What went wrong is kept with the job."""

    def tell(pairs: int, share: float) -> None:
        if job.cancelled:
            raise CancelledError("This was stopped before it was done.")
        job.report(pairs, share)

    asked = job.asked
    try:
        query = ScoredQuery(**asked.filters)
        job.finish(export_pairs(job.scored, job.file, query, kind=asked.kind, values=asked.values, on_progress=tell))
    except RiskcoreError as error:
        job.fail(str(error))
        return False
    except Exception as error:
        traceback.print_exc()
        job.fail(f"This failed with an unexpected {type(error).__name__}. {job.folder / 'log.txt'} has the details.")
        return False
    return True


if __name__ == "__main__":
    from riskcore.runs.worker.process import lower_priority

    lower_priority()
    sys.exit(0 if work(ExportJob(Path(sys.argv[1]))) else 2)
