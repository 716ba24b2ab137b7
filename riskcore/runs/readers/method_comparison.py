"""The methods of a finished run side by side, as comparison.json: everything that needs every pair. The worker computes
it once at the end, so that a screen opens without reading a million rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from scipy import sparse

from riskcore.evaluation import (
    LabelChange,
    Responsibilities,
    Responsibility,
    budget_curves,
    compare_labels,
    measure_calibration,
    precision_recall_points,
    responsibilities,
    score_method,
)
from riskcore.risk import Ranking
from riskcore.runs.documents import (
    Comparison,
    CurvePoints,
    MethodScores,
    Reliability,
    ReliabilityBinRecord,
    ResponsibleRules,
    ReviewBudget,
    RuleCredit,
)
from riskcore.runs.evidence_files import read_fired
from riskcore.runs.folder import RunFolder
from riskcore.runs.readers.label_rankings import LabelRankings, all_label_rankings, read_columns, shared_input
from riskcore.storage.jsonable import jsonable
from riskcore.storage.parquet import load_columns

BASE = "tradition"  # what every other method is compared with
LISTED_PAIRS = 50
LISTED_RULES = 25
_SCORES = ("f1", "precision", "recall", "tp", "fp", "fn", "tn", "f1_interval", "average_precision")
_DIGITS = 5  # of a curve's points: more cannot be seen


def comparison(folder: RunFolder) -> Comparison:
    """The comparison that the worker stored. What is missing from it, possibly everything, is computed now."""
    stored = folder.comparison() or {}
    if set(Comparison.__annotations__) <= set(stored):
        return cast(Comparison, stored)
    results = folder.results()
    methods = {} if results is None else results["methods"]
    rankings = all_label_rankings(folder, shared_input(folder, None), methods)
    return cast(Comparison, {**compare_methods(folder, methods, rankings), **stored})


def compare_methods(
    folder: RunFolder,
    methods: Mapping[str, Mapping[str, Any]],
    rankings: Mapping[str, LabelRankings],
    fired: sparse.sparray | None = None,
) -> Comparison:
    """Scores, curves, calibration and changes of every method, and what each ranking finds. JSON-ready.

    `methods` are the methods' rows in the results; `fired` spares reading which rules fire where.
    """
    answers, truth = read_columns(folder.final_file), _truth(folder)
    first = answers.get(BASE)
    document: dict[str, Any] = {"methods": {}, "curves": {}, "reliability": {}, "changes": {}}
    for method, probability in answers.items():
        row = methods.get(method, {})
        document["methods"][method] = _scores(truth, probability, first, row)
        document["curves"][method] = _curve(truth, probability)
        document["reliability"][method] = _reliability(truth, probability)
        if first is not None and method != BASE:
            change = compare_labels(truth, _labels(first), _labels(probability))
            moved = np.abs(probability - first)
            document["changes"][method] = {
                **_change(change, moved),
                "responsible": _responsible(folder, method, row, change, _labels(first), truth, fired),
            }
    budgets = {} if truth is None else {method: _budgets(one, truth) for method, one in rankings.items()}
    return cast(Comparison, jsonable({**document, "budgets": budgets}))


def _scores(
    truth: np.ndarray | None, probability: np.ndarray, first: np.ndarray | None, row: Mapping[str, Any]
) -> MethodScores:
    found = score_method(truth, probability)
    changed = None if first is None else int((_labels(probability) != _labels(first)).sum())
    labels = {name: row.get(name, []) for name in ("labels_used", "lacked")}
    return cast(MethodScores, {**{name: found[name] for name in _SCORES}, "changed": changed, **labels})


def _curve(truth: np.ndarray | None, probability: np.ndarray) -> CurvePoints:
    points = precision_recall_points(truth, probability)
    return {"recall": points.recall.round(_DIGITS).tolist(), "precision": points.precision.round(_DIGITS).tolist()}


def _reliability(truth: np.ndarray | None, probability: np.ndarray) -> Reliability:
    """Predicted probability against the observed share of matches, in bins of about equal size."""
    found = measure_calibration(truth, probability)
    bins: list[ReliabilityBinRecord] = []
    for one in found.bins:
        low, high = one.interval()
        bins.append(
            {"pairs": one.pairs, "predicted": one.predicted, "observed": one.observed, "low": low, "high": high}
        )
    return {"ece": found.ece, "pairs": found.pairs, "bins": bins}


def _change(change: LabelChange, moved: np.ndarray) -> dict[str, Any]:
    """Counts, tests, and the pairs whose probability changed most."""
    groups = {"flipped": change.flipped, "fixed": change.fixed, "broken": change.broken}
    return {
        **{name: None if rows is None else len(rows) for name, rows in groups.items()},
        "p_value": change.p_value,
        "f1_before": change.f1_before,
        "f1_after": change.f1_after,
        "f1_change_interval": change.f1_change_interval,
        "rows": {name: None if rows is None else _furthest(rows, moved) for name, rows in groups.items()},
    }


def _furthest(rows: np.ndarray, moved: np.ndarray) -> np.ndarray:
    return rows[np.argsort(-moved[rows], kind="stable")[:LISTED_PAIRS]]


def _responsible(
    folder: RunFolder,
    method: str,
    row: Mapping[str, Any],
    change: LabelChange,
    before: np.ndarray,
    truth: np.ndarray | None,
    fired: sparse.sparray | None,
) -> ResponsibleRules | None:
    """The rules behind the changes of an adaptive method; None for methods that do not use rules."""
    if method not in folder.methods():
        return None
    iteration = folder.iteration(method, folder.kept(method, row))
    model, rules, rows = folder.model(method, iteration), folder.rules(), change.flipped
    outcomes = np.array([rule.outcome == "match" for rule in rules.rules], dtype=np.int8)
    here = read_fired(folder, len(before), len(rules), rows) if fired is None else sparse.csr_array(fired)[rows]
    known = None if truth is None else truth[rows]
    found = responsibilities(known, before[rows], 1 - before[rows], here, outcomes, model.effective_weight)
    return cast(ResponsibleRules, {"iteration": iteration, **_credits(found)})


def _credits(found: Responsibilities) -> dict[str, Any]:
    groups = {"flipped": found.rules, "fixed": found.by_fixed(), "broken": found.by_broken()}
    fields = {"flipped": "credit", "fixed": "fixed", "broken": "broken"}
    listed = {name: [_credit(rule, fields[name]) for rule in rules[:LISTED_RULES]] for name, rules in groups.items()}
    return {**listed, "unexplained": found.unexplained}


def _credit(rule: Responsibility, field: str) -> RuleCredit:
    return {"rule": rule.rule, "credit": getattr(rule, field)}


def _budgets(found: LabelRankings, truth: np.ndarray) -> list[ReviewBudget]:
    """Wrong labels found by reviews made, in the order of each ranking."""
    chance = Ranking("random order", np.random.default_rng(0).random(len(found.label)))
    curves = budget_curves([*found.rankings, chance], truth, found.label)
    return [
        {
            "ranking": curve.name,
            "labels_used": list(curve.labels_used),
            "reviewed": curve.reviewed.tolist(),
            "found": curve.found.round(2).tolist(),
            "needed": {f"{share:g}": reviews for share, reviews in curve.needed.items()},
        }
        for curve in curves
    ]


def _truth(folder: RunFolder) -> np.ndarray | None:
    return load_columns(folder.truth_file, columns=["label"]).column("label").to_numpy() if folder.has_truth else None


def _labels(probability: np.ndarray) -> np.ndarray:
    return (probability >= 0.5).astype(np.int8)
