"""What adaptive training reports to its listeners: scores per pair and iteration, and one result per method.

Nothing here knows the target's labels. Code that has them compares afterwards.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NotRequired, TypedDict

import numpy as np

from riskcore.matchers.base import Arrays
from riskcore.risk import RiskModel, RiskScores


class ValidationScores(TypedDict):
    """What an epoch is chosen by; None unless the validation pairs have both classes."""

    validation_f1: float | None
    validation_loss: float | None


class SelectionRow(ValidationScores):
    """An epoch and what it is chosen by."""

    epoch: int


class EpochRow(SelectionRow):
    """One epoch of training on labels."""

    loss: float
    rate: float
    seconds: float


class IterationChoice(TypedDict):
    """What an iteration of `risk` or `self-training` is chosen by."""

    validation_f1: float | None
    validation_loss: float | None  # decides between equals
    validation_mistakes: int


class TargetFigures(TypedDict):
    """Means over the target pairs of an iteration."""

    match_rate: float
    mean_risk: float
    disagreement: float  # share of pairs whose label the risk model would not give


class IterationRow(TypedDict):
    """One iteration of an adaptive method, without the target's labels. Which keys are there depends on the method."""

    iteration: int  # 0 is the starting model
    validation_f1: float | None  # risk+: out-of-fold, of the stacker
    match_rate: float
    flips: NotRequired[int]  # labels that differ from those of the iteration before
    mean_risk: NotRequired[float]
    disagreement: NotRequired[float]
    labels_used: NotRequired[list[str]]
    lacked: NotRequired[list[str]]  # sentences: what the risk model could not be fitted on
    seconds: NotRequired[float]
    validation_mistakes: NotRequired[int]  # risk, self-training
    near_source: NotRequired[bool]  # risk, self-training: whether the start is left only for a clearly better one
    confident: NotRequired[float]  # self-training: share of target pairs with a confident label
    validation_loss: NotRequired[
        float | None
    ]  # risk, self-training: of the matcher; risk+: out-of-fold, of the stacker
    matcher_validation_f1: NotRequired[float | None]  # risk+: of the matcher itself
    matcher_validation_loss: NotRequired[float | None]
    domain_similarity: NotRequired[float]  # risk+
    stacker_weights: NotRequired[dict[str, float]]  # risk+: by base learner
    competition: NotRequired[dict[str, float] | None]  # risk+: offset, scale, left, right; None where not used


STACKED, CONFIDENCE = "stacked evidence", "confidence"  # what a risk was found by


class RiskChoice(TypedDict):
    """What a ranking was chosen by: wrong validation labels, and how well (AUROC) either ranking finds them."""

    errors: int
    stacked: float | None
    confidence: float | None


@dataclasses.dataclass(frozen=True, eq=False)
class RankingModel:
    """What the risk of any pair's label follows from, once it is fitted; with it, new pairs are ranked the same way.

    risk = 1 / (1 + exp(-(offset + scale * evidence against the label))).
    """

    stacker_offset: float
    stacker_weights: tuple[float, ...]  # of the matcher, then of the base learners
    competition: tuple[float, float, float, float] | None  # offset, scale, left, right
    offset: float
    scale: float
    before_competition: np.ndarray | None  # stacked probability of target pairs; None where competitors do not count


@dataclasses.dataclass(frozen=True, eq=False)
class LabelRisk:
    """The risk of every target pair's label by all the evidence, and how it was found."""

    risk: np.ndarray  # probability that the label is wrong
    ranked_by: str  # STACKED or CONFIDENCE
    labels_used: tuple[str, ...]
    calibrated: bool  # on validation labels; otherwise only the order means something
    choice: RiskChoice | None = None  # None where validation labels could not be compared
    model: RankingModel | None = None


class DoubtedLabel(TypedDict):
    """A validation label that the matcher and every base learner contradict: a person should check it."""

    pair_id: str
    label: int
    left: dict[str, str | None]
    right: dict[str, str | None]
    used: bool  # False: it was left out of what risk+ and the ranking learn from


@dataclasses.dataclass(frozen=True, eq=False)
class IterationScores:
    """One iteration of one method over all target pairs. Iteration 0 is the starting model."""

    method: str  # "risk" or "risk+"
    iteration: int
    scores: RiskScores  # probability, label, mu, sigma, var_match, var_non_match, risk: one of each per target pair
    model: RiskModel  # the risk model that gave them
    record: IterationRow
    risk: LabelRisk | None = None  # of the labels, by all the evidence; None: the risk model's own Value at Risk
    fallback: bool = False  # the starting matcher's own answers, after rejected iterations: no label changes
    learned: Arrays = dataclasses.field(default_factory=dict)  # by the matcher: another run can continue from it

    @property
    def queue(self) -> np.ndarray:
        """What orders the review queue, highest first."""
        return self.scores.risk if self.risk is None else self.risk.risk


@dataclasses.dataclass(frozen=True, eq=False)
class MethodResult:
    """What a method returns: the probability of every target pair, and of the pairs it never saw, if any were given."""

    method: str
    probability: np.ndarray  # float64, target pairs
    unseen: np.ndarray | None  # float64, pairs of the target that no method was given
    labels_used: tuple[str, ...]  # of "source", "validation": those that trained, fitted or chose what gave the answer
    record: dict[str, Any]  # best_iteration (the kept one) or best_epoch, validation_f1, lacked, rows; methods add more
    learned: Arrays = dataclasses.field(default_factory=dict)  # by the matcher that answers; others start from it
    validated: np.ndarray | None = None  # probabilities of validation pairs, if none was taught by the pair's own label
    risk: LabelRisk | None = None  # of the answer's labels; a run fills it in where the method does not
    stacked: bool = False  # whether the stacker answers, not the matcher alone


def target_figures(scores: RiskScores, risk: LabelRisk | None) -> TargetFigures:
    """Means over the target pairs of an iteration."""
    return {
        "match_rate": float(scores.label.mean()),
        "mean_risk": float((scores.risk if risk is None else risk.risk).mean()),
        "disagreement": float(np.mean((scores.mu >= 0.5) != (scores.label == 1))),
    }
