"""Whether a probability of 0.8 is right eight times in ten, before and after fine-tuning.

Bins hold equal numbers of pairs rather than equal widths: most probabilities are near 0 and 1, and bins of equal width
would be nearly empty in between. Equal probabilities always share a bin, so the order of the pairs changes nothing.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from riskcore.evaluation.truth import EvaluationError, Interval, checked_probabilities, known_only, wilson_interval

BINS = 15


@dataclasses.dataclass(frozen=True)
class ReliabilityBin:
    """Pairs of similar probability: what was predicted for them, and the share of matches observed."""

    pairs: int
    low: float  # least probability in it
    high: float  # greatest
    predicted: float  # mean probability
    observed: float  # share of true matches

    @property
    def gap(self) -> float:
        """Above 0 where the probabilities are too high."""
        return self.predicted - self.observed

    def interval(self, level: float = 0.95) -> Interval:
        """Of the share of true matches."""
        ends = wilson_interval(round(self.observed * self.pairs), self.pairs, level)
        return (0.0, 1.0) if ends is None else ends


@dataclasses.dataclass(frozen=True)
class Calibration:
    """One set of probabilities against known truth; scores are None where no truth is known."""

    pairs: int
    ece: float | None  # expected calibration error: mean |gap|, weighted by pairs
    largest_gap: float | None
    brier: float | None  # mean squared distance of probability and truth
    bins: tuple[ReliabilityBin, ...]


@dataclasses.dataclass(frozen=True)
class CalibrationChange:
    """The same pairs before and after; lower is better."""

    before: Calibration
    after: Calibration

    @property
    def ece(self) -> float | None:
        return _difference(self.after.ece, self.before.ece)

    @property
    def brier(self) -> float | None:
        return _difference(self.after.brier, self.before.brier)


def reliability(truth: np.ndarray | None, probabilities: np.ndarray, bins: int = BINS) -> tuple[ReliabilityBin, ...]:
    """The reliability table: at most `bins` bins of about equal mass, lowest probabilities first."""
    true, probability = known_only(truth, checked_probabilities(probabilities))
    if bins < 1:
        raise EvaluationError("A reliability table needs at least one bin.")
    if not len(true):
        return ()
    order = np.argsort(probability, kind="stable")
    probability, true = probability[order], true[order].astype(np.float64)
    starts = _bin_starts(probability, bins)
    ends = np.append(starts[1:], len(true))
    pairs = ends - starts
    predicted, observed = np.add.reduceat(probability, starts) / pairs, np.add.reduceat(true, starts) / pairs
    columns = (pairs, probability[starts], probability[ends - 1], predicted, observed)
    return tuple(ReliabilityBin(*row) for row in zip(*(column.tolist() for column in columns), strict=True))


def measure_calibration(truth: np.ndarray | None, probabilities: np.ndarray, bins: int = BINS) -> Calibration:
    """Calibration error, Brier score and the table behind them."""
    table = reliability(truth, probabilities, bins)
    if not table:
        return Calibration(0, None, None, None, ())
    true, probability = known_only(truth, checked_probabilities(probabilities))
    gaps = np.abs([part.gap for part in table])
    mass = np.array([part.pairs for part in table]) / len(true)
    brier = float(np.mean(np.square(probability - true)))
    return Calibration(len(true), float(gaps @ mass), float(gaps.max()), brier, table)


def calibration_change(
    truth: np.ndarray | None, before: np.ndarray, after: np.ndarray, bins: int = BINS
) -> CalibrationChange:
    """Calibration of two sets of probabilities for the same pairs."""
    return CalibrationChange(measure_calibration(truth, before, bins), measure_calibration(truth, after, bins))


def _bin_starts(ordered: np.ndarray, bins: int) -> np.ndarray:
    """Where each bin starts: cuts at equal counts, each moved back to the first of a run of equal probabilities."""
    cuts = np.arange(bins) * len(ordered) // bins
    return np.unique(np.searchsorted(ordered, ordered[cuts]))


def _difference(after: float | None, before: float | None) -> float | None:
    return None if after is None or before is None else after - before
