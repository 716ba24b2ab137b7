"""The wizard: from uploaded files to a registered data set, step by step."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages.parts.bring import candidates_step, columns_step, files_step, scores_door, staging, tables_step
from pages.parts.bring.next_step import next_step
from pages.parts.bring.staging import Bring
from pages.parts.bring.steps import show_steps
from pages.parts.data.figures import figures_of
from pages.parts.data.uses_view import show_uses
from pages.parts.frame.text import literal
from riskcore.data.bring.roles import Role


def show() -> None:
    """The step that one is at."""
    bring = staging.current()
    show_steps(0 if bring is None else bring.step)
    if bring is None:
        files_step.upload()
        return
    steps = (files_step.show, tables_step.show, columns_step.show, candidates_step.show, _ready)
    steps[bring.step](bring)


def _ready(bring: Bring) -> None:
    """Step 5: what is possible now."""
    assert bring.written is not None
    uses = figures_of(bring.written).uses
    st.success(
        f"The data set **{literal(bring.name, 60)}** is saved. This is possible with it:",
        icon=":material/check_circle:",
    )
    show_uses(uses)
    next_step(bring.written, uses, bring.types, "bring")
    for path in _scores(bring):
        st.markdown(f"**{literal(path.name, 60)}** has scores of a matcher.")
        if st.button("Use these scores", icon=":material/arrow_forward:", key=f"scores {path.name}"):
            scores_door.take_over(path, bring.written)
    with st.container(horizontal=True):
        if st.button("Back to the candidates", icon=":material/arrow_back:"):
            bring.step = 3
            st.rerun()
        if st.button("Look at the data set", icon=":material/visibility:"):
            written = bring.written
            staging.drop()
            st.query_params.pop("add", None)
            st.query_params["set"] = written
            st.rerun()
        st.button("Add other tables", type="tertiary", icon=":material/restart_alt:", on_click=staging.drop)


def _scores(bring: Bring) -> list[Path]:
    """Files that were recognised as scores of a matcher, if they are still there."""
    named = {one.file for one in bring.roles or () if one.role is Role.SCORES}
    return [path for path in bring.paths if path.name in named and path.exists()]
