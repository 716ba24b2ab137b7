"""A list of runs, each with a link to its pairs."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.parts.frame.navigation import SCREENS
from pages.parts.frame.text import ago, duration, literal, percent
from pages.parts.runs.run_picker import STATES
from riskcore.runs import RunFolder, RunRecord


def run_table(records: Sequence[RunRecord]) -> None:
    """One row per run: state, name, age, F1 before and after, and a link."""
    for record in records:
        word, icon, colour = STATES[record.state]
        row = st.columns([1.5, 4, 2.2, 2.6, 2.2], vertical_alignment="center")
        row[0].badge(word, icon=icon, color=colour)
        row[1].markdown(literal(record.name, 70))
        row[2].caption(f"{ago(record.created)} · {duration(record.seconds)}")
        row[3].caption(f1_change(record))
        ready = RunFolder(record.folder).ready
        screen, label = ("pairs", "Top-risk pairs") if ready else ("fine_tuning", "Open")
        with row[4]:
            st.page_link(SCREENS[screen].path, label=label, icon=SCREENS[screen].icon, query_params={"run": record.id})


def f1_change(record: RunRecord) -> str:
    """F1 before and after, where the run is done and the target has labels."""
    results = RunFolder(record.folder).results()
    if results is None:
        return ""
    f1 = {name: row["f1"] for name, row in results["methods"].items()}
    before, after = f1.get("tradition"), f1.get("risk")
    return "" if before is None or after is None else f"F1 {percent(before)} → {percent(after)}"
