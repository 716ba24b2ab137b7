"""The strongest competitors of every record, kept up as parts come: two numbers per record, whatever the pairs."""

from __future__ import annotations

import numpy as np
from numba import njit

NONE = -np.inf  # no competitor


class Strongest:
    """The two highest stacked log-odds among the pairs of each record."""

    def __init__(self, left_records: int, right_records: int, self_join: bool) -> None:
        self._offset = 0 if self_join else left_records  # of the right records: a self-join has one table
        total = left_records if self_join else left_records + right_records
        self.first, self.second = np.full(total, NONE), np.full(total, NONE)

    def add(self, left: np.ndarray, right: np.ndarray, margin: np.ndarray) -> None:
        """More pairs."""
        _raise(self.first, self.second, left.astype(np.int64), right.astype(np.int64) + self._offset, margin)

    def copy(self) -> Strongest:
        """The same, to be added to apart."""
        other = object.__new__(Strongest)
        other._offset, other.first, other.second = self._offset, self.first.copy(), self.second.copy()
        return other

    def against(self, left: np.ndarray, right: np.ndarray, margin: np.ndarray) -> np.ndarray:
        """Pairs x 2: the highest among the *other* pairs of the left and of the right record. These pairs are among
        those that were added, so a record's highest is the pair's own, or there is one as high beside it."""
        records = np.column_stack([left.astype(np.int64), right.astype(np.int64) + self._offset])
        first, second = self.first[records], self.second[records]
        found: np.ndarray = np.where(first == margin[:, None], second, first)
        return found


@njit(cache=True, nogil=True)
def _raise(first, second, left, right, margin):  # type: ignore[no-untyped-def]
    """Both numbers of the records of each pair. A record paired with itself has this pair once."""
    for pair in range(len(left)):
        value = margin[pair]
        for side in range(2):
            record = left[pair] if side == 0 else right[pair]
            if side == 1 and record == left[pair]:
                continue
            if value > first[record]:
                second[record] = first[record]
                first[record] = value
            elif value > second[record]:
                second[record] = value
