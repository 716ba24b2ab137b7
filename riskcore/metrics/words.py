"""Word-level metrics: overlap, containment, TF-IDF, and words that only one side has.

Values become rows of sorted word numbers (CSR arrays); one compiled pass merges the two rows of each pair and
yields all metrics, so no sparse product is ever materialised.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from numba import njit

from riskcore.config import MetricConfig
from riskcore.data.values import is_numeric_word, words
from riskcore.metrics.strings import Scores

AT_ONCE = 50_000  # values split into words at a time: lists of words take ten times the memory of their numbers
Split = Callable[[str], Sequence[str]]

COMPARED = ("jaccard", "containment", "cosine", "rare_word", "numeric_words", "shared_word", "lacking_word")


@dataclasses.dataclass(frozen=True)
class Rarity:
    """Inverse document frequencies of one attribute's words, learned from all tables of a workload."""

    documents: int
    frequency: dict[str, int]

    @classmethod
    def learn(cls, values: Iterable[str]) -> Rarity:
        frequency: Counter[str] = Counter()
        documents = 0
        for value in values:
            documents += 1
            frequency.update(set(words(value)))
        return cls(documents, dict(frequency))

    def of(self, vocabulary: Sequence[str]) -> np.ndarray:
        """Smoothed IDF per word, scaled so that a word never seen has 1."""
        seen = np.array([self.frequency.get(word, 0) for word in vocabulary], dtype=float)
        return (np.log((1 + self.documents) / (1 + seen)) + 1) / (math.log(1 + self.documents) + 1)


@dataclasses.dataclass(frozen=True)
class Rows:
    """Ragged rows of integers: row i is `items[starts[i]:starts[i + 1]]`. Items are int32, half the memory of int64."""

    starts: np.ndarray
    items: np.ndarray

    @classmethod
    def build(cls, rows: Sequence[Sequence[int]]) -> Rows:
        starts = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum([len(row) for row in rows], out=starts[1:])
        items = np.fromiter((item for row in rows for item in row), dtype=np.int32, count=int(starts[-1]))
        return cls(starts, items)

    @classmethod
    def joined(cls, several: Sequence[Rows]) -> Rows:
        """The rows of all, one below the other."""
        sizes = np.concatenate([np.zeros(1, dtype=np.int64), *(one.sizes for one in several)])
        return cls(np.cumsum(sizes), np.concatenate([np.zeros(0, dtype=np.int32), *(one.items for one in several)]))

    @property
    def sizes(self) -> np.ndarray:
        return np.diff(self.starts)


class WordScorer:
    """Compares the word sets of two values, each word weighing by its rarity."""

    def __init__(self, left: Sequence[str], right: Sequence[str], rarity: Rarity, config: MetricConfig) -> None:
        def split(value: str) -> list[str]:
            return words(value)[: config.max_tokens]

        vocabulary = vocabulary_of(split, left, right)
        number = {word: index for index, word in enumerate(vocabulary)}
        self._rarity = rarity.of(vocabulary)
        self._numeric = np.array([is_numeric_word(word) for word in vocabulary], dtype=bool)
        self._left = weighted_rows(left, split, number, self._rarity)
        self._right = weighted_rows(right, split, number, self._rarity)

    def score(self, left: np.ndarray, right: np.ndarray) -> Scores:
        table = compare_words(*self._left, *self._right, self._rarity, self._numeric, left, right)
        return dict(zip(COMPARED, table.T, strict=True))


def slabs(values: Sequence[str]) -> Iterator[Sequence[str]]:
    """The values, some at a time."""
    for start in range(0, len(values), AT_ONCE):
        yield values[start : start + AT_ONCE]


def vocabulary_of(split: Split, *sides: Sequence[str]) -> list[str]:
    """The distinct words of all values, sorted."""
    found: set[str] = set()
    for side in sides:
        for some in slabs(side):
            for value in some:
                found.update(split(value))
    return sorted(found)


def weighted_rows(
    values: Sequence[str], split: Split, number: dict[str, int], rarity: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Row starts, sorted distinct word numbers, and unit-length TF-IDF weights."""
    parts = [_weighted_rows([split(value) for value in some], number, rarity) for some in slabs(values)]
    rows = Rows.joined([one for one, _ in parts])
    return rows.starts, rows.items, np.concatenate([np.zeros(0), *(weights for _, weights in parts)])


def _weighted_rows(
    values: Sequence[Sequence[str]], number: dict[str, int], rarity: np.ndarray
) -> tuple[Rows, np.ndarray]:
    counts = [sorted(Counter(number[word] for word in found).items()) for found in values]
    rows = Rows.build([[item for item, _ in row] for row in counts])
    weights = np.array([count for row in counts for _, count in row], dtype=float) * rarity[rows.items]
    lengths = np.sqrt(np.add.reduceat(np.append(weights**2, 0.0), rows.starts[:-1])) if len(counts) else np.zeros(0)
    lengths[rows.sizes == 0] = 1.0
    return rows, weights / np.repeat(lengths, rows.sizes)


@njit(cache=True, nogil=True)
def compare_words(  # type: ignore[no-untyped-def]
    left_starts, left_items, left_weights, right_starts, right_items, right_weights, rarity, numeric, left, right
):
    """Merge the two sorted rows of each pair; a side without words leaves the pair missing. Columns: `COMPARED`."""
    result = np.full((len(left), 7), np.nan)
    for pair in range(len(left)):
        i, i_end = left_starts[left[pair]], left_starts[left[pair] + 1]
        j, j_end = right_starts[right[pair]], right_starts[right[pair] + 1]
        left_size, right_size = i_end - i, j_end - j
        if left_size == 0 or right_size == 0:
            continue
        shared, product, rarest_shared, numeric_only = 0, 0.0, 0.0, 0
        left_rarest, right_rarest = 0.0, 0.0  # of the words that only this side has
        while i < i_end or j < j_end:
            if j >= j_end or (i < i_end and left_items[i] < right_items[j]):
                left_rarest = max(left_rarest, rarity[left_items[i]])
                numeric_only += numeric[left_items[i]]
                i += 1
            elif i >= i_end or right_items[j] < left_items[i]:
                right_rarest = max(right_rarest, rarity[right_items[j]])
                numeric_only += numeric[right_items[j]]
                j += 1
            else:
                shared += 1
                product += left_weights[i] * right_weights[j]
                rarest_shared = max(rarest_shared, rarity[left_items[i]])
                i += 1
                j += 1
        result[pair, 0] = shared / (left_size + right_size - shared)
        result[pair, 1] = shared / min(left_size, right_size)
        result[pair, 2] = min(product, 1.0)
        result[pair, 3] = max(left_rarest, right_rarest)
        result[pair, 4] = numeric_only
        result[pair, 5] = rarest_shared
        if left_size == right_size:
            result[pair, 6] = min(left_rarest, right_rarest)
        else:
            result[pair, 6] = left_rarest if left_size < right_size else right_rarest
    return result
