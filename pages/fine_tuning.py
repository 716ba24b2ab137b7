"""Choose data, matcher and methods; start; watch a run work; cancel and resume it."""

import streamlit as st

from pages.parts.frame.callbacks import guarded
from pages.parts.frame.glossary import formula
from pages.parts.frame.page import open_page
from pages.parts.frame.text import duration, literal
from pages.parts.runs.live import describe, show_run
from pages.parts.runs.run_form import estimate_of, run_form, start_run
from pages.parts.runs.run_list import run_table
from pages.parts.runs.run_picker import choose_run, no_runs, pick_run, store
from riskcore.config import RunConfig

WATCH, NEW = "Watch a run", "Start a new run"
ASK_BELOW = 3600  # seconds; a longer run is said to be long


@guarded
def begin(config: RunConfig, name: str) -> None:
    choose_run(start_run(config, name))
    st.session_state["show"] = WATCH


@guarded
def delete(run: str) -> None:
    store().delete(run)
    st.query_params.pop("run", None)


def show_form() -> None:
    filled = run_form()
    if filled is None:
        return
    config, name = filled
    seconds = estimate_of(config)
    row = st.columns([2, 8], vertical_alignment="center")
    row[0].button("Start", type="primary", icon=":material/play_arrow:", on_click=begin, args=(config, name))
    long = " It goes on when you close the browser." if seconds > 60 else ""
    row[1].markdown(f"Takes about **{duration(seconds)}** on this machine.{long}")
    if seconds > ASK_BELOW:
        st.caption("To try things out, choose a faster matcher, fewer epochs or fewer iterations.")
    formula("training", "What fine-tuning does")


def show_chosen() -> None:
    record = pick_run()
    if record is None:
        return
    active = [one for one in store().list() if not one.state.over and one.id != record.id]
    if active:
        with st.expander(f"{len(active)} more at work", icon=":material/progress_activity:"):
            run_table(active)
    st.subheader(literal(record.name, 80), anchor=False)
    st.caption(literal(describe(record), 300))
    show_run(record.id)
    if record.state.over:
        with st.popover("Delete this run", icon=":material/delete:", type="tertiary"):
            st.write("Its scores, events and verdicts are gone for good.")
            st.button("Delete for good", on_click=delete, args=(record.id,), icon=":material/delete_forever:")


with open_page("fine_tuning", "Train on the source, adapt to the target, and watch what changes with every iteration."):
    there = bool(store().list())
    chosen = st.segmented_control(
        "Show",
        [WATCH, NEW],
        default=WATCH if there else NEW,
        required=True,
        key="show",
        label_visibility="collapsed",
    )
    if chosen == NEW:
        show_form()
    elif there:
        show_chosen()
    else:
        no_runs()
