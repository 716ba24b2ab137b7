"""The ledger of rules, one rule's pairs and mistakes, and what changes when a rule is muted or pinned."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from pages.parts.frame.glossary import WORDS
from pages.parts.frame.link_table import chosen_row, follow, link_table, table_height
from pages.parts.frame.navigation import SCREENS
from pages.parts.frame.page import open_page
from pages.parts.frame.palette import MATCH, NON_MATCH
from pages.parts.frame.text import number, percent, plural, short
from pages.parts.pairs.queue import queue_table, score_columns
from pages.parts.rules import what_if
from pages.parts.rules.rule_view import Voice, voices_html
from pages.parts.runs.run_files import ledger_of, page_of, rules_of
from pages.parts.runs.run_picker import View, pick_view
from riskcore.runs import PairPage, PairQuery

SHOWN_PAIRS = 20


def show_ledger(view: View, ledger: pd.DataFrame) -> None:
    chosen = what_if.decisions(view.run.id)
    columns = st.columns([2, 4, 2], vertical_alignment="bottom")
    outcome = columns[0].selectbox("Says", ["both", MATCH.text, NON_MATCH.text], key="says", bind="query-params")
    text = columns[1].text_input("Search in rules", key="rule_text", bind="query-params", max_chars=200)
    heard = columns[2].toggle("Only rules that are heard", help="Hide rules whose learned weight is 0.", key="heard")
    rows = ledger
    if outcome != "both":
        rows = rows[rows["outcome"] == str(outcome).split()[1]]
    if text:
        rows = rows[rows["text"].str.contains(text, case=False, regex=False)]
    if heard:
        rows = rows[rows["weight"] > 0]
    st.markdown(f"**{plural(len(rows), 'rule')}** of {len(ledger):,}")
    if rows.empty:
        st.info("No rule meets these filters. Clear the search.", icon=":material/filter_alt_off:")
        return
    rows = rows.sort_values("weight", ascending=False, kind="stable")
    numbers = list(rows["rule"])
    key = f"ledger {view.run.id} {view.method} {view.iteration} {outcome} {text} {heard}"
    st.dataframe(
        ledger_table(rows, chosen),
        key=key,
        hide_index=True,
        height=table_height(len(rows), 420),
        selection_mode=["single-row", "single-cell"],
        on_select=lambda: open_selected(key, numbers),
        column_config=ledger_columns(view.folder.has_truth, has_validation(ledger)),
        placeholder="–",
        alt="rules with support, purity, weight and conflicts",
    )
    st.caption(
        "Select a row to see the rule's pairs. Source, validation and target: the share of pairs it fires on that it "
        "is right about; target uses the target's labels, for scoring only."
    )


def ledger_table(rows: pd.DataFrame, chosen: what_if.Decisions) -> pd.DataFrame:
    signs = {"match": MATCH.text, "non-match": NON_MATCH.text}
    return pd.DataFrame(
        {
            "rule": [short(text.rpartition(" -> ")[0], 200) for text in rows["text"]],
            "says": [signs[outcome] for outcome in rows["outcome"]],
            **({"what if": [chosen.state_of(int(rule)) for rule in rows["rule"]]} if chosen else {}),
            "weight": rows["weight"].to_numpy(),
            "fired": rows["target_fired"].to_numpy(),
            "conflicts": rows["conflicts"].to_numpy(),
            "source": 100 * rows["source_purity"].to_numpy(),
            "validation": 100 * rows["validation_purity"].to_numpy(),
            "target": 100 * rows["target_purity"].to_numpy(),
            "support": rows["source_support"].to_numpy(),
        }
    )


def has_validation(ledger: pd.DataFrame) -> bool:
    """Whether any rule was measured on validation pairs: without them there is nothing to show, and no label used."""
    return bool(ledger["validation_purity"].notna().any())


def ledger_columns(has_truth: bool, has_validation: bool) -> dict:
    numbers = st.column_config.NumberColumn
    return {
        "rule": st.column_config.TextColumn(width=300),
        "weight": numbers(format="%.2f", help=WORDS["weight"]),
        "fired": numbers(help="Target pairs it fires on."),
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
    row = chosen_row(st.session_state[key])
    if row is not None and row < len(numbers):
        st.query_params["one"] = str(numbers[row])


def show_rule(view: View, ledger: pd.DataFrame, rule: int) -> None:
    row, rules = ledger.iloc[rule], rules_of(view.folder)
    st.button("All rules", icon=":material/list:", shortcut="Q", on_click=lambda: st.query_params.pop("one", None))
    voice = Voice(rules.rules[rule], row["outcome"], 0.0, float(row["weight"]), float(row["mean"]), 0.0)
    st.html(voices_html([voice], {}, 0.5, with_share=False))
    columns = st.columns(6)
    columns[0].metric("Weight", number(row["weight"]), help=WORDS["weight"])
    columns[1].metric("Fires on the target", f"{int(row['target_fired']):,}", help="Pairs.")
    columns[2].metric("Conflicts", f"{int(row['conflicts']):,}", help=WORDS["conflicts"])
    columns[3].metric("Right on the source", percent(row["source_purity"]), help="Labels used: source.")
    validated = "Labels used: validation." if has_validation(ledger) else "There are no validation labels."
    columns[4].metric("Right on validation", percent(row["validation_purity"]), help=validated)
    columns[5].metric("Right on the target", percent(row["target_purity"]), help="Labels used: target, for scoring.")
    decide_bar(view, rule)
    show_its_pairs(view, rule, row["outcome"])


def decide_bar(view: View, rule: int) -> None:
    state = what_if.decisions(view.run.id).state_of(rule)
    words = {"learned": "as learned", "muted": "mute: not heard", "pinned": "pin: heard above all"}
    key = f"decide {view.run.id} {rule}"
    st.segmented_control(
        "What if",
        list(words),
        format_func=words.__getitem__,
        default=state,
        required=True,
        key=key,
        on_change=lambda: what_if.decide(view.run.id, rule, st.session_state[key]),
        help="A question, not an edit: the run stays as it is.",
    )


def show_its_pairs(view: View, rule: int, outcome: str) -> None:
    own = 1 if outcome == "match" else 0
    base = {"method": view.method, "iteration": view.iteration, "rule": rule, "page_size": SHOWN_PAIRS}
    tabs = {"Conflicts": [PairQuery(**base, label=1 - own)], "All its pairs": [PairQuery(**base)]}
    if view.folder.has_truth:
        both = [PairQuery(**base, label=own, wrong=True), PairQuery(**base, label=1 - own, wrong=False)]
        tabs["Where it was wrong"] = both
    for tab, (title, queries) in zip(st.tabs(list(tabs)), tabs.items(), strict=True):
        with tab:
            key = f"{title} {view.run.id} {view.method} {view.iteration} {rule}"
            show_some(view, rule, [page_of(view.folder, query, {}) for query in queries], key)
    st.page_link(
        SCREENS["pairs"].path,
        label="Browse all its pairs",
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
    table = queue_table(rows, view.folder.attributes()).drop(columns="verdict")
    targets = [("pairs", {**view.link, "rule": str(rule), "pair": pair}) for pair in table["pair"]]
    link_table(table, key, targets, score_columns(view.folder.attributes()), "pairs the rule fires on, riskiest first")
    which = f"The {len(rows)} riskiest of {total:,}" if len(rows) < total else plural(total, "pair")
    st.caption(f"{which}. Select one to open its card.")


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
        row.button("Forget all decisions", icon=":material/undo:", on_click=what_if.forget, args=(view.run.id,))
        outcome = what_if.ask(view, wanted)
        st.markdown(
            f"The risk of **{plural(outcome.changed, 'pair')}** changes; "
            f"**{outcome.entered}** of the {len(outcome.table)} riskiest were not among them before."
        )
        st.dataframe(outcome.table, hide_index=True, height=300, column_config=outcome_columns())
        if outcome.looked_at < outcome.pairs:
            st.caption(f"Looked at the {outcome.looked_at:,} riskiest of {outcome.pairs:,} pairs.")


def outcome_columns() -> dict:
    number_column = st.column_config.NumberColumn(format="%.3f")
    return {"risk now": number_column, "risk as learned": number_column}


def rule_asked(rules: int) -> int | None:
    """The rule of the address, if there is one of that number."""
    text = st.query_params.get("one", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 8 and int(text) < rules else None


with open_page("rules", "What the rules say, how often they were right, and how loudly they are heard."):
    follow()
    view = pick_view()
    if view is not None:
        ledger = ledger_of(view.folder, view.method, view.iteration)
        if ledger.empty:
            st.info("No rule was found on this source. A larger source, or purer labels, would help.")
        else:
            show_outcome(view)
            asked = rule_asked(len(ledger))
            if asked is None:
                show_ledger(view, ledger)
            else:
                show_rule(view, ledger, asked)
