"""A list of runs, each with a link to its pairs."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.parts.frame.navigation import SCREENS
from pages.parts.frame.text import ago, duration, literal, percent
from pages.parts.runs.proposals import DRAFT, NOT_KNOWN, UNCHANGED, only_proposes, proposals_of
from pages.parts.runs.run_picker import STATES
from riskcore.audit.labels import is_draft
from riskcore.runs import RunFolder, RunRecord, RunState
from riskcore.runs.folder import PREFERRED


def run_table(records: Sequence[RunRecord]) -> None:
    """One row per run: state, name, age, F1 before and after, and links."""
    for record in records:
        word, icon, colour = STATES[record.state]
        folder = RunFolder(record.folder)
        row = st.columns([1.4, 4, 2, 2.9, 2.9], vertical_alignment="center")
        row[0].badge(word, icon=icon, color=colour)
        row[1].markdown(literal(record.name, 70))
        row[2].caption(f"{ago(record.created)} · {duration(record.seconds)}")
        if is_draft(record.config):
            row[3].badge("draft", icon=":material/edit_note:", color="blue", help=DRAFT.replace("*", ""))
        elif only_proposes(folder):
            _not_adapted(row[3], folder)
        else:
            row[3].caption(f1_change(record))
        with row[4], st.container(horizontal=True, gap="small"):
            if folder.ready:
                _link("pairs", "Pairs", record)
            else:
                _link("fine_tuning", "Open", record)
            if record.state is RunState.DONE and is_draft(record.config):
                _link("audit", "Label", record)
            elif record.state is RunState.DONE:
                _link("results", "Results", record)


def _not_adapted(place: DeltaGenerator, folder: RunFolder) -> None:
    """Red where flips are proposed; orange where there are none, as with the scores of another matcher."""
    if proposals_of(folder):
        place.badge("not adapted", icon=":material/report:", color="red", help=NOT_KNOWN)
    else:
        place.badge("not adapted", icon=":material/report:", color="orange", help=UNCHANGED.replace("*", ""))


def _link(screen: str, label: str, record: RunRecord) -> None:
    st.page_link(SCREENS[screen].path, label=label, icon=SCREENS[screen].icon, query_params={"run": record.id})


def f1_change(record: RunRecord) -> str:
    """F1 of the matcher and of the run's answer, where the run is done and the target has labels."""
    results = RunFolder(record.folder).results()
    if results is None:
        return ""
    f1 = {name: row["f1"] for name, row in results["methods"].items()}
    answer = next((name for name in PREFERRED if name in f1), None)
    before, after = f1.get("tradition"), f1.get(answer or "")
    return "" if before is None or after is None else f"F1 {percent(before)} → {percent(after)} ({answer})"
