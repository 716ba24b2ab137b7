"""Ridge logistic regression around any centre, by Newton's method: the fit of stackers and of calibration."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

_CONVERGED = 1e-9


def ridge_logistic(
    inputs: np.ndarray,
    labels: np.ndarray,
    centre: np.ndarray,
    penalty: np.ndarray,
    steps: int = 50,
    longest_step: float = 2.0,
    weights: np.ndarray | None = None,
) -> np.ndarray:
    """Coefficients that minimise the logistic loss plus `penalty / 2 · (theta - centre)²`.

    Labels may be probabilities. A step is no longer than `longest_step`: with very confident inputs the first one would
    overshoot.
    """
    theta = np.array(centre, dtype=np.float64)
    share = np.ones(len(inputs)) if weights is None else weights
    for _ in range(steps):
        probability = expit(inputs @ theta)
        gradient = inputs.T @ (share * (probability - labels)) + penalty * (theta - centre)
        curvature = (inputs.T * (share * probability * (1 - probability))) @ inputs + np.diag(penalty)
        step = np.linalg.solve(curvature, gradient)
        longest = float(np.abs(step).max())
        theta -= step * min(1.0, longest_step / max(longest, 1e-12))
        if longest < _CONVERGED:
            break
    return theta
