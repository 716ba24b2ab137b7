"""Row groups of Parquet files, decoded once and kept for the next reader.

A page of the riskiest pairs has rows from all over a file, so every page needs most of its row groups, and all who
review a run need the same ones. Decoding them took a third of the server's time. Files are only ever replaced as a
whole: one that was written anew has another stamp, and what was kept of the old one is dropped as others come.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

MOST_BYTES = 64_000_000  # in all: the scores and records of a run of 100,000 pairs take half of it

_Columns = tuple[str, ...] | None
_File = tuple[str, int, int, int]


class RowGroups:
    """The rows of files by place. What was decoded is kept, up to a number of bytes; the latest used stays longest."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most, self._held = most_bytes, 0
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[_File, _Columns, int], pa.Table] = OrderedDict()
        self._ends: OrderedDict[_File, np.ndarray] = OrderedDict()

    def take(self, file: Path, wanted: np.ndarray, columns: Sequence[str] | None) -> pa.Table:
        """These rows of a file, in the order asked."""
        known, names = _stamped(file), None if columns is None else tuple(columns)
        ends = self._ends_of(file, known)
        groups = np.searchsorted(ends, wanted, side="right")
        used = np.unique(groups)
        tables = self._tables(file, known, names, used.tolist())
        if not tables:
            return _empty(file, names)
        starts = np.concatenate([[0], ends])[:-1]
        parts = [table.take(pa.array(wanted[groups == one] - starts[one])) for one, table in tables.items()]
        order = np.argsort(np.argsort(groups, kind="stable"), kind="stable")  # the parts lie group by group
        return pa.concat_tables(parts).combine_chunks().take(pa.array(order))

    def _tables(self, file: Path, known: _File, names: _Columns, used: list[int]) -> dict[int, pa.Table]:
        with self._lock:
            found = {one: self._kept.get((known, names, one)) for one in used}
            for one, table in found.items():
                if table is not None:
                    self._kept.move_to_end((known, names, one))
        missing = [one for one, table in found.items() if table is None]
        if missing:
            with pq.ParquetFile(file, memory_map=True) as source:
                wanted = None if names is None else list(names)
                for one in missing:
                    found[one] = source.read_row_group(one, columns=wanted, use_threads=False)
            self._keep({(known, names, one): found[one] for one in missing})
        return {one: table for one, table in found.items() if table is not None}

    def _keep(self, tables: dict[tuple[_File, _Columns, int], pa.Table]) -> None:
        if sum(table.nbytes for table in tables.values()) > self._most // 2:
            return  # an export reads everything once: it must not drive out what pages need
        with self._lock:
            for key, table in tables.items():
                if key not in self._kept:
                    self._kept[key] = table
                    self._held += table.nbytes
            while self._held > self._most:
                self._held -= self._kept.popitem(last=False)[1].nbytes

    def _ends_of(self, file: Path, known: _File) -> np.ndarray:
        """The row after the last one of each row group."""
        with self._lock:
            ends = self._ends.get(known)
        if ends is None:
            with pq.ParquetFile(file, memory_map=True) as source:
                sizes = [source.metadata.row_group(group).num_rows for group in range(source.num_row_groups)]
            ends = np.cumsum(np.array(sizes, dtype=np.int64))
            with self._lock:
                self._ends[known] = ends
                while len(self._ends) > 256:
                    self._ends.popitem(last=False)
        return ends


def _stamped(file: Path) -> _File:
    """The file as it is now."""
    found = file.stat()
    return str(file.absolute()), found.st_mtime_ns, found.st_size, found.st_ino


def _empty(file: Path, names: _Columns) -> pa.Table:
    with pq.ParquetFile(file) as source:
        nothing = source.schema_arrow.empty_table()
    return nothing if names is None else nothing.select(list(names))


ROW_GROUPS = RowGroups()
