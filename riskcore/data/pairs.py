"""Tables of records, candidate pairs over them, and pairs with labels.

A pair is two row numbers, so a million pairs over the same tables cost 16 MB and no copied text.
Labels live only in `LabelledPairs`: code that is handed `Pairs` cannot see any.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import cached_property
from typing import Self

import numpy as np
import pandas as pd


@dataclasses.dataclass(frozen=True, eq=False)
class Table:
    """Records of one source: unique ids and one text column per attribute (missing is NaN)."""

    name: str
    ids: np.ndarray  # str objects, unique
    values: pd.DataFrame  # RangeIndex, dtype str

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def attributes(self) -> tuple[str, ...]:
        return tuple(self.values.columns)

    def text(self, attribute: str, rows: np.ndarray | None = None) -> np.ndarray:
        """The attribute's values (of these rows) as an object array of `str`, with `None` where missing."""
        column = self.values[attribute] if rows is None else self.values[attribute].take(rows)
        values: np.ndarray = column.to_numpy(dtype=object, copy=True)
        values[column.isna().to_numpy()] = None
        return values

    def without_values(self, attributes: Sequence[str]) -> Table:
        """The same records without any value of these attributes."""
        empty = pd.Series([None] * len(self), dtype="str")
        return dataclasses.replace(self, values=self.values.assign(**dict.fromkeys(attributes, empty)))

    @cached_property
    def row_of(self) -> dict[str, int]:
        """Row number by id."""
        return {identity: row for row, identity in enumerate(self.ids)}


@dataclasses.dataclass(frozen=True, eq=False)
class Pairs:
    """Candidate pairs without labels."""

    left: Table
    right: Table
    left_rows: np.ndarray  # int64, into left
    right_rows: np.ndarray  # int64, into right
    ids: np.ndarray  # str objects, one per pair: "ltable_id:rtable_id", or the pair file's own id

    def __len__(self) -> int:
        return len(self.left_rows)

    def take(self, rows: np.ndarray | slice) -> Self:
        """The same kind of pairs, only these rows (numbers, a mask or a slice)."""
        per_pair = {field: getattr(self, field) for field in self._per_pair()}
        return dataclasses.replace(
            self, **{name: values[rows] for name, values in per_pair.items() if values is not None}
        )

    def record(self, pair: int) -> tuple[dict[str, str | None], dict[str, str | None]]:
        """Both records of one pair, for showing."""
        return _row(self.left, self.left_rows[pair]), _row(self.right, self.right_rows[pair])

    @classmethod
    def _per_pair(cls) -> tuple[str, ...]:
        return ("left_rows", "right_rows", "ids")


@dataclasses.dataclass(frozen=True, eq=False)
class LabelledPairs(Pairs):
    """Candidate pairs with their true label: 1 match, 0 non-match."""

    labels: np.ndarray  # int8
    inclusion: np.ndarray | None = None  # how likely a design drew each pair for labelling; None: all alike

    @property
    def weights(self) -> np.ndarray:
        """How many pairs each stands for, 1 in the mean."""
        if self.inclusion is None or not len(self):
            return np.ones(len(self))
        stands_for: np.ndarray = 1 / self.inclusion
        return stands_for / stands_for.mean()

    @classmethod
    def _per_pair(cls) -> tuple[str, ...]:
        return (*super()._per_pair(), "labels", "inclusion")

    def without_labels(self) -> Pairs:
        return Pairs(self.left, self.right, self.left_rows, self.right_rows, self.ids)


def concatenated(parts: Sequence[LabelledPairs]) -> LabelledPairs:
    """The pairs of all parts, which are over the same tables, part after part; all labels count alike."""
    fields = ("left_rows", "right_rows", "ids", "labels")
    columns = (np.concatenate([getattr(part, field) for part in parts]) for field in fields)
    return LabelledPairs(parts[0].left, parts[0].right, *columns)


def _row(table: Table, row: int) -> dict[str, str | None]:
    values = table.values.iloc[row]
    return {name: None if pd.isna(value) else str(value) for name, value in values.items()}
