"""Renaming, replacing and deleting a data set on screen."""

from __future__ import annotations

import streamlit as st

from pages.parts.data.known_sets import KnownSet, is_own, remove, rename
from pages.parts.frame.actions import action, barred
from riskcore.access import Role
from riskcore.data import list_samples


@action(Role.OPERATOR)
def _rename(path: str, key: str) -> None:
    rename(path, st.session_state[key])


@action(Role.OWNER)
def _remove(path: str) -> None:
    remove(path)
    st.query_params.pop("set", None)
    st.session_state.pop("last set", None)


def show_manage(one: KnownSet) -> None:
    """A menu for a set that is no sample."""
    if one.path in {str(sample.path) for sample in list_samples()}:
        return
    own = is_own(one.path)
    with st.popover("Manage", icon=":material/more_horiz:"):
        key = f"title {one.path}"
        st.text_input("Name", one.title, max_chars=60, key=key)
        st.button(
            "Rename",
            icon=":material/edit:",
            on_click=_rename,
            args=(one.path, key),
            width="stretch",
            disabled=barred(_rename),
        )
        st.caption("To replace it, add tables and save them under its name.")
        st.divider()
        if own:
            st.write(
                "Delete the data set with its files? Runs on it can still be opened and exported, but not resumed or "
                "adapted again."
            )
        else:
            st.write("Remove it from this list? Its files stay where they are.")
        label = "Delete permanently" if own else "Remove from the list"
        st.button(
            label,
            icon=":material/delete_forever:",
            on_click=_remove,
            args=(one.path,),
            width="stretch",
            disabled=barred(_remove),
        )
