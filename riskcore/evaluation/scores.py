"""How good labels and probabilities are against known truth: confusion, F1 with its interval, curves over thresholds.

F1 is `2 TP / (2 TP + FP + FN)`. A label is a match from the threshold on (`p >= threshold`).
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from riskcore.evaluation.truth import (
    Interval,
    checked_labels,
    checked_probabilities,
    known_only,
    number,
    wilson_interval,
)

PLOT_POINTS = 200  # more cannot be told apart on a screen


@dataclasses.dataclass(frozen=True)
class Confusion:
    """How many pairs of known truth are labelled right and wrong."""

    tp: int
    fp: int
    fn: int
    tn: int

    @property
    def pairs(self) -> int:
        return self.tp + self.fp + self.fn + self.tn

    @property
    def errors(self) -> int | None:
        return self.fp + self.fn if self.pairs else None

    @property
    def precision(self) -> float | None:
        """Share of the labelled matches that are true; None where nothing is labelled a match."""
        return _share(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> float | None:
        """Share of the true matches that are found; None where there is none."""
        return _share(self.tp, self.tp + self.fn)

    @property
    def f1(self) -> float | None:
        """None only where there is neither a true nor a labelled match."""
        return _share(2 * self.tp, 2 * self.tp + self.fp + self.fn)

    def precision_interval(self, level: float = 0.95) -> Interval | None:
        return wilson_interval(self.tp, self.tp + self.fp, level)

    def recall_interval(self, level: float = 0.95) -> Interval | None:
        return wilson_interval(self.tp, self.tp + self.fn, level)

    def f1_interval(self, level: float = 0.95) -> Interval | None:
        """F1 is 2 s / (1 + s), where s is the share of true positives among all pairs but the true negatives. It rises
        with s, so the ends of the interval of s give those of F1."""
        ends = wilson_interval(self.tp, self.tp + self.fp + self.fn, level)
        return None if ends is None else (2 * ends[0] / (1 + ends[0]), 2 * ends[1] / (1 + ends[1]))

    def as_dict(self) -> dict[str, Any]:
        return {**dataclasses.asdict(self), "precision": self.precision, "recall": self.recall, "f1": self.f1}


@dataclasses.dataclass(frozen=True, eq=False)
class ThresholdCurve:
    """Scores at rising thresholds; NaN where undefined."""

    threshold: np.ndarray
    precision: np.ndarray
    recall: np.ndarray
    f1: np.ndarray

    def __len__(self) -> int:
        return len(self.threshold)

    @property
    def best(self) -> int | None:
        """Position of the highest F1, of equals the one nearest 0.5. Chosen on these very labels: an upper bound."""
        if not len(self) or np.isnan(self.f1).all():
            return None
        equals = np.flatnonzero(self.f1 >= np.nanmax(self.f1) - 1e-12)
        return int(equals[np.argmin(np.abs(self.threshold[equals] - 0.5))])

    def take(self, positions: np.ndarray) -> ThresholdCurve:
        fields = (self.threshold, self.precision, self.recall, self.f1)
        return ThresholdCurve(*(values[positions] for values in fields))


def confusion(truth: np.ndarray | None, labels: np.ndarray) -> Confusion:
    """Counts over the pairs of known truth; all 0, and every score None, where there are none."""
    true, given = known_only(truth, checked_labels(labels))
    tn, fp, fn, tp = np.bincount(2 * true + given, minlength=4).tolist()
    return Confusion(tp, fp, fn, tn)


def f1_interval(truth: np.ndarray | None, labels: np.ndarray, level: float = 0.95) -> Interval | None:
    """Confidence interval of F1 for independent pairs; None where F1 is."""
    return confusion(truth, labels).f1_interval(level)


def precision_recall_points(
    truth: np.ndarray | None, probabilities: np.ndarray, points: int = PLOT_POINTS
) -> ThresholdCurve:
    """The precision-recall curve, one point per distinct probability, thinned for plotting.

    Ends and best F1 are kept, the others spaced evenly by recall. Empty without a known match.
    """
    true, probability = known_only(truth, checked_probabilities(probabilities))
    if not true.any():
        return _NO_CURVE
    curve = _scores_at(true, probability, np.unique(probability))
    if len(curve) <= points:
        return curve
    wanted = np.linspace(curve.recall[-1], curve.recall[0], max(points - 1, 2))
    kept = np.searchsorted(-curve.recall, -wanted)
    return curve.take(np.unique(np.append(kept, [0, len(curve) - 1, curve.best or 0])))


def average_precision(truth: np.ndarray | None, probabilities: np.ndarray) -> float | None:
    """Area under the precision-recall curve as a step function; None without a known match."""
    true, probability = known_only(truth, checked_probabilities(probabilities))
    if not true.any():
        return None
    curve = _scores_at(true, probability, np.unique(probability))
    gained = curve.recall - np.append(curve.recall[1:], 0.0)
    return float(gained @ curve.precision)


def score_method(truth: np.ndarray | None, probabilities: np.ndarray, threshold: float = 0.5) -> dict[str, Any]:
    """One JSON-ready row for a table of methods: counts, precision, recall and F1 with intervals, average precision."""
    labels = checked_probabilities(probabilities) >= threshold
    cells = confusion(truth, labels)
    row: dict[str, Any] = cells.as_dict() if cells.pairs else dict.fromkeys(Confusion(0, 0, 0, 0).as_dict())
    row["precision_interval"], row["recall_interval"] = cells.precision_interval(), cells.recall_interval()
    row["f1_interval"] = cells.f1_interval()
    row["average_precision"] = average_precision(truth, probabilities)
    row["labelled_pairs"] = cells.pairs
    return row


def f1_of(tp: np.ndarray, fp: np.ndarray, fn: np.ndarray) -> np.ndarray:
    """F1 of counts, entry by entry; NaN where there is neither a true nor a labelled match."""
    return _ratio(2 * np.asarray(tp, dtype=np.float64), 2 * np.asarray(tp, dtype=np.float64) + fp + fn)


def thinned(count: int, points: int = PLOT_POINTS) -> np.ndarray:
    """At most about `points` of the positions 0 to count - 1, both ends among them, denser at the beginning."""
    if count <= max(points, 2):
        return np.arange(count)
    even = np.linspace(0, count - 1, max(points // 2, 2))
    early = np.geomspace(1, count, max(points // 2, 2)) - 1
    return np.unique(np.rint(np.concatenate([even, early])).astype(np.int64))


_NO_CURVE = ThresholdCurve(*(np.empty(0) for _ in range(4)))


def _scores_at(true: np.ndarray, probability: np.ndarray, thresholds: np.ndarray) -> ThresholdCurve:
    """One sort per class, then a search per threshold."""
    of_match, of_non_match = np.sort(probability[true]), np.sort(probability[~true])
    tp = (len(of_match) - np.searchsorted(of_match, thresholds)).astype(np.float64)
    fp = (len(of_non_match) - np.searchsorted(of_non_match, thresholds)).astype(np.float64)
    fn = len(of_match) - tp
    return ThresholdCurve(thresholds, _ratio(tp, tp + fp), _ratio(tp, tp + fn), f1_of(tp, fp, fn))


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1), np.nan)


def _share(part: int, whole: int) -> float | None:
    return number(part / whole) if whole else None
