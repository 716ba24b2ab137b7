"""A method's result as a checkpoint holds it, so that a resumed run reads back what is done."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from riskcore.matchers.base import Arrays
from riskcore.training.checkpoint import Progress
from riskcore.training.results import LabelRisk, MethodResult, RankingModel


def result_progress(result: MethodResult) -> Progress:
    """The result as arrays and JSON values."""
    known = {"probability": result.probability, "unseen": result.unseen, "validated": result.validated}
    answer = {name: values for name, values in known.items() if values is not None}
    facts: dict[str, Any] = {
        "labels_used": list(result.labels_used),
        "record": result.record,
        "stacked": result.stacked,
    }
    if result.risk is not None:
        facts["risk"], arrays = risk_facts(result.risk)
        answer |= arrays
    return Progress({"answer": answer, "learned": result.learned}, facts)


def stored_result(method: str, progress: Progress) -> MethodResult:
    """The result that gave this progress."""
    answer, facts = progress.groups["answer"], progress.facts
    return MethodResult(
        method,
        answer["probability"],
        answer.get("unseen"),
        tuple(facts["labels_used"]),
        facts["record"],
        dict(progress.groups["learned"]),
        answer.get("validated"),
        stored_risk(facts["risk"], answer) if "risk" in facts else None,
        facts["stacked"],
    )


def risk_facts(risk: LabelRisk) -> tuple[dict[str, Any], Arrays]:
    """A risk of labels as JSON values and arrays."""
    facts, arrays = {**dataclasses.asdict(risk), "risk": None}, {"risk": risk.risk}
    if risk.model is not None:
        facts["model"]["before_competition"] = None
        if risk.model.before_competition is not None:
            arrays["before_competition"] = risk.model.before_competition
    return facts, arrays


def stored_risk(facts: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> LabelRisk:
    """The risk of labels that gave these facts and arrays."""
    model = None if facts["model"] is None else _stored_model(facts["model"], arrays.get("before_competition"))
    known = {"risk": arrays["risk"], "labels_used": tuple(facts["labels_used"]), "model": model}
    return LabelRisk(**{**facts, **known})


def _stored_model(facts: dict[str, Any], before_competition: np.ndarray | None) -> RankingModel:
    weights, competition = tuple(facts["stacker_weights"]), facts["competition"]
    known = {"stacker_weights": weights, "competition": None if competition is None else tuple(competition)}
    return RankingModel(**{**facts, **known, "before_competition": before_competition})
