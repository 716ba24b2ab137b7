"""How every screen begins: title, sign-in gate, and a boundary that turns errors into sentences with a cure."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st
from streamlit.runtime.scriptrunner import RerunException, StopException

from pages.parts.frame.callbacks import kept_error
from pages.parts.frame.icons import FAVICON
from pages.parts.frame.navigation import SCREENS, ensure_declared
from pages.parts.frame.sign_in_settings import sign_in_configured
from riskcore.data.problems import DataFormatError
from riskcore.errors import ConfigError, RiskcoreError

_log = logging.getLogger(__name__)


@contextmanager
def open_page(name: str, lead: str = "") -> Iterator[None]:
    """Open a screen by its file name; `lead` is the sentence below the title."""
    screen = SCREENS[name]
    st.set_page_config(page_title=f"{screen.title} · Riskcore", page_icon=FAVICON, layout="wide")
    ensure_declared()
    _require_sign_in()
    st.title(screen.title, anchor=False)
    if lead:
        st.caption(lead)
    with boundary(name):
        yield


@contextmanager
def boundary(name: str) -> Iterator[None]:
    """Errors become sentences. A fragment runs again without its page, so it needs a boundary of its own."""
    try:
        if error := kept_error():
            show_error(error)
        yield
    except (RerunException, StopException):
        raise
    except RiskcoreError as error:
        show_error(error)
    except Exception:
        _log.exception("The screen %s failed", name)
        st.error(
            "This screen met something it did not expect. Reload the page; if it happens again, the server's log "
            "says where.",
            icon=":material/error:",
        )


def show_error(error: RiskcoreError) -> None:
    """An error made on purpose: its own text says what happened, where, and what to do. It may quote records."""
    if isinstance(error, DataFormatError) and len(error.problems) > 1:
        st.error(f"There are {len(error.problems)} problems. Each says what to do.", icon=":material/error:")
    else:
        st.error("This did not work. The message below says what to do.", icon=":material/error:")
    st.code(str(error), language=None, wrap_lines=True)


def _require_sign_in() -> None:
    """With a sign-in service configured, nothing is shown to strangers; without one the server is for this machine.

    Settings that cannot be used are neither of the two: then nothing is shown to anyone.
    """
    try:
        if not signs_in() or st.user.is_logged_in:
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


def signs_in() -> bool:
    """Whether a sign-in service is configured. Raises ConfigError where it is but cannot be used."""
    return sign_in_configured()


def who() -> str:
    """The name that verdicts are signed with."""
    if signs_in() and st.user.is_logged_in:
        return str(st.user.get("email") or st.user.get("name") or "signed-in user")
    return str(st.session_state.get("reviewer") or "analyst")
