"""Errors as the screens show them: a sentence on what happened and what to do, never a traceback.

A page works inside `boundary`, which also asks whether the visitor is still let in, and stops queries that take too
long. Callbacks run outside of it, so
their errors are kept for the page to show (`actions`).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st
from streamlit.runtime.scriptrunner import RerunException, StopException

from pages.parts.frame.access import require
from riskcore.access import Role
from riskcore.data.problems import DataFormatError
from riskcore.errors import RiskcoreError
from riskcore.storage.time_limit import limited, query_seconds

_log = logging.getLogger(__name__)
_KEPT = "callback_error"
_GATE = "sent to the gate"


@contextmanager
def boundary(name: str) -> Iterator[None]:
    """Show errors as sentences. A fragment reruns without its page, so it needs a boundary of its own."""
    seconds = _require_entry()
    try:
        if error := _kept_error():
            show_error(error)
        with limited(seconds):
            yield
    except (RerunException, StopException):
        raise
    except RiskcoreError as error:
        show_error(error)
    except Exception:
        _log.exception("The screen %s failed", name)
        st.error(
            "Something unexpected went wrong on this screen. Reload the page. If it happens again, see the server's "
            "log.",
            icon=":material/error:",
        )


def _require_entry() -> float:
    """Draw no part for anyone who is not let in any more: the whole page asks them, or the part says why. Gives the
    seconds that a query may take."""
    try:
        require(Role.VIEWER)
    except RiskcoreError as error:
        if _GATE not in st.session_state:
            st.session_state[_GATE] = True
            st.rerun()
        show_error(error)
        st.stop()
    try:
        return query_seconds()
    except RiskcoreError as error:
        show_error(error)
        st.stop()


def entered() -> None:
    """The page has let the visitor in."""
    st.session_state.pop(_GATE, None)


def show_error(error: RiskcoreError) -> None:
    """Show an expected error. Its text says what happened, where, and what to do; it may quote records."""
    if isinstance(error, DataFormatError) and len(error.problems) > 1:
        st.error(f"Found {len(error.problems)} problems. Each message says what to do.", icon=":material/error:")
    else:
        st.error("This did not work. The message below says what to do.", icon=":material/error:")
    st.code(str(error), language=None, wrap_lines=True)


def keep_error(error: RiskcoreError) -> None:
    """Keep the error of a callback for the page to show."""
    st.session_state[_KEPT] = error
    # The page shows the error at its top, which may be out of sight.
    st.toast("That did not work. See the message at the top of the page.", icon=":material/error:")


def _kept_error() -> RiskcoreError | None:
    """The error of the last callback, once."""
    error: RiskcoreError | None = st.session_state.pop(_KEPT, None)
    return error
