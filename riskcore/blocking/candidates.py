"""Candidate pairs: two row numbers, a score, and which blockers found the pair."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from riskcore.columns import LEFT_ID, RIGHT_ID
from riskcore.data.pairs import Pairs, Table
from riskcore.pair_ids import pair_ids

SCORE, BLOCKED_BY = "score", "blocked_by"
KEY = "key:"  # before the attribute's name in the name of a key blocker
SCHEMA = pa.schema([(LEFT_ID, pa.string()), (RIGHT_ID, pa.string()), (SCORE, pa.float32()), (BLOCKED_BY, pa.string())])


@dataclasses.dataclass(frozen=True, eq=False)
class Candidates:
    """Candidate pairs in the order of left records, the best first. In a self-join the left row is the smaller one."""

    left_rows: np.ndarray  # int64
    right_rows: np.ndarray  # int64
    score: np.ndarray  # float32: highest cosine of the searches that found the pair; NaN if only keys did
    found_by: np.ndarray  # uint32: bit n is set if blocker n found the pair
    blockers: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.left_rows)

    @property
    def blocked_by(self) -> np.ndarray:
        """For each pair the names of the blockers that found it, joined by +."""
        kinds, places = np.unique(self.found_by, return_inverse=True)
        texts = np.array([self._names(int(kind)) for kind in kinds], dtype=object)
        return texts[places] if len(texts) else np.empty(0, dtype=object)

    def counts(self) -> dict[str, int]:
        """How many pairs each set of blockers found."""
        kinds, counts = np.unique(self.found_by, return_counts=True)
        return {self._names(int(kind)): int(count) for kind, count in zip(kinds, counts, strict=True)}

    def _names(self, bits: int) -> str:
        return "+".join(name for number, name in enumerate(self.blockers) if bits >> number & 1)

    def take(self, rows: np.ndarray | slice) -> Candidates:
        """The same candidates, only these rows."""
        return dataclasses.replace(
            self,
            left_rows=self.left_rows[rows],
            right_rows=self.right_rows[rows],
            score=self.score[rows],
            found_by=self.found_by[rows],
        )

    def pairs(self, left: Table, right: Table | None = None) -> Pairs:
        """The candidates as pairs without labels, as the rest of the package takes them."""
        right = left if right is None else right
        ids = pair_ids(left.ids[self.left_rows], right.ids[self.right_rows])
        return Pairs(left, right, self.left_rows, self.right_rows, ids)

    def to_arrow(self, left: Table, right: Table | None = None) -> pa.Table:
        """The candidates as the columns of the file that `block_to_file` writes."""
        right = left if right is None else right
        columns = [
            pa.array(left.ids[self.left_rows], pa.string()),
            pa.array(right.ids[self.right_rows], pa.string()),
            pa.array(self.score, pa.float32(), from_pandas=True),  # NaN becomes null
            pa.array(self.blocked_by, pa.string()),
        ]
        return pa.table(columns, schema=SCHEMA)


@dataclasses.dataclass(frozen=True, eq=False)
class Found:
    """What one step of blocking found, in no particular order."""

    left_rows: np.ndarray  # int32
    right_rows: np.ndarray  # int32
    score: np.ndarray  # float32

    def once(self) -> Found:
        """Pairs within one table, each with the smaller row on the left."""
        low, high = np.minimum(self.left_rows, self.right_rows), np.maximum(self.left_rows, self.right_rows)
        return Found(low, high, self.score)


def union(found: Sequence[tuple[int, Found]], blockers: Sequence[str]) -> Candidates:
    """All that was found, each pair once, with the highest of its scores and all blockers that found it.

    `found` names the blocker by its place in `blockers`.
    """
    left, right, score, bits = _joined(found)
    order = np.lexsort((right, left))
    left, right, score, bits = left[order], right[order], score[order], bits[order]
    del order
    new = np.ones(len(left), dtype=bool)
    new[1:] = (np.diff(left) != 0) | (np.diff(right) != 0)
    first = np.flatnonzero(new)
    if len(first):
        score, bits = np.fmax.reduceat(score, first), np.bitwise_or.reduceat(bits, first)
    left, right = left[first], right[first]
    order = np.lexsort((right, np.where(np.isnan(score), np.inf, -score), left))
    return Candidates(
        left[order].astype(np.int64), right[order].astype(np.int64), score[order], bits[order], tuple(blockers)
    )


def trimmed(candidates: Candidates, max_per_record: int) -> Candidates:
    """The best pairs of each left record, and all pairs that a key found."""
    searches = sum(1 << number for number, name in enumerate(candidates.blockers) if not name.startswith(KEY))
    rows = candidates.left_rows
    _, first, sizes = np.unique(rows, return_index=True, return_counts=True)
    place = np.arange(len(rows)) - np.repeat(first, sizes)
    by_key = (candidates.found_by & ~np.uint32(searches)) > 0
    return candidates.take((place < max_per_record) | by_key)


def _joined(found: Sequence[tuple[int, Found]]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    def joined(arrays: list[np.ndarray], kind: type) -> np.ndarray:
        return np.concatenate([np.empty(0, dtype=kind), *arrays])

    return (
        joined([one.left_rows for _, one in found], np.int32),
        joined([one.right_rows for _, one in found], np.int32),
        joined([one.score for _, one in found], np.float32),
        joined([np.full(len(one.score), 1 << number, dtype=np.uint32) for number, one in found], np.uint32),
    )
