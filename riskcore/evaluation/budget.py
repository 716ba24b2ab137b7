"""What a review finds: errors by the number of pairs reviewed, for each ranking, and F1 after correcting them.

Ties leave the order undefined; figures are then the mean over all orders of the tied pairs, and F1 is that of the mean
confusion matrix. Pairs whose truth is unknown are left out, since errors among them cannot be counted.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from riskcore.evaluation.scores import PLOT_POINTS, f1_of, thinned
from riskcore.evaluation.truth import checked_labels, known_only, of_length
from riskcore.risk.baselines import Ranking
from riskcore.risk.ranking_quality import errors_found

BUDGETS = (100, 500, 1000)
SHARES = (0.5, 0.8, 0.9, 0.95, 1.0)


@dataclasses.dataclass(frozen=True, eq=False)
class BudgetCurve:
    """One ranking as a review queue. Figures that need truth, or at least one error, are None without it."""

    name: str
    labels_used: tuple[str, ...]  # by the ranking; counting what it found needs the target's
    pairs: int  # of known truth
    errors: int | None  # wrong labels among them
    reviewed: np.ndarray  # points to plot: pairs reviewed ...
    found: np.ndarray  # ... errors found ...
    f1: np.ndarray  # ... and F1 once those are corrected, NaN where undefined
    area: float | None  # under share found by share reviewed: 0.5 is a random queue
    best_area: float | None  # of a queue with all errors first
    at: dict[int, float | None]  # errors found by budget; None where there are fewer pairs
    needed: dict[float, int | None]  # reviews by share of the errors found


def budget_curve(
    ranking: Ranking,
    truth: np.ndarray | None,
    labels: np.ndarray,
    budgets: Sequence[int] = BUDGETS,
    shares: Sequence[float] = SHARES,
    points: int = PLOT_POINTS,
) -> BudgetCurve:
    """The review queue of one ranking, for the labels that were up for review."""
    true, given, scores = _queue(ranking.scores, truth, labels)
    found = errors_found(scores, true != given)
    pairs, errors = len(true), float(found[-1])
    kept = np.union1d(thinned(len(found), points), [k for k in budgets if 0 <= k <= pairs]).astype(np.int64)
    if not pairs:
        kept = kept[:0]
    return BudgetCurve(
        name=ranking.name,
        labels_used=ranking.labels_used,
        pairs=pairs,
        errors=round(errors) if pairs else None,
        reviewed=kept,
        found=found[kept],
        f1=_corrected_f1(scores, true, given)[kept],
        area=_area(found),
        best_area=1 - errors / (2 * pairs) if errors else None,
        at={int(k): float(found[k]) if pairs and 0 <= k <= pairs else None for k in budgets},
        needed={share: _reviews(found, share) for share in shares},
    )


def budget_curves(
    rankings: Sequence[Ranking],
    truth: np.ndarray | None,
    labels: np.ndarray,
    budgets: Sequence[int] = BUDGETS,
    shares: Sequence[float] = SHARES,
    points: int = PLOT_POINTS,
) -> tuple[BudgetCurve, ...]:
    """Several rankings of the same labels, in the order given."""
    return tuple(budget_curve(ranking, truth, labels, budgets, shares, points) for ranking in rankings)


def _queue(
    scores: np.ndarray, truth: np.ndarray | None, labels: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Truth, label and score of the pairs of known truth."""
    given = checked_labels(labels)
    values = of_length(np.asarray(scores, dtype=np.float64), len(given), "scores")
    true, given, values = known_only(truth, given, values)
    return true, given, values


def _corrected_f1(scores: np.ndarray, true: np.ndarray, given: np.ndarray) -> np.ndarray:
    """F1 after correcting the first r pairs, for r from 0 to all of them."""
    added, dropped = errors_found(scores, true & ~given), errors_found(scores, ~true & given)
    tp = (true & given).sum() + added
    return f1_of(tp, dropped[-1] - dropped, added[-1] - added)


def _area(found: np.ndarray) -> float | None:
    if len(found) < 2 or found[-1] <= 0:
        return None
    share = found / found[-1]
    return float((share[1:] + share[:-1]).mean() / 2)


def _reviews(found: np.ndarray, share: float) -> int | None:
    """The least r at which that share is found; sums over ties may fall an ulp short of a whole error."""
    if found[-1] <= 0:
        return None
    return int(np.searchsorted(found, min(share, 1.0) * found[-1] - 1e-9))
