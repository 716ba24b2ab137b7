"""Button callbacks run outside a page's error boundary: what goes wrong in them is kept, and shown by the page."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from typing import Any

import streamlit as st

from riskcore.errors import RiskcoreError

_log = logging.getLogger(__name__)
_KEPT = "callback_error"


def guarded(callback: Callable[..., Any]) -> Callable[..., None]:
    """The callback, with its error kept for the page to show. What it had not yet done is not done."""

    @functools.wraps(callback)
    def call(*args: Any, **kwargs: Any) -> None:
        try:
            callback(*args, **kwargs)
        except RiskcoreError as error:
            _keep(error)
        except Exception as error:
            _log.exception("The callback %s failed", callback.__name__)
            reason = f"an unexpected {type(error).__name__}"
            _keep(RiskcoreError(f"That was not done: {reason}. Try again; the server's log says where it failed."))

    return call


def _keep(error: RiskcoreError) -> None:
    st.session_state[_KEPT] = error
    # The page shows the error at its top, which may be out of sight.
    st.toast("That did not work. The message at the top says why.", icon=":material/error:")


def kept_error() -> RiskcoreError | None:
    """The error of the last callback, once."""
    return st.session_state.pop(_KEPT, None)
