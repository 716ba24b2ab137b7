"""Tables: their height, the row that was selected, and rows that link to other screens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from pages.parts.frame.navigation import SCREENS

Link = tuple[str, dict[str, str]]  # a screen, and the query parameters of its address
ColumnConfig = dict[str, Any]  # as `st.dataframe` takes it
_ROW_PIXELS = 33  # of a table at the theme's base font
_GO_TO = "go to"


def table_height(rows: int, most: int) -> int:
    """The height in pixels of a table with this many rows and a header, without an empty row at its end."""
    return min(_ROW_PIXELS * (rows + 1) + 2, most)


def selected_row(state: Any) -> int | None:
    """The row of a table's selection, whether the row or one of its cells was selected."""
    if state.selection.rows:
        return int(state.selection.rows[0])
    return int(state.selection.cells[0][0]) if state.selection.cells else None


def link_table(
    table: pd.DataFrame, key: str, links: Sequence[Link], columns: ColumnConfig, words: str, most: int = 300
) -> None:
    """Draw a table; selecting a row, or a cell of it, follows the row's link."""
    st.dataframe(
        table,
        key=key,
        hide_index=True,
        height=table_height(len(table), most),
        selection_mode=["single-row", "single-cell"],
        on_select=lambda: remember_link(key, links),
        column_config=columns,
        placeholder="–",
        alt=words,
    )


def remember_link(key: str, links: Sequence[Link]) -> None:
    row = selected_row(st.session_state[key])
    if row is not None and row < len(links):
        st.session_state[_GO_TO] = links[row]


def follow_link() -> None:
    """Go to the screen selected in a table. A callback cannot: the page does, as soon as it begins."""
    if _GO_TO in st.session_state:
        screen, parameters = st.session_state.pop(_GO_TO)
        st.switch_page(SCREENS[screen].path, query_params=parameters)
