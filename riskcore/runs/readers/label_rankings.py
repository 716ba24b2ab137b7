"""The labels of a method as a review queue: every ranking of them that can be made, risk first."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from riskcore.columns import PAIR_ID, ROW
from riskcore.config import RiskConfig
from riskcore.risk import Ranking, prior_model
from riskcore.risk.baselines import class_distances
from riskcore.risk.rankings import RankingInput, all_rankings, can_measure_distances
from riskcore.risk.value_at_risk import risk_of
from riskcore.runs.documents import SummaryRow
from riskcore.runs.evidence_files import read_fired
from riskcore.runs.folder import RunFolder
from riskcore.runs.formats import read_scores
from riskcore.storage.parquet import column_names, load_columns, row_count

if TYPE_CHECKING:
    from riskcore.training.evidence import Evidence

MOST_FIRED = 8_000_000  # entries of a firing matrix that a reader holds in memory: about 40 MB, twice that on the way
START = "tradition"  # whose labels are those of iteration 0


@dataclasses.dataclass(frozen=True, eq=False)
class LabelRankings:
    """The labels of a method, and the orders in which they can be reviewed: risk first, then the baselines."""

    label: np.ndarray
    rankings: tuple[Ranking, ...]

    @property
    def risk(self) -> np.ndarray:
        return self.rankings[0].scores


def all_label_rankings(
    folder: RunFolder, known: RankingInput | None, methods: Mapping[str, Mapping[str, Any]]
) -> dict[str, LabelRankings]:
    """The rankings of every method's answer; none while there are none.

    `known` is what `shared_input` returns, `methods` are the methods' rows in the results.
    """
    if known is None or not folder.final_file.exists():
        return {}
    answers, risks = read_columns(folder.final_file), read_risks(folder)
    return {
        method: _of_answer(folder, known, methods.get(method, {}), method, answers[method], risks[method])
        for method in answers
        if method in risks
    }


def rankings_of_answer(folder: RunFolder, method: str) -> LabelRankings | None:
    """The rankings of one method's answer, by what the run's files allow; None where none was made."""
    known = shared_input(folder, None)
    risks = read_risks(folder)
    if known is None or method not in risks or not folder.final_file.exists():
        return None
    row = folder.method_results(method)
    return _of_answer(folder, known, row, method, read_columns(folder.final_file)[method], risks[method])


def _of_answer(
    folder: RunFolder,
    known: RankingInput,
    row: Mapping[str, Any],
    method: str,
    probability: np.ndarray,
    risk: np.ndarray,
) -> LabelRankings:
    label = (probability >= 0.5).astype(np.int8)
    kept = folder.kept(method, row) if method in folder.methods() else None
    of, iteration = ("risk", 0) if method == START else (method, kept)
    of_method = dataclasses.replace(
        known,
        probability=probability,
        label=label,
        risk=risk,
        risk_labels_used=_labels_of_risk(folder, of, row),
        **_of_risk_model(folder, of, iteration, label),
    )
    return LabelRankings(label, tuple(all_rankings(of_method)))


def initial_rankings(folder: RunFolder, known: RankingInput | None) -> LabelRankings | None:
    """The rankings of the labels of iteration 0; None before it is recorded."""
    if known is None:
        return None
    scores = read_scores(folder.scores_file("risk", 0), ("probability", "label", "risk"))
    of_start = dataclasses.replace(
        known,
        probability=scores["probability"],
        label=scores["label"],
        risk=scores["risk"],
        risk_labels_used=_labels_of_risk(folder, "risk", {}),
        **_of_risk_model(folder, "risk", 0, scores["label"]),
    )
    return LabelRankings(scores["label"], tuple(all_rankings(of_start)))


def shared_input(folder: RunFolder, evidence: Evidence | None, config: RiskConfig | None = None) -> RankingInput | None:
    """What is the same for the labels of all methods; None where no labels are ranked, as nothing iterated. Without
    evidence, what the run's files allow.

    Uncertainty by the votes of several matchers is left out: a run has one matcher.
    """
    if 0 not in folder.iterations("risk"):
        return None
    nothing = np.zeros(row_count(folder.scores_file("risk", 0)))
    known = RankingInput(nothing, nothing.astype(np.int8), nothing, config=config or RiskConfig())
    return _with_files(folder, known) if evidence is None else _with_evidence(evidence, known)


def read_risks(folder: RunFolder) -> dict[str, np.ndarray]:
    """The risk of every method's labels. Of runs before format 3, the Value at Risk of those that have iterations."""
    if folder.risks_file.exists():
        return read_columns(folder.risks_file)
    methods = [method for method in folder.methods() if folder.kept(method) is not None]
    found = {method: _column(folder, method, folder.kept(method), "risk") for method in methods}
    first = folder.iterations("risk")
    return {**({START: _column(folder, "risk", 0, "risk")} if 0 in first else {}), **found}


def read_columns(file: Path) -> dict[str, np.ndarray]:
    """The columns of a file that has one for every method."""
    names = [name for name in column_names(file) if name not in (ROW, PAIR_ID)]
    table = load_columns(file, columns=names)
    return {name: table.column(name).to_numpy() for name in names}


def _column(folder: RunFolder, method: str, iteration: int | None, name: str) -> np.ndarray:
    file = folder.scores_file(method, folder.iteration(method, iteration))
    return read_scores(file, (name,))[name]


def _of_risk_model(folder: RunFolder, method: str, iteration: int | None, label: np.ndarray) -> dict[str, Any]:
    """Value at Risk of the labels by the risk model of an iteration, and the labels it was made from."""
    if iteration is None or method not in folder.methods() or iteration not in folder.iterations(method):
        return {}
    scores = read_scores(folder.scores_file(method, iteration), ("var_match", "var_non_match"))
    used = next((row.get("labels_used") for row in folder.summary_rows() if _is(row, method, iteration)), None)
    return {
        "value_at_risk": risk_of(label, scores["var_match"], scores["var_non_match"]),
        "value_at_risk_labels_used": tuple(used or ("source",)),
    }


def _is(row: SummaryRow, method: str, iteration: int) -> bool:
    return row["method"] == method and row["iteration"] == iteration


def _labels_of_risk(folder: RunFolder, method: str, row: Mapping[str, Any]) -> tuple[str, ...]:
    """The labels that the risk of a method's labels was found with; of older runs, those of its risk model."""
    if "ranked" in row:
        return tuple(row["ranked"]["labels_used"])
    return next((tuple(one.get("labels_used") or ()) for one in folder.summary_rows() if one["method"] == method), ())


def _with_evidence(evidence: Evidence, known: RankingInput) -> RankingInput:
    source = evidence.source
    known = dataclasses.replace(
        known,
        prior=evidence.prior,
        fired=evidence.target.source_fired,
        metrics=evidence.target.metrics.values,
        source_metrics=source.metrics.values,
        source_labels=source.labels,
    )
    if not can_measure_distances(known):
        return known
    metrics = evidence.target.metrics.values
    distances = class_distances(source.metrics.values, source.labels, metrics, known.config)
    return dataclasses.replace(known, distances=distances)


def _with_files(folder: RunFolder, known: RankingInput) -> RankingInput:
    if row_count(folder.fired_file) > MOST_FIRED:
        return known
    rules = folder.rules()
    prior = prior_model([rule.key for rule in rules.rules], rules.match_rate, rules.support)
    prior = dataclasses.replace(prior, weight=np.where(rules.from_validation, 0.0, prior.weight * rules.stands_for))
    return dataclasses.replace(known, prior=prior, fired=read_fired(folder, len(known.label), len(rules)))
