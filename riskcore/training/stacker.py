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
from riskcore.training.newton import ridge_logistic


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
    theta = ridge_logistic(inputs, labels, centre, penalty, config.steps, config.longest_step)
    return Stacker(float(theta[0]), theta[1] * prior + theta[2:])


def average_stacker(count: int) -> Stacker:
    """The mean of `count` log-odds: what is left where no label can weigh them."""
    return Stacker(0.0, np.full(count, 1 / count))


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


def _between(far: float, near: float, similarity: float) -> float:
    return far + similarity * (near - far)
