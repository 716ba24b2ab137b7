"""The stacker (meta-learner): logistic regression on the base learners' log-odds, shrunk towards prior weights.

The prior weights depend on how similar the target is to the source. On a similar target the forest trained on the
source gets most of the weight and its threshold is kept; on a dissimilar one all base learners get the same weight and
the combination is calibrated on the validation pairs. Base learners that did badly on those pairs start with less.
With many labels the weights are learned; with few they stay close to the prior ones.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy.special import expit

# Penalties are in units of labels. They were chosen on validation sizes of 100 and of thousands alike.
_SOURCE_SHARE = 0.95  # prior weight of the source learner at domain similarity 1
_LOSS_WEIGHT = (
    0.05,
    1.0,
)  # how much of its loss counts against a base learner: dissimilar target, similar (as by Bayes)
_OFFSET_PENALTY = (0.3, 30.0)  # towards a threshold of one half
_SCALE_PENALTY = (5.0, 55.0)  # towards taking the weighted mean of all as it is
_WEIGHT_PENALTY = 100.0  # towards the prior weight of each: a hundred labels hold too few matches to choose by
_FEW_LABELS = 50  # labels of the rarer class at which, on a similar target, that penalty is doubled
_STEPS = 50
_LONGEST_STEP = 2.0  # a first Newton step on certain base learners would otherwise overshoot


@dataclasses.dataclass(frozen=True, eq=False)
class Stacker:
    """Log-odds = offset + weights · the base learners' log-odds."""

    offset: float
    weights: np.ndarray

    def predict_proba(self, log_odds: np.ndarray) -> np.ndarray:
        """Match probability from the base learners' log-odds (pairs x base learners)."""
        return expit(self.offset + log_odds @ self.weights)


def fit_stacker(log_odds: np.ndarray, labels: np.ndarray, similarity: float = 0.0, source_learner: int = 0) -> Stacker:
    """Fit the weights on out-of-fold log-odds of labelled pairs.

    `source_learner` is the column that gets most of the prior weight where the target is similar to the source.
    """
    prior = _prior_weights(log_odds, labels, similarity, source_learner)
    inputs = np.column_stack([np.ones(len(log_odds)), log_odds @ prior, log_odds])
    centre = np.concatenate(([0.0, 1.0], np.zeros(log_odds.shape[1])))
    penalties = _between(_OFFSET_PENALTY, similarity), _between(_SCALE_PENALTY, similarity)
    rarer = max(1, min(int((labels == 1).sum()), int((labels == 0).sum())))
    weight_penalty = _WEIGHT_PENALTY * (1 + similarity * _FEW_LABELS / rarer)
    theta = _newton(inputs, labels, centre, np.concatenate((penalties, np.full(log_odds.shape[1], weight_penalty))))
    return Stacker(float(theta[0]), theta[1] * prior + theta[2:])


def _prior_weights(log_odds: np.ndarray, labels: np.ndarray, similarity: float, source_learner: int) -> np.ndarray:
    """Each base learner's weight before the fit: by domain similarity, and by its loss on the labelled pairs."""
    count = log_odds.shape[1]
    share = np.full(count, (1 - _SOURCE_SHARE * similarity) / count)
    share[source_learner] += _SOURCE_SHARE * similarity
    losses = np.logaddexp(0, np.where(labels[:, None] == 1, -log_odds, log_odds)).sum(axis=0)
    weights = share * np.exp(-_between(_LOSS_WEIGHT, similarity) * (losses - losses.min()))
    return weights / weights.sum()


def _newton(inputs: np.ndarray, labels: np.ndarray, centre: np.ndarray, penalty: np.ndarray) -> np.ndarray:
    """Newton's method on the logistic loss plus `penalty / 2 · (theta - centre)²`."""
    theta = centre.copy()
    for _ in range(_STEPS):
        probability = expit(inputs @ theta)
        gradient = inputs.T @ (probability - labels) + penalty * (theta - centre)
        curvature = (inputs.T * (probability * (1 - probability))) @ inputs + np.diag(penalty)
        step = np.linalg.solve(curvature, gradient)
        longest = float(np.abs(step).max())
        theta -= step * min(1.0, _LONGEST_STEP / max(longest, 1e-12))
        if longest < 1e-9:
            break
    return theta


def _between(ends: tuple[float, float], similarity: float) -> float:
    return ends[0] + similarity * (ends[1] - ends[0])
