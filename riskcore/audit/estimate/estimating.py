"""From the counts of an audit to an `Estimate`."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from riskcore.audit.estimate.calibration import DRAWS, SideAudit, calibrated
from riskcore.audit.estimate.measures import LEVEL, MEASURES
from riskcore.audit.estimate.model import AuditModel
from riskcore.audit.estimate.posterior import side_posterior
from riskcore.audit.estimate.result import Estimate, Interval, StratumCounts
from riskcore.audit.estimate.strata import MATCHES, NON_MATCHES, SIDES, Strata
from riskcore.errors import ConfigError

_CHECK, _DRAWN = 7301, 7305  # streams of random numbers behind intervals and draws, beside the seed


def estimate(strata: Sequence[StratumCounts], seed: int = 0, level: float = LEVEL, draws: int = DRAWS) -> Estimate:
    """Precision, recall and F1 of the audited labels with intervals.

    Unsure pairs are counted either way: the low ends are those of an audit in which all of them are errors, the high
    ends those of one in which none is. The value leaves them out.
    """
    check_counts(strata)
    unsure = sum(one.unsure for one in strata)
    found, worst, best = decided_intervals(strata, seed, level, draws)
    return Estimate(
        precision=found["precision"],
        recall=found["recall"],
        f1=found["f1"],
        false_positives=found["false_positives"],
        false_negatives=found["false_negatives"],
        verdicts=sum(one.judged for one in strata if not one.known),
        unsure=unsure,
        unsure_bounds={name: (worst[name].value, best[name].value) for name in MEASURES},
        strata=tuple(strata),
        level=level,
        known=sum(one.pairs for one in strata if one.known),
        seed=seed,
    )


def decided_intervals(
    strata: Sequence[StratumCounts], seed: int, level: float, draws: int = DRAWS, outside: SideAudit | None = None
) -> tuple[dict[str, Interval], dict[str, Interval], dict[str, Interval]]:
    """The intervals; and those if all unsure pairs are errors, and if none is, which the ends of the first are from."""
    middle = _intervals(strata, seed, level, draws, outside)
    if not any(one.unsure for one in strata):
        return middle, middle, middle
    worst, best = (
        _intervals([_decided(one, wrong) for one in strata], seed, level, draws, outside) for wrong in (True, False)
    )
    found = {}
    for name, one in middle.items():
        low, high = min(worst[name].low, best[name].low), max(worst[name].high, best[name].high)
        found[name] = Interval(one.value, min(low, one.value), max(high, one.value))
    return found, worst, best


def _intervals(
    strata: Sequence[StratumCounts], seed: int, level: float, draws: int, outside: SideAudit | None
) -> dict[str, Interval]:
    """The intervals of counts without unsure pairs; the same for the same counts."""
    known = [sum(one.errors for one in strata if one.known and one.side == side) for side in SIDES]
    matches = sum(one.pairs for one in strata if one.side == MATCHES)
    sampled = [one for one in strata if not one.known and one.pairs]
    sides = [] if outside is None else [outside]
    if sampled:
        model = AuditModel(strata_from(sampled))
        errors, judged = (np.array([[getattr(one, name) for one in sampled]]) for name in ("errors", "judged"))
        sides = [*model.sides(errors, judged), *sides]
    generator = np.random.default_rng([seed, _CHECK])
    ends = calibrated(matches, sides, draws, generator, level, (known[0], known[1]))
    found = {name: tuple(float(one[0]) for one in figure) for name, figure in ends.items()}
    return {name: Interval(value, min(low, value), max(high, value)) for name, (value, low, high) in found.items()}


def error_draws(strata: Sequence[StratumCounts], seed: int, draws: int) -> tuple[np.ndarray, np.ndarray]:
    """False positives and false negatives of all pairs, drawn from their posterior; the same for the same counts."""
    found = {side: np.full(draws, sum(one.errors for one in strata if one.side == side)) for side in SIDES}
    sampled = [one for one in strata if not one.known and one.pairs]
    if sampled:
        generator = np.random.default_rng([seed, _DRAWN])
        errors, judged = (np.array([[getattr(one, name) for one in sampled]]) for name in ("errors", "judged"))
        for side in AuditModel(strata_from(sampled)).sides(errors, judged):
            left = np.rint(side.pairs - side.judged).astype(np.int64)
            more = side_posterior(side.model, side.errors, side.judged).draws(left, draws, generator)
            found[side.side] = found[side.side] + more[0].sum(axis=1)
    return found[MATCHES], found[NON_MATCHES]


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
