"""A jury weighs witnesses: logistic regression on their log-odds, drawn towards what is known before any label.

Near the source (`nearness`), the forest trained on it is heard first and believed as it is; far from it, all are heard
alike and the whole is calibrated on the validation pairs. Witnesses that did badly on those pairs count for less from
the start. With many labels the jury learns whom to believe; with few it stays near its start.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy.special import expit

# Strengths are in labels' worth of log-odds. They were chosen on validation sizes of 100 and of thousands alike.
_FIRST = 0.95  # share of the first witness in the start, at nearness 1
_DOUBT = (0.05, 1.0)  # how much of its loss counts against a witness: far from the source, near it (as by Bayes)
_PULL_OFFSET = (0.3, 30.0)  # towards a threshold of one half
_PULL_SCALE = (5.0, 55.0)  # towards believing the mean of all as it is
_PULL_WEIGHT = 100.0  # towards the start, for each witness: a hundred labels hold too few matches to choose by
_FEW = 50  # labels of the rarer kind, at which near the source that pull is doubled: with fewer it grows
_STEPS = 50
_LONGEST_STEP = 2.0  # a first Newton step on certain witnesses would otherwise overshoot


@dataclasses.dataclass(frozen=True, eq=False)
class Jury:
    """Log-odds = offset + weights · the witnesses' log-odds."""

    offset: float
    weights: np.ndarray

    def verdict(self, said: np.ndarray) -> np.ndarray:
        """Match probability from the witnesses' log-odds (pairs x witnesses)."""
        return expit(self.offset + said @ self.weights)


def appoint(said: np.ndarray, labels: np.ndarray, nearness: float = 0.0, first: int = 0) -> Jury:
    """The jury for these witnesses, given what they said of labelled pairs none of them was taught.

    `first` is the witness to hear first where the target is near the source.
    """
    start = _start(said, labels, nearness, first)
    inputs = np.column_stack([np.ones(len(said)), said @ start, said])
    centre = np.concatenate(([0.0, 1.0], np.zeros(said.shape[1])))
    pulls = _between(_PULL_OFFSET, nearness), _between(_PULL_SCALE, nearness)
    rarer = max(1, min(int((labels == 1).sum()), int((labels == 0).sum())))
    held = _PULL_WEIGHT * (1 + nearness * _FEW / rarer)
    theta = _fit(inputs, labels, centre, np.concatenate((pulls, np.full(said.shape[1], held))))
    return Jury(float(theta[0]), theta[1] * start + theta[2:])


def _start(said: np.ndarray, labels: np.ndarray, nearness: float, first: int) -> np.ndarray:
    """Each witness's share before it is weighed: by trust, and by how badly it did."""
    count = said.shape[1]
    trust = np.full(count, (1 - _FIRST * nearness) / count)
    trust[first] += _FIRST * nearness
    losses = np.logaddexp(0, np.where(labels[:, None] == 1, -said, said)).sum(axis=0)
    share = trust * np.exp(-_between(_DOUBT, nearness) * (losses - losses.min()))
    return share / share.sum()


def _fit(inputs: np.ndarray, labels: np.ndarray, centre: np.ndarray, pull: np.ndarray) -> np.ndarray:
    """Newton's method on the logistic loss plus `pull / 2 · (theta - centre)²`."""
    theta = centre.copy()
    for _ in range(_STEPS):
        chance = expit(inputs @ theta)
        gradient = inputs.T @ (chance - labels) + pull * (theta - centre)
        curvature = (inputs.T * (chance * (1 - chance))) @ inputs + np.diag(pull)
        step = np.linalg.solve(curvature, gradient)
        longest = float(np.abs(step).max())
        theta -= step * min(1.0, _LONGEST_STEP / max(longest, 1e-12))
        if longest < 1e-9:
            break
    return theta


def _between(ends: tuple[float, float], nearness: float) -> float:
    return ends[0] + nearness * (ends[1] - ends[0])
