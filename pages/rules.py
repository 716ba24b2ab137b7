"""The table of rules, one rule with its pairs and errors, and what changes when a rule is muted or pinned."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from pages.parts.frame.glossary import WORDS
from pages.parts.frame.navigation import SCREENS
from pages.parts.frame.page import open_page
from pages.parts.frame.palette import MATCH, NON_MATCH
from pages.parts.frame.tables import ColumnConfig, follow_link, link_table, selected_row, table_height
from pages.parts.frame.text import number, percent, plural, short
from pages.parts.pairs.queue import queue_table, score_columns
from pages.parts.rules import what_if
from pages.parts.rules.reason_cards import Reason, reasons_html
from pages.parts.runs.proposals import only_proposes, warn_of_proposals
from pages.parts.runs.run_files import page_of, rule_table_of, rules_of
from pages.parts.runs.run_picker import View, pick_view
from riskcore.runs import PairPage, PairQuery

SHOWN_PAIRS = 20


def show_table(view: View, table: pd.DataFrame) -> None:
    decided = what_if.decisions(view.run.id)
    columns = st.columns([2, 4, 2], vertical_alignment="bottom")
    outcome = columns[0].selectbox("Outcome", ["both", MATCH.text, NON_MATCH.text], key="says", bind="query-params")
    text = columns[1].text_input("Search in rules", key="rule_text", bind="query-params", max_chars=200)
    weighted = columns[2].toggle("Only rules with weight", help="Hide rules whose learned weight is 0.", key="weighted")
    rows = table
    if outcome != "both":
        rows = rows[rows["outcome"] == str(outcome).split()[1]]
    if text:
        rows = rows[rows["text"].str.contains(text, case=False, regex=False)]
    if weighted:
        rows = rows[rows["weight"] > 0]
    st.markdown(f"**{plural(len(rows), 'rule')}** of {len(table):,}")
    if rows.empty:
        st.info("No rules match these filters. Change or clear them.", icon=":material/filter_alt_off:")
        return
    rows = rows.sort_values("weight", ascending=False, kind="stable")
    numbers = list(rows["rule"])
    key = f"rules {view.run.id} {view.method} {view.iteration} {outcome} {text} {weighted}"
    st.dataframe(
        shown_table(rows, decided),
        key=key,
        hide_index=True,
        height=table_height(len(rows), 420),
        selection_mode=["single-row", "single-cell"],
        on_select=lambda: open_selected(key, numbers),
        column_config=rule_columns(view.folder.has_truth, has_validation(table)),
        placeholder="–",
        alt="rules with support, purity, weight and conflicts",
    )
    st.caption(
        "Select a row to see the rule's pairs. Its share of correct labels is measured on the pairs it fires on. "
        f"Labels used: {labels_of(table, view.folder.has_truth)}."
    )


def labels_of(table: pd.DataFrame, has_truth: bool) -> str:
    """The labels that the rules were measured with."""
    used = ["source", *(["validation"] if has_validation(table) else [])]
    return ", ".join([*used, *(["target (for scoring only)"] if has_truth else [])])


def shown_table(rows: pd.DataFrame, decided: what_if.RuleDecisions) -> pd.DataFrame:
    signs = {"match": MATCH.text, "non-match": NON_MATCH.text}
    return pd.DataFrame(
        {
            "rule": [short(text.rpartition(" -> ")[0], 200) for text in rows["text"]],
            "outcome": [signs[outcome] for outcome in rows["outcome"]],
            **({"what if": [decided.state_of(int(rule)) for rule in rows["rule"]]} if decided else {}),
            "weight": rows["weight"].to_numpy(),
            "fired": rows["target_fired"].to_numpy(),
            "conflicts": rows["conflicts"].to_numpy(),
            "source": 100 * rows["source_purity"].to_numpy(),
            "validation": 100 * rows["validation_purity"].to_numpy(),
            "target": 100 * rows["target_purity"].to_numpy(),
            "support": rows["source_support"].to_numpy(dtype=float, na_value=np.nan),
            **({"learned from": rows["learned_from"].to_numpy()} if rows["learned_from"].nunique() > 1 else {}),
        }
    )


def has_validation(table: pd.DataFrame) -> bool:
    """Whether any rule was measured on validation pairs; without them the column is left out."""
    return bool(table["validation_purity"].notna().any())


def rule_columns(has_truth: bool, has_validation: bool) -> ColumnConfig:
    numbers = st.column_config.NumberColumn
    return {
        "rule": st.column_config.TextColumn(width=300),
        "weight": numbers(format="%.2f", help=WORDS["weight"]),
        "fired": numbers(help="Target pairs the rule fires on."),
        "conflicts": numbers(help=WORDS["conflicts"]),
        "source": numbers(format="%.1f %%", help=f"{WORDS['purity']} Labels used: source."),
        "validation": numbers(format="%.1f %%", help=f"{WORDS['purity']} Labels used: validation.")
        if has_validation
        else None,
        "target": numbers(format="%.1f %%", help=f"{WORDS['purity']} Labels used: target, for scoring only.")
        if has_truth
        else None,
        "support": numbers(help=WORDS["support"]),
    }


def open_selected(key: str, numbers: Sequence[int]) -> None:
    row = selected_row(st.session_state[key])
    if row is not None and row < len(numbers):
        st.query_params["one"] = str(numbers[row])


def close_rule() -> None:
    st.query_params.pop("one", None)


def show_rule(view: View, table: pd.DataFrame, rule: int) -> None:
    row, rules = table.iloc[rule], rules_of(view.folder)
    st.button("All rules", icon=":material/list:", shortcut="Q", on_click=close_rule)
    reason = Reason(rules.rules[rule], row["outcome"], 0.0, float(row["weight"]), float(row["mean"]), 0.0)
    st.html(reasons_html([reason], {}, 0.5, with_share=False))
    if row["learned_from"] == "validation":
        st.caption(
            f"Learned from {plural(int(row['validation_fired']), 'validation pair')}: it looks at an attribute that "
            "the source does not have. Its purity there is what it was found by."
        )
    columns = st.columns(6)
    columns[0].metric("Weight", number(row["weight"]), help=WORDS["weight"])
    columns[1].metric("Target pairs", f"{int(row['target_fired']):,}", help="Target pairs the rule fires on.")
    columns[2].metric("Conflicts", f"{int(row['conflicts']):,}", help=WORDS["conflicts"])
    columns[3].metric("Source purity", percent(row["source_purity"]), help=f"{WORDS['purity']} Labels used: source.")
    validated = "Labels used: validation." if has_validation(table) else "There are no validation labels."
    columns[4].metric("Validation purity", percent(row["validation_purity"]), help=validated)
    columns[5].metric("Target purity", percent(row["target_purity"]), help="Labels used: target, for scoring only.")
    what_if_bar(view, rule)
    show_pairs(view, rule, row["outcome"])


def what_if_bar(view: View, rule: int) -> None:
    state = what_if.decisions(view.run.id).state_of(rule)
    words = {"learned": "its learned weight", "muted": "weight 0 (mute)", "pinned": "the highest weight (pin)"}
    key = f"decide {view.run.id} {rule}"
    st.segmented_control(
        "What if this rule had",
        list(words),
        format_func=words.__getitem__,
        default=state,
        required=True,
        key=key,
        on_change=lambda: what_if.decide(view.run.id, rule, st.session_state[key]),
        help="Shows how the ranking would change. The run itself is not changed.",
    )


def show_pairs(view: View, rule: int, outcome: str) -> None:
    own = 1 if outcome == "match" else 0
    base = PairQuery(method=view.method, iteration=view.iteration, rule=rule, page_size=SHOWN_PAIRS)
    tabs = {"Conflicts": [replace(base, label=1 - own)], "All pairs": [base]}
    if view.folder.has_truth:
        tabs["Errors of the rule"] = [replace(base, label=own, wrong=True), replace(base, label=1 - own, wrong=False)]
    for tab, (title, queries) in zip(st.tabs(list(tabs)), tabs.items(), strict=True):
        with tab:
            key = f"{title} {view.run.id} {view.method} {view.iteration} {rule}"
            show_some(view, rule, [page_of(view.folder, query, {}) for query in queries], key)
    st.page_link(
        SCREENS["pairs"].path,
        label="Open these pairs in the queue",
        icon=SCREENS["pairs"].icon,
        query_params={**view.link, "rule": str(rule)},
    )


def show_some(view: View, rule: int, pages: list[PairPage], key: str) -> None:
    """The riskiest pairs of one or two queries."""
    total = sum(page.total for page in pages)
    if not total:
        st.caption("None.")
        return
    rows = pd.concat([page.rows for page in pages if len(page.rows)], ignore_index=True)
    rows = rows.sort_values("risk", ascending=False, kind="stable", ignore_index=True).head(SHOWN_PAIRS)
    table = queue_table(rows, view.folder.attributes(), only_proposes(view.folder)).drop(columns="verdict")
    links = [("pairs", {**view.link, "rule": str(rule), "pair": pair}) for pair in table["pair"]]
    link_table(table, key, links, score_columns(view.folder.attributes()), "pairs the rule fires on, riskiest first")
    which = f"The {len(rows)} riskiest of {total:,}" if len(rows) < total else plural(total, "pair")
    st.caption(f"{which}. Select a pair to open its card.")


def show_outcome(view: View) -> None:
    wanted = what_if.decisions(view.run.id)
    if not wanted:
        return
    with st.container(border=True):
        row = st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute")
        parts = [
            f"{len(group)} {word}" for word, group in (("muted", wanted.muted), ("pinned", wanted.pinned)) if group
        ]
        row.markdown(f"**What if: {' and '.join(parts)}**", width="content")
        row.button("Reset", icon=":material/undo:", on_click=what_if.reset, args=(view.run.id,))
        outcome = what_if.rescore(view, wanted)
        st.markdown(
            f"The value at risk of **{plural(outcome.changed, 'pair')}** changes; "
            f"**{outcome.entered}** of the {len(outcome.table)} pairs with the highest are new among them."
        )
        st.dataframe(outcome.table, hide_index=True, height=300, column_config=outcome_columns())
        if outcome.rescored < outcome.pairs:
            st.caption(f"Computed on the {outcome.rescored:,} riskiest of {outcome.pairs:,} pairs.")


def outcome_columns() -> ColumnConfig:
    number_column = st.column_config.NumberColumn(format="%.3f")
    return {"value at risk": number_column, "learned value at risk": number_column}


def requested_rule(rules: int) -> int | None:
    """The rule in the address, if there is one with that number."""
    text = st.query_params.get("one", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 8 and int(text) < rules else None


with open_page("rules", "What each rule predicts, how often it is correct, and how much it counts."):
    follow_link()
    view = pick_view()
    if view is not None:
        warn_of_proposals(view.run)
        table = rule_table_of(view.folder, view.method, view.iteration)
        if table.empty:
            st.info("No rules were found on this source. A larger source or cleaner labels may help.")
        else:
            show_outcome(view)
            rule = requested_rule(len(table))
            if rule is None:
                show_table(view, table)
            else:
                show_rule(view, table, rule)
