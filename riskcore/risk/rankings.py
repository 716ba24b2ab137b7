"""Rankings of labels by how likely they are wrong, each as the function that its spec in the registry names.

To add one, write a function that takes a `RankingInput` and returns a `Ranking` (or None where it cannot be made),
and register a `RankingSpec`, in `riskcore/registry.py` or from a package of your own (docs/extending.md). Runs then
compute it, and the Compare screen, the budget curves and `run --json` show it beside the others.
"""

from __future__ import annotations

import contextlib
import dataclasses

import numpy as np
from scipy import sparse

from riskcore.config import RiskConfig
from riskcore.registry import RANKINGS
from riskcore.risk.baselines import Ranking, confidence, static_rules, trust_score
from riskcore.risk.model import RiskModel
from riskcore.risk.scoring import RiskModelError

TRUST_CELLS = 2_000_000_000  # distances a trust score may take: some minutes of one core


@dataclasses.dataclass(frozen=True, eq=False)
class RankingInput:
    """What is known about the labels to rank. Everything after `risk` may be missing (None)."""

    probability: np.ndarray  # the matcher's, one per pair
    label: np.ndarray  # the labels to rank: 1 match, 0 non-match
    risk: np.ndarray  # probability that the label is wrong, by all the evidence
    risk_labels_used: tuple[str, ...] = ("source", "validation")
    value_at_risk: np.ndarray | None = None  # of the labels, by the fitted risk model
    value_at_risk_labels_used: tuple[str, ...] = ("source", "validation")
    prior: RiskModel | None = None  # the risk model before any fit
    fired: sparse.sparray | None = None  # pairs x rules
    metrics: np.ndarray | None = None  # pairs x metrics, NaN where missing
    source_metrics: np.ndarray | None = None
    source_labels: np.ndarray | None = None
    distances: tuple[np.ndarray, np.ndarray] | None = None  # to source matches and non-matches (`class_distances`)
    config: RiskConfig = dataclasses.field(default_factory=RiskConfig)


def all_rankings(known: RankingInput) -> list[Ranking]:
    """Every registered ranking that can be made, in the registry's order; risk comes first."""
    found = []
    for spec in RANKINGS:
        with contextlib.suppress(RiskModelError):  # for instance a source of one class, to which nothing is close
            ranking = spec.load()(known)
            if ranking is not None:
                found.append(dataclasses.replace(ranking, name=spec.name))
    return found


def by_risk(known: RankingInput) -> Ranking:
    return Ranking("risk", known.risk, known.risk_labels_used)


def by_learnrisk(known: RankingInput) -> Ranking | None:
    if known.value_at_risk is None:
        return None
    return Ranking("learnrisk", known.value_at_risk, known.value_at_risk_labels_used)


def by_confidence(known: RankingInput) -> Ranking:
    return confidence(known.probability, known.label)


def by_static_rules(known: RankingInput) -> Ranking | None:
    if known.prior is None or known.fired is None:
        return None
    return static_rules(known.prior, known.probability, known.fired, known.label)


def by_trust_score(known: RankingInput) -> Ranking | None:
    return None if known.distances is None else trust_score(known.distances, known.label)


def can_measure_distances(known: RankingInput) -> bool:
    """Whether the source has both classes to be close to, and the distances can be had in some minutes."""
    if known.metrics is None or known.source_labels is None or len(np.unique(known.source_labels)) < 2:
        return False
    return len(known.source_labels) * len(known.metrics) <= TRUST_CELLS


def by_uncertainty(known: RankingInput) -> Ranking | None:
    """Needs the outputs of several matchers (`baselines.uncertainty`); a run has one."""
    return None
