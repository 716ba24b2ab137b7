"""Files that broke their reader, on screen: which, why, and how to get rid of them."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages.parts.frame.actions import action, barred
from pages.parts.frame.text import ago, literal, plural
from riskcore.access import Role
from riskcore.sandbox import quarantine


@action(Role.OWNER)
def _discard(key: str) -> None:
    quarantine.discard(key)


@action(Role.OPERATOR)
def _try_again(path: str) -> None:
    quarantine.try_again(Path(path))


def show_set_aside() -> None:
    """The uploads in quarantine; nothing where there are none."""
    files = quarantine.set_aside()
    if not files:
        return
    with st.expander(f"{plural(len(files), 'file')} set aside", icon=":material/block:"):
        st.caption("Reading these files took too much, or stopped the reader. They are not read again.")
        for file in files:
            row = st.columns([8, 2], vertical_alignment="center")
            row[0].markdown(
                f"**{literal(file.name, 80)}** · {plural(file.size, 'byte')} · {ago(file.at)}  \n"
                f"{literal(file.reason, 400)}"
            )
            row[1].button(
                "Delete",
                icon=":material/delete_forever:",
                key=f"discard {file.key}",
                on_click=_discard,
                args=(file.key,),
                width="stretch",
                disabled=barred(_discard),
            )


def offer_to_try_again(path: str) -> None:
    """A button, where the data set is not read because it broke its reader."""
    if quarantine.reason_of(Path(path)) is not None:
        st.button(
            "Try again",
            icon=":material/refresh:",
            key=f"try again {path}",
            on_click=_try_again,
            args=(path,),
            disabled=barred(_try_again),
        )
