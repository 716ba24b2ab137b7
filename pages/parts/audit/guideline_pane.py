"""The guideline: what counts as the same thing here, written by the project's owner and shown beside every pair."""

from __future__ import annotations

import html

import streamlit as st

from pages.parts.frame.actions import action, barred
from pages.parts.frame.page import reviewer
from pages.parts.frame.text import literal
from riskcore.access import Role
from riskcore.data.problems import visible
from riskcore.runs import RunFolder
from riskcore.runs.guideline import MAX_CHARS, Guideline, read_guideline, write_guideline

TITLE = "What counts as the same thing here?"
EXAMPLES = (
    "Two offers are the same product if a customer could not tell which one arrived.",
    "Another size, colour or edition is another product; another price is not.",
    "An accessory for a device, or a bundle with it, is never the device itself.",
)
_TEXT = '<div style="white-space:pre-wrap;overflow-wrap:anywhere;line-height:1.5" dir="auto">{text}</div>'


def show_guideline(run: str, folder: RunFolder) -> None:
    """The pane: the text, or examples where there is none, and the way to change it."""
    held, editing = read_guideline(folder), f"editing guideline {run}"
    with st.container(border=True):
        st.markdown(f"**{TITLE}**")
        if st.session_state.get(editing):
            _edit(run, folder, held, editing)
        else:
            _read(held, editing)


def _read(held: Guideline, editing: str) -> None:
    if held.text:
        st.html(_TEXT.format(text=html.escape("\n".join(visible(line) for line in held.text.splitlines()))))
        st.caption(f"Written by {literal(held.who, 60) or 'unknown'} on {literal(held.at[:10])}.")
    else:
        st.caption("Nothing is written yet. A few sentences make everyone judge alike, for example:")
        st.markdown("\n".join(f"- *{sentence}*" for sentence in EXAMPLES))
    st.button(
        "Edit" if held.text else "Write the guideline",
        icon=":material/edit:",
        key=f"{editing} begin",
        on_click=_set,
        args=(editing, True),
        disabled=barred(_save),
    )


def _edit(run: str, folder: RunFolder, held: Guideline, editing: str) -> None:
    field = f"guideline {run}"
    st.text_area(
        TITLE,
        held.text,
        key=field,
        height=220,
        max_chars=MAX_CHARS,
        placeholder="\n".join(EXAMPLES),
        label_visibility="collapsed",
    )
    row = st.container(horizontal=True, gap="small")
    row.button(
        "Save",
        icon=":material/save:",
        type="primary",
        on_click=_save,
        args=(folder, field, editing),
        disabled=barred(_save),
    )
    row.button("Cancel", on_click=_set, args=(editing, False))


def _set(key: str, value: bool) -> None:
    st.session_state[key] = value


@action(Role.OWNER)
def _save(folder: RunFolder, field: str, editing: str) -> None:
    write_guideline(folder, str(st.session_state.get(field) or ""), reviewer())
    st.session_state[editing] = False
    st.toast("Guideline saved", icon=":material/save:")
