"""Recall with what blocking missed: matches that are no candidates are false negatives of the whole.

What was missed is known from a verified sample of pairs outside the candidates, or from capture and recapture
(`riskcore.blocking.missed`). Either gives a posterior for the number of missed matches, which is added to the false
negatives of the audit, draw by draw.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from scipy.special import expit, logit
from scipy.stats import norm

from riskcore.audit.estimate.estimating import error_draws
from riskcore.audit.estimate.measures import MEASURES, measures
from riskcore.audit.estimate.model import DRAWS
from riskcore.audit.estimate.posterior import SideModel, side_posterior
from riskcore.audit.estimate.result import Estimate, Interval
from riskcore.audit.estimate.strata import Strata, cut, most_strata
from riskcore.blocking.missed import Estimate as Found
from riskcore.errors import ConfigError

RINGS = 6
NEAREST = 0.1  # share of matches expected of the pairs that are most alike
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


def missed_draws(rings: Sequence[Ring], seed: int = 0, draws: int = DRAWS) -> np.ndarray:
    """Missed matches, drawn from their posterior, by verified samples of every ring.

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
        return np.zeros(draws, dtype=np.int64)
    model = SideModel.of(np.array([ring.expected for ring in rings]))
    found = np.array([[ring.matches for ring in rings]])
    judged = np.array([[ring.judged for ring in rings]])
    left = np.array([[ring.pairs for ring in rings]]) - judged
    more = side_posterior(model, found, judged).draws(left, draws, np.random.default_rng([seed, _MISSED]))
    return np.asarray(found.sum() + more[0])


def found_draws(found: Found, seed: int = 0, draws: int = DRAWS) -> np.ndarray:
    """The share of matches that blocking found, drawn so that its middle and its interval are the given ones.

    Each half of the interval in log-odds is that of a normal distribution, so it need not be symmetric.
    """
    if found.found is None or found.low is None or found.high is None:
        raise ConfigError(f"What blocking missed is not known. {found.reason}")
    middle, low, high = (logit(np.clip(one, 1e-6, 1 - 1e-6)) for one in (found.found, found.low, found.high))
    normal = np.random.default_rng([seed, _MISSED]).standard_normal(draws) / norm.ppf(0.975)
    return np.asarray(expit(middle + np.where(normal < 0, (middle - low) * normal, (high - middle) * normal)))


def with_missed(found: Estimate, missed: Found | Sequence[Ring], draws: int = DRAWS) -> Estimate:
    """The estimate with missed matches counted as false negatives. Precision stays as it is."""
    false_positives, false_negatives = error_draws(found.strata, found.seed, draws)
    right = found.matches - false_positives
    if isinstance(missed, Found):
        share = found_draws(missed, found.seed, draws)
        lost = (right + false_negatives) * (1 - share) / share
    else:
        lost = missed_draws(missed, found.seed, draws)
    values = measures(found.matches, false_positives, false_negatives + lost)
    tails = ((1 - found.level) / 2, (1 + found.level) / 2)
    changed: dict[str, Interval] = {}
    for name in MEASURES[1:]:
        low, high = (float(one) for one in np.quantile(values[name], tails))
        value, before = float(values[name].mean()), getattr(found, name)
        if found.unsure:  # what unsure pairs add to either end without missed matches, they add with them
            plain = np.quantile(measures(found.matches, false_positives, false_negatives)[name], tails)
            low, high = low - max(0.0, float(plain[0]) - before.low), high + max(0.0, before.high - float(plain[1]))
        changed[name] = Interval(value, min(low, value), max(high, value))
    low, high = (float(one) for one in np.quantile(lost, tails))
    total = Interval(float(lost.mean()), low, high)
    return dataclasses.replace(found, recall=changed["recall"], f1=changed["f1"], missed=total)
