"""From the counts of an audit to an `Estimate`."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from riskcore.audit.estimate.measures import LEVEL, MEASURES, measures
from riskcore.audit.estimate.model import DRAWS, AuditModel
from riskcore.audit.estimate.result import Estimate, Interval, StratumCounts
from riskcore.audit.estimate.strata import MATCHES, Strata
from riskcore.errors import ConfigError

_POSTERIOR = 7301  # the stream of random numbers behind intervals, beside the seed


def estimate(strata: Sequence[StratumCounts], seed: int = 0, level: float = LEVEL, draws: int = DRAWS) -> Estimate:
    """Precision, recall and F1 of the audited labels with intervals.

    Unsure pairs are counted either way: the low ends are those of an audit in which all of them are errors, the high
    ends those of one in which none is. The value leaves them out.
    """
    check_counts(strata)
    unsure = sum(one.unsure for one in strata)
    middle = error_draws(strata, seed, draws)
    worst = error_draws([_decided(one, wrong=True) for one in strata], seed, draws) if unsure else middle
    best = error_draws([_decided(one, wrong=False) for one in strata], seed, draws) if unsure else middle
    matches = sum(one.pairs for one in strata if one.side == MATCHES)
    of = [measures(matches, *errors) for errors in (middle, worst, best)]
    tail = (1 - level) / 2
    found = {
        name: _interval(of[0][name], float(np.quantile(of[1][name], tail)), float(np.quantile(of[2][name], 1 - tail)))
        for name in MEASURES
    }
    ends = [
        _interval(middle[side], float(np.quantile(best[side], tail)), float(np.quantile(worst[side], 1 - tail)))
        for side in (0, 1)
    ]
    return Estimate(
        precision=found["precision"],
        recall=found["recall"],
        f1=found["f1"],
        false_positives=ends[0],
        false_negatives=ends[1],
        verdicts=sum(one.judged for one in strata if not one.known),
        unsure=unsure,
        unsure_bounds={name: (float(of[1][name].mean()), float(of[2][name].mean())) for name in MEASURES},
        strata=tuple(strata),
        level=level,
        known=sum(one.pairs for one in strata if one.known),
        seed=seed,
    )


def error_draws(strata: Sequence[StratumCounts], seed: int, draws: int = DRAWS) -> tuple[np.ndarray, np.ndarray]:
    """False positives and false negatives of all pairs, drawn from their posterior; the same for the same counts."""
    known = [sum(one.errors for one in strata if one.known and one.side == side) for side in (0, 1)]
    sampled = [one for one in strata if not one.known and one.pairs]
    if not sampled:
        return np.full(draws, known[1]), np.full(draws, known[0])
    model = AuditModel(strata_from(sampled))
    posterior = model.posterior(np.array([one.errors for one in sampled]), np.array([one.judged for one in sampled]))
    generator = np.random.default_rng([seed, _POSTERIOR])
    positives, negatives = posterior.error_draws(draws, generator)
    return positives[0] + known[1], negatives[0] + known[0]


def strata_from(counts: Sequence[StratumCounts]) -> Strata:
    """The strata without their pairs: enough for the model and for allocation."""
    return Strata(
        np.array([one.side for one in counts], dtype=np.int8),
        np.array([one.pairs for one in counts], dtype=np.int64),
        np.array([one.risk for one in counts], dtype=np.float64),
        np.empty(0, dtype=np.int64),
    )


def check_counts(strata: Sequence[StratumCounts]) -> None:
    """Refuse counts that cannot be."""
    for number, one in enumerate(strata):
        if not 0 <= one.errors <= one.judged or one.judged + one.unsure > one.pairs:
            raise ConfigError(
                f"Stratum {number} has {one.errors} errors, {one.judged} verdicts and {one.unsure} unsure among "
                f"{one.pairs} pairs; errors cannot exceed verdicts, nor verdicts pairs."
            )
        if one.known and one.judged < one.pairs:
            raise ConfigError(f"Stratum {number} is said to be known, but only {one.judged} of {one.pairs} are judged.")


def _decided(one: StratumCounts, wrong: bool) -> StratumCounts:
    """The stratum with its unsure pairs decided."""
    errors = one.errors + (one.unsure if wrong else 0)
    return dataclasses.replace(one, judged=one.judged + one.unsure, errors=errors, unsure=0)


def _interval(values: np.ndarray, low: float, high: float) -> Interval:
    value = float(values.mean())
    return Interval(value, min(low, value), max(high, value))
