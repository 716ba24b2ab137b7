"""The tables of a run's target and its candidates, as blocking takes them: for looking at pairs that are no candidates.

A pair is one number, its key: left row times the records of the other table, plus right row. Within one table the
smaller row comes first.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd

from riskcore.columns import LEFT_ID, PAIR_ID, RECORD_ID, RIGHT_ID, SIDE, VALUE
from riskcore.data.pairs import Table
from riskcore.errors import ConfigError
from riskcore.runs.candidate_files import BOTH_SIDES, LEFT_SIDE, RIGHT_SIDE, has_all_parts, read_records
from riskcore.runs.folder import RunFolder
from riskcore.runs.formats import read_pair_ids
from riskcore.storage.parquet import load_columns


@dataclasses.dataclass(frozen=True, eq=False)
class OutsideTables:
    """Both tables, or one (`right` is None), and the keys of all candidates, each once and in order."""

    left: Table
    right: Table | None
    candidates: np.ndarray  # int64
    target_ids: frozenset[str]

    @property
    def width(self) -> int:
        return len(self.left) if self.right is None else len(self.right)

    @property
    def records(self) -> int:
        """Of the larger table."""
        return max(len(self.left), self.width)

    @property
    def possible(self) -> int:
        """All pairs that there are."""
        return len(self.left) * (len(self.left) - 1) // 2 if self.right is None else len(self.left) * self.width

    def pair_id(self, left: int, right: int) -> str:
        """The id of a pair by its rows, as blocking would give it."""
        return f"{self.left.ids[left]}:{(self.left if self.right is None else self.right).ids[right]}"

    def keys(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        if self.right is None:
            left, right = np.minimum(left, right), np.maximum(left, right)
        return np.asarray(left, dtype=np.int64) * self.width + np.asarray(right, dtype=np.int64)

    def rows_of(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return keys // self.width, keys % self.width

    def random_keys(self, generator: np.random.Generator, n: int) -> np.ndarray:
        """Keys of n pairs, every pair equally likely; a record is never paired with itself."""
        left, right = generator.integers(0, len(self.left), n), generator.integers(0, self.width, n)
        if self.right is None:
            apart = left != right
            left, right = left[apart], right[apart]
        return self.keys(left, right)


def outside_tables(folder: RunFolder) -> OutsideTables:
    """The tables and candidates of a run."""
    if not has_all_parts(folder):
        raise ConfigError(
            f"Run {folder.path.name} was recorded before records outside pairs were stored, so nothing outside its "
            "candidates can be looked at. Run again."
        )
    records = read_records(folder)
    one = bool((records[SIDE] == BOTH_SIDES).any())
    left = _table(records, BOTH_SIDES if one else LEFT_SIDE)
    right = None if one else _table(records, RIGHT_SIDE)
    ids = read_pair_ids(folder.pairs_file).to_pandas()
    parts = [ids]
    if folder.other_pairs_file.exists():
        parts.append(load_columns(folder.other_pairs_file, columns=[LEFT_ID, RIGHT_ID]).to_pandas())
    every = pd.concat(parts, ignore_index=True)
    found = OutsideTables(left, right, np.empty(0, dtype=np.int64), frozenset(ids[PAIR_ID].astype(str)))
    sides = [
        pd.Index(table.ids).get_indexer(every[column].astype(str))
        for table, column in ((left, LEFT_ID), (left if right is None else right, RIGHT_ID))
    ]
    known = (sides[0] >= 0) & (sides[1] >= 0)
    keys = np.unique(found.keys(sides[0][known], sides[1][known]))
    return dataclasses.replace(found, candidates=keys)


def _table(records: pd.DataFrame, side: str) -> Table:
    own = records[records[SIDE] == side].reset_index(drop=True)
    names = [name for name in own if name.startswith(VALUE) and own[name].notna().any()]
    values = own[names].rename(columns=lambda name: name.removeprefix(VALUE)).astype("str")
    return Table(side, own[RECORD_ID].astype(str).to_numpy(dtype=object), values)
