"""Numeric metrics: equality, gap and relative closeness of parsed numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from riskcore.data.numbers import NumberFormat
from riskcore.metrics.strings import Scores

_LARGEST_GAP = 1e9  # larger gaps lose their digits in float32, and no rule needs them


class NumberScorer:
    """Compares the numbers that values stand for; a value that is no number gives missing metrics."""

    def __init__(self, left: Sequence[str], right: Sequence[str], number_format: NumberFormat) -> None:
        self._left = np.array([number_format.parse(value) for value in left], dtype=float)
        self._right = np.array([number_format.parse(value) for value in right], dtype=float)

    def score(self, left: np.ndarray, right: np.ndarray) -> Scores:
        one, other = self._left[left], self._right[right]
        gap = np.abs(one - other)
        scale = np.maximum(np.abs(one), np.abs(other))
        relative = np.divide(gap, scale, out=np.where(np.isnan(gap), np.nan, 0.0), where=scale > 0)
        return {
            "closeness": np.clip(1 - relative, 0, 1),
            "differs": np.where(np.isnan(gap), np.nan, gap > 0),
            "gap": np.minimum(gap, _LARGEST_GAP),
        }
