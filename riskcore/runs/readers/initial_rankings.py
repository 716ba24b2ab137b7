"""Iteration 0 as a review queue: its labels, and every ranking of them that can be made."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.parquet as pq

from riskcore.config import RiskConfig
from riskcore.risk import Ranking, prior_model
from riskcore.risk.rankings import RankingInput, all_rankings
from riskcore.runs.evidence_files import read_fired
from riskcore.runs.folder import RunFolder
from riskcore.runs.formats import read_scores

if TYPE_CHECKING:
    from riskcore.training.evidence import Evidence

MOST_FIRED = 8_000_000  # entries of a firing matrix that a reader holds in memory: about 40 MB, twice that on the way


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
    scores = read_scores(folder.scores_file("risk", 0), ("probability", "label", "risk"))
    label = scores["label"]
    known = RankingInput(
        scores["probability"], label, scores["risk"], _labels_of_risk(folder), config=config or RiskConfig()
    )
    known = _with_files(folder, known) if evidence is None else _with_evidence(evidence, known)
    return InitialRankings(label, tuple(all_rankings(known)))


def _labels_of_risk(folder: RunFolder) -> tuple[str, ...]:
    """The labels that the risk model of iteration 0 was made from."""
    for row in folder.summary_rows():
        if row["method"] == "risk" and row["iteration"] == 0:
            return tuple(row.get("labels_used") or ("source",))
    return ("source",)


def _with_evidence(evidence: Evidence, known: RankingInput) -> RankingInput:
    return dataclasses.replace(
        known,
        prior=evidence.prior,
        fired=evidence.target.fired,
        metrics=evidence.target.metrics.values,
        source_metrics=evidence.source.metrics.values,
        source_labels=evidence.source.labels,
    )


def _with_files(folder: RunFolder, known: RankingInput) -> RankingInput:
    if pq.read_metadata(folder.fired_file).num_rows > MOST_FIRED:
        return known
    rules = folder.rules()
    prior = prior_model([rule.key for rule in rules.rules], rules.match_rate, rules.support)
    return dataclasses.replace(known, prior=prior, fired=read_fired(folder, len(known.label), len(rules)))
