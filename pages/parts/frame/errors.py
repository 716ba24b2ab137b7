"""Errors as the screens show them: a sentence on what happened and what to do, never a traceback.

A page works inside `boundary`. Button callbacks run outside of it, so `guarded` keeps their errors for the page to
show.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import RerunException, StopException

from riskcore.data.problems import DataFormatError
from riskcore.errors import RiskcoreError

_log = logging.getLogger(__name__)
_KEPT = "callback_error"


@contextmanager
def boundary(name: str) -> Iterator[None]:
    """Show errors as sentences. A fragment reruns without its page, so it needs a boundary of its own."""
    try:
        if error := _kept_error():
            show_error(error)
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


def show_error(error: RiskcoreError) -> None:
    """Show an expected error. Its text says what happened, where, and what to do; it may quote records."""
    if isinstance(error, DataFormatError) and len(error.problems) > 1:
        st.error(f"Found {len(error.problems)} problems. Each message says what to do.", icon=":material/error:")
    else:
        st.error("This did not work. The message below says what to do.", icon=":material/error:")
    st.code(str(error), language=None, wrap_lines=True)


def guarded(callback: Callable[..., Any]) -> Callable[..., None]:
    """The callback, with its error kept for the page to show."""

    @functools.wraps(callback)
    def call(*args: Any, **kwargs: Any) -> None:
        try:
            callback(*args, **kwargs)
        except RiskcoreError as error:
            _keep(error)
        except Exception as error:
            _log.exception("The callback %s failed", callback.__name__)
            reason = f"an unexpected {type(error).__name__}"
            _keep(RiskcoreError(f"That failed with {reason}. Try again. If it happens again, see the server's log."))

    return call


def _keep(error: RiskcoreError) -> None:
    st.session_state[_KEPT] = error
    # The page shows the error at its top, which may be out of sight.
    st.toast("That did not work. See the message at the top of the page.", icon=":material/error:")


def _kept_error() -> RiskcoreError | None:
    """The error of the last callback, once."""
    error: RiskcoreError | None = st.session_state.pop(_KEPT, None)
    return error
