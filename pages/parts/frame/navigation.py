"""The list of screens, in the order an analyst uses them.

A page's file name is its address.
"""

from __future__ import annotations

import dataclasses

import streamlit as st

import riskcore.logs as logs
from pages.parts.frame.access import visiting
from pages.parts.frame.logo import FAVICON, show_logo
from riskcore.errors import RiskcoreError

_DECLARED = "navigation_declared"
LANDING = "overview"  # the screen of the bare address


@dataclasses.dataclass(frozen=True)
class Screen:
    """One screen: its script is `pages/<name>.py` and its address `/<name>`."""

    name: str
    title: str
    icon: str
    section: str

    @property
    def path(self) -> str:
        return f"pages/{self.name}.py"


SCREENS = {
    screen.name: screen
    for screen in (
        Screen("overview", "Overview", ":material/home:", ""),
        Screen("data_sets", "Data sets", ":material/database:", "Prepare"),
        Screen("fine_tuning", "Fine-tuning", ":material/model_training:", "Prepare"),
        Screen("pairs", "Top-risk pairs", ":material/format_list_numbered:", "Inspect"),
        Screen("rules", "Rules", ":material/rule:", "Inspect"),
        Screen("compare", "Compare", ":material/compare_arrows:", "Inspect"),
        Screen("scored", "Scored sets", ":material/database_search:", "Inspect"),
        Screen("audit", "Label & audit", ":material/fact_check:", "Decide"),
        Screen("results", "Results", ":material/task_alt:", "Decide"),
        Screen("help", "Help", ":material/help:", "Learn"),
    )
}


def declare() -> st.Page:
    """Declare the screens to Streamlit; returns the one that was requested."""
    logs.set_up(server=True)
    sections: dict[str, list[st.Page]] = {}
    for screen in SCREENS.values():
        page = st.Page(screen.path, title=screen.title, icon=screen.icon, default=screen.name == LANDING)
        sections.setdefault(screen.section, []).append(page)
    st.session_state[_DECLARED] = True
    # Before `st.navigation`: without it, the tab takes the screen's icon and fetches it from a font server.
    st.set_page_config(page_icon=FAVICON)
    show_logo()
    return st.navigation(sections, expanded=True, position="sidebar" if _is_let_in() else "hidden")


def _is_let_in() -> bool:
    """False for strangers, and with settings that cannot be used; the page shows why."""
    try:
        visiting()
    except RiskcoreError:
        return False
    return True


def ensure_declared() -> None:
    """Before a visitor has opened app.py, an address runs its page alone. Then declare the screens and rerun."""
    if _DECLARED not in st.session_state:
        declare()
        st.rerun()
