"""What is possible with a data set, on screen, and the way to the next step."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.parts.frame.navigation import SCREENS
from pages.parts.frame.text import literal
from riskcore.data.uses import Use, UseKind

_WORDS = {
    UseKind.CANDIDATES: "Candidates",
    UseKind.TARGET: "Target",
    UseKind.LABELS: "Labels",
    UseKind.SOURCE: "Source",
    UseKind.ALONE: "Alone",
}


def show_uses(uses: Sequence[Use]) -> None:
    """A line for each use: yes or no, and what to do."""
    lines = []
    for use in uses:
        sign = ":material/check_circle:" if use.possible else ":material/radio_button_unchecked:"
        cure = f" *{literal(use.cure, 300)}*" if use.cure else ""
        lines.append(f"{sign} **{_WORDS[use.kind]}** · {literal(use.sentence, 300)}{cure}")
    st.markdown("  \n".join(lines))


def possible(uses: Sequence[Use], kind: UseKind) -> bool:
    return any(use.possible for use in uses if use.kind is kind)


def next_step(path: str, uses: Sequence[Use], key: str) -> None:
    """Buttons to what can be done now."""
    if not possible(uses, UseKind.CANDIDATES):
        return
    row = st.columns([3, 3, 6])
    if possible(uses, UseKind.TARGET) and row[0].button(
        "Adapt a matcher to it", type="primary", icon=":material/model_training:", key=f"{key} target", width="stretch"
    ):
        _new_run("form target", path)
    if possible(uses, UseKind.SOURCE) and row[1].button(
        "Use it as a source", icon=":material/school:", key=f"{key} source", width="stretch"
    ):
        _new_run("form source", path)


def _new_run(field: str, path: str) -> None:
    st.session_state[field] = path
    st.session_state["show"] = "Start a new run"
    st.switch_page(SCREENS["fine_tuning"].path)
