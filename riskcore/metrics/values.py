"""Metric values of some pairs, apart from what computes them: reading results needs no compiler."""

from __future__ import annotations

import dataclasses

import numpy as np

from riskcore.metrics.kinds import KINDS, Metric


@dataclasses.dataclass(frozen=True, eq=False)
class MetricMatrix:
    """Metric values of some pairs."""

    values: np.ndarray  # float32, pairs x metrics, NaN = missing
    metrics: tuple[Metric, ...]

    def __len__(self) -> int:
        return len(self.values)

    def column(self, key: str) -> np.ndarray:
        return self.values[:, [metric.key for metric in self.metrics].index(key)]

    def beside(self, other: MetricMatrix) -> MetricMatrix:
        """These metrics and others of the same pairs."""
        return MetricMatrix(np.hstack([self.values, other.values]), (*self.metrics, *other.metrics))

    def take(self, rows: np.ndarray) -> MetricMatrix:
        """The metrics of these pairs."""
        return MetricMatrix(self.values[rows], self.metrics)

    def similarities(self) -> MetricMatrix:
        """The metrics that say how alike two values are, without those that say how unlike."""
        kept = [column for column, metric in enumerate(self.metrics) if not KINDS[metric.kind].difference]
        return MetricMatrix(self.values[:, kept], tuple(self.metrics[column] for column in kept))
