"""Methods side by side, what each fixed and broke, which rules did it, and what reviewing finds."""

import statistics
from typing import Any

import pandas as pd
import streamlit as st

from pages.parts.compare.method_tables import (
    budget_table,
    change_table,
    comparison_of,
    credit_table,
    curves_table,
    scores_table,
)
from pages.parts.frame.chart import draw_chart
from pages.parts.frame.glossary import WORDS
from pages.parts.frame.link_table import follow, link_table
from pages.parts.frame.page import open_page
from pages.parts.frame.palette import method_words
from pages.parts.frame.text import percent, plural, short
from pages.parts.runs.charts import budget_chart, methods_chart, precision_recall_chart
from pages.parts.runs.run_picker import not_ready, pick_run, run_words, store
from riskcore.runs import RunFolder, RunRecord, RunState
from riskcore.runs.readers.method_comparison import BASE

SHOWN_RULES = 12
USES_TARGET = "Labels used: target, for scoring only."


def show_methods(folder: RunFolder, found: dict[str, Any]) -> None:
    table = scores_table(found)
    st.subheader("Methods", anchor=False, help=method_words(found["methods"]))
    if folder.has_truth:
        left, right = st.columns([3, 2], gap="large")
        with left:
            draw_chart(methods_chart(table), f1_words(table))
            st.caption(f"F1 with its 95 % interval. {USES_TARGET}")
        with right:
            draw_chart(precision_recall_chart(curves_table(found)), "precision by recall, per method")
            st.caption(f"Precision by recall. {USES_TARGET}")
    else:
        st.info(
            "This target has no labels, so nobody can say which method is better. What can be said is how far each "
            "differs from tradition. Verdicts on the Audit screen are the way to know more.",
            icon=":material/info:",
        )
    st.dataframe(method_table(table, folder.has_truth), hide_index=True, column_config=method_columns())
    for method, row in found["methods"].items():
        for sentence in row.get("lacked") or ():
            st.caption(f"{method}: {sentence}")


def f1_words(table: pd.DataFrame) -> str:
    return "F1: " + ", ".join(f"{row.method} {percent(row.f1)}" for row in table.itertuples())


def method_table(table: pd.DataFrame, has_truth: bool) -> pd.DataFrame:
    shown = {"method": table["method"], "differs from tradition": table["changed"]}
    if has_truth:
        for name in ("f1", "low", "high", "precision", "recall"):
            shown[{"f1": "F1", "low": "F1 from", "high": "F1 to"}.get(name, name)] = 100 * table[name].astype(float)
        signs = {"tp": "= right", "fp": "= wrong", "fn": "≠ wrong", "tn": "≠ right"}
        shown |= {word: table[name] for name, word in signs.items()}
    return pd.DataFrame({**shown, "trained with labels of": table["labels used"]})


def method_columns() -> dict:
    numbers = st.column_config.NumberColumn
    shares = dict.fromkeys(("F1", "F1 from", "F1 to", "precision", "recall"), numbers(format="%.1f %%"))
    meanings = {
        "= right": "True matches labelled match.",
        "= wrong": "Non-matches labelled match (false positives).",
        "≠ wrong": "Matches labelled non-match (false negatives).",
        "≠ right": "True non-matches labelled non-match.",
        "differs from tradition": "Pairs whose label differs. Labels used: none.",
    }
    return {**shares, **{name: numbers(help=text) for name, text in meanings.items()}}


def show_changes(record: RunRecord, folder: RunFolder, found: dict[str, Any]) -> None:
    methods = list(found["changes"])
    if not methods:
        return
    st.subheader("Fixed and broken", anchor=False, help=f"{WORDS['fixed']} {WORDS['broken']}")
    method = st.segmented_control(
        f"Against {BASE}", methods, default=methods[0], required=True, key="against", bind="query-params"
    )
    change = found["changes"][method]
    if change["fixed"] is None:
        show_rows(record, folder, method, change, "flipped", "⇄")
    else:
        low, high = change["f1_change_interval"] or (None, None)
        st.markdown(
            f"F1 {percent(change['f1_before'])} → **{percent(change['f1_after'])}** "
            f"(change {percent(low)} to {percent(high)}, 95 %). A coin that fixes as often as it breaks "
            f"would split so unevenly {chance_words(change['p_value'])}.",
            help=f"Exact McNemar test. {USES_TARGET}",
        )
        left, right = st.columns(2, gap="large")
        with left:
            show_rows(record, folder, method, change, "fixed", "✓")
        with right:
            show_rows(record, folder, method, change, "broken", "✗")
    if change["responsible"] is not None:
        show_responsible(record, folder, method, change["responsible"], change["fixed"] is not None)


def chance_words(p_value: float | None) -> str:
    """How often luck alone would do it."""
    if p_value is None:
        return "– it cannot be said how often"
    return "less than once in 10,000 times" if p_value < 1e-4 else f"with probability {p_value:.4f}"


def show_rows(record: RunRecord, folder: RunFolder, method: str, change: dict[str, Any], kind: str, sign: str) -> None:
    title = f"{sign} {plural(change[kind], 'pair')} {kind}"
    st.markdown(f"**{title}**")
    rows = change["rows"][kind]
    if not rows:
        st.caption("None.")
        return
    table = change_table(folder, method, rows)
    targets = [("pairs", {"run": record.id, "pair": pair, **shown_as(folder, method)}) for pair in table["pair"]]
    values = {name: st.column_config.TextColumn(width=165) for name in table if name.startswith(("left ", "right "))}
    link_table(table, f"{kind} {record.id} {method}", targets, values, title)
    some = "" if len(rows) == change[kind] else f"The {len(rows)} whose probability moved furthest. "
    st.caption(f"{some}Select one to open its card.")


def shown_as(folder: RunFolder, method: str) -> dict[str, str]:
    """The card shows the method itself where it has iterations, else the run's first that does."""
    return {"method": method} if method in folder.methods() else {}


def show_responsible(
    record: RunRecord, folder: RunFolder, method: str, found: dict[str, Any], with_truth: bool
) -> None:
    kinds = ("fixed", "broken") if with_truth else ("flipped",)
    with st.expander("Rules responsible", icon=":material/rule:", expanded=True):
        for tab, kind in zip(st.tabs([f"For the {kind} pairs" for kind in kinds]), kinds, strict=True):
            with tab:
                show_credits(record, folder, method, kind, found)
        st.caption(
            "The credit for one pair is 1, divided among the rules that spoke for its new label by their weights in "
            f"iteration {found['iteration']}, the one that was kept. {plural(found['unexplained'], 'flip')} had no "
            "such rule. Select a rule to see its pairs."
        )


def show_credits(record: RunRecord, folder: RunFolder, method: str, kind: str, found: dict[str, Any]) -> None:
    listed = found[kind][:SHOWN_RULES]
    if not listed:
        st.caption("None.")
        return
    view = {"run": record.id, "method": method, "iteration": str(found["iteration"])}
    targets = [("rules", {**view, "one": str(one["rule"])}) for one in listed]
    columns = {"credit": st.column_config.NumberColumn(format="%.1f", width=70)}
    table, words = credit_table(folder, listed), f"rules behind the {kind} pairs, with their credit"
    link_table(table, f"rules {kind} {record.id} {method}", targets, columns, words)


def show_budget(folder: RunFolder, found: dict[str, Any]) -> None:
    if not found["budgets"]:
        return
    st.subheader("Errors found per review", anchor=False, help=WORDS["budget"])
    left, right = st.columns([5, 4], gap="large")
    with left:
        draw_chart(budget_chart(budget_table(found)), "errors found by pairs reviewed, by ranking")
        st.caption(f"Reviewing {BASE}'s answers in the order of each ranking. {USES_TARGET}")
    with right:
        show_rankings(folder, found)


def show_rankings(folder: RunFolder, found: dict[str, Any]) -> None:
    """Each ranking with its area, how many reviews it needs, and the labels it was made from."""
    told = (folder.results() or {}).get("risk") or {}
    areas = {"risk": told.get("auroc"), **told.get("rivals", {}), "random order": 0.5}
    rows = [
        {
            "ranking": curve["ranking"],
            "AUROC": areas.get(curve["ranking"]),
            "reviews": curve["needed"].get("0.8"),
            "labels used": ", ".join(curve["labels_used"]) or "none",
        }
        for curve in found["budgets"]
    ]
    columns = {
        "AUROC": st.column_config.NumberColumn(format="%.3f", help=WORDS["auroc"]),
        "reviews": st.column_config.NumberColumn(help="Pairs to review until 80 % of the errors are found."),
        "labels used": st.column_config.TextColumn(help="By the ranking itself; counting its hits needs the target's."),
    }
    st.dataframe(pd.DataFrame(rows), hide_index=True, column_config=columns)
    st.caption(f"{WORDS['auroc']} Reviews: until 80 % of the errors are found. {USES_TARGET}")


def show_runs(current: RunRecord) -> None:
    done = [record for record in store().list() if record.state is RunState.DONE]
    if len(done) < 2:
        return
    st.subheader("Several runs", anchor=False)
    names = {record.id: record for record in done}
    alike = [r.id for r in done if (r.config.source, r.config.target) == (current.config.source, current.config.target)]
    chosen = st.multiselect(
        "Runs", list(names), default=alike[:6], format_func=lambda run: run_words(names[run]), key="runs compared"
    )
    rows = [run_row(names[run]) for run in chosen]
    if not rows:
        return
    st.dataframe(pd.DataFrame(rows), hide_index=True, placeholder="–")
    spread = spread_words(pd.DataFrame(rows))
    st.caption(f"F1 in %, on the target where it has labels. {spread} {USES_TARGET}")


def run_row(record: RunRecord) -> dict:
    methods = (RunFolder(record.folder).results() or {}).get("methods", {})
    scores = {name: round(100 * row["f1"], 1) for name, row in methods.items() if row.get("f1") is not None}
    matcher = record.config.matcher.kind
    return {"run": short(record.name, 50), "matcher": matcher, "seed": record.config.seed, **scores}


def spread_words(rows: pd.DataFrame) -> str:
    parts = [
        f"{method} {statistics.mean(values):.1f} ± {statistics.stdev(values):.1f}"
        for method in rows.columns[3:]
        if len(values := rows[method].dropna().tolist()) > 1
    ]
    return f"Mean and standard deviation: {', '.join(parts)}." if parts else ""


with open_page("compare", "The adapted matcher against the traditional one and the baselines, pair by pair."):
    follow()
    record = pick_run()
    if record is not None:
        folder = RunFolder(record.folder)
        if folder.final_file.exists():
            found = comparison_of(folder)
            show_methods(folder, found)
            show_changes(record, folder, found)
            show_budget(folder, found)
            show_runs(record)
        elif folder.ready:
            st.info("The methods can be compared once the run is done.", icon=":material/hourglass_empty:")
        else:
            not_ready(record)
