"""Mean and spread of metrics over pairs, missing values left out: the basis of every standardisation of metrics."""

from __future__ import annotations

import numpy as np


def mean_and_spread(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Per column, in float64, over the values that are not missing; both are 0 where all are."""
    values = np.asarray(values, dtype=np.float64)
    present = ~np.isnan(values)
    count = np.maximum(present.sum(axis=0), 1)
    mean = np.where(present, values, 0).sum(axis=0) / count
    return mean, np.sqrt(np.where(present, np.square(values - mean), 0).sum(axis=0) / count)


def with_missing_flags(values: np.ndarray) -> np.ndarray:
    """The columns, and beside them a column for each that is 1 where it is missing."""
    return np.hstack([values, np.isnan(values).astype(values.dtype)])
