"""The tour on the screens: a banner with the stop's sentence and the way on. The address says which stop (`tour=3`)."""

from __future__ import annotations

import streamlit as st

from pages.parts.frame.actions import barred, requires
from pages.parts.frame.navigation import SCREENS
from pages.parts.frame.text import literal
from pages.parts.runs.run_files import stamp
from pages.parts.runs.run_picker import store
from pages.parts.tour.stops import Stop, tour_stops
from riskcore.access import Role
from riskcore.errors import RiskcoreError
from riskcore.runs import RunFolder
from riskcore.runs.example import RUN, install_example

_PARAMETER = "tour"


def begin_tour() -> None:
    """Go to the first stop; the example is unpacked where it is not there yet."""
    if not has_example():
        _install()
    go_to(1)


def has_example() -> bool:
    return any(one.id == RUN for one in store().list())


@requires(Role.OPERATOR)
def _install() -> None:
    install_example(store())


def may_begin() -> bool:
    """Whether the example is there, or the visitor may unpack it."""
    return has_example() or not barred(_install)


def go_to(number: int) -> None:
    stop = stops()[number - 1]
    st.switch_page(SCREENS[stop.screen].path, query_params={**stop.address, _PARAMETER: str(number)})


def stops() -> tuple[Stop, ...]:
    folder = RunFolder(store().get(RUN).folder)
    return _stops(str(folder.path), stamp(folder.results_file))


@st.cache_data(max_entries=4, show_spinner=False)
def _stops(path: str, written: tuple[int, ...]) -> tuple[Stop, ...]:
    return tour_stops(RunFolder(path), RUN)


def show_tour() -> None:
    """The banner, where the address asks for a stop of the tour."""
    text = st.query_params.get(_PARAMETER, "")
    if not text.isdigit() or len(text) > 1:
        return
    try:
        found = stops()
    except RiskcoreError:  # the example was deleted in the meantime
        st.query_params.pop(_PARAMETER, None)
        return
    number = int(text)
    if not 1 <= number <= len(found):
        return
    with st.container(border=True, key="tour"):
        st.markdown(f"**Tour, {number} of {len(found)}.** {literal(found[number - 1].sentence, 600)}")
        row = st.container(horizontal=True, vertical_alignment="center")
        if number > 1 and row.button("Back", icon=":material/arrow_back:", key="tour back"):
            go_to(number - 1)
        if number < len(found):
            if row.button("Next stop", icon=":material/arrow_forward:", type="primary", key="tour next"):
                go_to(number + 1)
        else:
            row.page_link(SCREENS["overview"].path, label="Begin with your own data", icon=SCREENS["overview"].icon)
        row.button("End the tour", type="tertiary", key="tour end", on_click=_end)


def _end() -> None:
    st.query_params.pop(_PARAMETER, None)
