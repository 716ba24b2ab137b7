"""The metric vector as input of a head: each metric standardised, in steps, and with a flag where it is missing.

What decides is often a threshold ("every model number found"), which a small network learns slowly from one
number. So each metric also enters as steps: the range between two neighbouring quantiles of the training pairs is
one input that rises from 0 to 1 within it. This took the head alone on Abt-Buy from 80 to 86 F1.

A metric that never varied in training, and a flag never seen in both states, carry nothing that was learned; they enter
as 0, so that a target with new gaps does not activate untrained weights.
"""

from __future__ import annotations

import dataclasses
from typing import Self

import numpy as np

from riskcore.errors import MatcherError
from riskcore.metrics.spread import mean_and_spread, with_missing_flags

CLIP = 5.0  # standard deviations: one wild gap (a year typed as 19999) must not drown the rest
STEPS = 16  # at most, per metric: 8, 16 and 32 gave the same F1 within a point


@dataclasses.dataclass(frozen=True, eq=False)
class Standardiser:
    """Centre, scale and steps of metrics, taken from training pairs."""

    centre: np.ndarray  # float32, (2 x metrics,), values then flags
    scale: np.ndarray  # float32, (2 x metrics,); 0 switches a column off
    knots: np.ndarray  # float32, (metrics, STEPS + 1), ascending; NaN where a metric has fewer steps

    @classmethod
    def fit(cls, metrics: np.ndarray) -> Self:
        stacked = with_missing_flags(np.asarray(metrics, dtype=np.float32))
        centre, spread = mean_and_spread(stacked)
        scale = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 1e-6)
        knots = np.stack([_knots(column) for column in stacked.T[: metrics.shape[1]]])
        return cls(centre.astype(np.float32), scale.astype(np.float32), knots)

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> Self | None:
        """The one that gave these arrays, or none if none did."""
        names = [field.name for field in dataclasses.fields(cls)]
        return cls(*(arrays[name] for name in names)) if names[0] in arrays else None

    def arrays(self) -> dict[str, np.ndarray]:
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    @property
    def width(self) -> int:
        """Inputs per pair."""
        return len(self.centre) + int(self._real_steps.sum())

    @property
    def _real_steps(self) -> np.ndarray:
        mask: np.ndarray = ~np.isnan(self.knots[:, 1:])
        return mask

    def transform(self, metrics: np.ndarray) -> np.ndarray:
        if metrics.ndim != 2 or metrics.shape[1] != len(self.knots):
            raise MatcherError(
                f"The matcher was trained with {len(self.knots)} metrics per pair and was given an array of shape "
                f"{metrics.shape}. Use the metric space of its training."
            )
        metrics = np.asarray(metrics, dtype=np.float32)
        scaled = (with_missing_flags(metrics) - self.centre) * self.scale
        inputs = np.hstack([np.clip(scaled, -CLIP, CLIP), self._steps(metrics)])
        return np.nan_to_num(inputs, nan=0.0)

    def _steps(self, metrics: np.ndarray) -> np.ndarray:
        metric, step = np.nonzero(self._real_steps)
        low, high = self.knots[metric, step], self.knots[metric, step + 1]
        return np.clip((metrics[:, metric] - low) / (high - low), 0.0, 1.0)


def _knots(column: np.ndarray) -> np.ndarray:
    """Distinct quantiles of what is not missing, each a value that occurs."""
    known, padded = column[~np.isnan(column)], np.full(STEPS + 1, np.nan, dtype=np.float32)
    if len(known):
        found = np.unique(np.quantile(known, np.linspace(0, 1, STEPS + 1), method="nearest"))
        padded[: len(found)] = found
    return padded
