"""True labels as evaluation takes them: 1 match, 0 non-match, -1 unknown; or `None` where there are none at all.

Pairs of unknown truth are left out of every number that needs it. A number that then cannot be computed is `None` (or
NaN within an array), never 0.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtri

from riskcore.errors import RiskcoreError
from riskcore.risk.ranking_quality import Interval

UNKNOWN = -1


class EvaluationError(RiskcoreError):
    """The arrays to compare do not belong together, or hold invalid values."""


def checked_truth(truth: np.ndarray | None, pairs: int) -> np.ndarray:
    """True labels as int8, one per pair; all unknown where there are none."""
    if truth is None:
        return np.full(pairs, UNKNOWN, dtype=np.int8)
    values = np.asarray(truth)
    if values.shape != (pairs,):
        raise EvaluationError(f"There are {values.size} true labels for {pairs} pairs. Pass one for each, in order.")
    if not np.isin(values, (UNKNOWN, 0, 1)).all():
        raise EvaluationError("True labels must be 1 (match), 0 (non-match) or -1 (unknown).")
    return values.astype(np.int8)


def checked_labels(labels: np.ndarray, pairs: int | None = None) -> np.ndarray:
    """Given labels as bool, True for match; there is no unknown among them."""
    values = np.asarray(labels)
    if values.ndim != 1 or not np.isin(values, (0, 1)).all():
        raise EvaluationError("Labels must be 1 (match) or 0 (non-match), one per pair.")
    return values.astype(bool) if pairs is None else of_length(values.astype(bool), pairs, "labels")


def checked_probabilities(probabilities: np.ndarray) -> np.ndarray:
    values = np.asarray(probabilities, dtype=np.float64)
    if values.ndim != 1 or not np.all((values >= 0) & (values <= 1)):
        raise EvaluationError("Probabilities must lie in [0, 1], one per pair.")
    return values


def of_length(values: np.ndarray, pairs: int, what: str) -> np.ndarray:
    if values.shape != (pairs,):
        raise EvaluationError(f"There are {values.size} {what} for {pairs} pairs. Pass one for each, in order.")
    return values


def known_only(truth: np.ndarray | None, *per_pair: np.ndarray) -> tuple[np.ndarray, ...]:
    """Truth as bool, and the other arrays, for the pairs whose truth is known."""
    labels = checked_truth(truth, len(per_pair[0]))
    known = labels != UNKNOWN
    return (labels[known].astype(bool), *(values[known] for values in per_pair))


def percentile_interval(drawn: np.ndarray, level: float = 0.95) -> Interval | None:
    """The middle `level` of resampled values; NaN among them (nothing to score in that resample) is left out."""
    finite = drawn[~np.isnan(drawn)]
    if not len(finite):
        return None
    low, high = np.quantile(finite, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def wilson_interval(part: int, whole: int, level: float = 0.95) -> Interval | None:
    """Interval of a share, by Wilson's score test: covers at 0, at 1 and for few cases. None where there is no case."""
    if not whole:
        return None
    z, share = float(ndtri(0.5 + level / 2)), part / whole
    middle = (share + z * z / (2 * whole)) / (1 + z * z / whole)
    half = z * math.sqrt(share * (1 - share) / whole + (z / (2 * whole)) ** 2) / (1 + z * z / whole)
    return min(max(middle - half, 0.0), share), max(min(middle + half, 1.0), share)


def number(value: float) -> float | None:
    """A plain float, `None` for NaN: fit for JSON."""
    return None if np.isnan(value) else float(value)
