"""The normal distribution truncated to [0, 1]: quantile, cumulative probability, density.

All in float64 and elementwise. Written so that nothing cancels: the probability below a quantile is a
weighted mean of the two tails, and of a number and its complement the smaller one is inverted.
A mean outside [0, 1] has both tails on one side; those are kept as logarithms.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erf, log_ndtr, ndtr, ndtri, ndtri_exp

SMALLEST_SIGMA = 1e-12  # a narrower bell is a point to float64; zero itself would divide by zero
_LOG_SQRT_TWO_PI = 0.5 * np.log(2 * np.pi)
_SQRT_TWO = np.sqrt(2.0)


def quantile(p: ArrayLike, mu: ArrayLike, sigma: ArrayLike) -> np.ndarray:
    """The value below which the truncated normal lies with probability `p`."""
    p, mu, sigma = _broadcast(p, mu, sigma)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where((mu >= 0) & (mu <= 1), _inside_quantile(p, mu, sigma), _outside_quantile(p, mu, sigma))
    return np.clip(mu + sigma * z, 0.0, 1.0)


def cdf(x: ArrayLike, mu: ArrayLike, sigma: ArrayLike) -> np.ndarray:
    """The probability that the truncated normal lies at or below `x`."""
    x, mu, sigma = _broadcast(x, mu, sigma)
    x = np.clip(x, 0.0, 1.0)
    below, above = (-mu / sigma), (1 - mu) / sigma
    z = (x - mu) / sigma
    # Dividing by the larger of the two logarithmic tails keeps far-off means from giving 0 / 0.
    left, right = _log_mass(below, z), _log_mass(z, above)
    total = np.logaddexp(left, right)
    return np.where(left < right, np.exp(left - total), -np.expm1(right - total))


def pdf(x: ArrayLike, mu: ArrayLike, sigma: ArrayLike) -> np.ndarray:
    """The density of the truncated normal at `x`; zero outside [0, 1]."""
    x, mu, sigma = _broadcast(x, mu, sigma)
    z = (x - mu) / sigma
    log_density = -0.5 * z * z - _LOG_SQRT_TWO_PI - np.log(sigma) - _log_mass(-mu / sigma, (1 - mu) / sigma)
    return np.where((x < 0) | (x > 1), 0.0, np.exp(log_density))


def _broadcast(value: ArrayLike, mu: ArrayLike, sigma: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    value, mu, sigma = np.broadcast_arrays(
        np.asarray(value, dtype=np.float64), np.asarray(mu, dtype=np.float64), np.asarray(sigma, dtype=np.float64)
    )
    return value, mu, np.maximum(sigma, SMALLEST_SIGMA)


def _inside_quantile(p: np.ndarray, mu: np.ndarray, sigma: np.ndarray) -> np.ndarray:
    """Standardised quantile for a mean in [0, 1]: each tail is at most one half."""
    low, high = ndtr(-mu / sigma), ndtr((mu - 1) / sigma)  # mass cut off below 0 and above 1
    below = (1 - p) * low + p * (1 - high)
    above = (1 - p) * (1 - low) + p * high
    return np.where(below < above, ndtri(below), -ndtri(above))


def _outside_quantile(p: np.ndarray, mu: np.ndarray, sigma: np.ndarray) -> np.ndarray:
    """Standardised quantile for a mean outside [0, 1], in logarithms; below 0 by mirroring."""
    mirrored = mu < 0
    mean, log_p, log_rest = np.where(mirrored, 1 - mu, mu), np.log(p), np.log1p(-p)
    log_p, log_rest = np.where(mirrored, log_rest, log_p), np.where(mirrored, log_p, log_rest)
    z = ndtri_exp(np.logaddexp(log_rest + log_ndtr(-mean / sigma), log_p + log_ndtr((1 - mean) / sigma)))
    return np.where(mirrored, -z, z)


def _log_mass(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Logarithm of the standard normal's mass between two points, from whichever form loses no digits."""
    with np.errstate(divide="ignore", invalid="ignore"):
        # Far out on one side: log(Phi(b) - Phi(a)) with both tails mirrored to the left.
        flip = low > 0
        a, b = np.where(flip, -high, low), np.where(flip, -low, high)
        far, near = log_ndtr(b), log_ndtr(a)
        tail = np.where(near < far, far + np.log1p(-np.exp(near - far)), -np.inf)
        centre = np.log(0.5 * (erf(high / _SQRT_TWO) - erf(low / _SQRT_TWO)))
    return np.where(b < -1, tail, centre)
