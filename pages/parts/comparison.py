"""Methods side by side: scores with intervals, curves, what was fixed and broken, and which rules did it.

All of it is computed once per run from the columns of its files, and kept small.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import streamlit as st

from pages.parts.arrays import answers_of, columns_of, fired_of, truth_of
from pages.parts.run_files import model_of, rules_of, stamp
from riskcore.evaluation import (
    LabelChange,
    Responsibilities,
    budget_curves,
    compare_labels,
    precision_recall_points,
    responsibilities,
    score_method,
)
from riskcore.risk import prior_model
from riskcore.risk.rivals import Ranking, confidence, static_rules
from riskcore.runs import RunFolder

METHOD_ORDER = ("tradition", "risk", "risk+", "transfer", "supervised", "self-training", "forest")


@dataclasses.dataclass(frozen=True, eq=False)
class Scored:
    """The methods of one run. What needs the target's labels is None without them."""

    table: pd.DataFrame  # method, f1, low, high, precision, recall, tp, fp, fn, tn, changed, labels_used
    curves: pd.DataFrame  # method, recall, precision


def scored(folder: RunFolder) -> Scored:
    return _scored(str(folder.path), stamp(folder.final_file, folder.truth_file, folder.results_file))


@st.cache_data(max_entries=12, show_spinner="Scoring the methods …")
def _scored(path: str, written: tuple[int, ...]) -> Scored:
    folder = RunFolder(path)
    answers, truth = answers_of(folder), truth_of(folder)
    told = (folder.results() or {}).get("methods", {})
    first = answers.get("tradition")
    rows, curves = [], []
    for method in (name for name in METHOD_ORDER if name in answers):
        found = score_method(truth, answers[method])
        low, high = found["f1_interval"] or (None, None)
        changed = None if first is None else int(((answers[method] >= 0.5) != (first >= 0.5)).sum())
        used = ", ".join(told.get(method, {}).get("labels_used", []))
        kept = {name: found[name] for name in ("f1", "precision", "recall", "tp", "fp", "fn", "tn")}
        rows.append({"method": method, **kept, "low": low, "high": high, "changed": changed, "labels used": used})
        points = precision_recall_points(truth, answers[method])
        curves.append(pd.DataFrame({"method": method, "recall": points.recall, "precision": points.precision}))
    return Scored(pd.DataFrame(rows), pd.concat(curves) if curves else pd.DataFrame())


def labels_by(folder: RunFolder, method: str) -> np.ndarray:
    return (answers_of(folder)[method] >= 0.5).astype(np.int8)


def change(folder: RunFolder, method: str) -> LabelChange:
    """What a method changed against tradition."""
    return _change(str(folder.path), method, stamp(folder.final_file, folder.truth_file))


@st.cache_resource(max_entries=12, ttl=1800, show_spinner=False)
def _change(path: str, method: str, written: tuple[int, ...]) -> LabelChange:
    folder = RunFolder(path)
    return compare_labels(truth_of(folder), labels_by(folder, "tradition"), labels_by(folder, method))


def responsible(folder: RunFolder, method: str) -> Responsibilities | None:
    """The rules behind what an adaptive method changed; None for methods that do not hear rules."""
    if method not in folder.methods():
        return None
    iteration = folder.iterations(method)[-1]
    model, rules = model_of(folder, method, iteration), rules_of(folder)
    rows, fired = fired_of(folder, method, iteration, len(model.rules))
    outcomes = np.array([rule.outcome == "match" for rule in rules.rules], dtype=np.int8)
    truth = truth_of(folder)
    before, after = labels_by(folder, "tradition")[rows], labels_by(folder, method)[rows]
    known = None if truth is None else truth[rows]
    return responsibilities(known, before, after, fired, outcomes, model.effective_weight)


def budgets(folder: RunFolder) -> pd.DataFrame:
    """Errors of iteration 0 found by reviews made, for risk and the rankings that can be made here."""
    return _budgets(str(folder.path), stamp(folder.truth_file, folder.scores_file("risk", 0)))


@st.cache_data(max_entries=12, show_spinner="Counting errors per review …")
def _budgets(path: str, written: tuple[int, ...]) -> pd.DataFrame:
    folder = RunFolder(path)
    truth = truth_of(folder)
    probability, label, risk = columns_of(folder, "risk", 0, "probability", "label", "risk")
    rankings = [Ranking("risk", risk, ("source", "validation")), confidence(probability, label)]
    rules = rules_of(folder)
    rows, fired = fired_of(folder, "risk", 0, len(rules))
    if len(rows) == len(risk):
        prior = prior_model([rule.text for rule in rules.rules], rules.match_rate, rules.support)
        rankings.append(static_rules(prior, probability, fired, label))
    chance = np.random.default_rng(0).random(len(risk))
    rankings.append(Ranking("random order", chance))
    parts = [
        pd.DataFrame({"ranking": curve.name, "reviewed": curve.reviewed, "found": curve.found})
        for curve in budget_curves(rankings, truth, label)
    ]
    return pd.concat(parts, ignore_index=True)
