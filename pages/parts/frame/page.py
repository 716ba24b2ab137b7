"""How every screen begins: title, sign-in gate, error boundary; its sections; whose name verdicts are signed with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from pages.parts.frame import access
from pages.parts.frame.entry import require_entry
from pages.parts.frame.errors import boundary
from pages.parts.frame.logo import FAVICON
from pages.parts.frame.navigation import SCREENS, ensure_declared
from pages.parts.frame.style import apply_style


@contextmanager
def open_page(name: str, lead: str = "") -> Iterator[None]:
    """Open a screen by its file name; `lead` is the sentence below the title."""
    screen = SCREENS[name]
    st.set_page_config(page_title=f"{screen.title} · Riskcore", page_icon=FAVICON, layout="wide")
    ensure_declared()
    apply_style()
    require_entry(name)
    st.title(screen.title, anchor=False)
    if lead:
        st.caption(lead)
    with boundary(name):
        yield


def section(title: str, help: str | None = None) -> None:  # noqa: A002 - Streamlit's own word
    """The heading of a part of the screen, one level below its title. Parts of a section take `st.subheader`."""
    st.header(title, anchor=False, help=help)


def reviewer() -> str:
    """The name that verdicts are signed with."""
    return access.visiting().name
