"""How every screen begins: title, sign-in gate, error boundary; its sections; whose name verdicts are signed with."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from pages.parts.frame.errors import boundary
from pages.parts.frame.logo import FAVICON
from pages.parts.frame.navigation import SCREENS, ensure_declared
from pages.parts.frame.sign_in_settings import sign_in_configured
from pages.parts.frame.style import apply_style
from riskcore.errors import ConfigError

_log = logging.getLogger(__name__)


@contextmanager
def open_page(name: str, lead: str = "") -> Iterator[None]:
    """Open a screen by its file name; `lead` is the sentence below the title."""
    screen = SCREENS[name]
    st.set_page_config(page_title=f"{screen.title} · Riskcore", page_icon=FAVICON, layout="wide")
    ensure_declared()
    apply_style()
    _require_sign_in()
    st.title(screen.title, anchor=False)
    if lead:
        st.caption(lead)
    with boundary(name):
        yield


def section(title: str, help: str | None = None) -> None:  # noqa: A002 - Streamlit's own word
    """The heading of a part of the screen, one level below its title. Parts of a section take `st.subheader`."""
    st.header(title, anchor=False, help=help)


def _require_sign_in() -> None:
    """With a sign-in service configured, only signed-in users see anything; without one the server is local.

    If the settings cannot be used, nothing is shown to anyone.
    """
    try:
        if not sign_in_configured() or st.user.is_logged_in:
            return
    except ConfigError as error:
        _log.error("No screen is shown: %s", error)
        st.error("Riskcore shows no screen, because its sign-in settings cannot be used.", icon=":material/error:")
        st.code(str(error), language=None, wrap_lines=True)
        st.stop()
    st.title("Riskcore", anchor=False)
    st.write("Please sign in to see runs, pairs and verdicts.")
    st.button("Sign in", on_click=st.login, type="primary", icon=":material/login:")
    st.stop()


def reviewer() -> str:
    """The name that verdicts are signed with."""
    if sign_in_configured() and st.user.is_logged_in:
        return str(st.user.get("email") or st.user.get("name") or "signed-in user")
    return str(st.session_state.get("reviewer") or "analyst")
