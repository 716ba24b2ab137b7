"""Button callbacks run outside a page's error boundary: what goes wrong in them is kept, and shown by the page."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import streamlit as st

from riskcore.errors import RiskcoreError

_KEPT = "callback_error"


def guarded(callback: Callable[..., Any]) -> Callable[..., None]:
    """The callback, with errors made on purpose kept for the page to show."""

    @functools.wraps(callback)
    def call(*args: Any, **kwargs: Any) -> None:
        try:
            callback(*args, **kwargs)
        except RiskcoreError as error:
            st.session_state[_KEPT] = error

    return call


def kept_error() -> RiskcoreError | None:
    """The error of the last callback, once."""
    return st.session_state.pop(_KEPT, None)
