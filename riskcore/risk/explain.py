"""Why a pair has the risk it has: what each fired rule and the matcher add to its mean and variance, how far
the risk would fall without them.

Shares are parts of a sum, so they add up to what is shown; `rounded` keeps that true after rounding.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np
from scipy import sparse

from riskcore.risk import scoring
from riskcore.risk.model import RiskModel, RiskScores
from riskcore.risk.value_at_risk import risk_of, values_at_risk

MATCHER = -1  # the matcher's place among the columns of the rules


@dataclasses.dataclass(frozen=True)
class Contribution:
    """What one fired rule, or the matcher, adds to a pair's risk."""

    rule: str | None  # None is the matcher
    weight: float
    mean: float
    deviation: float
    mu_share: float  # a pair's shares sum to its mu ...
    variance_share: float  # ... and to its sigma squared
    risk_without: float  # NaN where nothing else has a weight
    drop: float  # how far the risk falls without it; negative where it rises


@dataclasses.dataclass(frozen=True)
class Explanation:
    """One pair: its figures and its contributions, those that raise the risk most first."""

    probability: float
    label: int
    mu: float
    sigma: float
    risk: float
    contributions: tuple[Contribution, ...]

    @property
    def variance(self) -> float:
        return math.fsum(one.variance_share for one in self.contributions)


@dataclasses.dataclass(frozen=True, eq=False)
class Explanations:
    """Many pairs, as columns: one entry per fired rule and one per matcher, grouped by pair in the order asked."""

    model: RiskModel
    scores: RiskScores
    pair: np.ndarray  # position among the pairs asked about
    column: np.ndarray  # the rule's, or MATCHER
    weight: np.ndarray
    mean: np.ndarray
    deviation: np.ndarray
    mu_share: np.ndarray
    variance_share: np.ndarray
    risk_without: np.ndarray

    def __len__(self) -> int:
        return len(self.scores)

    @property
    def drop(self) -> np.ndarray:
        return self.scores.risk[self.pair] - self.risk_without

    def of(self, pair: int) -> Explanation:
        """The explanation of one of the pairs asked about."""
        low, high = np.searchsorted(self.pair, [pair, pair + 1])
        contributions = [self._contribution(entry, float(self.scores.risk[pair])) for entry in range(low, high)]
        contributions.sort(key=lambda one: -math.inf if math.isnan(one.drop) else -one.drop)
        mu = math.fsum(one.mu_share for one in contributions)
        sigma = math.sqrt(math.fsum(one.variance_share for one in contributions))
        of_pair = self.scores
        return Explanation(
            float(of_pair.probability[pair]),
            int(of_pair.label[pair]),
            mu,
            sigma,
            float(of_pair.risk[pair]),
            tuple(contributions),
        )

    def _contribution(self, entry: int, risk: float) -> Contribution:
        column, without = int(self.column[entry]), float(self.risk_without[entry])
        return Contribution(
            rule=None if column == MATCHER else self.model.rules[column],
            weight=float(self.weight[entry]),
            mean=float(self.mean[entry]),
            deviation=float(self.deviation[entry]),
            mu_share=float(self.mu_share[entry]),
            variance_share=float(self.variance_share[entry]),
            risk_without=without,
            drop=risk - without,
        )


def explain_pairs(
    model: RiskModel, probabilities: np.ndarray, fired: sparse.sparray, labels: np.ndarray | None = None
) -> Explanations:
    """Explain all these pairs; pass the rows you want explained (`fired[rows]`), not a whole workload."""
    scores = model.score(probabilities, fired, labels)
    probability, count = scores.probability, len(scores)
    matrix = scoring.checked_firing(fired, count, len(model.rules))
    # Each pair's entries: the matcher first, then its rules in column order.
    pair = np.concatenate([np.arange(count), np.repeat(np.arange(count), np.diff(matrix.indptr))])
    column = np.concatenate([np.full(count, MATCHER), matrix.indices.astype(np.int64)])
    terms = np.concatenate([scoring.matcher_terms(model, probability), scoring.rule_terms(model)[matrix.indices]])
    mean = np.concatenate([probability, model.mean[matrix.indices]])
    deviation = np.concatenate([model.matcher_deviation(probability), model.deviation[matrix.indices]])
    order = np.argsort(pair, kind="stable")
    pair, column, terms, mean, deviation = (values[order] for values in (pair, column, terms, mean, deviation))
    totals = np.add.reduceat(terms, np.flatnonzero(column == MATCHER), axis=0) if count else np.empty((0, 3))
    total = totals[pair]
    return Explanations(
        model=model,
        scores=scores,
        pair=pair,
        column=column,
        weight=terms[:, 0],
        mean=mean,
        deviation=deviation,
        mu_share=terms[:, 1] / total[:, 0],
        variance_share=terms[:, 2] / np.square(total[:, 0]),
        risk_without=_risk_without(model, terms, total, scores.label[pair]),
    )


def explain_pair(model: RiskModel, probability: float, rules: Sequence[str], label: int | None = None) -> Explanation:
    """Explain one pair from the texts of the rules that fire on it."""
    columns = model.columns(rules)
    pointers = np.array([0, len(columns)])
    fired = sparse.csr_array((np.ones(len(columns)), np.sort(columns), pointers), shape=(1, len(model.rules)))
    return explain_pairs(model, np.array([probability]), fired, None if label is None else np.array([label])).of(0)


def rounded(shares: Sequence[float], decimals: int) -> tuple[float, ...]:
    """Shares rounded so that they still sum to the rounded total (largest remainders are rounded up)."""
    unit = 10**decimals
    exact = [share * unit for share in shares]
    whole = [math.floor(value) for value in exact]
    missing = round(math.fsum(exact)) - sum(whole)
    by_remainder = sorted(range(len(exact)), key=lambda i: (whole[i] - exact[i], i))
    for i in by_remainder[:missing]:
        whole[i] += 1
    return tuple(value / unit for value in whole)


def risk_from_sums(model: RiskModel, sums: np.ndarray, label: np.ndarray | int) -> np.ndarray:
    """Risk from total weight, weighted mean and weighted variance (last axis)."""
    mu, sigma = scoring.combine(sums)
    return risk_of(label, *values_at_risk(mu, sigma, model.confidence))


def _risk_without(model: RiskModel, terms: np.ndarray, total: np.ndarray, label: np.ndarray) -> np.ndarray:
    """The risk without one contribution; NaN where it is the only one with a weight."""
    rest = total - terms
    alone = rest[:, 0] <= 1e-12 * total[:, 0]
    rest[alone] = total[alone]
    return np.where(alone, np.nan, risk_from_sums(model, rest, label))
