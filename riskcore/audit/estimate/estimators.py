"""Totals without a prior: the stratified and the difference estimator, both with finite population correction.

The difference estimator adds what the risk predicts for all pairs to how far it was off on the drawn ones. It is
unbiased whatever the risk is worth, and its power (0 to 1) is chosen so that it is never much worse than the stratified
estimator, which has power 0.
"""

from __future__ import annotations

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True)
class Total:
    """An estimated number of errors."""

    value: float
    variance: float
    power: float = 0.0


def stratified_total(pairs: np.ndarray, judged: np.ndarray, errors: np.ndarray) -> Total:
    """Errors of all pairs from errors among the judged ones of each stratum, simple random samples all of them.

    The variance of a stratum with one verdict is not known; the largest possible stands in for it.
    """
    pairs, judged, errors = (np.asarray(one, dtype=np.float64) for one in (pairs, judged, errors))
    some = judged > 0
    rate = np.divide(errors, judged, out=np.zeros_like(errors), where=some)
    spread = np.where(judged > 1, rate * (1 - rate) * judged / np.maximum(judged - 1, 1), 0.25)
    variance = pairs**2 * (1 - judged / np.maximum(pairs, 1)) * spread / np.maximum(judged, 1)
    return Total(float((pairs * rate).sum()), float(variance.sum()))


def difference_total(
    of_pair: np.ndarray, risk: np.ndarray, rows: np.ndarray, wrong: np.ndarray, power: float | None = None
) -> Total:
    """Errors of all pairs with risk as auxiliary variable. `of_pair` is every pair's stratum (-1: none), `rows` are the
    judged pairs and `wrong` whether the label of each is wrong. Without a power, the best one is estimated."""
    strata = int(of_pair.max(initial=-1)) + 1
    inside = of_pair >= 0
    pairs = np.bincount(of_pair[inside], minlength=strata).astype(np.float64)
    drawn, judged = of_pair[rows], np.bincount(of_pair[rows], minlength=strata).astype(np.float64)
    weight = pairs**2 * (1 - judged / np.maximum(pairs, 1)) / np.maximum(judged * (judged - 1), 1)

    def centred(values: np.ndarray) -> np.ndarray:
        mean = np.bincount(drawn, weights=values, minlength=strata) / np.maximum(judged, 1)
        return np.asarray(values - mean[drawn])

    error, predicted = centred(wrong.astype(np.float64)), centred(risk[rows])
    if power is None:
        shared, own = (float((weight[drawn] * predicted * other).sum()) for other in (error, predicted))
        power = float(np.clip(shared / own, 0, 1)) if own > 0 else 0.0
    rest = wrong - power * risk[rows]
    mean = np.bincount(drawn, weights=rest, minlength=strata) / np.maximum(judged, 1)
    value = power * float(risk[inside].sum()) + float((pairs * mean).sum())
    return Total(value, float((weight[drawn] * (error - power * predicted) ** 2).sum()), power)
