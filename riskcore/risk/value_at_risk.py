"""Value at Risk of a label: how wrong it may be once the worst outcomes, of probability 1 - theta, are set aside.

With the equivalence probability of a pair truncated normal and `Q` its quantile,
`VaR+ = 1 - Q(1 - theta)` is the risk of calling the pair a match and `VaR- = Q(theta)` that of calling it
a non-match. Mirroring [0, 1] turns the one into the other, so both are one formula.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri

from riskcore.risk.distribution import SMALLEST_SIGMA


def values_at_risk(mu: np.ndarray, sigma: np.ndarray, theta: float) -> tuple[np.ndarray, np.ndarray]:
    """`VaR+` and `VaR-` for means in [0, 1] and `theta` of at least 0.5.

    The same numbers as `distribution.quantile`, for half the work: both share the two tails, and the
    probability above either quantile lies in [(1 - theta) / 2, 3 / 4], where inverting it loses nothing.
    """
    sigma = np.maximum(sigma, SMALLEST_SIGMA)
    low, high = ndtr(-mu / sigma), ndtr((mu - 1) / sigma)  # mass cut off below 0 and above 1
    match = (1 - mu) - sigma * ndtri((1 - theta) * (1 - high) + theta * low)
    non_match = mu - sigma * ndtri((1 - theta) * (1 - low) + theta * high)
    return np.clip(match, 0.0, 1.0), np.clip(non_match, 0.0, 1.0)


def risk_of(labels: np.ndarray | int, var_match: np.ndarray, var_non_match: np.ndarray) -> np.ndarray:
    """The risk of the label each pair has now."""
    return np.where(np.asarray(labels, dtype=bool), var_match, var_non_match)


def top(risk: np.ndarray, count: int) -> np.ndarray:
    """Rows of the `count` riskiest pairs, riskiest first; equal risks in row order, so that pages never swap."""
    count = min(max(count, 0), len(risk))
    if count == 0:
        return np.empty(0, dtype=np.int64)
    cut = np.partition(risk, len(risk) - count)[len(risk) - count]
    above = np.flatnonzero(risk > cut)
    rows = np.concatenate([above, np.flatnonzero(risk == cut)[: count - len(above)]])
    return rows[np.lexsort((rows, -risk[rows]))]
