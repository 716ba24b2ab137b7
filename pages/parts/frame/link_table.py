"""Tables whose rows lead to other screens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from pages.parts.frame.navigation import SCREENS

Target = tuple[str, dict[str, str]]  # a screen, and the address there
_GO_TO = "go to"
_ROW_PIXELS = 33  # of a table at the theme's base font


def follow() -> None:
    """Leave for the screen that was chosen in a table. A callback cannot: the page does, as soon as it begins."""
    if _GO_TO in st.session_state:
        screen, where = st.session_state.pop(_GO_TO)
        st.switch_page(SCREENS[screen].path, query_params=where)


def link_table(
    table: pd.DataFrame, key: str, targets: Sequence[Target], columns: dict[str, Any], words: str, most: int = 300
) -> None:
    """Draw a table; whoever selects a row, or a cell of it, is led to the row's target."""
    st.dataframe(
        table,
        key=key,
        hide_index=True,
        height=table_height(len(table), most),
        selection_mode=["single-row", "single-cell"],
        on_select=lambda: remember(key, targets),
        column_config=columns,
        placeholder="–",
        alt=words,
    )


def remember(key: str, targets: Sequence[Target]) -> None:
    row = chosen_row(st.session_state[key])
    if row is not None and row < len(targets):
        st.session_state[_GO_TO] = targets[row]


def table_height(rows: int, most: int) -> int:
    """Pixels for a table of so many rows and its head, without an empty row at its end."""
    return min(_ROW_PIXELS * (rows + 1) + 2, most)


def chosen_row(state: Any) -> int | None:
    """The row of a table's selection, whether a row or a cell of it was chosen."""
    if state.selection.rows:
        return int(state.selection.rows[0])
    return int(state.selection.cells[0][0]) if state.selection.cells else None
