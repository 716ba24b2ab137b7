"""The table of all rules: each as a sentence, with its weight and its record where people decide."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from pages.parts.frame.glossary import WORDS
from pages.parts.frame.palette import MATCH, NON_MATCH
from pages.parts.frame.tables import ColumnConfig, selected_row
from pages.parts.frame.text import plural, short
from pages.parts.rules import what_if
from pages.parts.runs.run_files import rules_of
from pages.parts.runs.run_picker import View
from riskcore.rules.sentences import rule_sentence
from riskcore.rules.simplification import lower_bound

_ROW_PIXELS = 66  # three lines; Streamlit wraps text in rows above 4 rem
_MOST_PIXELS = 840
_Z = 1.96  # of the interval that a record in words has too
_CELL_CHARS = 300


def show_rules(view: View, table: pd.DataFrame) -> None:
    """The filters and the table; selecting a rule puts it into the address."""
    columns = st.columns([2, 4, 2, 2], vertical_alignment="bottom")
    outcome = columns[0].selectbox("Outcome", ["both", MATCH.text, NON_MATCH.text], key="says", bind="query-params")
    text = columns[1].text_input("Search in rules", key="rule_text", bind="query-params", max_chars=200)
    weighted = columns[2].toggle("Only rules with weight", help="Hide rules whose learned weight is 0.", key="weighted")
    exact = columns[3].toggle("Exact form", help="Show the conditions of each rule with their exact cuts.", key="exact")
    table = table.assign(sentence=[rule_sentence(rule) for rule in rules_of(view.folder).rules])
    rows = _filtered(table, str(outcome), text or "", weighted)
    st.markdown(f"**{plural(len(rows), 'rule')}** of {len(table):,}")
    if rows.empty:
        st.info("No rules match these filters. Change or clear them.", icon=":material/filter_alt_off:")
        return
    numbers = list(rows["rule"])
    key = f"rules {view.run.id} {view.method} {view.iteration} {outcome} {text} {weighted} {exact}"
    st.dataframe(
        shown_table(rows, what_if.decisions(view.folder), has_validation(table), exact),
        key=key,
        hide_index=True,
        row_height=_ROW_PIXELS,
        height=min(_ROW_PIXELS * len(rows) + 40, _MOST_PIXELS),
        selection_mode=["single-row", "single-cell"],
        on_select=lambda: _open_selected(key, numbers),
        column_config=_columns(view.folder.has_truth, has_validation(table), exact),
        placeholder="–",
        alt="rules as sentences, with weight, record on validation pairs, target pairs and conflicts",
    )
    st.caption(
        "Select a row to see where the rule was wrong, and its pairs. “At least” is the lower end of the 95 % interval "
        f"of its share of correct labels. Labels used: {labels_of(table, view.folder.has_truth)}."
    )


def _filtered(table: pd.DataFrame, outcome: str, text: str, weighted: bool) -> pd.DataFrame:
    """The rules that meet the filters, the heaviest first."""
    rows = table
    if outcome != "both":
        rows = rows[rows["outcome"] == outcome.split()[1]]
    if text:
        found = [rows[name].str.contains(text, case=False, regex=False) for name in ("sentence", "text")]
        rows = rows[found[0] | found[1]]
    if weighted:
        rows = rows[rows["weight"] > 0]
    return rows.sort_values("weight", ascending=False, kind="stable")


def shown_table(
    rows: pd.DataFrame, decided: what_if.RuleDecisions, validated: bool, exact: bool = False
) -> pd.DataFrame:
    """The table as it is shown, with each rule's record on the validation pairs, or on the source if not `validated`.

    The exact form takes the place of some counts: all columns fit a window of 1440 pixels.
    """
    signs = {"match": MATCH.text, "non-match": NON_MATCH.text}
    part, count = ("validation", "validation_fired") if validated else ("source", "source_support")
    fired = np.nan_to_num(rows[count].to_numpy(float, na_value=np.nan))
    right = np.rint(np.nan_to_num(rows[f"{part}_purity"].to_numpy(float) * fired))
    at_least = np.where(fired > 0, np.minimum(99, 100 * lower_bound(right, fired, _Z)), np.nan)  # nothing is certain
    counts = {"conflicts": rows["conflicts"].to_numpy(), "target": 100 * rows["target_purity"].to_numpy()}
    return pd.DataFrame(
        {
            "rule": [_cell(sentence) for sentence in rows["sentence"]],
            **({"exact form": [_exact(text) for text in rows["text"]]} if exact else {}),
            "outcome": [signs[outcome] for outcome in rows["outcome"]],
            **({"decided": [decided.state_of(int(rule)) for rule in rows["rule"]]} if decided else {}),
            "weight": rows["weight"].to_numpy(),
            f"right on {part}": [
                f"{r:,.0f} of {n:,.0f}" if n else "fires on none" for r, n in zip(right, fired, strict=True)
            ],
            "at least": at_least,
            "fires on": rows["target_fired"].to_numpy(),
            **({"learned from": rows["learned_from"].to_numpy()} if rows["learned_from"].nunique() > 1 else {}),
            **({} if exact else counts),
        }
    )


def has_validation(table: pd.DataFrame) -> bool:
    """Whether any rule was measured on validation pairs."""
    return bool(table["validation_purity"].notna().any())


def labels_of(table: pd.DataFrame, has_truth: bool) -> str:
    """The labels that the rules were measured with."""
    used = ["source", *(["validation"] if has_validation(table) else [])]
    return ", ".join([*used, *(["target (for scoring only)"] if has_truth else [])])


def _columns(has_truth: bool, validated: bool, exact: bool) -> ColumnConfig:
    numbers, texts = st.column_config.NumberColumn, st.column_config.TextColumn
    part = "validation" if validated else "source"
    target = f"{WORDS['purity']} Labels used: target, for scoring only."
    return {
        "rule": texts(width=300 if exact else 440, help=WORDS["rule"]),
        "exact form": texts(width=300, help="The same rule with its exact cuts, as exports and commands write it."),
        "outcome": texts(width=95, help="What the rule predicts."),
        "decided": texts(width=70, help="What people decided about the rule."),
        "weight": numbers(format="%.2f", width=65, help=WORDS["weight"]),
        f"right on {part}": texts(
            width=120, help=f"{part.capitalize()} pairs that the rule is right on, of those it fires on."
        ),
        "at least": numbers(format="%.0f %%", width=70, help="The lower end of the 95 % interval of that share."),
        "fires on": numbers(width=70, help="Target pairs the rule fires on."),
        "learned from": texts(width=95, help="The labelled pairs that the rule was found on."),
        "conflicts": numbers(width=75, help=WORDS["conflicts"]),
        "target": numbers(format="%.1f %%", width=75, help=target) if has_truth else None,
    }


def _cell(sentence: str) -> str:
    return short(sentence[:1].upper() + sentence[1:], _CELL_CHARS)


def _exact(text: str) -> str:
    return short(text.rpartition(" -> ")[0], _CELL_CHARS)


def _open_selected(key: str, numbers: Sequence[int]) -> None:
    row = selected_row(st.session_state[key])
    if row is not None and row < len(numbers):
        st.query_params["one"] = str(numbers[row])
