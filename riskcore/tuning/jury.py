"""A jury weighs witnesses: it starts from the one that did best on pairs it was not taught, and corrects it a little.

With many labels the correction is learned freely; with few it stays near nothing, so that a strong witness is not
overruled by weak ones. How freely is itself chosen on held-out pairs.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy.special import expit, log_expit

from riskcore.tuning.folds import folds_of

_PULL = (0.3, 0.1)  # towards the leader's own scale and no offset: a few labels must not twist a good witness
_NEWTON_STEPS = 30
_LONGEST_STEP = 2.0  # a first step on certain witnesses would otherwise overshoot
RIDGES = (1e6, 30.0, 10.0, 3.0, 1.0, 0.3)  # from "the best witness alone" to "as the labels say"


@dataclasses.dataclass(frozen=True)
class Jury:
    """Log-odds = the leading witness, scaled, plus what the others add."""

    leader: int
    scale: float
    offset: float
    corrections: np.ndarray

    def verdict(self, said: np.ndarray) -> np.ndarray:
        """Match probability from the witnesses' log-odds."""
        return expit(self._log_odds(said))

    def _log_odds(self, said: np.ndarray) -> np.ndarray:
        return self.offset + self.scale * said[:, self.leader] + said @ self.corrections


def appoint(said: np.ndarray, labels: np.ndarray, seed: int) -> Jury:
    """The jury for these witnesses, given what they said of labelled pairs none of them was taught."""
    losses = [held_out_loss(said, labels, leader, RIDGES[0], seed) for leader in range(said.shape[1])]
    leader = int(np.argmin(losses))
    ridge = min(RIDGES, key=lambda strength: held_out_loss(said, labels, leader, strength, seed))
    return _fit(said, labels, leader, ridge)


def held_out_loss(said: np.ndarray, labels: np.ndarray, leader: int, ridge: float, seed: int, folds: int = 5) -> float:
    """Mean cross-entropy on pairs that the jury was not fitted on."""
    total = 0.0
    for fold in folds_of(labels, folds, seed + 1):
        rest = np.setdiff1d(np.arange(len(labels)), fold)
        jury = _fit(said[rest], labels[rest], leader, ridge)
        total += _cross_entropy(jury._log_odds(said[fold]), labels[fold]).sum()
    return total / max(1, len(labels))


def _cross_entropy(log_odds: np.ndarray, labels: np.ndarray) -> np.ndarray:
    return -np.where(labels == 1, log_expit(log_odds), log_expit(-log_odds))


def _fit(said: np.ndarray, labels: np.ndarray, leader: int, ridge: float) -> Jury:
    """Penalised logistic regression around the leader at scale 1 and no correction, by Newton's method."""
    inputs = np.column_stack([said[:, leader], np.ones(len(said)), said])
    start = np.concatenate(([1.0, 0.0], np.zeros(said.shape[1])))
    pull = np.concatenate((_PULL, np.full(said.shape[1], ridge)))
    theta = start.copy()
    for _ in range(_NEWTON_STEPS):
        chance = expit(inputs @ theta)
        gradient = inputs.T @ (chance - labels) + pull * (theta - start)
        curvature = (inputs.T * (chance * (1 - chance))) @ inputs + np.diag(pull)
        step = np.linalg.solve(curvature, gradient)
        theta -= step * min(1.0, _LONGEST_STEP / max(np.abs(step).max(), 1e-12))
        if np.abs(step).max() < 1e-6:
            break
    return Jury(leader, float(theta[0]), float(theta[1]), theta[2:])
