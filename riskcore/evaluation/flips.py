"""What changed between two sets of labels: pairs fixed and broken, whether chance could explain it, the change in F1.

A pair is flipped if its label changed, fixed if it was wrong and is right now, broken if it was right and is wrong
now. Flips need no truth; everything else is computed on the pairs whose truth is known.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy.special import bdtr

from riskcore.evaluation.scores import Confusion, f1_of
from riskcore.evaluation.truth import (
    UNKNOWN,
    Interval,
    checked_labels,
    checked_truth,
    known_only,
    percentile_interval,
)

DRAWS = 1000  # 25 lie outside each end of a 95 % interval
JEFFREYS = 0.5  # pairs added to each cell, so that a kind of flip that was not observed still counts as possible


@dataclasses.dataclass(frozen=True)
class FlipCounts:
    """Pairs by what they were before, and how many of each were flipped. All None where no truth is known."""

    tp: int | None
    tn: int | None
    fn: int | None
    fp: int | None
    tp_flipped: int | None  # wrongly
    tn_flipped: int | None  # wrongly
    fn_flipped: int | None  # rightly
    fp_flipped: int | None  # rightly

    @property
    def fixed(self) -> int | None:
        return None if self.fn_flipped is None or self.fp_flipped is None else self.fn_flipped + self.fp_flipped

    @property
    def broken(self) -> int | None:
        return None if self.tp_flipped is None or self.tn_flipped is None else self.tp_flipped + self.tn_flipped


@dataclasses.dataclass(frozen=True, eq=False)
class LabelChange:
    """From one set of labels to another."""

    flipped: np.ndarray  # row numbers of all pairs whose label changed
    fixed: np.ndarray | None  # row numbers; None where no truth is known
    broken: np.ndarray | None
    counts: FlipCounts
    p_value: float | None  # exact McNemar test of "as many fixed as broken", two-sided
    f1_before: float | None
    f1_after: float | None
    f1_change: float | None
    f1_change_interval: Interval | None  # 95 %, of both on the same pairs


def compare_labels(
    truth: np.ndarray | None, before: np.ndarray, after: np.ndarray, samples: int = DRAWS, seed: int = 0
) -> LabelChange:
    """All that changed between `before` and `after`, against the truth where it is known."""
    was, now = _both(before, after)
    true = checked_truth(truth, len(was))
    flipped, known = was != now, true != UNKNOWN
    any_known, right_now = bool(known.any()), now == true
    counts = flips_by_class(true, was, now)
    cells = _cells(true, was, now)
    first, second = _confusion(cells, axis=2), _confusion(cells, axis=1)
    return LabelChange(
        flipped=np.flatnonzero(flipped),
        fixed=np.flatnonzero(flipped & known & right_now) if any_known else None,
        broken=np.flatnonzero(flipped & known & ~right_now) if any_known else None,
        counts=counts,
        p_value=mcnemar(counts.fixed, counts.broken),
        f1_before=first.f1,
        f1_after=second.f1,
        f1_change=None if first.f1 is None or second.f1 is None else second.f1 - first.f1,
        f1_change_interval=_change_interval(cells, samples, seed),
    )


def flips_by_class(truth: np.ndarray | None, before: np.ndarray, after: np.ndarray) -> FlipCounts:
    """True and false positives and negatives of `before`, and how many of each were flipped."""
    cells = _cells(truth, *_both(before, after))
    if not cells.sum():
        return FlipCounts(*[None] * 8)
    kinds = {"tp": (1, 1), "tn": (0, 0), "fn": (1, 0), "fp": (0, 1)}
    totals = {kind: int(cells[true, was].sum()) for kind, (true, was) in kinds.items()}
    flipped = {f"{kind}_flipped": int(cells[true, was, 1 - was]) for kind, (true, was) in kinds.items()}
    return FlipCounts(**totals, **flipped)


def mcnemar(fixed: int | None, broken: int | None) -> float | None:
    """Two-sided p-value of the exact McNemar test: the probability of a split at least this uneven if fixing and
    breaking a pair were equally likely; 1 where nothing changed."""
    if fixed is None or broken is None:
        return None
    return float(min(1.0, 2.0 * bdtr(min(fixed, broken), fixed + broken, 0.5)))


def f1_change_interval(
    truth: np.ndarray | None,
    before: np.ndarray,
    after: np.ndarray,
    samples: int = DRAWS,
    seed: int = 0,
    level: float = 0.95,
) -> Interval | None:
    """Interval of the F1 of `after` minus that of `before`, both on the same pairs; None where one of them is.

    Both F1 depend only on how often each combination of truth and the two labels occurs. Drawn from the posterior of
    these eight shares under Jeffreys' prior. Equal labels have an interval too: few pairs cannot show that two methods
    always agree.
    """
    return _change_interval(_cells(truth, *_both(before, after)), samples, seed, level)


def _both(before: np.ndarray, after: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    was = checked_labels(before)
    return was, checked_labels(after, len(was))


def _cells(truth: np.ndarray | None, was: np.ndarray, now: np.ndarray) -> np.ndarray:
    """Pairs of known truth by truth, label before, label after: 2 x 2 x 2."""
    true, was, now = known_only(truth, was, now)
    return np.bincount(4 * true + 2 * was + now, minlength=8).reshape(2, 2, 2)


def _confusion(cells: np.ndarray, axis: int) -> Confusion:
    """Of the labels that are left after summing over the other's axis."""
    (tn, fp), (fn, tp) = cells.sum(axis=axis).tolist()
    return Confusion(tp, fp, fn, tn)


def _change_interval(cells: np.ndarray, samples: int, seed: int, level: float = 0.95) -> Interval | None:
    if _confusion(cells, axis=2).f1 is None or _confusion(cells, axis=1).f1 is None:
        return None
    chance = np.random.default_rng(seed)
    drawn = chance.standard_gamma(cells + JEFFREYS, size=(samples, 2, 2, 2))  # in proportion to the shares
    non_matches, matches = drawn[:, 0], drawn[:, 1]
    before = f1_of(matches[:, 1].sum(1), non_matches[:, 1].sum(1), matches[:, 0].sum(1))
    after = f1_of(matches[:, :, 1].sum(1), non_matches[:, :, 1].sum(1), matches[:, :, 0].sum(1))
    return percentile_interval(after - before, level)
