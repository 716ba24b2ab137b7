"""The theory behind risk-based fine-tuning, on one run: which errors it expects to be repaired, and its bound.

For a false negative j and a true positive i that the risk model ranks after it (that is, as less risky):
`dVaR = VaR-(j) - VaR+(i)` and `dC = E[mu_i - 2 sigma_i] - E[mu_j - 2 sigma_j]`, means over all true positives and
all false negatives. The more i have `dVaR > dC`, the surer the theory is that j's mean lies above 1/2 and its label
will be flipped. False positives among true negatives are the mirror image, `mu` read as `1 - mu`.

VaR here is the theory's: `VaR- = mu + 2 sigma`, `VaR+ = 1 - (mu - 2 sigma)`, neither truncated nor at the run's
confidence. All of it needs true labels: it explains a run afterwards and steers nothing.
"""

from __future__ import annotations

import dataclasses
from typing import Literal

import numpy as np

from riskcore.evaluation.truth import UNKNOWN, EvaluationError, checked_labels, checked_truth, number, of_length

Kind = Literal["false negatives", "false positives"]
DELTA = 0.05


@dataclasses.dataclass(frozen=True)
class PairTheory:
    """What the theory says of one mispredicted pair."""

    row: int
    kind: Kind
    mu: float
    ranked_after: int  # rightly labelled pairs of the same class that are less risky
    count: int  # of them, those with dVaR > dC
    delta_c: float | None
    bound: float | None  # lower for a false negative, upper for a false positive
    epsilon: float | None  # the margin that makes the bound best ...
    supporters: int  # ... and how many pairs have it
    vacuous: bool
    flipped: bool | None

    @property
    def text(self) -> str:
        """One sentence for the pair's card."""
        if self.vacuous or self.bound is None:
            return "The bound is vacuous for this pair."
        relation = "at least" if self.kind == "false negatives" else "at most"
        return f"With the theory's confidence, mu is {relation} {self.bound:.3f}."


@dataclasses.dataclass(frozen=True, eq=False)
class ErrorTheory:
    """All false negatives, or all false positives, as columns: one entry per mispredicted pair."""

    kind: Kind
    rows: np.ndarray
    mu: np.ndarray
    peers: int  # true positives, or true negatives
    delta_c: float | None
    ranked_after: np.ndarray
    count: np.ndarray
    bound: np.ndarray  # NaN where no peer is ranked after the pair
    epsilon: np.ndarray
    supporters: np.ndarray
    vacuous: np.ndarray
    flipped: np.ndarray | None

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def kept(self) -> float | None:
        """Share of the non-vacuous bounds that hold for the pair's mu; the theory guarantees 1 - delta."""
        told = ~self.vacuous
        above = self.mu >= self.bound if self.kind == "false negatives" else self.mu <= self.bound
        return float(above[told].mean()) if told.any() else None

    def of(self, position: int) -> PairTheory:
        return PairTheory(
            row=int(self.rows[position]),
            kind=self.kind,
            mu=float(self.mu[position]),
            ranked_after=int(self.ranked_after[position]),
            count=int(self.count[position]),
            delta_c=self.delta_c,
            bound=number(self.bound[position]),
            epsilon=number(self.epsilon[position]),
            supporters=int(self.supporters[position]),
            vacuous=bool(self.vacuous[position]),
            flipped=None if self.flipped is None else bool(self.flipped[position]),
        )


@dataclasses.dataclass(frozen=True, eq=False)
class Theory:
    """Both kinds of error of one iteration. None of it exists (`None`) where no truth is known."""

    false_negatives: ErrorTheory | None
    false_positives: ErrorTheory | None
    true_positives: int | None
    true_negatives: int | None
    true_positives_flipped: int | None
    true_negatives_flipped: int | None
    outside: float | None  # share of pairs whose mu +- 2 sigma leaves [0, 1], which the proof assumes never happens

    def of(self, row: int) -> PairTheory | None:
        """The pair in this row, if it was mispredicted."""
        for side in (self.false_negatives, self.false_positives):
            if side is not None and row in side.rows:
                return side.of(int(np.flatnonzero(side.rows == row)[0]))
        return None


def theory_of(
    truth: np.ndarray | None,
    labels: np.ndarray,
    mu: np.ndarray,
    sigma: np.ndarray,
    rules: int,
    after: np.ndarray | None = None,
    delta: float = DELTA,
) -> Theory:
    """The theory for one iteration.

    `labels`, `mu` and `sigma` are what the iteration started from, `after` the labels it ended with (left out, the
    flips are None), `rules` the number of rules of the risk model (the paper's m).
    """
    given = checked_labels(labels)
    pairs = len(given)
    mean, spread = _moments(mu, sigma, pairs)
    if not 0 < delta < 1 or rules < 0:
        raise EvaluationError(f"The bound needs 0 < delta < 1 and a number of rules, not {delta} and {rules}.")
    true = checked_truth(truth, pairs)
    if (true == UNKNOWN).all():
        return Theory(*[None] * 7)
    flipped = None if after is None else checked_labels(after, pairs) != given
    start = _Start(mean, spread, rules, delta, flipped)
    tn, fp, fn, tp = (np.flatnonzero((true == t) & (given == g)) for t in (0, 1) for g in (0, 1))
    leaves = (mean - 2 * spread < 0) | (mean + 2 * spread > 1)
    return Theory(
        false_negatives=_side("false negatives", fn, tp, start),
        false_positives=_side("false positives", fp, tn, start),
        true_positives=len(tp),
        true_negatives=len(tn),
        true_positives_flipped=None if flipped is None else int(flipped[tp].sum()),
        true_negatives_flipped=None if flipped is None else int(flipped[tn].sum()),
        outside=float(leaves[true != UNKNOWN].mean()),
    )


def deviation_term(supporters: np.ndarray, rules: int, delta: float = DELTA) -> np.ndarray:
    """`sqrt((m + 1) / 2 * ln(1 / (1 - (1 - delta^(1/n))^(1/2))))`, what the bound loses; infinite for n = 0.

    For large n it is about `sqrt((m + 1) / 2) * (ln(1 / delta) / n)^(1/4)`: it falls with the fourth root of n.
    """
    n = np.asarray(supporters, dtype=np.float64)
    miss = -np.expm1(np.log(delta) / np.where(n > 0, n, np.nan))  # 1 - delta^(1/n), exact for large n
    return np.where(n > 0, np.sqrt((rules + 1) / 2 * -np.log1p(-np.sqrt(miss))), np.inf)


def _moments(mu: np.ndarray, sigma: np.ndarray, pairs: int) -> tuple[np.ndarray, np.ndarray]:
    mean = of_length(np.asarray(mu, dtype=np.float64), pairs, "means")
    spread = of_length(np.asarray(sigma, dtype=np.float64), pairs, "deviations")
    if not (np.isfinite(mean).all() and np.isfinite(spread).all() and (spread >= 0).all()):
        raise EvaluationError("Means must be finite, and deviations finite and not negative.")
    return mean, spread


@dataclasses.dataclass(frozen=True, eq=False)
class _Start:
    """What an iteration starts from, and whether each pair was flipped by it."""

    mu: np.ndarray
    sigma: np.ndarray
    rules: int
    delta: float
    flipped: np.ndarray | None


def _side(kind: Kind, errors: np.ndarray, peers: np.ndarray, start: _Start) -> ErrorTheory:
    """One kind of error. False positives are solved as false negatives of `1 - mu` and mirrored back."""
    mirrored = kind == "false positives"
    mu, sigma, flipped = start.mu, start.sigma, start.flipped
    mean = 1 - mu if mirrored else mu
    risk = mean[errors] + 2 * sigma[errors]  # of the wrong label
    floor = mean[peers] - 2 * sigma[peers]  # 1 - risk of the right label
    delta_c = float(floor.mean() - (mean - 2 * sigma)[errors].mean()) if len(errors) and len(peers) else None
    margin = _margins(risk, floor, delta_c or 0.0, start.rules, start.delta)
    bound = 1 - margin.bound if mirrored else margin.bound
    return ErrorTheory(
        kind=kind,
        rows=errors,
        mu=mu[errors],
        peers=len(peers),
        delta_c=delta_c,
        ranked_after=margin.ranked_after,
        count=margin.count,
        bound=bound,
        epsilon=margin.epsilon,
        supporters=margin.supporters,
        vacuous=~(margin.bound > 0),  # NaN says nothing either
        flipped=None if flipped is None else flipped[errors],
    )


@dataclasses.dataclass(frozen=True, eq=False)
class _Margins:
    ranked_after: np.ndarray
    count: np.ndarray
    bound: np.ndarray
    epsilon: np.ndarray
    supporters: np.ndarray


def _margins(risk: np.ndarray, floor: np.ndarray, delta_c: float, rules: int, delta: float) -> _Margins:
    """Counts and the best bound of each error, from one sort of its peers.

    `dVaR - dC` is `risk_j + floor_i - 1 - dC`. The n peers that exceed some epsilon are the first n by floor, and
    the largest epsilon they allow is set by the n-th. So the best n maximises `floor_(n) / 2 - deviation_term(n)`
    among the peers ranked after j: a running maximum, the same for all j.
    """
    rising = np.sort(floor)
    ranked_after = len(rising) - np.searchsorted(rising, 1 - risk, side="right")
    count = len(rising) - np.searchsorted(rising, 1 - risk + max(delta_c, 0.0), side="right")
    falling = rising[::-1]
    value = falling / 2 - deviation_term(np.arange(1, len(falling) + 1), rules, delta)
    best = np.maximum.accumulate(value)
    place = np.maximum.accumulate(np.where(value == best, np.arange(len(value)), 0))
    bound, epsilon = np.full(len(risk), np.nan), np.full(len(risk), np.nan)
    supporters, some = np.zeros(len(risk), dtype=np.int64), ranked_after > 0
    at = place[ranked_after[some] - 1]
    bound[some] = 0.5 + (risk[some] - 1 - delta_c) / 2 + value[at]
    epsilon[some] = risk[some] - 1 - delta_c + falling[at]
    supporters[some] = at + 1
    return _Margins(ranked_after, count, bound, epsilon, supporters)
