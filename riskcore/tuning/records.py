"""What adaptive training tells its listeners: scores per pair and iteration, and one result per method.

Nothing here knows the target's labels. Whoever holds them compares afterwards.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from riskcore.risk import RiskModel, RiskScores


@dataclasses.dataclass(frozen=True, eq=False)
class IterationScores:
    """One iteration of one method over all target pairs. Iteration 0 is the starting model."""

    method: str  # "risk" or "risk+"
    iteration: int
    scores: RiskScores  # probability, label, mu, sigma, var_match, var_unmatch, risk: one of each per target pair
    model: RiskModel  # the risk model that gave them
    record: dict[str, Any]  # validation_f1, flips, match_rate, mean_risk, disagreement, lacked, seconds


@dataclasses.dataclass(frozen=True, eq=False)
class MethodResult:
    """What a method returns: the probability of every target pair, and of the pairs it never saw, if any were given."""

    method: str
    probability: np.ndarray  # float64, target pairs
    unseen: np.ndarray | None  # float64, pairs of the target that no method was given
    labels_used: tuple[str, ...]  # of "source", "validation"
    record: dict[str, Any]  # kept iteration or epoch, validation_f1, seconds, ...
