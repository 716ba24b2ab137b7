"""While an audit goes on: how many more verdicts, which pairs next, and when to stop."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from riskcore.audit.estimate.calibration import calibrated
from riskcore.audit.estimate.estimating import strata_from
from riskcore.audit.estimate.measures import LEVEL, MEASURES
from riskcore.audit.estimate.model import AuditModel
from riskcore.audit.estimate.result import Estimate, StratumCounts
from riskcore.audit.estimate.strata import MATCHES, SIDES, Strata
from riskcore.errors import ConfigError

HALF_WIDTH = 0.02
_DRAWS = 150  # enough for a width
_FIRST = 25  # verdicts; the smallest number worth telling
_NEXT, _METER = 7302, 7303  # streams of random numbers, beside the seed


def verdicts_needed(
    strata: Sequence[StratumCounts], half_width: float = HALF_WIDTH, measure: str = "f1", seed: int = 0
) -> int:
    """About how many more verdicts until the interval of a measure reaches this far to either side; 0 if it does.

    Supposes that the verdicts to come find what is expected now, and that none is unsure.
    """
    if measure not in MEASURES:
        raise ConfigError(f"There is no measure {measure!r}. Choose one of {', '.join(MEASURES)}.")
    sampled = [one for one in strata if not one.known and one.pairs]
    left = sum(one.pairs - one.judged for one in sampled)
    if not left or expected_half_width(strata, 0, measure, seed) <= half_width:
        return 0
    under, over = 0, min(_FIRST, left)
    while over < left and expected_half_width(strata, over, measure, seed) > half_width:
        under, over = over, min(2 * over, left)
    while over - under > max(5, under // 20):
        middle = (under + over) // 2
        narrow = expected_half_width(strata, middle, measure, seed) <= half_width
        under, over = (under, middle) if narrow else (middle, over)
    return over


def expected_half_width(strata: Sequence[StratumCounts], extra: int, measure: str = "f1", seed: int = 0) -> float:
    """How far the interval of a measure is expected to reach after `extra` more verdicts."""
    sampled = [one for one in strata if not one.known and one.pairs]
    if not sampled:
        return 0.0
    model = AuditModel(strata_from(sampled))
    errors = np.array([[one.errors for one in sampled]], dtype=np.float64)
    judged = np.array([[one.judged for one in sampled]], dtype=np.float64)
    if extra:
        more = model.next(errors, judged, judged, extra)
        rates = model.posterior(errors, judged).rates() if judged.any() else model.strata.risk[None]
        errors, judged = errors + more * rates, judged + more
    known = [sum(one.errors for one in strata if one.known and one.side == side) for side in SIDES]
    matches = sum(one.pairs for one in strata if one.side == MATCHES)
    generator = np.random.default_rng([seed, _METER])
    found = calibrated(matches, model.sides(errors, judged), _DRAWS, generator, LEVEL, (known[0], known[1]))
    _, low, high = found[measure]
    return float(high[0] - low[0]) / 2


def enough(found: Estimate, half_width: float = HALF_WIDTH, measure: str = "f1") -> bool:
    """Whether the audit may stop: the interval is as narrow as wanted. Ask after a batch, not after each verdict."""
    return bool(getattr(found, measure).half_width <= half_width)


def next_pairs(strata: Strata, counts: Sequence[StratumCounts], drawn: np.ndarray, n: int, seed: int) -> np.ndarray:
    """The pairs to judge next, those that narrow the interval of F1 most: rows in the order in which to show them.

    Within a stratum every pair that is not `drawn` is equally likely. The order is shuffled, so that any beginning of
    it is a sample of the same kind.
    """
    taken = np.bincount(strata.of_pair[drawn & (strata.of_pair >= 0)], minlength=len(strata))
    left = int((strata.pairs - taken).sum())
    if not 1 <= n <= left:
        raise ConfigError(f"{n:,} pairs cannot be drawn: {left:,} are left that no audit has drawn.")
    model = AuditModel(dataclasses.replace(strata, of_pair=np.empty(0, dtype=np.int64)))
    errors, judged = np.array([one.errors for one in counts]), np.array([one.judged for one in counts])
    takes = model.next(errors, judged, taken, n)[0]
    generator = np.random.default_rng([seed, _NEXT])
    rows = []
    for number, take in enumerate(takes):
        free = np.flatnonzero((strata.of_pair == number) & ~drawn)
        rows.append(generator.choice(free, size=int(take), replace=False))
    return generator.permutation(np.concatenate(rows))
