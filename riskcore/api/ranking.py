"""`rank`: which answers of any matcher are likely wrong, and why. Nothing is trained but the risk model.

Rules need labelled pairs. With a source they come from its labels, and validation labels fit their weights. With
validation labels alone, rules come from those and their weights are not fitted: on the labels that the rules were found
in, every rule would look better than it is. With neither, pairs are ranked by the matcher's own confidence.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse

from riskcore.api.reading import as_data_set
from riskcore.api.validation import ByPair, by_pair_id, with_validation
from riskcore.columns import LEFT_ID, PAIR_ID, RANK_COLUMNS, RIGHT_ID
from riskcore.config import RunConfig
from riskcore.data.dataset import DataSet
from riskcore.data.frames import TARGET_SPLIT
from riskcore.data.html_table import html_table, html_text
from riskcore.data.labels import UNKNOWN, UNSPLIT
from riskcore.data.pairs import LabelledPairs, Pairs
from riskcore.data.schema import Attribute, infer_types
from riskcore.data.workload import Workload, build_workload, pooled
from riskcore.errors import ConfigError
from riskcore.matchers.base import Examples
from riskcore.matchers.external import ExternalMatcher
from riskcore.risk import RiskModel
from riskcore.rules.sentences import rule_sentence
from riskcore.training.evidence import Evidence
from riskcore.training.results import LabelRisk

SHOWN_REASONS = 3  # per pair: the heaviest rules that point to the other label
SHOWN_PAIRS = 20  # in a notebook
NO_LABELS = (
    "There are no labelled pairs to find rules in, so pairs are ranked by the matcher's own confidence. "
    "Give validation= or source= for risk and reasons."
)
NO_RULES = "No rule was found in the labelled pairs, so the risk depends on the matcher's probabilities alone."
NOT_CALIBRATED = "There are no further labels to calibrate the risk on, so only the order of the pairs means something."
NOT_FITTED = "The rules come from the validation labels themselves, so their weights were not fitted."


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class RankedPairs:
    """A matcher's answers, those most likely wrong first."""

    frame: pd.DataFrame  # RANK_COLUMNS
    ranked_by: str  # "risk" or "confidence"
    labels_used: tuple[str, ...]  # of "source", "validation"
    notices: tuple[str, ...] = ()

    def top(self, n: int = 50) -> pd.DataFrame:
        """The n pairs whose label is most likely wrong."""
        return self.frame.head(n)

    def __len__(self) -> int:
        return len(self.frame)

    def __repr__(self) -> str:
        return f"RankedPairs({self._title})"

    def _repr_html_(self) -> str:
        notices = "".join(f"<p>{html_text(notice)}</p>" for notice in self.notices)
        return html_table(self._title, self.top(SHOWN_PAIRS)) + notices

    @property
    def _title(self) -> str:
        used = ", ".join(self.labels_used) or "none"
        return f"{len(self):,} pairs ranked by {self.ranked_by}; labels used: {used}"


def rank(
    target: DataSet | str | Path,
    scores: ByPair,
    *,
    validation: ByPair | None = None,
    source: DataSet | str | Path | None = None,
    attribute_map: Mapping[str, str] | None = None,
    seed: int = 0,
    config: RunConfig | None = None,
) -> RankedPairs:
    """Rank a matcher's answers on the target by the risk that they are wrong.

    `scores` gives the probability of a match for every pair of the target: a frame with `probability` and either
    `pair_id` or `ltable_id` and `rtable_id`, a series by pair id, or a dict. `validation` gives true labels of some
    of the pairs, which are then not ranked. The label is match if the probability is at least 0.5.
    """
    settings = dataclasses.replace(config or RunConfig(), seed=seed)
    data = _as_test(as_data_set(target, settings.data))
    data = data if validation is None else with_validation(data, validation)
    workload, notices = _workload(data, _source(source, settings), attribute_map, settings)
    answers = by_pair_id(scores, "probability", "scores").rename(columns={PAIR_ID: "id"})
    matcher = ExternalMatcher.from_frame(answers, workload.attributes)
    matcher.fit_ids(list(data.splits.values()))
    probability = matcher.predict_proba(Examples(workload.target))
    if not len(workload.source):
        doubt = np.minimum(probability, 1 - probability)
        return RankedPairs(_frame(workload.target, probability, doubt), "confidence", (), (*notices, NO_LABELS))
    return _by_risk(workload, matcher, probability, source is not None, notices, settings)


def _as_test(data: DataSet) -> DataSet:
    """A file of pairs that names no split, as `from_frames` takes one: all of it is ranked."""
    if UNSPLIT not in data.splits:
        return data
    return dataclasses.replace(data, splits={TARGET_SPLIT: data.splits[UNSPLIT]})


def _source(source: DataSet | str | Path | None, config: RunConfig) -> DataSet | None:
    return None if source is None else as_data_set(source, config.data)


def _by_risk(
    workload: Workload,
    matcher: ExternalMatcher,
    probability: np.ndarray,
    has_source: bool,
    notices: list[str],
    config: RunConfig,
) -> RankedPairs:
    from riskcore.training.gather import gather  # brings the compiler, which takes seconds

    evidence = gather(workload, config)
    model, used = _model(evidence, matcher, has_source, notices, config)
    if not len(evidence.rules):
        notices.append(NO_RULES)
        used = tuple(name for name in used if has_source and name != "source")  # rules were to come from these
    scores = model.score(probability, evidence.target.fired, config=config.risk)
    risk = scores.risk
    if evidence.source.has_both_classes:  # labels of one class teach no more than the scores say
        found = _label_risk(evidence, matcher, probability, config)
        risk, notices = found.risk, [*notices, *([] if found.calibrated else [NOT_CALIBRATED])]
    reasons = _reasons(evidence, model, scores.label)
    return RankedPairs(_frame(workload.target, probability, risk, reasons), "risk", used, tuple(notices))


def _label_risk(evidence: Evidence, matcher: ExternalMatcher, probability: np.ndarray, config: RunConfig) -> LabelRisk:
    """The risk of the matcher's labels by all the evidence: its own scores of the validation pairs are part of it."""
    from riskcore.training.ensemble import Ensemble  # brings torch
    from riskcore.training.label_risk import label_risk

    ensemble = Ensemble(matcher, evidence, config)
    validated = matcher.predict_proba(ensemble.evidence.validation.examples)
    stacked = ensemble.stack(validated, probability)
    return label_risk(ensemble, stacked, probability, validated if ensemble.fitted else None)


def _model(
    evidence: Evidence, matcher: ExternalMatcher, has_source: bool, notices: list[str], config: RunConfig
) -> tuple[RiskModel, tuple[str, ...]]:
    """The risk model, and the labels it was made from."""
    if not has_source:
        notices.extend([NOT_FITTED] if len(evidence.rules) else [])
        return evidence.prior, ("validation",)
    from riskcore.risk.fit import fit_risk_model  # brings torch

    part = evidence.validation
    validated = matcher.predict_proba(part.examples)
    fit = fit_risk_model(evidence.prior, part.fired, validated, part.labels, config.risk, config.seed)
    if fit.lacked:
        notices.append(f"About the fit of the risk model: {'; '.join(fit.lacked)}.")
    return fit.model, fit.labels_used


def _workload(
    target: DataSet, source: DataSet | None, attribute_map: Mapping[str, str] | None, config: RunConfig
) -> tuple[Workload, list[str]]:
    """Labelled pairs to find rules in, pairs to fit by, and the pairs to rank."""
    if source is not None:
        size = config.validation_size if "valid" in target.splits else 0
        workload, _ = build_workload(
            source, target, attribute_map=attribute_map, validation_size=size, seed=config.seed, config=config.data
        )
        return workload, list(workload.notices)
    if attribute_map:
        raise ConfigError("An attribute map needs a source: without one there is only one set of names.")
    nothing = pooled(target).take(slice(0))
    labelled, ranked = target.splits.get("valid", nothing), target.splits.get("test", nothing)
    if not len(ranked):
        raise ConfigError("There is no pair to rank: the target's test split is empty.")
    known = labelled.take(labelled.labels != UNKNOWN)
    return Workload(_attributes(target, config), known, nothing, ranked.without_labels()), []


def _attributes(target: DataSet, config: RunConfig) -> tuple[Attribute, ...]:
    return infer_types([target.left, target.right], list(target.attributes), {}, config.data)


def _frame(
    pairs: Pairs | LabelledPairs, probability: np.ndarray, risk: np.ndarray, reasons: list[str] | None = None
) -> pd.DataFrame:
    """The ranking as a frame, riskiest first; ties keep the target's order."""
    frame = pd.DataFrame(
        {
            PAIR_ID: pairs.ids,
            LEFT_ID: pairs.left.ids[pairs.left_rows],
            RIGHT_ID: pairs.right.ids[pairs.right_rows],
            "probability": probability,
            "label": (probability >= 0.5).astype(np.int8),
            "risk": risk,
            "confidence": np.maximum(probability, 1 - probability),
            "reasons": [""] * len(pairs) if reasons is None else reasons,
        }
    )
    return frame[list(RANK_COLUMNS)].sort_values("risk", ascending=False, kind="stable", ignore_index=True)


def _reasons(evidence: Evidence, model: RiskModel, label: np.ndarray) -> list[str]:
    """Per pair the heaviest fired rules that point to the other label, in words."""
    fired = sparse.csr_array(evidence.target.fired)
    outcome = np.array([rule.outcome == "match" for rule in evidence.rules.rules], dtype=np.int8)
    weight, rules = model.effective_weight, [f"{rule_sentence(rule)}: {rule.outcome}" for rule in evidence.rules.rules]
    found = []
    for row in range(len(label)):
        here = fired.indices[fired.indptr[row] : fired.indptr[row + 1]]
        against = here[(outcome[here] != label[row]) & (weight[here] > 0)]
        heaviest = against[np.argsort(-weight[against], kind="stable")[:SHOWN_REASONS]]
        found.append("; ".join(rules[rule] for rule in heaviest))
    return found
