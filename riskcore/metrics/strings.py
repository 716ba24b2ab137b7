"""Character-level metrics: C++ scorers over arrays of distinct value pairs.

Every scorer of this package has one shape: it is prepared once with the distinct values of both sides, and
`score(left, right)` takes two arrays of positions in them and returns one array per metric kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.dtypes import StringDType
from rapidfuzz import process
from rapidfuzz.distance import JaroWinkler, LCSseq, Levenshtein, Prefix

from riskcore.config import MetricConfig

Scores = dict[str, np.ndarray]

_SCORERS: dict[str, Any] = {
    "edit": Levenshtein.normalized_similarity,
    "jaro_winkler": JaroWinkler.normalized_similarity,
    "lcs": LCSseq.normalized_similarity,
    "prefix": Prefix.normalized_similarity,
}
_FLAGS = ("not_substring", "not_prefix", "not_suffix")


class Texts:
    """Strings side by side in one buffer, which takes less memory than objects do and which processes can share."""

    def __init__(self, values: Sequence[str]) -> None:
        self._values = pa.array(values, pa.large_string())

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[str]:
        return iter(self._values.to_pylist())

    def __getitem__(self, places: np.ndarray) -> np.ndarray:
        """The strings at these places as objects."""
        found: np.ndarray = self._values.take(pa.array(places)).to_numpy(zero_copy_only=False)
        return found


class StringScorer:
    """Edit-based similarities, and whether the shorter value is a part, the beginning or the end of the longer."""

    def __init__(self, left: Sequence[str], right: Sequence[str], kinds: Sequence[str], config: MetricConfig) -> None:
        self._kinds, self._workers = kinds, config.workers
        cut = slice(config.max_chars)
        self._left = Texts([value[cut] for value in left])
        self._right = self._left if left is right else Texts([value[cut] for value in right])

    def score(self, left: np.ndarray, right: np.ndarray) -> Scores:
        one, other = self._left[left], self._right[right]
        scores = {kind: similarity(kind, one, other, self._workers) for kind in self._kinds if kind in _SCORERS}
        if any(kind in _FLAGS for kind in self._kinds):
            scores |= {kind: flag for kind, flag in _part_flags(one, other).items() if kind in self._kinds}
        if "differs" in self._kinds:
            scores["differs"] = (one != other).astype(float)
        return scores


def similarity(kind: str, one: np.ndarray, other: np.ndarray, workers: int = 1) -> np.ndarray:
    """Normalised similarity of two aligned arrays of strings."""
    if not len(one):
        return np.zeros(0)
    return process.cpdist(one, other, scorer=_SCORERS[kind], workers=workers, dtype=np.float64)


def _part_flags(one: np.ndarray, other: np.ndarray) -> Scores:
    """1 where neither value contains / begins / ends the other."""
    one, other = one.astype(StringDType()), other.astype(StringDType())
    swap = np.strings.str_len(one) > np.strings.str_len(other)
    short, long = np.where(swap, other, one), np.where(swap, one, other)
    return {
        "not_substring": (np.strings.find(long, short) < 0).astype(float),
        "not_prefix": (~np.strings.startswith(long, short)).astype(float),
        "not_suffix": (~np.strings.endswith(long, short)).astype(float),
    }
