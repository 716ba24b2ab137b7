"""The bar of verdicts on one pair: a button and a key for each, undo, and a note."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages.parts.audit.verdicts import note_key
from pages.parts.frame.palette import VERDICTS
from pages.parts.frame.text import literal
from riskcore.audit import Verdict

KEYS = {"match": "M", "non-match": "N", "unsure": "U"}


def verdict_bar(
    run: str,
    pair: str,
    held: Verdict | None,
    *,
    give: Callable[[str], None],
    undo: Callable[[], None],
    can_undo: bool,
) -> None:
    """`held` is the current verdict on the pair; `give` records one of the words, `undo` withdraws the last."""
    with st.container(border=True):
        columns = st.columns([2, 2, 2, 2, 4], vertical_alignment="bottom")
        for column, (word, mark) in zip(columns, VERDICTS.items(), strict=False):
            column.button(
                f"{mark.sign} {mark.word.capitalize()}",
                shortcut=KEYS[word],
                width="stretch",
                type="primary" if held is not None and held.verdict == word else "secondary",
                on_click=give,
                args=(word,),
            )
        columns[3].button(
            "Undo",
            icon=":material/undo:",
            shortcut="Z",
            width="stretch",
            disabled=not can_undo,
            on_click=undo,
            help="Withdraws your last verdict and returns to its pair.",
        )
        columns[4].text_input(
            "Note",
            key=note_key(run, pair),
            placeholder="optional note with the verdict",
            max_chars=500,
            label_visibility="collapsed",
        )
        if held is not None:
            by = literal(held.who, 60) or "unknown"
            st.caption(f"Verdict: {VERDICTS[held.verdict].text}, by {by} on {held.at:%Y-%m-%d %H:%M} UTC.")
        else:
            st.caption(
                "Do both records refer to the same entity? After your verdict, the next pair opens. "
                "Keys: M match, N non-match, U unsure, Z undo."
            )
