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

from riskcore.config import StackConfig


@dataclasses.dataclass(frozen=True, eq=False)
class Stacker:
    """Log-odds = offset + weights · the base learners' log-odds."""

    offset: float
    weights: np.ndarray

    def predict_proba(self, log_odds: np.ndarray) -> np.ndarray:
        """Match probability from the base learners' log-odds (pairs x base learners)."""
        return expit(self.offset + log_odds @ self.weights)


def fit_stacker(
    log_odds: np.ndarray,
    labels: np.ndarray,
    similarity: float = 0.0,
    source_learner: int = 0,
    config: StackConfig | None = None,
) -> Stacker:
    """Fit the weights on out-of-fold log-odds of labelled pairs.

    `source_learner` is the column that gets most of the prior weight where the target is similar to the source.
    """
    config = config or StackConfig()
    prior = _prior_weights(log_odds, labels, similarity, source_learner, config)
    inputs = np.column_stack([np.ones(len(log_odds)), log_odds @ prior, log_odds])
    centre = np.concatenate(([0.0, 1.0], np.zeros(log_odds.shape[1])))
    penalties = (
        _between(config.offset_penalty_far, config.offset_penalty_near, similarity),
        _between(config.scale_penalty_far, config.scale_penalty_near, similarity),
    )
    rarer = max(1, min(int((labels == 1).sum()), int((labels == 0).sum())))
    weight_penalty = config.weight_penalty * (1 + similarity * config.few_labels / rarer)
    penalty = np.concatenate((penalties, np.full(log_odds.shape[1], weight_penalty)))
    theta = _newton(inputs, labels, centre, penalty, config)
    return Stacker(float(theta[0]), theta[1] * prior + theta[2:])


def _prior_weights(
    log_odds: np.ndarray, labels: np.ndarray, similarity: float, source_learner: int, config: StackConfig
) -> np.ndarray:
    """Each base learner's weight before the fit: by domain similarity, and by its loss on the labelled pairs."""
    count = log_odds.shape[1]
    share = np.full(count, (1 - config.source_share * similarity) / count)
    share[source_learner] += config.source_share * similarity
    losses = np.logaddexp(0, np.where(labels[:, None] == 1, -log_odds, log_odds)).sum(axis=0)
    loss_weight = _between(config.loss_weight_far, config.loss_weight_near, similarity)
    weights = share * np.exp(-loss_weight * (losses - losses.min()))
    return weights / weights.sum()


def _newton(
    inputs: np.ndarray, labels: np.ndarray, centre: np.ndarray, penalty: np.ndarray, config: StackConfig
) -> np.ndarray:
    """Newton's method on the logistic loss plus `penalty / 2 · (theta - centre)²`."""
    theta = centre.copy()
    for _ in range(config.steps):
        probability = expit(inputs @ theta)
        gradient = inputs.T @ (probability - labels) + penalty * (theta - centre)
        curvature = (inputs.T * (probability * (1 - probability))) @ inputs + np.diag(penalty)
        step = np.linalg.solve(curvature, gradient)
        longest = float(np.abs(step).max())
        theta -= step * min(1.0, config.longest_step / max(longest, 1e-12))
        if longest < 1e-9:
            break
    return theta


def _between(far: float, near: float, similarity: float) -> float:
    return far + similarity * (near - far)
