"""A data set: two tables of records and the labelled pairs over them. What a run makes of it is a `Workload`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import cached_property
from typing import Self

import numpy as np
import pandas as pd

from riskcore.data.fingerprint import Fingerprint
from riskcore.data.html_table import html_table
from riskcore.data.labels import SPLITS, UNKNOWN, UNSPLIT
from riskcore.data.pairs import LabelledPairs, Table
from riskcore.data.problems import Problem, visible


@dataclasses.dataclass(frozen=True, eq=False)
class DataSet:
    """Records and pairs of one folder or file. Labels are 1, 0, or `UNKNOWN` (outside train and valid only).

    `files` and `rows` say for each split where its pairs stand, so that a problem can name the row.
    """

    name: str
    left: Table
    right: Table  # the same object as `left` in a self-join
    splits: Mapping[str, LabelledPairs]
    warnings: tuple[Problem, ...] = ()
    origin: str = ""  # the absolute path it was read from, or what stands for frames (see `origin`)
    files: Mapping[str, str] = dataclasses.field(default_factory=dict)
    rows: Mapping[str, np.ndarray] = dataclasses.field(default_factory=dict)

    @classmethod
    def of_one_file(cls, name: str, pairs: LabelledPairs, splits: np.ndarray, file: str, rows: np.ndarray) -> Self:
        """The pairs of one file, whose rows these are, by the split of each; splits without a pair are left out."""
        of_split = {split: splits == split for split in (*SPLITS, UNSPLIT) if (splits == split).any()}
        return cls(
            name,
            pairs.left,
            pairs.right,
            splits={split: pairs.take(these) for split, these in of_split.items()},
            files=dict.fromkeys(of_split, file),
            rows={split: rows[these] for split, these in of_split.items()},
        )

    @property
    def self_join(self) -> bool:
        """Whether both sides are the same table."""
        return self.left is self.right

    @property
    def attributes(self) -> tuple[str, ...]:
        """Attributes that both tables have, in the left table's order."""
        return tuple(name for name in self.left.attributes if name in self.right.attributes)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the content: records, pairs, labels, splits and their order; not of names or formats."""
        digest = Fingerprint()
        for table in (self.left, self.right):
            digest.add_table(table)
        for name, pairs in self.splits.items():
            digest.add_pairs(name, pairs)
        return digest.hexdigest()

    def __len__(self) -> int:
        return sum(map(len, self.splits.values()))

    def overview(self) -> pd.DataFrame:
        """A row per split: its pairs, by label."""
        counts = {
            name: [int((pairs.labels == label).sum()) for label in (1, 0, UNKNOWN)]
            for name, pairs in self.splits.items()
        }
        rows = [(name, sum(count), *count) for name, count in counts.items()]
        return pd.DataFrame(rows, columns=["split", "pairs", "matches", "non-matches", "unlabelled"])

    def __repr__(self) -> str:
        parts = ", ".join(f"{name} {len(pairs):,}" for name, pairs in self.splits.items())
        return f"DataSet({visible(self.name)}: {self._records}, {len(self):,} pairs ({parts}))"

    def _repr_html_(self) -> str:
        return html_table(f"{self.name}: {self._records}, attributes {', '.join(self.attributes)}", self.overview())

    @property
    def _records(self) -> str:
        return (
            f"{len(self.left):,} records" if self.self_join else f"{len(self.left):,} and {len(self.right):,} records"
        )
