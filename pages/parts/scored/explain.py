"""Explaining a scored pair on request: the process with the models is asked, and the screen says how far it is."""

from __future__ import annotations

import time
from pathlib import Path

import streamlit as st

from pages.parts.frame.actions import action, barred
from pages.parts.frame.errors import boundary
from pages.parts.frame.text import duration
from pages.parts.scored.set_picker import ScoredView
from riskcore.access import Role
from riskcore.scale.explanations import explaining_process, explanation_file, running_process
from riskcore.scale.folder import ScoredFolder

LOOK_SECONDS = 0.3
PATIENCE = 900.0  # seconds: a set with many records takes minutes to open
_SINCE = "explaining"  # in the session: which pair is being explained, and since when


def offer_explanation(view: ScoredView, left: int, right: int) -> None:
    """The button, or how far the explanation is."""
    asked = st.session_state.get(_SINCE)
    if asked is not None and asked[:3] == (str(view.folder.path), left, right):
        _follow(str(view.folder.path), left, right, asked[3])
        return
    st.markdown("What each attribute adds, which rules fire and who says so is worked out when you ask.")
    st.button(
        "Explain",
        icon=":material/calculate:",
        type="primary",
        shortcut="E",
        on_click=_explain,
        args=(view.folder, left, right),
        disabled=barred(_explain),
        help="Asks the matcher and all other models about this pair. It is kept with the set.",
    )
    process = running_process(view.folder)
    if process is None or not process.loaded:
        st.caption("The first explanation opens the models and all records of the set; the next ones take a second.")


@action(Role.AUDITOR)
def _explain(folder: ScoredFolder, left: int, right: int) -> None:
    explaining_process(folder).ask(left, right)
    st.session_state[_SINCE] = (str(folder.path), left, right, time.monotonic())


@st.fragment(run_every=LOOK_SECONDS)
def _follow(path: str, left: int, right: int, since: float) -> None:
    with boundary("scored"):
        folder = ScoredFolder(Path(path))
        process, waited = running_process(folder), time.monotonic() - since
        if explanation_file(folder, left, right).exists():
            st.session_state.pop(_SINCE, None)
            st.rerun()
        refused = _gone_wrong(folder, left, right, waited)
        if refused is not None:
            st.session_state.pop(_SINCE, None)
            st.error("This pair could not be explained. The message below says why.", icon=":material/error:")
            st.code(refused[:600], language=None, wrap_lines=True)
            st.button("Try again", icon=":material/refresh:")
            return
        loaded = process is not None and process.loaded
        words = "Asking the matcher and all other models" if loaded else "Opening the models and records of this set"
        st.progress(0.8 if loaded else min(0.7, waited / 60), f"{words} · {duration(waited)}")
        if not loaded:
            st.caption("Only the first explanation waits for this. You can go on to other pairs meanwhile.")


def _gone_wrong(folder: ScoredFolder, left: int, right: int, waited: float) -> str | None:
    """Why there will be no explanation; None while there may be one."""
    process = running_process(folder)
    if process is None:
        return "The process that explains pairs has been closed for another set. Press Explain again."
    if waited > PATIENCE:
        return f"It takes longer than {duration(PATIENCE)}. Try again when the machine is idle."
    if not process.alive:
        return process.ended_because()
    return process.refused(left, right)
