"""The metric vector as input of a head: standardised, with flags for what is missing.

A metric column that never varied in training, and a flag that was never seen in both states, say nothing
that was learned; they enter as 0, so that a target with new gaps does not stir untrained weights.
"""

from __future__ import annotations

import dataclasses
from typing import Self

import numpy as np

from riskcore.errors import MatcherError

CLIP = 5.0  # standard deviations: one wild gap (a year typed as 19999) must not drown the rest


@dataclasses.dataclass(frozen=True, eq=False)
class Standardiser:
    """Centre and scale of metrics and of their missing flags, taken from training pairs."""

    centre: np.ndarray  # float32, (2 x metrics,)
    scale: np.ndarray  # float32, (2 x metrics,); 0 switches a column off

    @classmethod
    def fit(cls, metrics: np.ndarray) -> Self:
        stacked = _with_flags(metrics)
        with np.errstate(invalid="ignore", divide="ignore"):
            count = np.maximum((~np.isnan(stacked)).sum(axis=0), 1)
            centre = np.nansum(stacked, axis=0, dtype=np.float64) / count
            spread = np.sqrt(np.nansum((stacked - centre) ** 2, axis=0) / count)
            scale = np.where(spread > 1e-6, 1.0 / spread, 0.0)
        return cls(centre.astype(np.float32), scale.astype(np.float32))

    @property
    def width(self) -> int:
        return len(self.centre)

    def transform(self, metrics: np.ndarray) -> np.ndarray:
        if metrics.ndim != 2 or 2 * metrics.shape[1] != self.width:
            raise MatcherError(
                f"The matcher was trained with {self.width // 2} metrics per pair and was given an array of shape "
                f"{metrics.shape}. Use the metric space of its training."
            )
        scaled = (_with_flags(metrics) - self.centre) * self.scale
        return np.clip(np.nan_to_num(scaled, nan=0.0), -CLIP, CLIP)


def _with_flags(metrics: np.ndarray) -> np.ndarray:
    metrics = np.asarray(metrics, dtype=np.float32)
    return np.hstack([metrics, np.isnan(metrics).astype(np.float32)])
