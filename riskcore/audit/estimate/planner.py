"""What a review of the next n pairs will find: expected errors by ranking, before; what was found, afterwards."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from riskcore.audit.estimate.measures import LEVEL, measures
from riskcore.audit.estimate.recalibration import Lines, as_stated, log_odds
from riskcore.audit.estimate.result import Interval
from riskcore.errors import ConfigError

RISK, CONFIDENCE, RANDOM = "risk", "confidence", "random"
DRAWS = 1_000
_BINS = 512  # of log-odds, in which the errors among all pairs are added up
_MOST_TRIALS = 10**9  # beyond it, a binomial distribution is Poisson's
SIDES = (1, 0)  # labelled matches first


@dataclasses.dataclass(frozen=True)
class ReviewPlan:
    """What reviewing the first pairs of a ranking is worth."""

    ranking: str
    reviewed: int
    errors: Interval  # expected among the reviewed pairs
    f1: Interval  # once these are corrected


@dataclasses.dataclass(frozen=True)
class ReviewOutcome:
    """What reviewing them did find."""

    ranking: str
    reviewed: int
    errors: int
    f1: float


def expected_errors(
    label: np.ndarray,
    risk: np.ndarray,
    n: int,
    rankings: Mapping[str, np.ndarray] | None = None,
    level: float = LEVEL,
    draws: int = DRAWS,
    seed: int = 0,
) -> tuple[ReviewPlan, ...]:
    """Errors expected in the next n reviews, and F1 after them: by risk, by each of the given rankings (scores, the
    highest first), and in random order.

    Intervals hold for calibrated risks and errors that are independent of each other: each label is wrong with the
    probability that its risk states. `review_curve` allows for a risk that is off.
    """
    return review_curve(label, risk, [n], rankings, as_stated(draws), level=level, seed=seed)


def review_curve(
    label: np.ndarray,
    risk: np.ndarray,
    sizes: Sequence[int],
    rankings: Mapping[str, np.ndarray] | None = None,
    lines: Lines | None = None,
    *,
    reviewed_matches: int = 0,
    left: tuple[np.ndarray, np.ndarray] | None = None,
    level: float = LEVEL,
    seed: int = 0,
) -> tuple[ReviewPlan, ...]:
    """The same for several sizes, ranking by ranking. `lines` are draws of how the errors follow the risk.

    The pairs are those that are still to review; `reviewed_matches` of others are known to be matches. `left` are draws
    of the false positives and false negatives among these pairs, as an audit knows them; without it, they follow from
    the risk too.
    """
    label, risk = np.asarray(label).astype(np.int8), np.asarray(risk, dtype=np.float64)
    most = max(sizes, default=0)
    if not 0 <= min(sizes, default=0) <= most <= len(risk):
        raise ConfigError(f"{most:,} pairs cannot be reviewed: there are {len(risk):,}.")
    pairs = _Pairs(label, risk, as_stated(DRAWS) if lines is None else lines, reviewed_matches, left, level, seed)
    scores = {RISK: risk, **(rankings or {})}
    orders = {name: np.argsort(-np.asarray(one), kind="stable")[:most] for name, one in scores.items()}
    steps = sorted(set(sizes))
    found = [pairs.plan(name, *one) for name, order in orders.items() for one in pairs.along(order, steps)]
    return (*found, *(pairs.plan(RANDOM, n, pairs.share(n / max(1, len(risk)))) for n in steps))


def review_outcome(ranking: str, scores: np.ndarray, label: np.ndarray, truth: np.ndarray, n: int) -> ReviewOutcome:
    """What the first n pairs of a ranking held, once their truth is known, and F1 after correcting them."""
    first = np.argsort(-np.asarray(scores), kind="stable")[:n]
    corrected = label.copy()
    corrected[first] = truth[first]
    f1 = measures(
        float((corrected == 1).sum()),
        np.array(((corrected == 1) & (truth == 0)).sum()),
        np.array(((corrected == 0) & (truth == 1)).sum()),
    )["f1"]
    return ReviewOutcome(ranking, len(first), int((label[first] != truth[first]).sum()), float(f1))


def errors_among(risk: np.ndarray, lines: Lines, level: float = LEVEL, seed: int = 0) -> Interval:
    """How many labels with these risks are wrong."""
    chances = _chances(lines.rates(risk))
    return _whole(chances.counts(np.random.default_rng(seed)), level, float(chances.mean.mean()))


@dataclasses.dataclass(frozen=True, eq=False)
class _Chances:
    """Independent errors, by draw: the sum of their probabilities, and the sum of the squares."""

    mean: np.ndarray
    squares: np.ndarray

    def __add__(self, more: _Chances) -> _Chances:
        return _Chances(self.mean + more.mean, self.squares + more.squares)

    def counts(self, generator: np.random.Generator) -> np.ndarray:
        """How many happen: from the binomial distribution with the same mean and variance."""
        trials = np.ceil(np.maximum(self.mean**2 / np.maximum(self.squares, 1e-30), self.mean) - 1e-9)
        trials = np.clip(trials, 1, _MOST_TRIALS).astype(np.int64)
        return np.asarray(generator.binomial(trials, np.clip(self.mean / trials, 0, 1)))


class _Pairs:
    """The pairs to review, with draws of how many of them are wrong, by label."""

    def __init__(
        self,
        label: np.ndarray,
        risk: np.ndarray,
        lines: Lines,
        reviewed_matches: int,
        left: tuple[np.ndarray, np.ndarray] | None,
        level: float,
        seed: int,
    ) -> None:
        self.label, self.risk, self.lines = label, risk, lines
        self.matches = int((label == 1).sum()) + reviewed_matches
        self.level, self.seed = level, seed
        self.all = [self._sums(risk[label == side]) for side in SIDES]
        self.left = None
        if left is not None:  # as many draws as there are lines
            self.left = [np.resize(one, len(lines)) for one in left]

    def along(self, order: np.ndarray, sizes: Sequence[int]) -> Iterator[tuple[int, list[_Chances]]]:
        """The chances of the first pairs of an order, size by size."""
        reached, total = 0, [_Chances(np.zeros(len(self.lines)), np.zeros(len(self.lines)))] * 2
        for n in sizes:
            some = order[reached:n]
            total = [
                one + self._sums(self.risk[some[self.label[some] == side]])
                for side, one in zip(SIDES, total, strict=True)
            ]
            reached = n
            yield n, total

    def share(self, share: float) -> list[_Chances]:
        """Those of a share of all pairs, drawn at random: each error is among them with this probability."""
        return [_Chances(share * one.mean, share**2 * one.squares) for one in self.all]

    def plan(self, name: str, n: int, first: list[_Chances]) -> ReviewPlan:
        """`first` are the chances of the reviewed pairs. All plans share their random numbers, so that they differ by
        their rankings and not by chance."""
        generator = np.random.default_rng(self.seed)
        found = [one.counts(generator) for one in first]
        expected = float(np.sum([one.mean for one in first], axis=0).mean())
        errors = _whole(np.minimum(found[0] + found[1], n), self.level, expected)
        if self.left is None and name != RANDOM:
            rest = [self._rest(side, one).counts(generator) for side, one in enumerate(first)]
        else:  # how many there are is known otherwise; the risk says which share of them is found
            left = [one.counts(generator) for one in self.all] if self.left is None else self.left
            shares = [one.mean / np.maximum(every.mean, 1e-12) for one, every in zip(first, self.all, strict=True)]
            both = list(zip(left, shares, strict=True))
            found = [generator.binomial(many, np.clip(share, 0, 1)) for many, share in both]
            rest = [many - some for many, some in zip(left, found, strict=True)]
        matches = self.matches - found[0] + found[1]
        right = matches - rest[0]
        f1 = 2 * right / np.maximum(matches + right + rest[1], 1e-9)
        return ReviewPlan(name, n, errors, _interval(f1, self.level, float(f1.mean())))

    def _rest(self, side: int, first: _Chances) -> _Chances:
        every = self.all[side]
        return _Chances(np.maximum(every.mean - first.mean, 0), np.maximum(every.squares - first.squares, 0))

    def _sums(self, risk: np.ndarray) -> _Chances:
        """The sums of pairs; of many, by bins of their log-odds: a line has nearly one rate within a bin."""
        if len(risk) <= _BINS:
            return _chances(self.lines.rates(risk))
        odds = log_odds(risk)
        edges = np.linspace(odds.min(initial=0.0), odds.max(initial=0.0) + 1e-9, _BINS + 1)
        place = np.clip(np.searchsorted(edges, odds, side="right") - 1, 0, _BINS - 1)
        count = np.bincount(place, minlength=_BINS)
        mean = np.bincount(place, weights=risk, minlength=_BINS) / np.maximum(count, 1)
        used = count > 0
        rates = self.lines.rates(mean[used])
        return _Chances(rates @ count[used], rates**2 @ count[used])


def _chances(rates: np.ndarray) -> _Chances:
    return _Chances(rates.sum(1), (rates**2).sum(1))


def _interval(draws: np.ndarray, level: float, value: float) -> Interval:
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return Interval(value, min(float(low), value), max(float(high), value))


def _whole(counts: np.ndarray, level: float, value: float) -> Interval:
    """The interval of a count, in whole numbers."""
    low = np.quantile(counts, (1 - level) / 2, method="lower")
    high = np.quantile(counts, (1 + level) / 2, method="higher")
    return Interval(value, min(float(low), value), max(float(high), value))
