"""Actions: everything that changes something names the role it needs, and is refused to all who lack it.

`@action(role)` is for callbacks of buttons and fields, whose errors the page shows afterwards. `@requires(role)` is for
functions that a page calls itself. The role is asked for when the action happens, not when the button is drawn.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import logging
from collections.abc import Callable, Iterator
from typing import Any, ParamSpec, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

import riskcore.logs as logs
from pages.parts.frame.access import claims, may, require, visiting
from pages.parts.frame.errors import keep_error
from riskcore.access import AccessError, Role
from riskcore.errors import RiskcoreError
from riskcore.storage.time_limit import limited

_log = logging.getLogger(__name__)
_ROLE = "needed_role"
_acting: contextvars.ContextVar[bool] = contextvars.ContextVar("acting", default=False)
P = ParamSpec("P")
T = TypeVar("T")


def requires(role: Role) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """The function, refused with an AccessError to whoever lacks the role."""

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            with _telling(function):
                require(role)
                return function(*args, **kwargs)

        setattr(call, _ROLE, role)
        return call

    return decorate


def action(role: Role) -> Callable[[Callable[..., Any]], Callable[..., None]]:
    """The callback, refused to whoever lacks the role; its error is kept for the page to show."""

    def decorate(callback: Callable[..., Any]) -> Callable[..., None]:
        @functools.wraps(callback)
        def call(*args: Any, **kwargs: Any) -> None:
            try:
                with _telling(callback):
                    require(role)
                    with limited():
                        callback(*args, **kwargs)
            except RiskcoreError as error:
                keep_error(error)
            except Exception as error:
                _log.exception("The callback %s failed", callback.__name__)
                reason = f"an unexpected {type(error).__name__}"
                keep_error(
                    RiskcoreError(f"That failed with {reason}. Try again. If it happens again, see the server's log.")
                )

        setattr(call, _ROLE, role)
        return call

    return decorate


@contextlib.contextmanager
def _telling(function: Callable[..., Any]) -> Iterator[None]:
    """Say in the server's log who did this, to which run, and how it ended; not of an action within an action."""
    if _acting.get():
        yield
        return
    outcome, error_class, token = "done", None, _acting.set(True)
    try:
        yield
    except BaseException as error:
        outcome, error_class = "refused" if isinstance(error, AccessError) else "failed", logs.error_name(error)
        raise
    finally:
        _acting.reset(token)
        _tell(function, outcome, error_class)


def _tell(function: Callable[..., Any], outcome: str, error: str | None) -> None:
    """What and how it ended; arguments stay out, as they may be words of a record or a note."""
    try:
        found = visiting()
        who = {"who": found.name, "role": found.role.word}
    except RiskcoreError:
        who = {}
    action = f"{function.__module__.removeprefix('pages.').removeprefix('parts.')}.{function.__name__}"
    level = logging.INFO if outcome == "done" else logging.WARNING
    run = st.query_params.get("run")
    logs.event("action", level, action=action, **who, run=run, outcome=outcome, error=error)


def barred(function: Callable[..., Any]) -> bool:
    """Whether the visitor lacks the role that this action needs: its control is drawn, but disabled."""
    return not may(getattr(function, _ROLE))


def download(
    place: DeltaGenerator | None, label: str, make: Callable[[], bytes | str], file_name: str, mime: str, **options: Any
) -> None:
    """A button that makes a file and downloads it, for auditors and higher; others get it without the file.

    The file is made after the page was drawn and outside of its session, so the role is asked for once more.
    """
    said = claims()

    def made() -> bytes | str:
        require(Role.AUDITOR, said)
        with limited():
            return make()

    allowed = may(Role.AUDITOR)
    if not allowed:
        options |= {"disabled": True, "help": f"Needs the role {Role.AUDITOR.word}."}
    draw = (place or st).download_button
    draw(
        label,
        made if allowed else b"",
        file_name,
        mime,
        icon=":material/download:",
        on_click="ignore",
        **options,
    )
