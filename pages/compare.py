"""Methods side by side, what each fixed and broke, which rules did it, and what reviewing finds."""

import statistics
from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from pages.parts.charts import budget_chart, methods_chart, precision_recall_chart
from pages.parts.comparison import budgets, change, labels_by, responsible, scored
from pages.parts.glossary import WORDS
from pages.parts.navigation import SCREENS
from pages.parts.page import open_page
from pages.parts.palette import METHOD_WORDS, of_label
from pages.parts.queue import chosen_row
from pages.parts.run_files import rules_of
from pages.parts.run_picker import not_ready, pick_run, run_words, store
from pages.parts.text import percent, plural, short
from riskcore.runs import RunFolder, RunRecord, RunState
from riskcore.runs.parquet import take_rows

SHOWN_PAIRS = 100
SHOWN_RULES = 12
USES_TARGET = "Labels used: target, for scoring only."


def show_methods(folder: RunFolder) -> None:
    found = scored(folder)
    st.subheader("Methods", anchor=False, help=" ".join(f"**{k}**: {v}." for k, v in METHOD_WORDS.items()))
    if folder.has_truth:
        left, right = st.columns([3, 2], gap="large")
        with left:
            st.altair_chart(methods_chart(found.table), width="stretch", alt=method_words(found.table))
            st.caption(f"F1 with its 95 % interval. {USES_TARGET}")
        with right:
            st.altair_chart(
                precision_recall_chart(found.curves), width="stretch", alt="precision by recall, per method"
            )
            st.caption(f"Precision by recall. {USES_TARGET}")
    else:
        st.info(
            "This target has no labels, so nobody can say which method is better. What can be said is how far each "
            "differs from tradition. Verdicts on the Audit screen are the way to know more.",
            icon=":material/info:",
        )
    st.dataframe(method_table(found.table, folder.has_truth), hide_index=True, column_config=method_columns())


def method_words(table: pd.DataFrame) -> str:
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
        "= wrong": "Unmatches labelled match (false positives).",
        "≠ wrong": "Matches labelled unmatch (false negatives).",
        "≠ right": "True unmatches labelled unmatch.",
        "differs from tradition": "Pairs whose label differs. Labels used: none.",
    }
    return {**shares, **{name: numbers(help=text) for name, text in meanings.items()}}


def show_changes(record: RunRecord, folder: RunFolder) -> None:
    methods = [method for method in scored(folder).table["method"] if method != "tradition"]
    if not methods:
        return
    st.subheader("Fixed and broken", anchor=False, help=f"{WORDS['fixed']} {WORDS['broken']}")
    method = st.segmented_control(
        "Against tradition", methods, default=methods[0], required=True, key="against", bind="query-params"
    )
    found = change(folder, method)
    if found.fixed is None:
        show_rows(record, folder, method, found.flipped, f"⇄ {plural(len(found.flipped), 'pair')} flipped")
        return
    interval = found.f1_change_interval or (None, None)
    st.markdown(
        f"F1 {percent(found.f1_before)} → **{percent(found.f1_after)}** "
        f"(change {percent(interval[0])} to {percent(interval[1])}, 95 %). A coin that fixes as often as it breaks "
        f"would split so unevenly {chance_words(found.p_value)}.",
        help=f"Exact McNemar test. {USES_TARGET}",
    )
    left, right = st.columns(2, gap="large")
    with left:
        show_rows(record, folder, method, found.fixed, f"✓ {plural(len(found.fixed), 'pair')} fixed")
    with right:
        show_rows(record, folder, method, found.broken, f"✗ {plural(len(found.broken), 'pair')} broken")
    show_responsible(record, folder, method)


def chance_words(p_value: float | None) -> str:
    """How often luck alone would do it."""
    if p_value is None:
        return "– it cannot be said how often"
    return "less than once in 10,000 times" if p_value < 1e-4 else f"with probability {p_value:.4f}"


def show_rows(record: RunRecord, folder: RunFolder, method: str, rows: np.ndarray, title: str) -> None:
    st.markdown(f"**{title}**")
    if not len(rows):
        st.caption("None.")
        return
    rows = rows[:SHOWN_PAIRS]
    table = change_table(folder, method, rows)
    key = f"{title} {record.id} {method}"
    st.dataframe(
        table,
        key=key,
        hide_index=True,
        height=min(35 * (len(rows) + 1) + 3, 300),
        selection_mode=["single-row", "single-cell"],
        on_select=lambda: remember_pair(key, list(table["pair"])),
        alt=title,
    )
    st.caption(f"{plural(len(rows), 'pair')}, in the order of the data. Select one to open its card.")


def change_table(folder: RunFolder, method: str, rows: np.ndarray) -> pd.DataFrame:
    attribute = folder.attributes()[0]
    names = ["pair_id", f"left_{attribute}", f"right_{attribute}"]
    records = take_rows(folder.pairs_file, rows, names).to_pandas()
    before, after = labels_by(folder, "tradition")[rows], labels_by(folder, method)[rows]
    flips = [f"{of_label(int(a)).sign} → {of_label(int(b)).sign}" for a, b in zip(before, after, strict=True)]
    values = {
        f"{side} {attribute}": [None if pd.isna(v) else short(str(v), 120) for v in records[f"{side}_{attribute}"]]
        for side in ("left", "right")
    }
    return pd.DataFrame({"⇄": flips, **values, "pair": records["pair_id"]})


def remember_pair(key: str, pairs: Sequence[str]) -> None:
    row = chosen_row(st.session_state[key])
    if row is not None and row < len(pairs):
        st.session_state["open pair"] = pairs[row]


def show_responsible(record: RunRecord, folder: RunFolder, method: str) -> None:
    found = responsible(folder, method)
    if found is None:
        return
    texts = [rule.text for rule in rules_of(folder).rules]
    with st.expander("Rules responsible", icon=":material/rule:", expanded=True):
        left, right = st.columns(2, gap="large")
        for column, title, rules, field in (
            (left, "for the fixed pairs", found.by_fixed(), "fixed"),
            (right, "for the broken pairs", found.by_broken(), "broken"),
        ):
            column.markdown(f"**{title}**")
            rows = [{"credit": getattr(r, field), "rule": short(texts[r.rule], 160)} for r in rules[:SHOWN_RULES]]
            if rows:
                format_credit = {"credit": st.column_config.NumberColumn(format="%.1f")}
                column.dataframe(pd.DataFrame(rows), hide_index=True, column_config=format_credit)
            else:
                column.caption("None.")
        st.caption(
            "The credit for one pair is 1, divided among the rules that spoke for its new label by their weights. "
            f"{plural(found.unexplained, 'flip')} had no such rule."
        )


def show_budget(folder: RunFolder) -> None:
    if not folder.has_truth or 0 not in folder.iterations("risk"):
        return
    st.subheader("Errors found per review", anchor=False, help=WORDS["budget"])
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.altair_chart(
            budget_chart(budgets(folder)), width="stretch", alt="errors found by pairs reviewed, by ranking"
        )
        st.caption(f"Reviewing tradition's answers in the order of each ranking. {USES_TARGET}")
    with right:
        told = (folder.results() or {}).get("risk") or {}
        rows = {"risk": told.get("auroc"), **told.get("rivals", {})}
        known = [{"ranking": name, "AUROC": area} for name, area in rows.items() if area is not None]
        if known:
            st.dataframe(
                pd.DataFrame(known),
                hide_index=True,
                column_config={"AUROC": st.column_config.NumberColumn(format="%.3f")},
            )
            st.caption(f"{WORDS['auroc']} {USES_TARGET}")


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
    st.dataframe(pd.DataFrame(rows), hide_index=True)
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
        for method in METHOD_WORDS
        if method in rows and len(values := rows[method].dropna().tolist()) > 1
    ]
    return f"Mean and standard deviation: {', '.join(parts)}." if parts else ""


with open_page("compare", "The adapted matcher against the traditional one and its rivals, pair by pair."):
    if opened := st.session_state.pop("open pair", None):
        st.switch_page(SCREENS["pairs"].path, query_params={"run": st.query_params.get("run", ""), "pair": opened})
    record = pick_run()
    if record is not None:
        folder = RunFolder(record.folder)
        if not folder.final_file.exists():
            if folder.ready:
                st.info("The methods can be compared once the run is done.", icon=":material/hourglass_empty:")
            else:
                not_ready(record)
        else:
            show_methods(folder)
            show_changes(record, folder)
            show_budget(folder)
            show_runs(record)
