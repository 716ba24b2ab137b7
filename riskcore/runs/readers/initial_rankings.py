"""Iteration 0 as a review queue: its labels, and every ranking of them that can be made."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.parquet as pq

from riskcore.risk import Ranking, RiskModelError, prior_model
from riskcore.risk.baselines import confidence, static_rules, trust_score
from riskcore.runs.evidence_files import read_fired
from riskcore.runs.folder import RunFolder
from riskcore.storage.files import read_json

if TYPE_CHECKING:
    from riskcore.config import RiskConfig
    from riskcore.training.evidence import Evidence

TRUST_CELLS = 2_000_000_000  # distances a trust score may take: some minutes of one core
MOST_FIRED = 8_000_000  # entries of a firing matrix that a reader holds in memory: about 40 MB, twice that on the way
_COLUMNS = ["probability", "label", "risk"]


@dataclasses.dataclass(frozen=True, eq=False)
class InitialRankings:
    """The labels of iteration 0, and the orders in which they can be reviewed: risk first, then the baselines."""

    label: np.ndarray
    rankings: tuple[Ranking, ...]


def initial_rankings(
    folder: RunFolder, evidence: Evidence | None, config: RiskConfig | None = None
) -> InitialRankings | None:
    """The rankings of iteration 0; None before it is recorded. Without evidence, those that its files allow.

    Uncertainty by the votes of several matchers is left out: a run has one matcher.
    """
    if 0 not in folder.iterations("risk"):
        return None
    scores = pq.read_table(folder.scores_file("risk", 0), columns=_COLUMNS)
    probability, label, risk = (scores.column(name).to_numpy() for name in _COLUMNS)
    found = [Ranking("risk", risk, _labels_of_risk(folder)), confidence(probability, label)]
    found += (
        _from_files(folder, probability, label)
        if evidence is None
        else _from_evidence(evidence, probability, label, config)
    )
    return InitialRankings(label, tuple(found))


def _labels_of_risk(folder: RunFolder) -> tuple[str, ...]:
    """What the risk model of iteration 0 was made from, as its row says; in older runs, the labels there were."""
    rows = read_json(folder.summary_file) if folder.summary_file.exists() else []
    for row in rows:
        if row["method"] == "risk" and row["iteration"] == 0 and row.get("labels_used"):
            return tuple(row["labels_used"])
    counts = folder.run().get("counts", {}) if folder.run_file.exists() else {}
    return ("source", "validation") if counts.get("validation", 1) else ("source",)


def _from_evidence(
    evidence: Evidence, probability: np.ndarray, label: np.ndarray, config: RiskConfig | None
) -> list[Ranking]:
    source, target = evidence.source, evidence.target
    found = [static_rules(evidence.prior, probability, target.fired, label)]
    if len(source) * len(label) <= TRUST_CELLS:
        with contextlib.suppress(RiskModelError):  # a source of one class has no other class to be close to
            found.append(trust_score(source.metrics.values, source.labels, target.metrics.values, label, config))
    return found


def _from_files(folder: RunFolder, probability: np.ndarray, label: np.ndarray) -> list[Ranking]:
    if pq.read_metadata(folder.fired_file).num_rows > MOST_FIRED:
        return []
    rules = folder.rules()
    prior = prior_model([rule.key for rule in rules.rules], rules.match_rate, rules.support)
    return [static_rules(prior, probability, read_fired(folder, len(label), len(rules)), label)]
