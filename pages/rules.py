"""The table of rules, one rule with its errors and pairs, and what changes when a rule is muted or pinned."""

import html
from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
import streamlit as st

from pages.parts.audit.undo import show_signing
from pages.parts.frame.actions import action, barred
from pages.parts.frame.glossary import WORDS
from pages.parts.frame.navigation import SCREENS
from pages.parts.frame.page import open_page, section
from pages.parts.frame.palette import of_label
from pages.parts.frame.tables import ColumnConfig, follow_link, link_table
from pages.parts.frame.text import number, percent, plural
from pages.parts.pairs.queue import queue_table, score_columns
from pages.parts.pairs.record_table import records_table
from pages.parts.rules import what_if
from pages.parts.rules.reason_cards import Reason, reasons_html
from pages.parts.rules.rule_list import show_rules
from pages.parts.runs.proposals import only_proposes, warn_of_proposals
from pages.parts.runs.run_files import page_of, rule_table_of, rules_of, stamp
from pages.parts.runs.run_picker import View, pick_view
from pages.parts.runs.run_start import start_with_rules
from riskcore.access import Role
from riskcore.audit.log_cache import Judged
from riskcore.data.problems import visible
from riskcore.rules.record import record_words
from riskcore.runs import PairPage, PairQuery, RunFolder
from riskcore.runs.readers.validation_pairs import ValidationRecord, rule_on_validation

SHOWN_ERRORS, MOST_ERRORS = 3, 50  # validation pairs: at once, and at all
SHOWN_PAIRS = 20
MOST_ATTRIBUTES = 3  # in the table of a rule's pairs
VALUES_WIDTH, MIN_WIDTH = 560, 90  # pixels of all values at a window of 1440, and of one


def close_rule() -> None:
    st.query_params.pop("one", None)


def show_rule(view: View, table: pd.DataFrame, rule: int) -> None:
    row = table.iloc[rule]
    validated = rule_on_validation_of(view, rule)
    st.button("All rules", icon=":material/list:", shortcut="Q", on_click=close_rule)
    reason = Reason(
        rule=rules_of(view.folder).rules[rule],
        outcome=row["outcome"],
        share=0.0,
        weight=float(row["weight"]),
        mean=float(row["mean"]),
        drop=0.0,
        support=None if pd.isna(row["source_support"]) else int(row["source_support"]),
        purity=None if pd.isna(row["source_purity"]) else float(row["source_purity"]),
        from_validation=row["learned_from"] == "validation",
        validation_right=None if validated is None else validated.right,
        validation_pairs=None if validated is None else validated.pairs,
    )
    st.html(reasons_html([reason], {}, 0.5, with_share=False))
    show_validation_errors(validated, row["outcome"], f"{view.run.id} {rule}")
    section("Its record", WORDS["purity"])
    show_record(row)
    what_if_bar(view, rule)
    section("Target pairs it fires on")
    show_pairs(view, rule, row["outcome"])


def rule_on_validation_of(view: View, rule: int) -> ValidationRecord | None:
    return _on_validation(str(view.folder.path), rule, stamp(view.folder.other_pairs_file, view.folder.rules_file))


@st.cache_data(max_entries=50, show_spinner=False)
def _on_validation(path: str, rule: int, written: tuple[int, ...]) -> ValidationRecord | None:
    return rule_on_validation(RunFolder(path), rule, MOST_ERRORS)


def show_validation_errors(validated: ValidationRecord | None, outcome: str, key: str) -> None:
    """The validation pairs whose label contradicts the rule, both records side by side."""
    section("Where it was wrong on validation", WORDS["validation"])
    if validated is None:
        st.caption("This run has no validation pairs, so nothing is known of the rule on labelled pairs of the target.")
        return
    if not validated.wrong:
        fired = "the one validation pair" if validated.pairs == 1 else f"all {validated.pairs:,} validation pairs"
        right = (
            f"Nowhere: it was right on {fired} it fires on." if validated.pairs else "It fires on no validation pair."
        )
        st.caption(f"{right} Labels used: validation.")
        return
    st.markdown(
        f"**{plural(validated.wrong, 'pair')}** of the {validated.pairs:,} validation pairs it fires on "
        f"{'has' if validated.wrong == 1 else 'have'} the label {'non-match' if outcome == 'match' else 'match'}."
    )
    every = len(validated.errors) > SHOWN_ERRORS and st.toggle(
        f"Show {'all' if len(validated.errors) == validated.wrong else 'the first'} {len(validated.errors)}",
        key=f"all errors {key}",
    )
    for pair in validated.errors if every else validated.errors[:SHOWN_ERRORS]:
        mark = of_label(pair.label)
        title = f"{mark.text} by its label · pair {visible(pair.pair_id)}"
        with st.container(border=True):
            st.html(f"<strong>{html.escape(title)}</strong>{records_table(pair.left, pair.right, list(pair.left))}")
    st.caption("Labels used: validation.")


def show_record(row: pd.Series) -> None:
    """Weight and counts, then the share of correct labels on each part."""
    columns = st.columns(6)
    columns[0].metric("Weight", number(row["weight"]), help=WORDS["weight"])
    columns[1].metric("Target pairs", f"{int(row['target_fired']):,}", help="Target pairs the rule fires on.")
    columns[2].metric("Conflicts", f"{int(row['conflicts']):,}", help=WORDS["conflicts"])
    shares = (("Validation", "validation", "validation"), ("Source", "source", "source"))
    for column, (title, part, used) in zip(columns[3:5], shares, strict=True):
        column.metric(f"{title} purity", percent(row[f"{part}_purity"]), help=f"Labels used: {used}.")
    columns[5].metric("Target purity", percent(row["target_purity"]), help="Labels used: target, for scoring only.")
    words = [record_of(row, part) for part in ("validation", "source")]
    known = [f"{word[0].upper()}{word[1:]}" for word in words if word]
    if row["learned_from"] == "validation":
        known.append("It looks at an attribute that the source does not have, and was learned from validation pairs")
    if known:
        st.caption(f"{'. '.join(known)}.")


def record_of(row: pd.Series, part: str) -> str:
    """How often the rule was right on a part, in words; empty where that is not known."""
    pairs = row["validation_fired" if part == "validation" else "source_support"]
    if pd.isna(pairs):
        return ""
    purity = row[f"{part}_purity"]
    return record_words(0 if pd.isna(purity) else round(purity * pairs), int(pairs), part)


def what_if_bar(view: View, rule: int) -> None:
    state = what_if.decisions(view.folder).state_of(rule)
    words = {"learned": "its learned weight", "muted": "weight 0 (mute)", "pinned": "the highest weight (pin)"}
    key = f"decide {view.run.id} {rule} {state}"  # another person may have decided meanwhile
    st.segmented_control(
        "This rule has",
        list(words),
        format_func=words.__getitem__,
        default=state,
        required=True,
        key=key,
        on_change=lambda: what_if.decide(view.folder, rule, st.session_state[key]),
        disabled=barred(what_if.decide),
        help="Applies to the queue of this run, for everyone, until someone changes it. The run’s labels and estimates "
        "stay as they are.",
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
            show_some(view, rule, [page_of(view.folder, query, Judged()) for query in queries], key)
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
    attributes = looked_at(view, rule)
    table = queue_table(rows, attributes, only_proposes(view.folder)).drop(columns="verdict")
    links = [("pairs", {**view.link, "rule": str(rule), "pair": pair}) for pair in table["pair"]]
    columns = score_columns(attributes) | value_columns(attributes)
    link_table(table, key, links, columns, "pairs the rule fires on, riskiest first")
    which = f"The {len(rows)} riskiest of {total:,}" if len(rows) < total else plural(total, "pair")
    st.caption(f"{which}. Select a pair to open its card.")


def looked_at(view: View, rule: int) -> list[str]:
    """The attributes that the rule looks at, after the first one, by which people know a record; so the table fits."""
    attributes = view.folder.attributes()
    used = {condition.attribute for condition in rules_of(view.folder).rules[rule].conditions}
    return [name for place, name in enumerate(attributes) if place == 0 or name in used][:MOST_ATTRIBUTES]


def value_columns(attributes: Sequence[str]) -> ColumnConfig:
    """Values share the width that scores and the pair's id leave."""
    column = st.column_config.TextColumn(width=max(MIN_WIDTH, VALUES_WIDTH // (2 * len(attributes))))
    return {f"{side} {name}": column for name in attributes for side in ("left", "right")}


def show_outcome(view: View) -> None:
    wanted = what_if.decisions(view.folder)
    if not wanted:
        return
    with st.container(border=True):
        row = st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute")
        parts = [
            f"{len(group)} {word}" for word, group in (("muted", wanted.muted), ("pinned", wanted.pinned)) if group
        ]
        row.markdown(f"**Decided by people: {' and '.join(parts)}**", width="content")
        ways = row.container(horizontal=True, width="content")
        ways.button(
            "Run again with these rules",
            icon=":material/play_arrow:",
            on_click=run_again,
            args=(view,),
            disabled=barred(run_again),
            help="A new run with the same data and settings, in which these rules are muted and pinned from the start.",
        )
        ways.button(
            "Clear",
            icon=":material/undo:",
            on_click=what_if.reset,
            args=(view.folder,),
            disabled=barred(what_if.reset),
        )
        outcome = what_if.rescore(view, wanted)
        st.markdown(
            f"The value at risk of **{plural(outcome.changed, 'pair')}** changes; "
            f"**{outcome.entered}** of the {len(outcome.table)} pairs with the highest are new among them."
        )
        st.dataframe(outcome.table, hide_index=True, height=300, column_config=outcome_columns())
        if outcome.rescored < outcome.pairs:
            st.caption(f"Computed on the {outcome.rescored:,} riskiest of {outcome.pairs:,} pairs.")


@action(Role.OPERATOR)
def run_again(view: View) -> None:
    run = start_with_rules(view.run)
    st.toast(f"Run {run} has started: watch it on Fine-tuning.", icon=":material/play_arrow:")


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
        show_signing(view.run, "rules")
        warn_of_proposals(view.run)
        table = rule_table_of(view.folder, view.method, view.iteration)
        if table.empty:
            st.info("No rules were found on this source. A larger source or cleaner labels may help.")
        else:
            show_outcome(view)
            rule = requested_rule(len(table))
            if rule is None:
                show_rules(view, table)
            else:
                show_rule(view, table, rule)
