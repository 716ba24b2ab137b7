"""Choose data, matcher and methods; start a run; watch it; cancel and resume it."""

import streamlit as st

from pages.parts.audit.undo import show_undo
from pages.parts.data.known_sets import known_sets
from pages.parts.frame.actions import action, barred
from pages.parts.frame.glossary import formula
from pages.parts.frame.navigation import SCREENS
from pages.parts.frame.page import open_page, reviewer, section
from pages.parts.frame.text import literal, plural
from pages.parts.runs.continue_run import continues_words, offer_continue
from pages.parts.runs.form_data import take_target
from pages.parts.runs.repair_picture import watch_repair
from pages.parts.runs.run_form import FilledForm, forecast_of, run_form
from pages.parts.runs.run_list import run_table
from pages.parts.runs.run_picker import choose_run, no_runs, pick_run, store
from pages.parts.runs.run_start import start_run
from pages.parts.runs.run_view import describe, show_run
from pages.parts.runs.waiting import all_looked_at
from pages.parts.scored.set_picker import link_to_sets
from pages.parts.tour.banner import show_tour
from riskcore.access import Role
from riskcore.audit.labels import draft_config
from riskcore.config import RunConfig
from riskcore.runs import RunFolder
from riskcore.runs.readers.forecast import cheaper
from riskcore.runs.sample_files import sample_sentence

WATCH, NEW = "Watch a run", "Start a new run"


@action(Role.OPERATOR)
def begin(config: RunConfig, name: str) -> None:
    st.query_params.pop("target", None)
    choose_run(start_run(config, name))
    st.session_state["show"] = WATCH


@action(Role.OWNER)
def delete(run: str) -> None:
    store().delete(run, reviewer())
    st.query_params.pop("run", None)


def show_form() -> None:
    filled = run_form()
    if filled is None:
        return
    if filled.labelled:
        offer("Start", ":material/play_arrow:", filled.config, filled.name)
    else:
        offer_draft(filled)
    formula("training", "What fine-tuning does")


def offer_draft(filled: FilledForm) -> None:
    """What is possible without labels: rank now and label, or go on without."""
    st.info(
        "This target has no labels to adapt by. **Rank and label**: its pairs are ranked now, you label about a "
        "hundred that are drawn from them, and the matcher is adapted with these labels.",
        icon=":material/info:",
    )
    offer("Rank and label", SCREENS["audit"].icon, draft_config(filled.config), filled.name)
    if filled.config.source:
        st.button(
            "Start without labels",
            icon=":material/play_arrow:",
            on_click=begin,
            args=(filled.config, filled.name),
            disabled=barred(begin),
            help="Nothing will show whether fine-tuning made the labels better or worse: iteration 0 is kept and "
            "exported, and flips are proposals.",
        )


def offer(label: str, icon: str, config: RunConfig, name: str) -> None:
    """The button that starts the run, and how long that takes."""
    found = forecast_of(config)
    row = st.columns([2, 8], vertical_alignment="center")
    row[0].button(label, type="primary", icon=icon, on_click=begin, args=(config, name), disabled=barred(begin))
    long = " It continues when you close the browser." if found.seconds > 60 else ""
    row[1].markdown(f"Estimated time on this machine: **{found.words}**.{long}")
    row[1].caption(found.basis)
    if found.long:
        st.warning(f"This run takes long. {cheaper(config, found)}", icon=":material/hourglass_top:")


def show_chosen() -> None:
    record = pick_run()
    if record is None:
        return
    active = [one for one in store().list() if not one.state.over and one.id != record.id]
    if active:
        with st.expander(f"{plural(len(active), 'other active run')}", icon=":material/progress_activity:"):
            run_table(active)
    section(literal(record.name, 80))
    continues = continues_words(RunFolder(record.folder))
    st.caption(f"{literal(describe(record), 300)}{' · ' if continues else ''}{continues}")
    if sample := sample_sentence(RunFolder(record.folder)):
        st.info(f"This run works {sample}. The figures and pairs on the screens are those of the sample.")
    offer_continue(record, "Continue from an iteration", "continue")
    picture, figures = st.container(), st.container()
    with picture if record.state.over else figures:  # while a run goes on, its progress comes first
        watch_repair(RunFolder(record.folder), record.state.over)
    with figures if record.state.over else picture:
        show_run(record.id)
    link_to_sets(record.id)
    if record.state.over:
        with st.popover("Delete this run", icon=":material/delete:", type="tertiary"):
            st.write("This deletes the run with its scores, events and verdicts. It cannot be undone.")
            st.button(
                "Delete permanently",
                on_click=delete,
                args=(record.id,),
                icon=":material/delete_forever:",
                disabled=barred(delete),
            )


with open_page("fine_tuning", "Train a matcher on the source, adapt it to the target, and watch its progress."):
    show_undo("fine_tuning")
    show_tour()
    has_runs = bool(all_looked_at())
    if take_target(known_sets()):
        st.session_state["show"] = NEW
    chosen = st.segmented_control(
        "Show",
        [WATCH, NEW],
        default=WATCH if has_runs else NEW,
        required=True,
        key="show",
        label_visibility="collapsed",
    )
    if chosen == NEW:
        show_form()
    elif has_runs:
        show_chosen()
    else:
        no_runs()
