"""A list of runs, each with a link to its pairs."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.parts.frame.navigation import SCREENS
from pages.parts.frame.text import ago, duration, literal, percent
from pages.parts.runs.continue_run import continues_words
from pages.parts.runs.proposals import DRAFT, NOT_KNOWN, UNCHANGED, only_proposes, proposals_of
from pages.parts.runs.run_picker import STATES
from pages.parts.runs.waiting import places_in_words
from riskcore.audit.labels import is_draft
from riskcore.paths import runs_root
from riskcore.runs import RunFolder, RunRecord, RunState
from riskcore.runs.folder import PREFERRED
from riskcore.runs.sample_files import sample_sentence
from riskcore.scale.known import known_scored


def run_table(records: Sequence[RunRecord]) -> None:
    """One row per run: state, name, age, F1 before and after or the place in the queue, and links."""
    places = places_in_words(records)
    scored = {one.run: one.name for one in known_scored(runs_root()) if one.run is not None}
    for record in records:
        word, icon, colour = STATES[record.state]
        folder = RunFolder(record.folder)
        row = st.columns([1.4, 4, 2, 2.9, 2.9], vertical_alignment="center")
        row[0].badge(word, icon=icon, color=colour)
        row[1].markdown(literal(record.name, 70))
        if continues := continues_words(folder):
            row[1].caption(continues)
        if sample := sample_sentence(folder):
            row[1].caption(sample)
        row[2].caption(f"{ago(record.created)} · {duration(record.seconds)}")
        if record.id in places:
            row[3].caption(places[record.id])
        elif is_draft(record.config):
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
            if record.id in scored:
                _link("scored", "Scored", record, {"scored": scored[record.id]})


def _not_adapted(place: DeltaGenerator, folder: RunFolder) -> None:
    """Red where flips are proposed; orange where there are none, as with the scores of another matcher."""
    if proposals_of(folder):
        place.badge("not adapted", icon=":material/report:", color="red", help=NOT_KNOWN)
    else:
        place.badge("not adapted", icon=":material/report:", color="orange", help=UNCHANGED.replace("*", ""))


def _link(screen: str, label: str, record: RunRecord, address: dict[str, str] | None = None) -> None:
    shown = SCREENS[screen]
    st.page_link(shown.path, label=label, icon=shown.icon, query_params=address or {"run": record.id})


def f1_change(record: RunRecord) -> str:
    """F1 of the matcher and of the run's answer, where the run is done and the target has labels."""
    results = RunFolder(record.folder).results()
    if results is None:
        return ""
    f1 = {name: row["f1"] for name, row in results["methods"].items()}
    answer = next((name for name in PREFERRED if name in f1), None)
    before, after = f1.get("tradition"), f1.get(answer or "")
    return "" if before is None or after is None else f"F1 {percent(before)} → {percent(after)} ({answer})"
