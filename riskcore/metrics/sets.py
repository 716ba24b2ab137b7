"""Metrics of lists: each element is compared with every element of the other side and meets its best counterpart.

Authors are lists of people; the model numbers in a product's name are a list of codes. Elements are compared
once per distinct element pair, by C++ scorers; a compiled pass then reduces the scores to metrics per pair.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import numpy as np
from numba import njit
from numpy.dtypes import StringDType

from riskcore.config import MetricConfig
from riskcore.data.values import codes, elements, person
from riskcore.metrics.strings import Scores, Texts, similarity
from riskcore.metrics.words import Rows

_MAX_CROSS = 2_000_000  # element comparisons held at once
_NAME_CUTOFF = 0.87  # family names less alike than this are different names: "king" and "kang" have 0.85
_ONLY_FAMILY_NAME = 0.95  # "smith" for "john smith": likely, not certain
_CODE_STEM = 4  # characters from which one code beginning another is the same model with a suffix
_CODE_WITH_SUFFIX = 0.9


class ListScorer(ABC):
    """Elements of two values against each other; subclasses say what an element is and when two are alike."""

    def __init__(
        self, left: Sequence[str], right: Sequence[str], split: Callable[[str], list[str]], config: MetricConfig
    ) -> None:
        left_parts = [split(value)[: config.max_elements] for value in left]
        right_parts = [split(value)[: config.max_elements] for value in right]
        self._config = config
        distinct = sorted({part for parts in (*left_parts, *right_parts) for part in parts})
        number = {part: index for index, part in enumerate(distinct)}
        self._elements = Texts(distinct)
        self._left = Rows.build([[number[part] for part in parts] for parts in left_parts])
        self._right = Rows.build([[number[part] for part in parts] for parts in right_parts])

    @abstractmethod
    def _alike(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Similarity of aligned elements, given by number."""

    def _table(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Per pair: see `_reduce`. Halves the work until the cross product fits."""
        left_sizes, right_sizes = self._left.sizes[left], self._right.sizes[right]
        sizes = left_sizes * right_sizes
        if sizes.sum() > _MAX_CROSS and len(left) > 1:
            half = len(left) // 2
            return np.vstack([self._table(left[:half], right[:half]), self._table(left[half:], right[half:])])
        starts = np.concatenate(([0], np.cumsum(sizes)))
        pair = np.repeat(np.arange(len(left)), sizes)
        place = np.arange(starts[-1]) - starts[pair]
        one = self._left.items[self._left.starts[left][pair] + place // right_sizes[pair]]
        other = self._right.items[self._right.starts[right][pair] + place % right_sizes[pair]]
        return _reduce(self._compare(one, other), starts, left_sizes, right_sizes, self._config.element_match)

    def _compare(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        key, inverse = np.unique(one.astype(np.int64) * len(self._elements) + other, return_inverse=True)
        return self._alike(key // max(1, len(self._elements)), key % max(1, len(self._elements)))[inverse]


class ElementScorer(ListScorer):
    """Lists of entities, people above all: "j. smith" is "john smith", "mary smith" is not."""

    def __init__(self, left: Sequence[str], right: Sequence[str], config: MetricConfig) -> None:
        super().__init__(left, right, elements, config)
        people = [person(element) for element in self._elements]
        self._family = Texts([family for family, _ in people])
        self._initial = np.array([ord(initial) if initial else 0 for _, initial in people], dtype=np.int64)

    def _alike(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        whole = similarity("edit", self._elements[one], self._elements[other], self._config.workers)
        family = similarity("jaro_winkler", self._family[one], self._family[other], self._config.workers)
        family[family < _NAME_CUTOFF] = 0.0
        first, second = self._initial[one], self._initial[other]
        lone = (first == 0) != (second == 0)
        family = np.where(lone, family * _ONLY_FAMILY_NAME, np.where(first == second, family, 0.0))
        return np.maximum(whole, family)

    def score(self, left: np.ndarray, right: np.ndarray) -> Scores:
        table = self._table(left, right)
        return {
            "elements": table[:, 0],
            "first_element": table[:, 1],
            "element_overlap": table[:, 2],
            "cardinality": table[:, 3],
            "unmatched": table[:, 4],
            "unmatched_shorter": table[:, 5],
        }


class CodeScorer(ListScorer):
    """Model numbers found in running text. A side without any leaves nothing to compare: missing."""

    def __init__(self, left: Sequence[str], right: Sequence[str], config: MetricConfig) -> None:
        super().__init__(left, right, lambda value: list(dict.fromkeys(codes(value))), config)

    def _alike(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        first, second = self._elements[one], self._elements[other]
        alike = similarity("edit", first, second, self._config.workers)
        first, second = first.astype(StringDType()), second.astype(StringDType())
        begins = np.strings.startswith(first, second) | np.strings.startswith(second, first)
        long_enough = np.minimum(np.strings.str_len(first), np.strings.str_len(second)) >= _CODE_STEM
        return np.where(begins & long_enough, np.maximum(alike, _CODE_WITH_SUFFIX), alike)

    def score(self, left: np.ndarray, right: np.ndarray) -> Scores:
        table = self._table(left, right)
        return {"code_similarity": table[:, 6], "unmatched_codes": table[:, 5]}


@njit(cache=True, nogil=True)
def _reduce(scores, starts, left_sizes, right_sizes, counterpart):  # type: ignore[no-untyped-def]
    """Per pair: mean best score of the shorter side, score of the first elements, overlap, difference in count,
    elements without a counterpart on both sides and on the shorter, best score of all."""
    result = np.full((len(left_sizes), 7), np.nan)
    for pair in range(len(left_sizes)):
        rows, columns = left_sizes[pair], right_sizes[pair]
        if rows == 0 or columns == 0:
            continue
        block = scores[starts[pair] : starts[pair + 1]].reshape(rows, columns)
        row_best, column_best = np.zeros(rows), np.zeros(columns)
        for i in range(rows):
            for j in range(columns):
                row_best[i] = max(row_best[i], block[i, j])
                column_best[j] = max(column_best[j], block[i, j])
        row_alone, column_alone = (row_best < counterpart).sum(), (column_best < counterpart).sum()
        met = min(rows - row_alone, columns - column_alone)
        if rows == columns:
            result[pair, 0] = max(row_best.mean(), column_best.mean())
            result[pair, 5] = min(row_alone, column_alone)
        else:
            result[pair, 0] = row_best.mean() if rows < columns else column_best.mean()
            result[pair, 5] = row_alone if rows < columns else column_alone
        result[pair, 1] = block[0, 0]
        result[pair, 2] = met / (rows + columns - met)
        result[pair, 3] = abs(rows - columns)
        result[pair, 4] = row_alone + column_alone
        result[pair, 6] = row_best.max()
    return result
