"""What a method changed compared with tradition: the pairs it fixed and broke, and the rules responsible."""

from __future__ import annotations

import streamlit as st

from pages.parts.compare.method_tables import change_table, credit_table
from pages.parts.frame.glossary import WORDS
from pages.parts.frame.page import section
from pages.parts.frame.tables import link_table
from pages.parts.frame.text import percent, plural
from riskcore.runs import RunFolder, RunRecord
from riskcore.runs.documents import Comparison, LabelChangeRecord, ResponsibleRules
from riskcore.runs.readers.method_comparison import BASE

SHOWN_RULES = 12
VALUE_PIXELS = {"⇄": 60, "pair": 110}  # of columns; those of values are wider
SIGNS = {"fixed": "✓", "broken": "✗", "flipped": "⇄"}


def show_changes(record: RunRecord, folder: RunFolder, found: Comparison) -> None:
    methods = list(found["changes"])
    if not methods:
        return
    section("Fixed and broken labels", help=f"{WORDS['fixed']} {WORDS['broken']}")
    method = st.segmented_control(
        f"Compared with {BASE}", methods, default=methods[0], required=True, key="against", bind="query-params"
    )
    change = found["changes"][method or methods[0]]
    if change["fixed"] is None:
        show_rows(record, folder, method, change, "flipped")
    else:
        st.markdown(
            f1_sentence(change),
            help="Both on the same pairs; exact McNemar test. Labels used: target, for scoring only.",
        )
        show_rows(record, folder, method, change, "fixed")
        show_rows(record, folder, method, change, "broken")
    if change["responsible"] is not None:
        kinds = ("flipped",) if change["fixed"] is None else ("fixed", "broken")
        show_responsible(record, folder, method, change["responsible"], kinds)


def f1_sentence(change: LabelChangeRecord) -> str:
    """F1 before and after with the interval of the difference and the test."""
    interval = change["f1_change_interval"]
    difference = ""
    if interval is not None:
        low, high = (f"{100 * end:+.1f}" for end in interval)
        difference = f"Difference: {low} to {high} percentage points (95 % confidence interval). "
    return (
        f"F1 before: {percent(change['f1_before'])}. F1 after: **{percent(change['f1_after'])}**. "
        f"{difference}{p_value_text(change['p_value'])}"
    )


def p_value_text(p_value: float | None) -> str:
    if p_value is None:
        return ""
    return f"{'p < 0.0001' if p_value < 1e-4 else f'p = {p_value:.4f}'}, exact McNemar test."


def show_rows(record: RunRecord, folder: RunFolder, method: str, change: LabelChangeRecord, kind: str) -> None:
    count = {"flipped": change["flipped"], "fixed": change["fixed"], "broken": change["broken"]}[kind] or 0
    title = f"{SIGNS[kind]} {plural(count, 'pair')} {kind}"
    st.markdown(f"**{title}**")
    rows = change["rows"][kind]
    if not rows:
        st.caption("None.")
        return
    table = change_table(folder, method, rows)
    links = [("pairs", {"run": record.id, "pair": pair, **_shown_as(folder, method)}) for pair in table["pair"]]
    columns = {name: st.column_config.TextColumn(width=VALUE_PIXELS.get(name, 350)) for name in table}
    link_table(table, f"{kind} {record.id} {method}", links, columns, title)
    some = "" if len(rows) == count else f"Shown are the {len(rows)} whose probability changed most. "
    st.caption(f"{some}Select a pair to open its card.")


def _shown_as(folder: RunFolder, method: str) -> dict[str, str]:
    """The card shows the method itself if it has iterations, else the run's first method with iterations."""
    return {"method": method} if method in folder.methods() else {}


def show_responsible(
    record: RunRecord, folder: RunFolder, method: str, found: ResponsibleRules, kinds: tuple[str, ...]
) -> None:
    with st.expander("Responsible rules", icon=":material/rule:", expanded=True):
        for tab, kind in zip(st.tabs([f"{kind.capitalize()} pairs" for kind in kinds]), kinds, strict=True):
            with tab:
                _show_credits(record, folder, method, kind, found)
        st.caption(
            "Each pair has a credit of 1, divided among the rules that indicate its new label in proportion to their "
            f"weights in the kept iteration ({found['iteration']}). {plural(found['unexplained'], 'flip')} had no such "
            "rule. Select a rule to see its pairs."
        )


def _show_credits(record: RunRecord, folder: RunFolder, method: str, kind: str, found: ResponsibleRules) -> None:
    credited = {"flipped": found["flipped"], "fixed": found["fixed"], "broken": found["broken"]}[kind][:SHOWN_RULES]
    if not credited:
        st.caption("None.")
        return
    view = {"run": record.id, "method": method, "iteration": str(found["iteration"])}
    links = [("rules", {**view, "one": str(one["rule"])}) for one in credited]
    columns = {
        "credit": st.column_config.NumberColumn(format="%.1f", width=60),
        "label": st.column_config.TextColumn(width=90),
        "rule": st.column_config.TextColumn(width=780),
    }
    table, words = credit_table(folder, credited), f"rules responsible for the {kind} pairs, with their credit"
    link_table(table, f"rules {kind} {record.id} {method}", links, columns, words)
