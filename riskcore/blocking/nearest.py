"""The most similar records of the other table, for a block of records at a time.

Two stages keep the cost per record bounded. The first reads only a record's rarest terms, as many as the budget of
index entries allows, and keeps a shortlist; the second computes the whole cosine of the shortlist. Tables small enough
for the budget to cover all terms are searched exactly.
"""

from __future__ import annotations

import dataclasses
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property

import numpy as np
from numba import njit
from scipy import sparse
from sparse_dot_topn import sp_matmul_topn

from riskcore.config import BlockConfig


@dataclasses.dataclass(frozen=True, eq=False)
class Nearest:
    """Searches the rows of `searched` for those most like rows of `queries`; with `same`, both are one table."""

    queries: sparse.csr_matrix
    searched: sparse.csr_matrix
    config: BlockConfig
    same: bool = False

    @cached_property
    def _index(self) -> sparse.csr_matrix:
        return self.searched.T.tocsr()

    @cached_property
    def budget(self) -> int:
        """Index entries that may be read for one record."""
        shared = self.config.max_reads // max(self.queries.shape[0], 1)
        return max(self.config.reads_per_record, shared)

    def find(self, start: int, stop: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Query row, searched row and cosine of the best of each query in the block, best first."""
        shortlist = self._shortlist(start, stop)
        rows = np.repeat(np.arange(start, stop, dtype=np.int32), np.diff(shortlist.indptr))
        columns = shortlist.indices[: len(rows)].astype(np.int32)
        if self.same:
            other = rows != columns
            rows, columns = rows[other], columns[other]
        return _best(rows, columns, self.cosines(rows, columns), self.config.top)

    def _shortlist(self, start: int, stop: int) -> sparse.csr_matrix:
        block = self.queries[start:stop]
        read = _rarest(block, np.diff(self._index.indptr), self.budget)
        wanted = min(max(self.config.shortlist, 2 * self.config.top) + self.same, self.searched.shape[0])
        # A threshold of 0 also keeps the library from returning everything unasked when all rows are wanted.
        return sp_matmul_topn(read, self._index, wanted, threshold=0.0, n_threads=self.config.threads)

    def cosines(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """The whole cosine of each pair of rows, by as many threads as the settings allow."""
        slices = zip(*(np.array_split(side, self.config.threads) for side in (rows, columns)), strict=True)
        sides = (*_parts(self.queries), *_parts(self.searched))
        with ThreadPoolExecutor(self.config.threads) as pool:
            found = list(pool.map(lambda one: _cosines(*sides, *one), slices))
        return np.concatenate(found)


def _parts(matrix: sparse.csr_matrix) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return matrix.indptr, matrix.indices, matrix.data


def _rarest(block: sparse.csr_matrix, records: np.ndarray, budget: int) -> sparse.csr_matrix:
    """The block with each row's rarest terms only: as many as have at most `budget` records between them."""
    cost = records[block.indices].astype(np.int64)
    totals = np.concatenate([[0], np.cumsum(cost)])
    if not (totals[block.indptr[1:]] - totals[block.indptr[:-1]] > budget).any():
        return block
    rows = np.repeat(np.arange(block.shape[0]), np.diff(block.indptr))
    order = np.lexsort((cost, rows))  # stable, so that equally rare terms stay in their order
    sums = np.cumsum(cost[order]) - totals[block.indptr[:-1]][rows]
    kept = np.zeros(len(order), dtype=bool)
    kept[order] = sums <= budget
    ends = np.concatenate([[0], np.cumsum(kept)])[block.indptr].astype(np.int32)
    return sparse.csr_matrix((block.data[kept], block.indices[kept], ends), shape=block.shape)


def _best(
    rows: np.ndarray, columns: np.ndarray, scores: np.ndarray, top: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    order = np.lexsort((columns, -scores, rows))
    rows, columns, scores = rows[order], columns[order], scores[order]
    _, first, sizes = np.unique(rows, return_index=True, return_counts=True)
    kept = np.arange(len(rows)) - np.repeat(first, sizes) < top
    return rows[kept], columns[kept], scores[kept]


@njit(cache=True, nogil=True)
def _cosines(  # type: ignore[no-untyped-def]
    left_starts, left_terms, left_weights, right_starts, right_terms, right_weights, left_rows, right_rows
):
    """Cosine of each pair of rows, summed in the order of terms: the same from either side, to the last bit."""
    found = np.zeros(len(left_rows), dtype=np.float32)
    for pair in range(len(left_rows)):
        i, left_end = left_starts[left_rows[pair]], left_starts[left_rows[pair] + 1]
        j, right_end = right_starts[right_rows[pair]], right_starts[right_rows[pair] + 1]
        total = np.float32(0)
        while i < left_end and j < right_end:
            if left_terms[i] < right_terms[j]:
                i += 1
            elif left_terms[i] > right_terms[j]:
                j += 1
            else:
                total += left_weights[i] * right_weights[j]
                i += 1
                j += 1
        found[pair] = total
    return found
