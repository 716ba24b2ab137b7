"""The records of comparison.json, as the worker writes them and the screens read them."""

from __future__ import annotations

from typing import TypedDict


class MethodScores(TypedDict):
    """One method against the truth; None where the target has no labels."""

    f1: float | None
    precision: float | None
    recall: float | None
    tp: int | None
    fp: int | None
    fn: int | None
    tn: int | None
    f1_interval: tuple[float, float] | None
    average_precision: float | None
    changed: int | None  # pairs labelled differently from tradition
    labels_used: list[str]
    lacked: list[str]  # what the method could not do, in sentences


class CurvePoints(TypedDict):
    """Points of a precision-recall curve."""

    recall: list[float]
    precision: list[float]


class ReliabilityBinRecord(TypedDict):
    """Pairs of similar probability: the mean prediction, and the observed share of matches with its 95 % interval."""

    pairs: int
    predicted: float
    observed: float
    low: float
    high: float


class Reliability(TypedDict):
    """How well a method's probabilities are calibrated; without truth, no bins and None."""

    ece: float | None  # expected calibration error
    pairs: int
    bins: list[ReliabilityBinRecord]


class RuleCredit(TypedDict):
    """A rule, by its number, and its share of the changed pairs."""

    rule: int
    credit: float


class ResponsibleRules(TypedDict):
    """The rules responsible for the changes of an adaptive method, in its kept iteration."""

    iteration: int
    flipped: list[RuleCredit]
    fixed: list[RuleCredit]
    broken: list[RuleCredit]
    unexplained: int


class LabelChangeRecord(TypedDict):
    """One method compared with tradition; what needs the truth is None without it."""

    flipped: int
    fixed: int | None
    broken: int | None
    p_value: float | None
    f1_before: float | None
    f1_after: float | None
    f1_change_interval: tuple[float, float] | None
    rows: dict[str, list[int] | None]  # flipped, fixed, broken: some pairs of each, by row
    responsible: ResponsibleRules | None


class ReviewBudget(TypedDict):
    """Errors found by the number of pairs reviewed in the order of one ranking."""

    ranking: str
    labels_used: list[str]
    reviewed: list[int]
    found: list[float]
    needed: dict[str, int | None]  # share of the errors: reviews needed to find it


class Comparison(TypedDict):
    """All of comparison.json, by method where it is about methods."""

    methods: dict[str, MethodScores]
    curves: dict[str, CurvePoints]
    reliability: dict[str, Reliability]
    changes: dict[str, LabelChangeRecord]
    budgets: list[ReviewBudget]
