"""The comparison of methods as tables. The worker computes it once; for older runs it is computed here."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from pages.parts.frame.palette import VERDICTS, of_label
from pages.parts.frame.text import percent, short
from pages.parts.runs.run_files import rules_of, stamp
from riskcore.rules.sentences import rule_sentence
from riskcore.runs import RunFolder
from riskcore.runs.documents import Comparison, Reliability, ReviewBudget, RuleCredit
from riskcore.runs.readers.method_comparison import BASE, comparison
from riskcore.storage.parquet import take_rows

CELL_CHARS = 120
RULE_CHARS = 160


def comparison_of(folder: RunFolder) -> Comparison:
    """The comparison of a finished run. It is shared by all sessions: do not change it."""
    written = stamp(folder.comparison_file, folder.final_file, folder.truth_file, folder.results_file)
    return _comparison(str(folder.path), written)


@st.cache_resource(max_entries=12, show_spinner="Comparing the methods …")
def _comparison(path: str, written: tuple[int, ...]) -> Comparison:
    return comparison(RunFolder(path))


def scores_table(found: Comparison) -> pd.DataFrame:
    """A row per method: method, f1, low, high, precision, recall, tp, fp, fn, tn, changed, labels used."""
    rows = []
    for method, row in found["methods"].items():
        low, high = row["f1_interval"] or (None, None)
        rows.append(
            {"method": method, **row, "low": low, "high": high, "labels used": ", ".join(row["labels_used"]) or "none"}
        )
    return pd.DataFrame(rows)


def shown_scores(table: pd.DataFrame, has_truth: bool) -> pd.DataFrame:
    """The scores as they are shown; without truth only the number of changed labels."""
    shown = {"method": table["method"]}
    if has_truth:
        shown["F1"] = 100 * table["f1"].astype(float)
        limits = zip(table["low"], table["high"], strict=True)
        shown["95 % interval"] = pd.Series([f"{percent(low)} – {percent(high)}" for low, high in limits])
        shown |= {name: 100 * table[name].astype(float) for name in ("precision", "recall")}
        shown |= {name.upper(): table[name] for name in ("tp", "fp", "fn", "tn")}
    return pd.DataFrame({**shown, "changed labels": table["changed"], "trained with": table["labels used"]})


def reliability_table(found: Reliability) -> pd.DataFrame:
    """A row per bin: pairs, predicted, observed, low, high."""
    return pd.DataFrame(found["bins"])


def curves_table(found: Comparison) -> pd.DataFrame:
    """Points of every method's precision-recall curve: method, recall, precision."""
    return pd.concat([pd.DataFrame({"method": method, **points}) for method, points in found["curves"].items()])


def budget_table(curves: Sequence[ReviewBudget]) -> pd.DataFrame:
    """Errors found by pairs reviewed: ranking, reviewed, found."""
    return pd.concat(
        [pd.DataFrame({"ranking": c["ranking"], "reviewed": c["reviewed"], "found": c["found"]}) for c in curves]
    )


def change_table(folder: RunFolder, method: str, rows: Sequence[int]) -> pd.DataFrame:
    """Some pairs that a method labels differently from tradition: the flip, one value of both records, the id."""
    return _changes(str(folder.path), method, tuple(rows), stamp(folder.final_file))


@st.cache_data(max_entries=24, show_spinner=False)
def _changes(path: str, method: str, rows: tuple[int, ...], written: tuple[int, ...]) -> pd.DataFrame:
    folder = RunFolder(path)
    attribute = folder.attributes()[0]
    names = ["pair_id", f"left_{attribute}", f"right_{attribute}"]
    records = take_rows(folder.pairs_file, rows, names).to_pandas()
    answers = take_rows(folder.final_file, rows, [BASE, method]).to_pandas()
    flips = [
        f"{of_label(int(before >= 0.5)).sign} → {of_label(int(after >= 0.5)).sign}"
        for before, after in zip(answers[BASE], answers[method], strict=True)
    ]
    values = {
        f"{side} {attribute}": [
            None if pd.isna(v) else short(str(v), CELL_CHARS) for v in records[f"{side}_{attribute}"]
        ]
        for side in ("left", "right")
    }
    return pd.DataFrame({"⇄": flips, **values, "pair": records["pair_id"]})


def credit_table(folder: RunFolder, credited: Sequence[RuleCredit]) -> pd.DataFrame:
    """The credit of rules, the label each indicates, and the rule in words."""
    rules = rules_of(folder).rules
    return pd.DataFrame(
        {
            "credit": one["credit"],
            "label": VERDICTS[rules[one["rule"]].outcome].text,
            "rule": short(rule_sentence(rules[one["rule"]]), RULE_CHARS),
        }
        for one in credited
    )
