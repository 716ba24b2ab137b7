"""How many matches a record may have: the suggestion with its reason, and what it would change before it is applied."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from pages.parts.frame.address import put
from pages.parts.frame.page import section
from pages.parts.frame.tables import table_height
from pages.parts.frame.text import literal, plural, short
from pages.parts.results.run_results import ResultKey, is_one_table, result_of
from riskcore.audit.constraints import CONSTRAINTS, FREE, MANY_TO_ONE, ONE_TO_MANY, ONE_TO_ONE
from riskcore.audit.decisions import values_of
from riskcore.audit.result import RunResult
from riskcore.columns import PAIR_ID
from riskcore.runs import RunFolder

SHOWN_DROPPED = 50
CELL_CHARS = 120
MEANINGS = {
    FREE: "A record may have any number of matches.",
    ONE_TO_ONE: "A record of either table has at most one match.",
    ONE_TO_MANY: "A left record may have many right ones, a right record at most one left one.",
    MANY_TO_ONE: "A right record may have many left ones, a left record at most one right one.",
}


def applied_constraint(folder: RunFolder) -> str:
    """The constraint in the address; free where there is none, or none that fits."""
    asked = st.query_params.get("constraint", FREE)
    return asked if asked in CONSTRAINTS and not (asked != FREE and is_one_table(folder)) else FREE


def apply(constraint: str) -> None:
    """Put the constraint into the address; pages and an open entity of the other result are left."""
    put("constraint", constraint, FREE)
    for name in ("page", "entity", "entity_page"):
        st.query_params.pop(name, None)


def show_constraint(key: ResultKey) -> None:
    """The choice, and the change that the chosen one would make or has made."""
    applied = result_of(key)
    suggested, why = applied.about["suggested_constraint"], applied.about["suggested_because"]
    section("How many matches may a record have?")
    if is_one_table(key.folder):
        st.caption(literal(why, 400))
        return
    st.markdown(f"The data suggest **{suggested}**. {literal(why, 400)}")
    chosen = st.segmented_control(
        "Constraint",
        CONSTRAINTS,
        format_func=lambda one: _words(one, suggested, key.constraint),
        default=key.constraint if key.constraint != FREE else suggested,
        required=True,
        key=f"constraint {key.run} {key.method} {key.constraint}",
        label_visibility="collapsed",
    )
    st.caption(MEANINGS[chosen])
    show_change(key, applied, chosen)


def show_change(key: ResultKey, applied: RunResult, chosen: str) -> None:
    """What the chosen constraint drops, and the button that applies it."""
    found = result_of(key.under(chosen))
    assert found.resolution is not None  # only results with entities have a constraint
    dropped, counts = found.resolution.dropped, found.about["counts"]
    now = chosen == key.constraint
    row = st.container(horizontal=True, vertical_alignment="center", gap="medium")
    if not now:
        row.button(f"Apply {chosen}", type="primary", icon=":material/check:", on_click=apply, args=(chosen,))
    elif chosen != FREE:
        row.button("Back to free", icon=":material/undo:", on_click=apply, args=(FREE,))
    row.markdown(change_words(len(dropped), counts, now), width="stretch")
    if len(dropped):
        table = dropped_table(key.folder, dropped)
        st.dataframe(
            table,
            hide_index=True,
            height=table_height(len(table), 240),
            column_config={
                **{name: st.column_config.TextColumn(width=290) for name in table},
                "pair": st.column_config.TextColumn(width=80),
                "reason": st.column_config.TextColumn(width=265),
                "probability": st.column_config.NumberColumn(format="%.2f", width=85),
            },
            placeholder="–",
            alt="matches that are dropped, with the reason",
        )
        if len(dropped) > len(table):
            st.caption(f"The {len(table)} most likely of {len(dropped):,} dropped matches.")


def change_words(dropped: int, counts: dict[str, int], now: bool) -> str:
    """The change in two sentences."""
    what = plural(dropped, "match", "matches") if dropped else "No match"
    drop = f"**{what}** {'is' if now else 'would be'} dropped" if dropped < 2 else f"**{what}** "
    if dropped > 1:
        drop += f"{'are' if now else 'would be'} dropped"
    several = plural(counts["entities of several records"], "entity", "entities")
    return (
        f"{drop}, {counts['matches']:,} {'remain' if now else 'would remain'}. {several} "
        f"{'have' if now else 'would have'} several records, the largest {counts['largest entity']:,}."
    )


def dropped_table(folder: RunFolder, dropped: pd.DataFrame) -> pd.DataFrame:
    """The most likely of the dropped matches, each with its reason and one value of both records."""
    some = dropped.sort_values("probability", ascending=False, kind="stable").head(SHOWN_DROPPED)
    values, attribute = values_of(folder, some.index.to_numpy()), folder.attributes()[0]
    shown = {
        f"{side} {attribute}": [_cell(value) for value in values[f"{side}_{attribute}"]] for side in ("left", "right")
    }
    return pd.DataFrame(
        {
            "pair": some[PAIR_ID].to_numpy(),
            "probability": some["probability"].to_numpy(),
            "reason": [short(str(one), 300) for one in some["reasons"]],
            **shown,
        }
    )


def _words(constraint: str, suggested: str, applied: str) -> str:
    facts = {"suggested": constraint == suggested, "applied": constraint == applied}
    notes = ", ".join(word for word, holds in facts.items() if holds)
    return f"{constraint} ({notes})" if notes else constraint


def _cell(value: object) -> str | None:
    return None if pd.isna(value) else short(str(value), CELL_CHARS)
