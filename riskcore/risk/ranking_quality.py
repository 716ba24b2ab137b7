"""How well a ranking finds wrong labels: AUROC with a bootstrap interval, precision at k, errors per review.

In AUROC, ties count half; the other figures are the mean over all orders of the tied pairs.
What cannot be computed (no error among the pairs, or nothing but errors) is `None`, never 0.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from riskcore.config import RiskConfig
from riskcore.risk.baselines import Ranking
from riskcore.risk.scoring import RiskModelError

Interval = tuple[float, float]


@dataclasses.dataclass(frozen=True)
class Comparison:
    """One ranking against the truth and against the reference ranking (the first of those compared)."""

    name: str
    labels_used: tuple[str, ...]
    auroc: float | None
    interval: Interval | None  # 95 %
    lead: float | None  # the reference's AUROC minus this one's, on the same pairs
    lead_interval: Interval | None  # 95 %, both resampled together
    precision: dict[int, float]  # share of errors among the first k
    errors_found: dict[int, float]  # errors among the first k


def auroc(scores: np.ndarray, wrong: np.ndarray) -> float | None:
    """Probability that a wrong pair scores above a right one, ties counting half."""
    scores, wrong = np.asarray(scores, dtype=np.float64), np.asarray(wrong).astype(bool)
    if wrong.all() or not wrong.any():
        return None
    order = np.argsort(scores, kind="stable")
    of_wrong = wrong[order].astype(np.float64)
    return _ordered_pairs(of_wrong, 1 - of_wrong, _tie_starts(scores[order])) / float(wrong.sum() * (~wrong).sum())


def errors_found(scores: np.ndarray, wrong: np.ndarray) -> np.ndarray:
    """Expected number of errors among the first r pairs by score, for r from 0 to all of them."""
    scores, wrong = np.asarray(scores, dtype=np.float64), np.asarray(wrong).astype(np.float64)
    order = np.argsort(-scores, kind="stable")
    starts = _tie_starts(scores[order])
    if not len(starts):
        return np.zeros(1)
    sizes = np.diff(np.append(starts, len(scores)))
    rate = np.add.reduceat(wrong[order], starts) / sizes
    return np.concatenate([[0.0], np.cumsum(np.repeat(rate, sizes))])


def lead_interval(
    first: np.ndarray, second: np.ndarray, wrong: np.ndarray, config: RiskConfig | None = None, seed: int = 0
) -> Interval | None:
    """95 % paired bootstrap interval of how far the first ranking's AUROC is above the second's."""
    drawn = _bootstrap([np.asarray(first), np.asarray(second)], wrong, config or RiskConfig(), seed)
    return _interval(drawn[:, 0] - drawn[:, 1])


def compare(
    rankings: Sequence[Ranking],
    wrong: np.ndarray,
    reviews: Sequence[int] = (100, 500, 1000),
    config: RiskConfig | None = None,
    seed: int = 0,
) -> tuple[Comparison, ...]:
    """All rankings on the same pairs and the same resamples; the first one is the reference."""
    wrong = np.asarray(wrong).astype(bool)
    uneven = [ranking.name for ranking in rankings if len(ranking.scores) != len(wrong)]
    if uneven:
        raise RiskModelError(f"These rankings do not score the {len(wrong)} pairs compared: {', '.join(uneven)}.")
    drawn = _bootstrap([ranking.scores for ranking in rankings], wrong, config or RiskConfig(), seed)
    areas = [auroc(ranking.scores, wrong) for ranking in rankings]
    rows = []
    for place, ranking in enumerate(rankings):
        area, reference = areas[place], areas[0]
        found = errors_found(ranking.scores, wrong)
        within = [count for count in reviews if 0 < count < len(found)]
        rows.append(
            Comparison(
                name=ranking.name,
                labels_used=ranking.labels_used,
                auroc=area,
                interval=_interval(drawn[:, place]),
                lead=None if area is None or reference is None else reference - area,
                lead_interval=_interval(drawn[:, 0] - drawn[:, place]),
                precision={count: float(found[count] / count) for count in within},
                errors_found={count: float(found[count]) for count in within},
            )
        )
    return tuple(rows)


def _tie_starts(ordered: np.ndarray) -> np.ndarray:
    """Where each run of equal values starts."""
    return np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])) if len(ordered) else np.empty(0, int)


def _bootstrap(scores: Sequence[np.ndarray], wrong: np.ndarray, config: RiskConfig, seed: int) -> np.ndarray:
    """AUROC of every ranking (a column) on every resample (a row); resamples of one kind only are left out.

    Each ranking is sorted once. A resample is then how often each pair was drawn, and its AUROC a weighted sum.
    """
    wrong = np.asarray(wrong).astype(bool)
    if wrong.all() or not wrong.any():
        return np.empty((0, len(scores)))
    chance = np.random.default_rng(seed)
    orders = [np.argsort(values, kind="stable") for values in scores]
    starts = [_tie_starts(values[order]) for values, order in zip(scores, orders, strict=True)]
    rows = []
    for _ in range(config.bootstrap_samples):
        drawn = np.bincount(chance.integers(len(wrong), size=len(wrong)), minlength=len(wrong)).astype(np.float64)
        of_wrong, of_right = drawn * wrong, drawn * ~wrong
        possible = of_wrong.sum() * of_right.sum()
        if possible:
            rows.append(
                [
                    _ordered_pairs(of_wrong[order], of_right[order], start) / possible
                    for order, start in zip(orders, starts, strict=True)
                ]
            )
    return np.array(rows).reshape(-1, len(scores))


def _ordered_pairs(of_wrong: np.ndarray, of_right: np.ndarray, starts: np.ndarray) -> float:
    """How many pairs of a wrong and a right one are in order, ties counting half."""
    above, level = np.add.reduceat(of_wrong, starts), np.add.reduceat(of_right, starts)
    return float(above @ (np.cumsum(level) - level / 2))


def _interval(drawn: np.ndarray) -> Interval | None:
    if not len(drawn):
        return None
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)
