"""How far a risk can be believed: a line in log-odds from the stated risk to the rate of errors, learned from verdicts.

A shift of 0 and a slope of 1 mean that the risk is calibrated. The prior is as wide as the lines that fit the labels of
finished runs with known truth; verdicts narrow it.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy.special import expit, logit

SHIFT, SLOPE = 0.3, 0.1  # standard deviations of the prior
LEAST = 1e-6  # a risk is never taken as surer than this
_STEPS = 30  # of Newton's method; it needs about six
_LINES = 7310  # the stream of random numbers, beside the seed


@dataclasses.dataclass(frozen=True, eq=False)
class Lines:
    """Draws of shift and slope."""

    shift: np.ndarray
    slope: np.ndarray

    def __len__(self) -> int:
        return len(self.shift)

    def rates(self, risk: np.ndarray) -> np.ndarray:
        """The error rate at each risk: a row for each draw."""
        return np.asarray(expit(self.shift[:, None] + self.slope[:, None] * log_odds(risk)))


def as_stated(draws: int) -> Lines:
    """The risk as it is stated, without doubt in it."""
    return Lines(np.zeros(draws), np.ones(draws))


def lines(risk: np.ndarray, wrong: np.ndarray, draws: int, seed: int = 0) -> Lines:
    """Draws of the line, given the risk of judged labels and whether each was wrong; none judged gives the prior.

    The posterior is nearly normal: its mode by Newton's method, its spread by the curvature there. The pairs must have
    been chosen by chance or by their risk: errors that someone went looking for would bend the line.
    """
    design = np.stack([np.ones(len(risk)), log_odds(risk)], axis=1)
    precision = np.diag([SHIFT**-2, SLOPE**-2])
    centre = np.array([0.0, 1.0])
    found = centre.copy()
    for _ in range(_STEPS):
        rate = expit(design @ found)
        curvature = precision + (design * (rate * (1 - rate))[:, None]).T @ design
        step = np.linalg.solve(curvature, design.T @ (wrong - rate) - precision @ (found - centre))
        found = found + step
        if np.abs(step).max() < 1e-8:
            break
    generator = np.random.default_rng([seed, _LINES])
    drawn = generator.multivariate_normal(found, np.linalg.inv(curvature), size=draws)
    return Lines(drawn[:, 0], np.maximum(drawn[:, 1], 0.0))


def log_odds(risk: np.ndarray) -> np.ndarray:
    return np.asarray(logit(np.clip(risk, LEAST, 1 - LEAST)))
