"""The wizard: from uploaded files to a registered data set, step by step."""

from __future__ import annotations

import streamlit as st

from pages.parts.bring import candidates_step, columns_step, files_step, staging, tables_step
from pages.parts.bring.staging import Bring
from pages.parts.bring.steps import show_steps
from pages.parts.data.figures import figures_of
from pages.parts.data.uses_view import next_step, show_uses
from pages.parts.frame.text import literal


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
    next_step(bring.written, uses, "bring")
    row = st.columns([3, 3, 6])
    if row[0].button("Look at the data set", icon=":material/visibility:", width="stretch"):
        path = bring.written
        staging.drop()
        st.query_params.pop("add", None)
        st.query_params["set"] = path
        st.rerun()
    if row[1].button("Back to the candidates", icon=":material/arrow_back:", width="stretch"):
        bring.step = 3
        st.rerun()
