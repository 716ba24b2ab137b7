"""What a review of the next n pairs will find: expected errors by ranking, before; what was found, afterwards."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np
from scipy.stats import norm

from riskcore.audit.estimate.measures import LEVEL, measures
from riskcore.audit.estimate.result import Interval
from riskcore.errors import ConfigError

RISK, CONFIDENCE, RANDOM = "risk", "confidence", "random"


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
    draws: int = 500,
    seed: int = 0,
) -> tuple[ReviewPlan, ...]:
    """Errors expected in the next n reviews, and F1 after them: by risk, by each of the given rankings (scores, the
    highest first), and in random order.

    Intervals hold for calibrated risks and errors that are independent of each other: each label is wrong with the
    probability that its risk states. Errors of a ranking are a sum of such chances, nearly normal; those of F1 are
    drawn.
    """
    label, risk = np.asarray(label).astype(np.int8), np.asarray(risk, dtype=np.float64)
    if not 0 <= n <= len(risk):
        raise ConfigError(f"{n:,} pairs cannot be reviewed: there are {len(risk):,}.")
    generator = np.random.default_rng(seed)
    scores = {RISK: risk, **(rankings or {})}
    orders = {name: np.argsort(-np.asarray(one), kind="stable") for name, one in scores.items()}
    found = [_plan(name, order, label, risk, n, level, draws, generator) for name, order in orders.items()]
    order = generator.permutation(len(risk))
    plan = _plan(RANDOM, order, label, risk, n, level, draws, generator)
    share, size = n / max(1, len(risk)), len(risk)
    mean = share * float(risk.sum())  # over all orders, not only the one that F1 was drawn with
    rate = float(risk.mean()) if size else 0.0
    spread = np.sqrt(n * rate * (1 - rate))
    found.append(dataclasses.replace(plan, errors=_normal(mean, float(spread), n, level)))
    return tuple(found)


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


def _plan(
    name: str,
    order: np.ndarray,
    label: np.ndarray,
    risk: np.ndarray,
    n: int,
    level: float,
    draws: int,
    generator: np.random.Generator,
) -> ReviewPlan:
    first, rest = order[:n], order[n:]
    chance = risk[first]
    errors = _normal(float(chance.sum()), float(np.sqrt((chance * (1 - chance)).sum())), n, level)
    positive = label == 1
    kept = _sums(risk[first[positive[first]]], draws, generator)  # false positives that become non-matches
    added = _sums(risk[first[~positive[first]]], draws, generator)
    matches = positive.sum() - kept + added
    false_positives = _sums(risk[rest[positive[rest]]], draws, generator)
    false_negatives = _sums(risk[rest[~positive[rest]]], draws, generator)
    right = matches - false_positives
    f1 = 2 * right / np.maximum(matches + right + false_negatives, 1e-9)
    low, high = np.quantile(f1, [(1 - level) / 2, (1 + level) / 2])
    return ReviewPlan(name, n, errors, Interval(float(f1.mean()), float(low), float(high)))


def _sums(chance: np.ndarray, draws: int, generator: np.random.Generator) -> np.ndarray:
    """Draws of how many of these independent events happen, by the normal approximation with a Poisson's tail where few
    are expected."""
    mean, spread = float(chance.sum()), float(np.sqrt((chance * (1 - chance)).sum()))
    if mean < 20:
        return np.minimum(generator.poisson(mean, draws), len(chance))
    return np.clip(np.round(generator.normal(mean, spread, draws)), 0, len(chance))


def _normal(mean: float, spread: float, most: int, level: float) -> Interval:
    reach = float(norm.ppf((1 + level) / 2)) * spread
    return Interval(mean, max(0.0, mean - reach), min(float(most), mean + reach))
