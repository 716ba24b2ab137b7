"""Counterfactuals: the smallest changes that bring a pair's risk under a level (rules muted, another output of the
matcher), and the risk of the other label."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np

from riskcore.config import RiskConfig
from riskcore.risk import scoring
from riskcore.risk.explain import risk_from_sums
from riskcore.risk.model import RiskModel

_GRID = 2001  # matcher outputs tried on the label's side of 0.5, before the nearest is refined


@dataclasses.dataclass(frozen=True)
class Counterfactual:
    """The smallest change of each kind. `None` where no change of that kind suffices."""

    level: float
    risk: float  # as things are
    mute: tuple[str, ...] | None  # rules to mute; empty where the risk is low enough already
    mute_risk: float | None
    fewest: bool  # whether no smaller set does it, or only none was found
    probability: float | None  # the nearest output of the matcher that keeps the label
    probability_risk: float | None
    other_label_risk: float  # the risk of the opposite label


def smallest_changes(
    model: RiskModel,
    probability: float,
    rules: Sequence[str],
    level: float,
    label: int | None = None,
    config: RiskConfig | None = None,
) -> Counterfactual:
    """The smallest changes to one pair, on which `rules` fire, after which its risk is at most `level`."""
    config = config or RiskConfig()
    x = scoring.checked_probabilities(np.array([probability]))
    is_match = scoring.checked_labels(None if label is None else np.array([label]), x)[0]
    rules = tuple(dict.fromkeys(rules))
    rule_terms = scoring.rule_terms(model)[model.columns(rules)]
    total = rule_terms.sum(axis=0) + scoring.matcher_terms(model, x)[0]
    risk, other = (risk_from_sums(model, total, side).item() for side in (is_match, 1 - is_match))
    muted, mute_risk, fewest = _fewest_mutes(model, rule_terms, total, int(is_match), level, config)
    surer = _nearest_probability(model, float(x[0]), rule_terms.sum(axis=0), int(is_match), level)
    return Counterfactual(
        level=level,
        risk=risk,
        mute=None if muted is None else tuple(rules[i] for i in muted),
        mute_risk=mute_risk,
        fewest=fewest,
        probability=surer,
        probability_risk=None if surer is None else _risk_at(model, surer, rule_terms.sum(axis=0), int(is_match)),
        other_label_risk=other,
    )


def _fewest_mutes(
    model: RiskModel, terms: np.ndarray, total: np.ndarray, label: int, level: float, config: RiskConfig
) -> tuple[tuple[int, ...] | None, float | None, bool]:
    """Sets of growing size, all of a size at once; from the first size with too many sets on, greedily."""
    used = np.flatnonzero(terms[:, 0] > 0)
    for size in range(len(used) + 1):
        if math.comb(len(used), size) > config.mute_sets_tried:
            return _greedy_mutes(model, terms, total, label, level, used)
        sets = np.array(list(itertools.combinations(used, size)), dtype=np.int64).reshape(
            math.comb(len(used), size), size
        )
        risks = risk_from_sums(model, total - terms[sets].sum(axis=1), label)
        best = int(np.argmin(risks))
        if risks[best] <= level:
            return tuple(sets[best].tolist()), float(risks[best]), True
    return None, None, True


def _greedy_mutes(
    model: RiskModel, terms: np.ndarray, total: np.ndarray, label: int, level: float, used: np.ndarray
) -> tuple[tuple[int, ...] | None, float | None, bool]:
    """Mute the rule whose removal lowers the risk most, and repeat."""
    muted: list[int] = []
    left = list(used)
    while left:
        risks = risk_from_sums(model, total - terms[muted].sum(axis=0) - terms[left], label)
        best = int(np.argmin(risks))
        muted.append(int(left.pop(best)))
        if risks[best] <= level:
            return tuple(sorted(muted)), float(risks[best]), False
    return None, None, False


def _risk_at(model: RiskModel, x: float, rule_sums: np.ndarray, label: int) -> float:
    return float(_risks_at(model, np.array([x]), rule_sums, label)[0])


def _risks_at(model: RiskModel, x: np.ndarray, rule_sums: np.ndarray, label: int) -> np.ndarray:
    return risk_from_sums(model, rule_sums + scoring.matcher_terms(model, x), label)


def _nearest_probability(model: RiskModel, now: float, rule_sums: np.ndarray, label: int, level: float) -> float | None:
    """Risk jumps at the edges of the matcher's slices, so: a grid with both sides of each edge, then bisection."""
    x = np.array(sorted({now, *_outputs(model, label)}))
    under = x[_risks_at(model, x, rule_sums, label) <= level]
    if not len(under):
        return None
    good = float(under[np.argmin(np.abs(under - now))])
    if good == now:
        return now
    towards_now = x[(x > good) if good < now else (x < good)]
    bad = float(towards_now[0] if good < now else towards_now[-1])
    for _ in range(60):
        middle = (good + bad) / 2
        if _risk_at(model, middle, rule_sums, label) <= level:
            good = middle
        else:
            bad = middle
    return good


def _outputs(model: RiskModel, label: int) -> Iterator[float]:
    low, high = (0.5, 1.0) if label else (0.0, math.nextafter(0.5, 0))
    yield from np.linspace(low, high, _GRID).tolist()
    for i in range(1, len(model.matcher_rsd)):
        edge = i / len(model.matcher_rsd)
        yield from (value for value in (math.nextafter(edge, 0), edge) if low <= value <= high)
