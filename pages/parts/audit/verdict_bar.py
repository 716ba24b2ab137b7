"""The bar of verdicts on one pair: a button and a key for each, undo, a note and its tags."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages.parts.audit.verdicts import give as give_verdict
from pages.parts.audit.verdicts import note_key, open_bar, tagged, tags_key
from pages.parts.frame.actions import barred
from pages.parts.frame.palette import VERDICTS
from pages.parts.frame.text import literal
from riskcore.audit import Verdict

MOST_TAGS = 200  # in the list
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
    open_bar(pair)
    judges = not barred(give_verdict)
    with st.container(border=True):
        left, right = st.columns([8, 4], gap="medium")
        with left:
            columns = st.columns(4)
            for column, (word, mark) in zip(columns, VERDICTS.items(), strict=False):
                column.button(
                    f"{mark.sign} {mark.word.capitalize()}",
                    key=f"{word} {run} {pair}",  # of this pair, so that no press is taken for another
                    shortcut=KEYS[word],
                    width="stretch",
                    type="primary" if held is not None and held.verdict == word else "secondary",
                    on_click=give,
                    disabled=not judges,
                    args=(word,),
                )
            columns[3].button(
                "Undo",
                icon=":material/undo:",
                shortcut="Z",
                width="stretch",
                disabled=not (can_undo and judges),
                on_click=undo,
                help="Withdraws your last verdict and returns to its pair.",
            )
            st.caption(_words(held))
        with right:
            st.text_input(
                "Note",
                key=note_key(run, pair),
                placeholder="optional note with the verdict",
                max_chars=500,
                label_visibility="collapsed",
            )
            _choose_tags(run, pair)


def _words(held: Verdict | None) -> str:
    if held is None:
        return (
            "Do both records refer to the same entity? After your verdict, the next pair opens. "
            "Keys: M match, N non-match, U unsure, Z undo."
        )
    by, note = literal(held.who, 60) or "unknown", f" Note: {literal(held.note, 300)}" if held.note else ""
    return f"Verdict: {VERDICTS[held.verdict].text}, by {by} on {held.at:%Y-%m-%d %H:%M} UTC.{note}"


def _choose_tags(run: str, pair: str) -> None:
    """The tags of the run so far, and any other; they are added to the note."""
    key = tags_key(run, pair)
    chosen = st.session_state.get(key) or ()
    st.multiselect(
        "Tags",
        list(dict.fromkeys([*list(tagged(run))[:MOST_TAGS], *chosen])),
        key=key,
        accept_new_options=True,
        max_selections=10,
        format_func=lambda tag: f"#{tag}",
        placeholder="tags: choose, or write a new one",
        label_visibility="collapsed",
    )
