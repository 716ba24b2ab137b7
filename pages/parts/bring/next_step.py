"""The way on from a data set: label pairs of it, adapt a matcher to it, learn from it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.parts.data.uses_view import possible
from pages.parts.frame.actions import barred
from pages.parts.frame.navigation import SCREENS
from pages.parts.runs.run_picker import choose_run
from pages.parts.runs.run_start import start_run
from riskcore.audit.labels import draft_config
from riskcore.config import RunConfig
from riskcore.data.uses import Use, UseKind

AFTER_DRAFT = "fine_tuning"  # the screen where a draft is watched


def next_step(path: str, uses: Sequence[Use], types: dict[str, str], key: str) -> None:
    """Buttons to what can be done now; the one that most people need comes first."""
    target, labels = possible(uses, UseKind.TARGET), possible(uses, UseKind.LABELS)
    with st.container(horizontal=True):
        if target and not labels:
            words = "Ranks the candidates by how alike their records are, and draws some for you to label."
            label = "Label about a hundred pairs"
            waits = barred(start_run)
            if st.button(
                label, type="primary", icon=":material/label:", key=f"{key} draft", help=words, disabled=waits
            ):
                _draft(path, types)
        kind = "primary" if labels else "secondary"
        if target and _button("Adapt a matcher to it", kind, ":material/model_training:", f"{key} target"):
            _new_run("form target", path)
        if possible(uses, UseKind.SOURCE) and _button(
            "Use it as a source", "secondary", ":material/school:", f"{key} source"
        ):
            _new_run("form source", path)


def _button(label: str, kind: str, icon: str, key: str) -> bool:
    waits = barred(start_run)
    return st.button(label, type="primary" if kind == "primary" else "secondary", icon=icon, key=key, disabled=waits)


def _draft(path: str, types: dict[str, str]) -> None:
    """Start the run that pairs are drawn from, and go to where it is watched."""
    given = tuple(f"{name}={kind}" for name, kind in types.items())
    config = draft_config(RunConfig(target=path, types=given))
    choose_run(start_run(config, ""))
    st.session_state["show"] = "Watch a run"
    st.switch_page(SCREENS[AFTER_DRAFT].path)


def _new_run(field: str, path: str) -> None:
    st.session_state[field] = path
    st.session_state["show"] = "Start a new run"
    st.switch_page(SCREENS["fine_tuning"].path)
