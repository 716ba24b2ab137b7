"""Log-odds of probabilities, which evidence is added up in."""

from __future__ import annotations

import numpy as np


def log_odds(probability: np.ndarray, floor: float) -> np.ndarray:
    """Log-odds of probabilities, none of which counts as closer to 0 or 1 than `floor`."""
    p = np.clip(probability, floor, 1 - floor)
    found: np.ndarray = np.log(p) - np.log1p(-p)
    return found
