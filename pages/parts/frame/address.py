"""Choices that are kept in the address by their value, whatever text the list shows for them.

Streamlit's own binding writes the shown text; a link should say `rule=5`. The address is user input: a value that is
not an option is ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

T = TypeVar("T")


def choose(
    container: DeltaGenerator,
    label: str,
    options: Sequence[T],
    name: str,
    default: T,
    *,
    words: Callable[[T], str] = str,
    help: str | None = None,  # noqa: A002 - Streamlit's own word
    then: Callable[[], None] | None = None,
    remember: bool = False,
) -> T:
    """A list whose choice is `?name=` in the address; the default is left out.

    `then` is called after a change; `remember` keeps the choice for other screens of this session.
    """
    kept = st.session_state.get(_last(name)) if remember else None
    requested = st.query_params.get(name, kept)
    current = next((option for option in options if str(option) == requested), default)
    key = f"chosen {name}"
    if st.session_state.get(key, current) != current or key not in st.session_state:
        st.session_state[key] = current
    if remember:
        st.session_state[_last(name)] = str(current)

    def changed() -> None:
        if st.session_state[key] not in options:  # a list whose options have changed sends its old choice once more
            return
        put(name, st.session_state[key], default)
        st.session_state[_last(name)] = str(st.session_state[key])
        if then is not None:
            then()

    container.selectbox(label, options, format_func=words, key=key, help=help, on_change=changed)
    if remember and name not in st.query_params:  # every change adds a step to the browser history
        put(name, current, default)
    return current


def put(name: str, value: Any, default: Any = None) -> None:
    """Write a value into the address, or remove it where it is the default."""
    if value == default or value is None:
        st.query_params.pop(name, None)
    elif st.query_params.get(name) != str(value):
        st.query_params[name] = str(value)


def _last(name: str) -> str:
    return f"last {name}"
