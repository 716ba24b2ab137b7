"""Methods side by side: scores, curves, calibration, fixed and broken pairs, errors found per review, flips."""

import statistics
from collections.abc import Sequence
from typing import Any, cast

import pandas as pd
import streamlit as st

from pages.parts.audit.undo import show_signing
from pages.parts.compare.flip_table import show_flips
from pages.parts.compare.label_changes import show_changes
from pages.parts.compare.method_charts import (
    budget_chart,
    methods_chart,
    precision_recall_chart,
    reliability_chart,
)
from pages.parts.compare.method_tables import (
    budget_table,
    comparison_of,
    curves_table,
    reliability_table,
    scores_table,
    shown_scores,
)
from pages.parts.frame.charts import draw_chart
from pages.parts.frame.glossary import WORDS
from pages.parts.frame.page import open_page, section
from pages.parts.frame.palette import method_words
from pages.parts.frame.tables import ColumnConfig, follow_link
from pages.parts.frame.text import percent, plural, short
from pages.parts.runs.continue_run import show_before_and_after
from pages.parts.runs.proposals import warn_of_proposals
from pages.parts.runs.run_picker import not_ready, pick_run, run_words, store
from pages.parts.runs.run_view import follow_to_end
from pages.parts.tour.banner import show_tour
from riskcore.runs import RunFolder, RunRecord, RunState
from riskcore.runs.documents import Comparison, KeptRanking, ReviewBudget
from riskcore.runs.readers.method_comparison import BASE

LABELS_USED = "Labels used: target, for scoring only."


def show_methods(folder: RunFolder, found: Comparison) -> None:
    table = scores_table(found)
    section("Methods", help=method_words(found["methods"]))
    if folder.has_truth:
        left, right = st.columns([3, 2], gap="large")
        with left:
            draw_chart(methods_chart(table), f1_text(table))
            st.caption(f"F1 of the kept iteration, with its 95 % confidence interval. {LABELS_USED}")
        with right:
            draw_chart(precision_recall_chart(curves_table(found)), "precision by recall of each method")
            st.caption(f"Precision by recall. {LABELS_USED}")
    else:
        st.info(
            "This target has no labels, so the methods cannot be scored. The table shows how many labels each method "
            "changed compared with tradition. To find out how many labels are correct, review pairs on Top-risk pairs.",
            icon=":material/info:",
        )
    st.dataframe(
        shown_scores(table, folder.has_truth),
        hide_index=True,
        column_config=score_columns(),
        placeholder="–",
        alt="the methods with their scores, and how many labels each changed",
    )
    if folder.has_truth:
        st.caption(
            f"TP, FP, FN, TN: true positives, false positives, false negatives, true negatives. Changed labels: pairs "
            f"labelled differently from {BASE}. Trained with: the labels that a method was given. {LABELS_USED}"
        )
        show_twins(folder)
    for method, row in found["methods"].items():
        for sentence in row["lacked"]:
            st.caption(f"{method}: {sentence}")


def show_twins(folder: RunFolder) -> None:
    """F1 without the target pairs whose label could be read off a labelled pair; nothing where there are none."""
    results = folder.results()
    methods = {} if results is None else results["methods"]
    twins = max((row.get("twins", 0) for row in methods.values()), default=0)
    if twins:
        scores = ", ".join(f"{name} {percent(row.get('f1_without_twins'))}" for name, row in methods.items())
        st.caption(
            f"{plural(twins, 'target pair')} with the same content as a labelled source or validation pair. "
            f"F1 without: {scores}. {LABELS_USED}"
        )


def f1_text(table: pd.DataFrame) -> str:
    return "F1: " + ", ".join(f"{row.method} {percent(row.f1)}" for row in table.itertuples())


def score_columns() -> ColumnConfig:
    numbers = st.column_config.NumberColumn
    shares = dict.fromkeys(("F1", "precision", "recall"), numbers(format="%.1f %%"))
    meanings = {
        "TP": "True positives: matches labelled match.",
        "FP": "False positives: non-matches labelled match.",
        "FN": "False negatives: matches labelled non-match.",
        "TN": "True negatives: non-matches labelled non-match.",
        "changed labels": f"Pairs labelled differently from {BASE}. Labels used: none.",
    }
    interval = st.column_config.TextColumn(help="95 % confidence interval of F1, from Wilson's interval of a share.")
    return {**shares, **{name: numbers(help=text) for name, text in meanings.items()}, "95 % interval": interval}


def show_reliability(folder: RunFolder, found: Comparison) -> None:
    """Predicted probabilities against observed match rates; nothing without true labels."""
    methods = [method for method, one in found["reliability"].items() if one["bins"]]
    if not methods:
        return
    section("Calibration", help=WORDS["calibration"])
    default = next((method for method in folder.methods() if method in methods), methods[0])
    method = st.segmented_control(
        "Method", methods, default=default, required=True, key="calibration of", bind="query-params"
    )
    one = found["reliability"][method or default]
    left, right = st.columns([3, 2], gap="large", vertical_alignment="center")
    with left:
        draw_chart(reliability_chart(reliability_table(one), method or default), calibration_text(one["ece"]))
    with right:
        st.markdown(calibration_text(one["ece"]))
        st.caption(
            f"Each point stands for a group of pairs with similar probabilities, {plural(one['pairs'], 'pair')} in "
            "total. The bar is the 95 % confidence interval of the observed share of matches. On the dashed line, "
            f"probabilities are perfectly calibrated. {LABELS_USED}"
        )
    errors = {name: found["reliability"][name]["ece"] for name in methods}
    right.caption("Expected calibration error: " + ", ".join(f"{name} {percent(e)}" for name, e in errors.items()))


def calibration_text(ece: float | None) -> str:
    return (
        "On average, the predicted probability differs from the observed share of matches by "
        f"**{percent(ece)}** (expected calibration error)."
    )


def show_budget(folder: RunFolder, found: Comparison) -> None:
    methods = list(found["budgets"])
    if not methods:
        return
    section("Errors found per review", help=WORDS["budget"])
    default = next((method for method in folder.methods() if method in methods), methods[0])
    chosen = st.segmented_control(
        "Labels of", methods, default=default, required=True, key="review of", bind="query-params"
    )
    method = chosen if chosen in methods else default
    curves = found["budgets"][method]
    left, right = st.columns([5, 4], gap="large")
    with left:
        draw_chart(budget_chart(budget_table(curves)), "errors found by pairs reviewed, for each ranking")
        st.caption(f"The labels that {method} ended with, reviewed in the order of each ranking. {LABELS_USED}")
    with right:
        show_rankings(folder, method, curves)


def show_rankings(folder: RunFolder, method: str, curves: Sequence[ReviewBudget]) -> None:
    """Each ranking with its AUROC, the reviews it needs, and the labels it was made from."""
    kept = kept_ranking(folder, method)
    areas = {} if kept is None else {"risk": kept["auroc"], "confidence": kept["confidence"], **kept["rivals"]}
    areas["random order"] = 0.5
    rows = [
        {
            "ranking": curve["ranking"],
            "AUROC": areas.get(curve["ranking"]),
            "reviews needed": curve["needed"].get("0.8"),
            "labels used": ", ".join(curve["labels_used"]) or "none",
        }
        for curve in curves
    ]
    columns = {
        "AUROC": st.column_config.NumberColumn(format="%.3f", help=WORDS["auroc"]),
        "reviews needed": st.column_config.NumberColumn(help="Pairs to review until 80 % of the errors are found."),
        "labels used": st.column_config.TextColumn(help="Labels that the ranking itself was made from."),
    }
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        column_config=columns,
        placeholder="–",
        alt="the rankings with their AUROC and the reviews they need",
    )
    st.caption(f"{WORDS['auroc']} Reviews needed: until 80 % of the errors are found. {LABELS_USED}")
    if kept is not None and kept["ece"] is not None:
        st.caption(
            f"On average, risk differs from the observed share of wrong labels by {percent(kept['ece'])} (expected "
            f"calibration error). Wrong labels of {method}: {kept['errors'] or 0:,}. {LABELS_USED}"
        )


def kept_ranking(folder: RunFolder, method: str) -> KeptRanking | None:
    """How well the method's labels are ranked; of runs that older versions made, only those of the start."""
    results = folder.results()
    risk = None if results is None else results["risk"]
    if risk is None:
        return None
    if "kept" in risk:
        return risk["kept"].get(method)
    rivals = dict(risk["rivals"])
    confidence = rivals.pop("confidence", None)
    found = {"errors": risk["mispredicted"], "auroc": risk["auroc"], "confidence": confidence, "rivals": rivals}
    return cast(KeptRanking, {**found, "ece": None, "top_100": None}) if method == BASE else None


def show_runs(current: RunRecord) -> None:
    done = [record for record in store().list() if record.state is RunState.DONE]
    if len(done) < 2:
        return
    section("Several runs")
    names = {record.id: record for record in done}
    alike = [r.id for r in done if (r.config.source, r.config.target) == (current.config.source, current.config.target)]
    chosen = st.multiselect(
        "Runs", list(names), default=alike[:6], format_func=lambda run: run_words(names[run]), key="runs compared"
    )
    rows = [run_row(names[run]) for run in chosen]
    if not rows:
        return
    st.dataframe(pd.DataFrame(rows), hide_index=True, placeholder="–", alt="F1 of each method in the chosen runs")
    spread = spread_text(pd.DataFrame(rows))
    st.caption(f"F1 in % on the target, where it has labels. {spread} {LABELS_USED}")


def run_row(record: RunRecord) -> dict[str, Any]:
    results = RunFolder(record.folder).results()
    f1 = {} if results is None else {name: row["f1"] for name, row in results["methods"].items()}
    scores = {name: round(100 * score, 1) for name, score in f1.items() if score is not None}
    matcher = record.config.matcher.kind
    return {"run": short(record.name, 50), "matcher": matcher, "seed": record.config.seed, **scores}


def spread_text(rows: pd.DataFrame) -> str:
    methods = [name for name in rows.columns if name not in ("run", "matcher", "seed")]
    parts = [
        f"{method} {statistics.mean(values):.1f} ± {statistics.stdev(values):.1f}"
        for method in methods
        if len(values := rows[method].dropna().tolist()) > 1
    ]
    return f"Mean and standard deviation: {', '.join(parts)}." if parts else ""


with open_page("compare", f"All methods of a run compared with {BASE}, the matcher before adaptation."):
    show_tour()
    follow_link()
    record = pick_run()
    if record is not None:
        folder = RunFolder(record.folder)
        if folder.final_file.exists():
            show_signing(record, "compare")
            warn_of_proposals(record)
            show_before_and_after(folder)
            found = comparison_of(folder)
            show_methods(folder, found)
            show_reliability(folder, found)
            show_changes(record, folder, found)
            show_budget(folder, found)
            show_flips(folder)
            show_runs(record)
        elif folder.ready:
            st.info("The methods can be compared once the run is done.", icon=":material/hourglass_empty:")
            follow_to_end(record)
        else:
            not_ready(record)
