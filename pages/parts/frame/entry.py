"""The gate before every screen: nothing of it is read or drawn for who is not let in, whatever their address names.

Strangers see the same whether a run or pair exists or not. The page that they came for is kept for after the sign-in.
"""

from __future__ import annotations

import logging

import streamlit as st

from pages.parts.frame import access
from pages.parts.frame.errors import entered
from pages.parts.frame.target import Target
from pages.parts.frame.text import literal
from pages.parts.frame.way_back import SIGN_IN, SIGN_OUT, came_back_by, leave, show_way_back, show_way_out
from riskcore.access import AccessError, Role, SignInOverError, Visitor
from riskcore.errors import ConfigError

_log = logging.getLogger(__name__)


def require_entry(screen: str) -> None:
    """Show nothing to anyone who is not let in, and nothing to anyone if the settings cannot be used."""
    try:
        if access.is_local() or access.claims().get("is_logged_in") is True:
            found = access.visiting()
            entered()
            if not access.is_local():
                show_way_back(screen)
                _show_visitor(found)
            return
        access.rules()
    except ConfigError as error:
        _log.error("No screen is shown: %s", error)
        st.error("Riskcore shows no screen, because its sign-in settings cannot be used.", icon=":material/error:")
        st.code(str(error), language=None, wrap_lines=True)
        st.stop()
    except AccessError as error:
        _refuse(screen, error)
        st.stop()
    _ask(screen)
    st.stop()


def _ask(screen: str) -> None:
    """Ask a stranger to sign in."""
    st.title("Riskcore", anchor=False)
    target = show_way_out(screen)
    if came_back_by() == SIGN_IN:
        st.warning(
            "You are not signed in: the sign-in was refused by the service, or was left before its end. Try again, or "
            "ask whoever runs the sign-in service.",
            icon=":material/warning:",
        )
    st.write("Please sign in to see runs, pairs and verdicts.")
    st.button("Sign in", on_click=leave, args=(SIGN_IN,), type="primary", icon=":material/login:")
    _say_target(target)


def _refuse(screen: str, error: AccessError) -> None:
    """Who is signed in but not let in: the reason, and the way out."""
    st.title("Riskcore", anchor=False)
    target = show_way_out(screen)
    st.warning(literal(str(error), 500), icon=":material/warning:")
    with st.container(horizontal=True):
        if isinstance(error, SignInOverError):
            st.button("Sign in again", on_click=leave, args=(SIGN_IN,), type="primary", icon=":material/login:")
        st.button("Sign out", on_click=leave, args=(SIGN_OUT,), icon=":material/logout:")
    _say_target(target)


def _say_target(target: Target | None) -> None:
    if target is not None:
        st.caption(f"After the sign-in this tab returns to the address that it came for: {literal(target.title)}.")


def _show_visitor(found: Visitor) -> None:
    """Who is signed in, the role, and the way out."""
    with st.sidebar:
        st.caption(f"{literal(found.name, 80)} · {found.role.word}")
        rules = access.rules()
        if found.role is Role.OWNER and rules is not None and rules.everyone:
            st.caption("Everyone whom the sign-in service lets in can enter.")
        st.button(
            "Sign out", key="sign out", on_click=leave, args=(SIGN_OUT,), type="tertiary", icon=":material/logout:"
        )
