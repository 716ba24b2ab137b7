"""Strata of an audit: pairs of one label and of similar risk, and how many of each the next verdicts go to.

False positives are found among labelled matches and false negatives among labelled non-matches, so each label has its
own strata. Within a label they are cut by the order of the risks: few pairs of high risk, many of low. A stratum whose
risk is said to be 0 is sampled all the same: see `prior_spread` and `LEAST`.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from riskcore.errors import ConfigError

NON_MATCHES, MATCHES = 0, 1  # sides: the labels
SIDES = (NON_MATCHES, MATCHES)
PER_SIDE = 8  # strata of a label
RATIO = 1.8  # of the sizes of neighbouring strata: those of high risk are small
SMALLEST = 10  # pairs of the riskiest stratum; a small side has fewer strata
DOUBT = 0.05  # chance that risk says nothing about a pair: its error rate is then the mean of its label
LEAST = 2  # pairs of every stratum, however sure the risk is


@dataclasses.dataclass(frozen=True, eq=False)
class Strata:
    """Strata by number: side, pairs and mean risk. `of_pair` is each pair's stratum, -1 for pairs that are left out."""

    side: np.ndarray  # int8
    pairs: np.ndarray  # int64
    risk: np.ndarray  # float64, the mean
    of_pair: np.ndarray  # int64

    def __len__(self) -> int:
        return len(self.side)

    @property
    def prior_spread(self) -> np.ndarray:
        """The standard deviation of one pair's error before any verdict, by the risk and by doubt in it."""
        mixed = self.risk.copy()
        for side in np.unique(self.side):
            here = self.side == side
            mean = float(self.risk[here] @ self.pairs[here]) / max(1, int(self.pairs[here].sum()))
            mixed[here] += DOUBT * (mean - mixed[here])
        return np.sqrt(mixed * (1 - mixed))


def audit_design(
    label: np.ndarray, risk: np.ndarray, left_out: np.ndarray | None = None, per_side: int = PER_SIDE
) -> Strata:
    """The strata of an audit of these labels. `left_out` marks pairs that are not audited, such as those with a label
    that training has used."""
    label, risk = np.asarray(label).astype(np.int8), np.asarray(risk, dtype=np.float64)
    if label.shape != risk.shape:
        raise ConfigError(f"There are {len(label):,} labels and {len(risk):,} risks; an audit needs one risk for each.")
    if ((risk < 0) | (risk > 1) | np.isnan(risk)).any():
        raise ConfigError("Risks must be probabilities from 0 to 1. Pass the calibrated risk of each label.")
    audited = np.ones(len(label), dtype=bool) if left_out is None else ~left_out
    of_pair = np.full(len(label), -1, dtype=np.int64)
    sides: list[int] = []
    for side in SIDES:
        members = np.flatnonzero(audited & (label == side))
        if not len(members):
            continue
        number = cut(risk[members], most_strata(len(members), per_side))
        of_pair[members] = len(sides) + number
        sides += [side] * (int(number.max()) + 1)
    return strata_of(np.array(sides, dtype=np.int8), of_pair, risk)


def most_strata(pairs: int, wanted: int) -> int:
    """How many strata a side of so many pairs has."""
    return next((n for n in range(wanted, 1, -1) if pairs >= SMALLEST * (RATIO**n - 1) / (RATIO - 1)), 1)


def strata_of(side: np.ndarray, of_pair: np.ndarray, risk: np.ndarray) -> Strata:
    """Given strata with their sizes and risks."""
    inside = of_pair >= 0
    pairs = np.bincount(of_pair[inside], minlength=len(side))
    total = np.bincount(of_pair[inside], weights=risk[inside], minlength=len(side))
    return Strata(side, pairs.astype(np.int64), total / np.maximum(pairs, 1), of_pair)


def cut(risk: np.ndarray, strata: int) -> np.ndarray:
    """The stratum of each pair, 0 with the least risk.

    Only the order of the risks counts: each stratum takes the same share of the pairs that those of higher risk have
    left. The strata are thus the same for any risk that ranks the pairs in the same way, however it is calibrated.
    """
    sizes = RATIO ** -np.arange(strata)
    ends = np.unique(np.round(np.cumsum(sizes) / sizes.sum() * len(risk)).astype(np.int64))
    number = np.empty(len(risk), dtype=np.int64)
    number[np.argsort(risk, kind="stable")] = np.searchsorted(ends[ends > 0], np.arange(len(risk)), side="right")
    return number


def allocate(pairs: np.ndarray, spread: np.ndarray, drawn: np.ndarray, extra: int, least: int = LEAST) -> np.ndarray:
    """How many more pairs each stratum gives so that the totals are as near Neyman's as the pairs drawn before allow.

    `spread` and `drawn` have a row for each audit; the result does too. Totals are in proportion to pairs times spread,
    at least `least`, at most all pairs, and never fewer than drawn.
    """
    spread, drawn = np.atleast_2d(spread), np.atleast_2d(drawn)
    total = np.minimum(drawn.sum(1) + extra, pairs.sum())
    low = np.maximum(drawn, np.minimum(pairs, min(least, extra // max(1, len(pairs)))))
    weight = np.maximum(pairs * spread, 1e-9)
    under, over = np.zeros(len(spread)), (pairs / weight).max(1)
    for _ in range(50):  # the factor at which the totals add up
        middle = (under + over) / 2
        many = np.clip(weight * middle[:, None], low, pairs).sum(1) > total
        under, over = np.where(many, under, middle), np.where(many, middle, over)
    wanted = np.clip(weight * over[:, None], low, pairs)
    whole = np.floor(wanted + 1e-6).astype(np.int64)
    rest = total - whole.sum(1)
    part = np.where(whole < pairs, wanted - whole, -1.0)
    rank = np.argsort(np.argsort(-part, axis=1, kind="stable"), axis=1)
    whole += ((rank < rest[:, None]) & (whole < pairs)).astype(np.int64)
    return np.asarray(whole - drawn)
