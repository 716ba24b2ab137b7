"""Text as integers: each distinct value is split into words once, each distinct word gets its vector once.

`Encoder` remembers what it has seen. `Corpus` is the compact view of a few examples that one training pass or
one prediction works on: its word numbers depend on those examples alone, never on what was encoded before,
so results are the same in a fresh process.
"""

from __future__ import annotations

import dataclasses
import weakref
import zlib
from array import array
from collections.abc import Sequence

import numpy as np

from riskcore.data.pairs import Pairs, Table
from riskcore.data.values import tokens
from riskcore.matchers.vectors import WordVectors


def word_hash(word: str) -> int:
    """A number for a word that is the same in every process."""
    data = word.encode("utf-8", "replace")
    return zlib.crc32(data) << 31 ^ zlib.adler32(data)


@dataclasses.dataclass(frozen=True, eq=False)
class Corpus:
    """What one pass needs of its pairs. Word 0 is padding, value 0 is missing."""

    features: np.ndarray  # (words, width) float32
    hashes: np.ndarray  # (words,) int64
    words: np.ndarray  # word numbers of all values, one after the other
    starts: np.ndarray  # (values + 1,) where each value's words begin
    values: np.ndarray  # (pairs, attributes, 2) value numbers

    def __len__(self) -> int:
        return len(self.values)

    @property
    def lengths(self) -> np.ndarray:
        """Words of each pair, both sides, all attributes."""
        return np.diff(self.starts)[self.values].sum(axis=(1, 2))

    def padded(self, values: np.ndarray) -> np.ndarray:
        """Word numbers of some values, one row each, padded to the longest (at least one column)."""
        begin, end = self.starts[values], self.starts[values + 1]
        columns = np.arange(max(int((end - begin).max(initial=0)), 1))
        places = begin[:, None] + columns
        inside = places < end[:, None]
        return np.where(inside, self.words[np.where(inside, places, 0)], 0)


class _Values:
    """The word numbers of values, side by side in one array that grows: an array of its own for each of them would take
    four times the memory. Value 0 has no words."""

    def __init__(self) -> None:
        self._words = np.zeros(1 << 10, dtype=np.int32)
        self._ends = array("q", [0, 0])  # where each value's words end, the first entry apart

    def __len__(self) -> int:
        return len(self._ends) - 1

    def append(self, words: Sequence[int]) -> None:
        begin, end = self._ends[-1], self._ends[-1] + len(words)
        if end > len(self._words):
            self._words = np.concatenate([self._words, np.zeros(max(end, len(self._words)), dtype=np.int32)])
        self._words[begin:end] = words
        self._ends.append(end)

    def take(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The words of these values, one after the other, and where each begins."""
        ends = np.array(self._ends, dtype=np.int64)
        begins, sizes = ends[values], ends[values + 1] - ends[values]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        places = np.repeat(begins - starts[:-1], sizes) + np.arange(starts[-1])
        return self._words[places], starts


class Encoder:
    """Words, values and tables seen so far."""

    def __init__(self, vectors: WordVectors, max_words: int, max_values: int = 300_000) -> None:
        """More than `max_values` values, which take some 80 MB, are forgotten."""
        self.vectors, self.max_words, self.max_values = vectors, max_words, max_values
        self._forget()

    def _forget(self) -> None:
        self._word_of: dict[str, int] = {}
        self._value_of: dict[str, int] = {}
        self._values = _Values()  # value 0: missing
        self._features = np.zeros((0, self.vectors.width), dtype=np.float32)
        self._hashes = np.zeros(0, dtype=np.int64)
        self._tables: weakref.WeakKeyDictionary[Table, dict[str, np.ndarray]] = weakref.WeakKeyDictionary()

    def corpus(self, several: Sequence[Pairs], attributes: Sequence[str]) -> Corpus:
        """The compact view of these pairs, in this order."""
        if len(self._values) > self.max_values:
            self._forget()  # a long stream of tables must not fill the memory
        values = np.concatenate([self._value_numbers(pairs, attributes) for pairs in several])
        self._look_up_new_words()
        return self._compact(values)

    def _value_numbers(self, pairs: Pairs, attributes: Sequence[str]) -> np.ndarray:
        sides = ((pairs.left, pairs.left_rows), (pairs.right, pairs.right_rows))
        numbers = np.empty((len(pairs), len(attributes), 2), dtype=np.int32)
        for place, attribute in enumerate(attributes):
            for side, (table, rows) in enumerate(sides):
                numbers[:, place, side] = self._column(table, attribute, rows)
        return numbers

    def _column(self, table: Table, attribute: str, rows: np.ndarray) -> np.ndarray:
        """Value numbers of these rows; only rows that occur in a pair are ever read."""
        known = self._tables.setdefault(table, {})
        if attribute not in known:
            known[attribute] = np.full(len(table), -1, dtype=np.int32)
        column = known[attribute]
        new = np.unique(rows[column[rows] < 0])
        if len(new):
            texts = table.text(attribute, new)
            column[new] = [self._value_number(text) for text in texts]
        return column[rows]

    def _value_number(self, text: str | None) -> int:
        if text is None:
            return 0
        number = self._value_of.get(text)
        if number is None:
            words = tokens(text)[: self.max_words]
            number = len(self._values) if words else 0
            if words:
                coded = [self._word_of.setdefault(word, len(self._word_of)) for word in words]
                self._values.append(coded)
            self._value_of[text] = number
        return number

    def _look_up_new_words(self) -> None:
        new = list(self._word_of)[len(self._hashes) :]
        if new:
            self._features = np.vstack([self._features, self.vectors.of(new)])
            self._hashes = np.concatenate([self._hashes, np.array([word_hash(word) for word in new], dtype=np.int64)])

    def _compact(self, values: np.ndarray) -> Corpus:
        used, values = _renumber(values, first=0)
        words, starts = self._values.take(used)
        distinct, words = _renumber(words)
        padding = np.zeros((1, self.vectors.width), dtype=np.float32)
        return Corpus(
            np.vstack([padding, self._features[distinct]]),
            np.concatenate([np.zeros(1, dtype=np.int64), self._hashes[distinct]]),
            words + 1,
            starts,
            values,
        )


def _renumber(numbers: np.ndarray, first: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Distinct numbers in order of first appearance, and the array in these terms; `first` leads in any case."""
    flat = numbers.ravel() if first is None else np.concatenate([[first], numbers.ravel()])
    distinct, where, inverse = np.unique(flat, return_index=True, return_inverse=True)
    order = np.argsort(where, kind="stable")
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    coded = rank[inverse] if first is None else rank[inverse][1:]
    return distinct[order], coded.reshape(numbers.shape)
