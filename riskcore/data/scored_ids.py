"""The pair ids of a file of scores, and how they name the pairs of a data set.

A file may name the right table first, and a program may have written whole numbers as 12.0. Which of these holds is
decided once, for the whole file against the whole data set: decided for a few pairs at a time, a pair without a score
could get that of another pair.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from riskcore.data.pairs import Pairs
from riskcore.pair_ids import pair_ids

_POINT_ZERO = re.compile(r"(?<=\d)\.0(?=:|$)")  # of whole numbers that a gap has turned into floats


@dataclasses.dataclass(frozen=True, eq=False)
class ScoredIds:
    """Ids of scored pairs in the order of the scores, written as the data set writes them."""

    index: pd.Index
    turned: bool = False  # whether the right record is named first

    def places(self, pairs: Pairs) -> np.ndarray:
        """For each pair its place among the scores, -1 if it is not there.

        A pair is looked up by its own id and by those of its records. Within one table (a, b) is (b, a).
        """
        left, right = pairs.left.ids[pairs.left_rows], pairs.right.ids[pairs.right_rows]
        if self.turned:
            return self._filled(np.full(len(pairs), -1, dtype=np.int64), right, left)
        found = self.index.get_indexer(pd.Index([str(one) for one in pairs.ids], dtype=object))
        found = self._filled(found, left, right)
        return self._filled(found, right, left) if pairs.left is pairs.right else found

    def _filled(self, found: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        absent = np.flatnonzero(found < 0)
        if len(absent):
            found = found.copy()
            found[absent] = self.index.get_indexer(pd.Index(pair_ids(first[absent], second[absent]), dtype=object))
        return found


def fitted_ids(ids: Sequence[str] | np.ndarray | pd.Index, parts: Sequence[Pairs]) -> ScoredIds:
    """The ids, read in the way that finds most pairs of a data set; as they are written if another finds no more."""
    best, most, pairs = None, -1, sum(len(part) for part in parts)
    for way in _ways(pd.Index(ids, dtype=object)):
        found = sum(int((way.places(part) >= 0).sum()) for part in parts)
        if found > most:
            best, most = way, found
        if found == pairs:
            break
    assert best is not None
    return best


def _ways(index: pd.Index) -> Iterator[ScoredIds]:
    yield ScoredIds(index)
    yield ScoredIds(index, turned=True)
    plain = pd.Index(without_point_zero(index), dtype=object)
    if plain.is_unique and not plain.equals(index):
        yield ScoredIds(plain)
        yield ScoredIds(plain, turned=True)


def without_point_zero(ids: Sequence[str] | np.ndarray | pd.Index) -> np.ndarray:
    """Ids of records or pairs, with whole numbers written as 12 instead of 12.0."""
    return np.array([_POINT_ZERO.sub("", one) for one in ids], dtype=object)
