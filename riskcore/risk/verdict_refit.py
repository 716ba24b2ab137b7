"""What verdicts on some pairs say about the labels of the others.

A run says how likely each pair is a match. Where verdicts disagree with that, pairs whose metrics are alike are
probably misjudged in the same way. So the log-odds of a match become those of the run plus a smooth function of the
metrics: a Gaussian process, fitted to the verdicts by Laplace's approximation. How far it may depart from the run (its
variance) is chosen by the likelihood of the verdicts: where they bear the run out, it is 0, and the ranking stays the
run's.

Which pairs were judged may depend on the evidence about them, as in a queue by risk: the function is fitted given that
evidence, so the choice biases nothing. What a judged pair gets is what the other verdicts say of it.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

from riskcore.risk.log_odds import log_odds

VARIANCES = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)  # of the log-odds; 8 can turn any label
LEAST_GAIN = 2.0  # log-likelihood: of verdicts that bear the run out, fewer than one set in twenty gains as much
LENGTH = 1.0  # pairs are alike within about a standard deviation of every metric
CLIP = 3.0  # standard deviations: an odd value must not make a pair unlike all others
MOST_VERDICTS = 1_000  # that are fitted; of more, a random sample: time grows with the third power
FLOOR = 1e-9  # of a risk
_STEPS, _CONVERGED = 50, 1e-7
_VARIES = 1e-6  # standard deviation of a metric that tells pairs apart
_ROWS = 20_000  # pairs at a time, so that memory does not grow with the workload


@dataclasses.dataclass(frozen=True, eq=False)
class VerdictRefit:
    """The risk of every pair's label in the light of the verdicts."""

    risk: np.ndarray
    variance: float  # how far the verdicts moved the log-odds; 0 where they bear the run out
    verdicts: int  # that were fitted


def refit_risk(
    risk: np.ndarray, label: np.ndarray, metrics: np.ndarray, rows: np.ndarray, truth: np.ndarray, seed: int = 0
) -> VerdictRefit:
    """`rows` are judged pairs and `truth` their verdicts, 1 match and 0 non-match; `metrics` are pairs x metrics, NaN
    where missing."""
    against = log_odds(risk, FLOOR)
    if not len(rows):
        return VerdictRefit(risk.copy(), 0.0, 0)
    if len(rows) > MOST_VERDICTS:
        kept = np.sort(np.random.default_rng(seed).permutation(len(rows))[:MOST_VERDICTS])
        rows, truth = rows[kept], truth[kept]
    sign = np.where(label == 1, -1.0, 1.0)
    match = sign * against  # log-odds of a match, by the run
    features = _features(metrics)
    judged, offset = features[rows].astype(np.float64), match[rows]
    alike = _alike(judged, judged)
    found = [_fit(variance * alike, truth.astype(np.float64), offset) for variance in VARIANCES]
    best = int(np.argmax([one.likelihood for one in found]))
    if found[best].likelihood < _loglikelihood(offset, truth) + LEAST_GAIN:
        return VerdictRefit(risk.copy(), 0.0, len(rows))
    variance, fit = VARIANCES[best], found[best]
    shift = np.concatenate(
        [variance * _alike(features[at : at + _ROWS], judged) @ fit.pulls for at in range(0, len(features), _ROWS)]
    )
    shift[rows] = fit.without_own
    return VerdictRefit(expit(against + sign * shift), variance, len(rows))


@dataclasses.dataclass(frozen=True, eq=False)
class _Fit:
    """A function at the judged pairs: what pulls it, how likely the verdicts are, and its value without the pair's own
    verdict."""

    pulls: np.ndarray
    likelihood: float
    without_own: np.ndarray


def _fit(covariance: np.ndarray, truth: np.ndarray, offset: np.ndarray) -> _Fit:
    """The mode of the posterior, by Newton's method in the form that stays stable (Rasmussen & Williams, chapter 3)."""
    pulls = np.zeros(len(truth))
    for _ in range(_STEPS):
        value = covariance @ pulls
        probability = expit(offset + value)
        curvature = np.maximum(probability * (1 - probability), 1e-12)
        root = np.sqrt(curvature)
        factor = cho_factor(np.eye(len(truth)) + root[:, None] * covariance * root, lower=True)
        target = curvature * value + truth - probability
        before, pulls = pulls, target - root * cho_solve(factor, root * (covariance @ target))
        if np.abs(pulls - before).max() < _CONVERGED:
            break
    value = covariance @ pulls
    margin = offset + value
    likelihood = _loglikelihood(margin, truth) - 0.5 * pulls @ value - np.log(np.diag(factor[0])).sum()
    # Without its own verdict, a pair's value is its mean in the other verdicts' posterior.
    spread = np.diag(covariance) - (root[:, None] * covariance * cho_solve(factor, root[:, None] * covariance)).sum(0)
    without = value - (truth - expit(margin)) * spread / np.maximum(1 - curvature * spread, 1e-6)
    return _Fit(pulls, float(likelihood), without)


def _loglikelihood(margin: np.ndarray, truth: np.ndarray) -> float:
    return -float(np.logaddexp(0, np.where(truth == 1, -margin, margin)).sum())


def _features(metrics: np.ndarray) -> np.ndarray:
    """Metrics in standard deviations, a missing one at the mean, scaled so that their number does not matter."""
    columns = []
    for column in metrics.T:  # one at a time: all of them in float64 may not fit into memory
        known = np.isfinite(column)
        values = column[known].astype(np.float64)
        deviation = values.std() if len(values) else 0.0
        if deviation > _VARIES:
            scaled = np.zeros(len(column), dtype=np.float32)
            scaled[known] = np.clip((values - values.mean()) / deviation, -CLIP, CLIP)
            columns.append(scaled)
    if not columns:
        return np.zeros((len(metrics), 1), dtype=np.float32)
    return np.column_stack(columns) / np.float32(np.sqrt(len(columns)))


def _alike(some: np.ndarray, others: np.ndarray) -> np.ndarray:
    """How alike pairs are: 1 for equal metrics, towards 0 the further apart."""
    apart = np.square(some).sum(axis=1)[:, None] + np.square(others).sum(axis=1) - 2 * some @ others.T
    alike: np.ndarray = np.exp(-np.maximum(apart, 0) / (2 * LENGTH**2))
    return alike
