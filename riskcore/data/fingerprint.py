"""Fingerprints of content: the same records, pairs and labels in the same order give the same digest.

The digest is of the text that was read, not of the bytes on disk: csv and parquet agree, and so do all machines.
Every part is preceded by its length, so that moving a character from one cell to the next changes the digest.
"""

from __future__ import annotations

import hashlib

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from riskcore.data.pairs import LabelledPairs, Pairs, Table


class Fingerprint:
    """A running SHA-256 over named parts."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()

    def add_words(self, *words: str) -> None:
        self.add_texts(np.array(words, dtype=object))

    def add_texts(self, texts: np.ndarray | pd.Series) -> None:
        """A column of text: its length, each cell's length (-1 if missing), then all cells in one go."""
        column = pa.array(texts, pa.large_string(), from_pandas=True)
        if isinstance(column, pa.ChunkedArray):
            column = column.combine_chunks()
        self.add_numbers(pc.fill_null(pc.binary_length(column), -1).to_numpy(zero_copy_only=False))
        for chunk in _slices(pc.fill_null(column, "")):
            self._digest.update(chunk)

    def add_numbers(self, numbers: np.ndarray) -> None:
        little = np.ascontiguousarray(numbers, dtype="<i8")
        self._digest.update(len(little).to_bytes(8, "little"))
        self._digest.update(little.tobytes())

    def add_table(self, table: Table) -> None:
        self.add_words("table", *table.attributes)
        self.add_texts(table.ids)
        for attribute in table.attributes:
            self.add_texts(table.values[attribute])

    def add_pairs(self, name: str, pairs: Pairs) -> None:
        """The pairs of one part, with their labels if they carry any; the tables are added apart."""
        self.add_words("pairs", name)
        self.add_numbers(pairs.left_rows)
        self.add_numbers(pairs.right_rows)
        self.add_texts(pairs.ids)
        if isinstance(pairs, LabelledPairs):
            self.add_numbers(pairs.labels)
            if pairs.inclusion is not None:
                self.add_texts(np.array([repr(float(one)) for one in pairs.inclusion], dtype=object))

    def hexdigest(self) -> str:
        return self._digest.hexdigest()


def _slices(column: pa.Array) -> list[memoryview]:
    """The bytes of all cells, one after the other, without copying them."""
    if not len(column):
        return []
    offsets = np.frombuffer(column.buffers()[1], dtype=np.int64)[column.offset : column.offset + len(column) + 1]
    data = column.buffers()[2]
    return [] if data is None else [memoryview(data)[offsets[0] : offsets[-1]]]
