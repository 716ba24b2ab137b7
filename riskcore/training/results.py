"""What adaptive training tells its listeners: scores per pair and iteration, and one result per method.

Nothing here knows the target's labels. Whoever holds them compares afterwards.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from riskcore.matchers.base import Arrays
from riskcore.risk import RiskModel, RiskScores


@dataclasses.dataclass(frozen=True, eq=False)
class IterationScores:
    """One iteration of one method over all target pairs. Iteration 0 is the starting model."""

    method: str  # "risk" or "risk+"
    iteration: int
    scores: RiskScores  # probability, label, mu, sigma, var_match, var_non_match, risk: one of each per target pair
    model: RiskModel  # the risk model that gave them
    record: dict[str, Any]  # validation_f1, flips, match_rate, mean_risk, disagreement, labels_used, lacked, seconds
    fallback: bool = False  # the starting matcher's own answers, after rejected iterations: no label changes


@dataclasses.dataclass(frozen=True, eq=False)
class MethodResult:
    """What a method returns: the probability of every target pair, and of the pairs it never saw, if any were given."""

    method: str
    probability: np.ndarray  # float64, target pairs
    unseen: np.ndarray | None  # float64, pairs of the target that no method was given
    labels_used: tuple[str, ...]  # of "source", "validation": those that trained, fitted or chose what gave the answer
    record: dict[str, Any]  # best_iteration (the kept one) or best_epoch, validation_f1, lacked (sentences), ...
    learned: Arrays = dataclasses.field(default_factory=dict)  # weights that later methods start from (`tradition`)
