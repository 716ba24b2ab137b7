"""A jury weighs witnesses: logistic regression on their log-odds, drawn towards hearing them all alike.

With many labels it learns whom to believe. With few it stays near the plain mean, and its threshold stays near
one half: a hundred labels hold too few matches to move a threshold by.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy.special import expit

_REINFORCEMENT = 1.5  # the weights' sum before any label: witnesses who agree are surer together than one alone
_PULL_WEIGHT = 3.0  # how hard weights are drawn towards the mean, in labels' worth of log-odds
_PULL_OFFSET = 30.0
_STEPS = 30
_LONGEST_STEP = 2.0  # a first Newton step on certain witnesses would otherwise overshoot


@dataclasses.dataclass(frozen=True, eq=False)
class Jury:
    """Log-odds = offset + weights · the witnesses' log-odds."""

    offset: float
    weights: np.ndarray

    def verdict(self, said: np.ndarray) -> np.ndarray:
        """Match probability from the witnesses' log-odds (pairs x witnesses)."""
        return expit(self.offset + said @ self.weights)


def appoint(said: np.ndarray, labels: np.ndarray) -> Jury:
    """The jury for these witnesses, given what they said of labelled pairs none of them was taught."""
    inputs = np.column_stack([np.ones(len(said)), said])
    start = np.concatenate(([0.0], np.full(said.shape[1], _REINFORCEMENT / said.shape[1])))
    pull = np.concatenate(([_PULL_OFFSET], np.full(said.shape[1], _PULL_WEIGHT)))
    theta = start.copy()
    for _ in range(_STEPS):
        chance = expit(inputs @ theta)
        gradient = inputs.T @ (chance - labels) + pull * (theta - start)
        curvature = (inputs.T * (chance * (1 - chance))) @ inputs + np.diag(pull)
        step = np.linalg.solve(curvature, gradient)
        longest = float(np.abs(step).max())
        theta -= step * min(1.0, _LONGEST_STEP / max(longest, 1e-12))
        if longest < 1e-9:
            break
    return Jury(float(theta[0]), theta[1:])
