"""Tables of a run: its rules with their record on each part, and its iterations."""

from __future__ import annotations

import numpy as np
import pandas as pd

from riskcore.columns import ROW, RULE_COLUMNS, SUMMARY_COLUMNS
from riskcore.rules.rule_set import SOURCE, VALIDATION
from riskcore.runs.folder import RunFolder
from riskcore.runs.formats import scan_scores
from riskcore.storage.parquet import frame, scan, searching


def rule_table(folder: RunFolder, method: str = "risk", iteration: int | None = None) -> pd.DataFrame:
    """A row per rule: its record on source, validation and target, and its weight in the risk model."""
    rules, model = folder.rules(), folder.model(method, iteration)
    validation = folder.rules_on_validation()
    unknown = np.full(len(rules), np.nan)
    counts = _counts(folder, method, iteration, len(rules))
    is_match = np.array([rule.outcome == "match" for rule in rules.rules], dtype=bool)
    agreeing = np.where(is_match, counts["labelled_match"], counts["fired"] - counts["labelled_match"])
    table = pd.DataFrame(
        {
            "rule": np.arange(len(rules)),
            "text": [rule.text for rule in rules.rules],
            "outcome": [rule.outcome for rule in rules.rules],
            "learned_from": np.where(rules.from_validation, VALIDATION, SOURCE),
            "source_support": pd.array(np.where(rules.from_validation, 0, rules.support), "Int64"),
            "source_purity": np.where(rules.from_validation, np.nan, rules.purity),
            "validation_fired": unknown if validation is None else validation.support,
            "validation_purity": unknown if validation is None else validation.purity,
            "target_fired": counts["fired"],
            "target_purity": _purity(counts, is_match, folder.has_truth),
            "conflicts": counts["fired"] - agreeing,
            "weight": model.effective_weight,
            "rsd": model.rsd,
            "mean": model.mean,
        }
    )
    table.loc[rules.from_validation, "source_support"] = pd.NA
    return table[list(RULE_COLUMNS)]


def summary(folder: RunFolder) -> pd.DataFrame:
    """A row per method and iteration that has been recorded."""
    return pd.DataFrame(folder.summary_rows(), columns=list(SUMMARY_COLUMNS))


def _counts(folder: RunFolder, method: str, iteration: int | None, rules: int) -> dict[str, np.ndarray]:
    """Per rule: target pairs it fires on, those labelled match, those whose truth is known, those that match."""
    scores = scan_scores(folder.scores_file(method, folder.iteration(method, iteration)))
    known, true_match, truth = "0", "0", ""
    if folder.has_truth:
        truth = f" JOIN {scan(folder.truth_file)} AS t ON t.{ROW} = s.{ROW}"
        known, true_match = "(t.label >= 0)::INTEGER", "(t.label = 1)::INTEGER"
    pairs = f"SELECT s.{ROW}, s.label, {known} AS known, {true_match} AS true_match FROM {scores} AS s{truth}"
    sums = ", ".join(f"sum(p.{name}) AS {name}" for name in ("label", "known", "true_match"))
    query = f"SELECT f.rule, count(*) AS fired, {sums} FROM {scan(folder.fired_file)} AS f JOIN ({pairs}) AS p"
    with searching() as connection:
        found = frame(connection, f"{query} ON p.{ROW} = f.{ROW} GROUP BY f.rule")
    full = found.set_index("rule").reindex(range(rules), fill_value=0).astype(np.int64)
    names = {"fired": "fired", "labelled_match": "label", "known": "known", "true_match": "true_match"}
    return {name: full[column].to_numpy() for name, column in names.items()}


def _purity(counts: dict[str, np.ndarray], is_match: np.ndarray, has_truth: bool) -> np.ndarray:
    """Share of the fired pairs with a known truth that have the rule's class; NaN where there is none."""
    known = counts["known"]
    right = np.where(is_match, counts["true_match"], known - counts["true_match"])
    return np.divide(right, known, out=np.full(len(known), np.nan), where=(known > 0) & has_truth)
