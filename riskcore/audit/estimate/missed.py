"""Recall with what blocking missed: matches that are no candidates are false negatives of the whole.

What was missed is known from a verified sample of pairs outside the candidates, or from capture and recapture
(`riskcore.blocking.missed`). A sample is one more side of the audit, with rings for strata; what capture and recapture
say is put together with the intervals of the audit.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from scipy.special import expit, logit
from scipy.stats import norm

from riskcore.audit.estimate.calibration import SideAudit
from riskcore.audit.estimate.estimating import decided_intervals
from riskcore.audit.estimate.measures import LEVEL
from riskcore.audit.estimate.posterior import SideModel
from riskcore.audit.estimate.result import Estimate, Interval
from riskcore.audit.estimate.strata import NON_MATCHES, Strata, cut, most_strata
from riskcore.blocking.missed import Estimate as Found
from riskcore.errors import ConfigError

RINGS = 6
NEAREST = 0.1  # share of matches expected of the pairs that are most alike
DRAWS = 4_000  # of the share that blocking found
_MISSED = 7304  # the stream of random numbers, beside the seed


@dataclasses.dataclass(frozen=True)
class Ring:
    """Pairs outside the candidates of similar likeness: how many there are, how many were drawn at random and judged,
    and how many of these are matches. `expected` is the share of matches that was thought likely."""

    pairs: int
    judged: int
    matches: int
    expected: float = 0.001


def ring_design(likeness: np.ndarray, rings: int = RINGS) -> Strata:
    """Rings of pairs outside the candidates by a cheap likeness: the most alike are few and come last.

    `risk` is the share of matches expected of each before any verdict; only its order matters much.
    """
    of_pair = cut(np.asarray(likeness, dtype=np.float64), most_strata(len(likeness), rings))
    count = int(of_pair.max(initial=0)) + 1
    expected = np.clip(NEAREST * 0.5 ** np.arange(count)[::-1], 1e-4, None)
    pairs = np.bincount(of_pair, minlength=count).astype(np.int64)
    return Strata(np.zeros(count, dtype=np.int8), pairs, expected, of_pair)


def ring_audit(rings: Sequence[Ring]) -> SideAudit | None:
    """Verified samples of every ring as a side of an audit; None if there is no ring.

    The rings take the place of strata, and what was expected of them that of risk; pairs outside all rings are taken
    for non-matches.
    """
    for number, ring in enumerate(rings):
        if not 0 <= ring.matches <= ring.judged <= ring.pairs:
            raise ConfigError(
                f"Ring {number} has {ring.matches} matches among {ring.judged} judged of {ring.pairs} pairs; matches "
                "cannot exceed judged pairs, nor these all pairs."
            )
    if not rings:
        return None
    model = SideModel.of(np.array([ring.expected for ring in rings]))
    pairs = np.array([ring.pairs for ring in rings])
    matches, judged = (np.array([[getattr(ring, name) for ring in rings]]) for name in ("matches", "judged"))
    return SideAudit(NON_MATCHES, model, pairs, matches, judged, outside=True)


def interval_draws(value: float, low: float, high: float, generator: np.random.Generator, draws: int) -> np.ndarray:
    """A share, drawn so that its middle and its 95 % interval are the given ones.

    Each half of the interval in log-odds is that of a normal distribution, so it need not be symmetric.
    """
    middle, bottom, top = (logit(np.clip(one, 1e-6, 1 - 1e-6)) for one in (value, low, high))
    normal = generator.standard_normal(draws) / norm.ppf((1 + LEVEL) / 2)
    return np.asarray(expit(middle + np.where(normal < 0, (middle - bottom) * normal, (top - middle) * normal)))


def with_missed(found: Estimate, missed: Found | Sequence[Ring], draws: int = DRAWS) -> Estimate:
    """The estimate with missed matches counted as false negatives. Precision stays as it is."""
    if isinstance(missed, Found):
        return _with_share(found, missed, draws)
    ends, _, _ = decided_intervals(found.strata, found.seed, found.level, outside=ring_audit(missed))
    return dataclasses.replace(found, recall=ends["recall"], f1=ends["f1"], missed=ends["missed"])


def _with_share(found: Estimate, missed: Found, draws: int) -> Estimate:
    """The estimate if blocking found this share of all matches: recall is recall among candidates times the share."""
    if missed.found is None or missed.low is None or missed.high is None:
        raise ConfigError(f"What blocking missed is not known. {missed.reason}")
    generator = np.random.default_rng([found.seed, _MISSED])
    share = interval_draws(missed.found, missed.low, missed.high, generator, draws)
    recall, f1 = (interval_draws(one.value, one.low, one.high, generator, draws) for one in (found.recall, found.f1))
    # 1 / F1 is the mean of 1 / precision and 1 / recall; only the latter changes.
    values = {"recall": recall * share, "f1": 1 / (1 / f1 + (1 / share - 1) / found.recall.value / 2)}
    right = found.matches - found.false_positives.value
    values["missed"] = (right + found.false_negatives.value) * (1 / share - 1)
    tails = ((1 - found.level) / 2, 0.5, (1 + found.level) / 2)
    ends = {name: np.quantile(one, tails) for name, one in values.items()}
    changed = {name: Interval(float(middle), float(low), float(high)) for name, (low, middle, high) in ends.items()}
    return dataclasses.replace(found, recall=changed["recall"], f1=changed["f1"], missed=changed["missed"])
