"""The saved filters of a run on the queue: one click sets them; anyone may save and remove them."""

from __future__ import annotations

import math
from collections.abc import Collection

import streamlit as st

from pages.parts.frame.actions import action, barred
from pages.parts.frame.page import reviewer
from pages.parts.frame.text import literal, short
from pages.parts.pairs.filters import ANY, CHOICES, RANGES, TEXTS, start_over
from pages.parts.runs.run_picker import View
from riskcore.access import Role
from riskcore.runs import RunFolder
from riskcore.runs.saved_filters import MAX_NAME, FilterValue, SavedFilter, remove_filter, save_filter, saved_filters

# What the address has beside filters. Everything else in it filters or sorts.
NO_FILTERS = frozenset({"run", "method", "iteration", "pair", "page", "part", "draw", "tour", "mask"})
_NAME = "name of saved filters"
_remove = action(Role.AUDITOR)(remove_filter)


def show_saved_filters(view: View, attributes: Collection[str]) -> None:
    """A button for each, and the way to save the filters as they are and to remove some. Call it after the filters are
    drawn: an address sets them only then."""
    held = saved_filters(view.folder)
    row = st.container(horizontal=True, vertical_alignment="center", gap="small")
    for one in held:
        row.button(
            literal(short(one.name, 40)),
            key=f"saved filter {one.name}",
            icon=":material/bookmark:",
            type="secondary",
            on_click=_apply,
            args=(one, tuple(attributes)),
            help=literal(_words(one), 400),
        )
    with row.popover("Save these filters", icon=":material/bookmark_add:", type="tertiary"):
        _save_form(view, held)


def _save_form(view: View, held: Collection[SavedFilter]) -> None:
    values = current_values()
    if values:
        st.text_input("Name", key=_NAME, max_chars=MAX_NAME, placeholder="for example: risky matches, another year")
        st.button(
            "Save",
            type="primary",
            icon=":material/save:",
            on_click=_save,
            args=(view.folder, values),
            disabled=barred(_save),
        )
        st.caption("Everyone who opens this run sees them. The same name replaces.")
    else:
        st.caption("Set a filter or another order first.")
    for one in held:
        st.button(
            f"Remove {literal(short(one.name, 40))}",
            key=f"remove filter {one.name}",
            icon=":material/delete:",
            type="tertiary",
            on_click=_remove,
            args=(view.folder, one.name),
            disabled=barred(_remove),
        )


def current_values() -> dict[str, FilterValue]:
    """What the filters of this session are set to, but for those that filter nothing."""
    state, bound = st.session_state, {*CHOICES, *TEXTS, *RANGES}
    found: dict[str, FilterValue] = {
        name: value for name, value in st.query_params.items() if name not in NO_FILTERS | bound
    }
    found |= {name: str(state[name]) for name in (*CHOICES, *TEXTS) if state.get(name) not in (None, "", ANY)}
    found |= {name: list(state[name]) for name, all_of_it in RANGES.items() if state.get(name, all_of_it) != all_of_it}
    return found


def _apply(one: SavedFilter, attributes: tuple[str, ...]) -> None:
    """Set all filters. The file may be older than the screen: values that are none today are left out."""
    for name, options in CHOICES.items():
        value = one.values.get(name)
        st.session_state[name] = value if value in (options or attributes) else ANY
    for name in TEXTS:
        st.session_state[name] = str(one.values.get(name) or "")
    for name, all_of_it in RANGES.items():
        st.session_state[name] = _range(one.values.get(name), all_of_it)
    bound = {*CHOICES, *TEXTS, *RANGES}
    for name in [name for name in st.query_params if name not in NO_FILTERS | bound]:
        del st.query_params[name]
    for name, value in one.values.items():
        if name not in NO_FILTERS | bound and isinstance(value, str):
            st.query_params[name] = value
    start_over()


def _range(value: FilterValue | None, all_of_it: tuple[float, float]) -> tuple[float, float]:
    if not isinstance(value, list) or len(value) != 2 or not all(isinstance(end, int | float) for end in value):
        return all_of_it
    low, high = (float(end) for end in value)
    sound = not math.isnan(low + high) and all_of_it[0] <= low <= high <= all_of_it[1]
    return (low, high) if sound else all_of_it


@action(Role.AUDITOR)
def _save(folder: RunFolder, values: dict[str, FilterValue]) -> None:
    saved = save_filter(folder, str(st.session_state.get(_NAME) or ""), values, reviewer())
    st.toast(f"Saved as “{literal(saved.name)}”", icon=":material/bookmark_added:")


def _words(one: SavedFilter) -> str:
    """What is set, and by whom."""
    parts = [
        f"{name}: {short(' to '.join(map(str, value)) if isinstance(value, list) else str(value), 60)}"
        for name, value in one.values.items()
    ]
    return f"{'; '.join(parts)}. Saved by {one.who or 'unknown'} on {one.at[:10]}."
