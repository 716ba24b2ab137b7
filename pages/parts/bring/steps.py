"""The steps of the wizard, and what all of them draw: where one is, back and next, a preview of a table."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from pages.parts.bring.staging import Bring, drop
from pages.parts.frame.text import short
from riskcore.data.bring.files import BroughtFile

STEPS = ("Files", "Tables", "Columns", "Candidates", "Ready")
PREVIEW_ROWS = 5
CELL_CHARS = 120
STYLE = """<style>
.rc-steps{display:flex;flex-wrap:wrap;gap:.4rem 1.4rem;margin:.1rem 0 .5rem;font-size:.95rem}
.rc-steps span{opacity:.65}
.rc-steps span.done{opacity:.85}
.rc-steps span.now{opacity:1;font-weight:600;border-bottom:2px solid currentColor}
</style>"""


def show_steps(now: int) -> None:
    """Where one is."""
    marks = "".join(_mark(place, name, now) for place, name in enumerate(STEPS))
    st.html(f'{STYLE}<div class="rc-steps" role="list" aria-label="Steps">{marks}</div>')


def _mark(place: int, name: str, now: int) -> str:
    if place == now:
        return f'<span class="now" role="listitem" aria-current="step">{place + 1} {name}</span>'
    if place < now:
        return f'<span class="done" role="listitem">✓ {name}</span>'
    return f'<span role="listitem">{place + 1} {name}</span>'


def show_buttons(bring: Bring, problem: str | None = None, label: str = "Next", primary: bool = True) -> bool:
    """Back, next and start over. True once next was pressed; `problem` says why it cannot be."""
    if problem:
        st.info(problem, icon=":material/info:")
    with st.container(horizontal=True):
        if bring.step > 0 and st.button("Back", icon=":material/arrow_back:"):
            bring.step -= 1
            st.rerun()
        pressed = st.button(
            label,
            type="primary" if primary else "secondary",
            icon=":material/arrow_forward:",
            disabled=problem is not None,
        )
        st.button("Start over", type="tertiary", icon=":material/restart_alt:", on_click=drop)
    return pressed


def preview(file: BroughtFile, rows: int = PREVIEW_ROWS) -> pd.DataFrame:
    """The first records of a file, cut short."""
    if file.text is None:
        return pd.DataFrame()
    head = file.text.columns.slice(0, rows).to_pandas()
    return head.map(lambda cell: None if pd.isna(cell) else short(str(cell), CELL_CHARS))


def show_preview(file: BroughtFile, rows: int = PREVIEW_ROWS) -> None:
    if file.text is not None:
        st.dataframe(preview(file, rows), hide_index=True, placeholder="–")
