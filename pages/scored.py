"""Scored sets: any number of pairs, scored with a finished run. Their queue, one pair's card, charts and export."""

import dataclasses

import streamlit as st

from pages.parts.frame.page import open_page
from pages.parts.scored.card import show_card, show_steps
from pages.parts.scored.export import show_export
from pages.parts.scored.filters import filter_bar
from pages.parts.scored.overview import show_charts, show_figures
from pages.parts.scored.queue import show_page
from pages.parts.scored.set_picker import ScoredView, pick_set
from riskcore.scale.queries import ScoredQuery
from riskcore.scale.reading import position_of, read_page, read_pair


def open_pair(pair: str | None) -> None:
    """Put a pair into the address, or take it out to show the queue."""
    if pair is None:
        st.query_params.pop("pair", None)
    else:
        st.query_params["pair"] = pair


def show_queue(view: ScoredView, query: ScoredQuery) -> None:
    charts = st.expander("Risk and probability", icon=":material/bar_chart:", key="scored charts", on_change="rerun")
    if charts.open:
        with charts:
            show_charts(view, query)
    files = st.expander("Export", icon=":material/download:", key="scored export", on_change="rerun")
    if files.open:
        with files:
            show_export(view, query)
    show_page(view, query, read_page(view.folder, query), open_pair)


with open_page("scored", "Any number of pairs, scored with what a run answers with: riskiest first."):
    view = pick_set()
    if view is not None:
        pair = st.query_params.get("pair")
        if pair is None:
            show_figures(view)
        with st.expander("Filters", expanded=pair is None, icon=":material/filter_alt:"):
            query = filter_bar()
        if pair is None:
            show_queue(view, query)
        else:
            plain = dataclasses.replace(query, page=1)
            show_steps(position_of(view.folder, plain, pair), open_pair)
            show_card(view, read_pair(view.folder, pair), open_pair)
