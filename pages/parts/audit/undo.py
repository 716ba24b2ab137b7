"""Undo: the person's last verdict in the run is withdrawn, wherever it was given, and its pair is shown again there.

A pair that was judged blind is shown blind again. After a refresh nobody knows where a verdict was given: drawn pairs
are then shown on the tab that drew them, others in the queue.
"""

from __future__ import annotations

import dataclasses
from typing import Literal

import streamlit as st

from pages.parts.audit import verdicts
from pages.parts.audit.desk import show_desk
from pages.parts.audit.drawn import audited_rows, drawn_rows, outside_of
from pages.parts.frame.actions import action, barred
from pages.parts.frame.given import (
    CONFLICTS,
    ESTIMATE,
    GROUP,
    INSIDE_STAGE,
    LABEL,
    LIST,
    OUTSIDE,
    OUTSIDE_STAGE,
    QUEUE,
    REVIEWERS,
    STAGE,
    WORK_LISTS,
    GivenVerdict,
    latest_first,
)
from pages.parts.frame.navigation import SCREENS
from pages.parts.frame.text import plural
from pages.parts.runs.run_picker import store
from riskcore.access import Role
from riskcore.audit.verdicts import is_bulk
from riskcore.runs import RunFolder, RunRecord

HELP = "Withdraws your last verdict in this run and returns to its pair."
SECOND_REVIEW = "second review"  # the switch of the tab Reviewers
TAB = "part"  # the open tab of Label & audit, also in the address
_TABS = {CONFLICTS: REVIEWERS, OUTSIDE: ESTIMATE}  # of places that are a part of one
_GO = "undo returns to"
_OF_THE_QUEUE = ("method", "iteration", "page", "sort")  # in the address
_OF_A_PLACE = ("pair", "page", "sort", LIST)


@dataclasses.dataclass(frozen=True)
class Destination:
    """The pair that was judged, and where it is shown again."""

    place: str
    address: dict[str, str]

    @property
    def screen(self) -> str:
        return "pairs" if self.place in (QUEUE, GROUP) else "audit"


def undo_button(record: RunRecord, here: str = "", width: Literal["content", "stretch"] = "content") -> None:
    """Undo, for screens without a bar of verdicts."""
    st.button(
        "Undo my last verdict",
        icon=":material/undo:",
        shortcut="Z",
        width=width,
        disabled=verdicts.last_given(record.id) is None or barred(undo_last),
        on_click=undo_last,
        args=(record, here),
        help=HELP,
    )


@action(Role.AUDITOR)
def undo_last(record: RunRecord, here: str = "") -> None:
    """Withdraw it and return to its pair; `here` is the place that is open. Verdicts given at once are withdrawn at
    once."""
    last, own = verdicts.last_given(record.id), verdicts.mine(record.id)
    if last is None:
        st.toast("You have no verdict to undo in this run.", icon=":material/undo:")
        return
    held, numbers = own[last.pair], {last.pair: last.number}
    if is_bulk(held):
        numbers = {pair: one.number for pair, one in own.items() if is_bulk(one) and one.at == held.at}
    withdrawn = verdicts.log().undo_many(record.id, numbers, last.who)
    words = "Verdict withdrawn" if len(withdrawn) == 1 else f"{plural(len(withdrawn), 'verdict')} withdrawn"
    st.toast(words, icon=":material/undo:")
    verdicts.may_return()
    going = _destination(RunFolder(record.folder), last, is_bulk(held))
    if going.place == here and going.address.get("sort") == st.query_params.get("sort"):
        _put(going)  # only a part of the screen is drawn again
    else:
        st.session_state[_GO] = going


def show_signing(record: RunRecord, here: str) -> None:
    """Whose name is signed with, and Undo, in the sidebar of a screen on which no pair is judged."""
    follow(here)
    show_desk()
    verdicts.ask_name()
    with st.sidebar:
        undo_button(record, width="stretch")


def show_undo(here: str) -> None:
    """Undo in the sidebar of a screen that shows no run: in the run that this session judged in last."""
    follow(here)
    given = latest_first()
    known = {record.id: record for record in store().list()} if given else {}
    runs = (known[run] for run in dict.fromkeys(one.run for one in given) if run in known)
    record = next((one for one in runs if verdicts.last_given(one.id) is not None), None)
    if record is not None:
        with st.sidebar:
            undo_button(record, width="stretch")


def follow(here: str) -> None:
    """Go where a verdict was withdrawn, if it is elsewhere; `here` is the screen that is open."""
    going: Destination | None = st.session_state.pop(_GO, None)
    if going is None:
        return
    if going.place in (REVIEWERS, CONFLICTS):
        st.session_state[SECOND_REVIEW] = going.place == REVIEWERS  # conflicts are not shown to who judges blind
    if going.screen == "audit":
        st.session_state[TAB] = going.address[TAB]
    if going.place in (ESTIMATE, OUTSIDE):
        st.session_state[STAGE] = OUTSIDE_STAGE if going.place == OUTSIDE else INSIDE_STAGE
    if going.screen != here:
        st.switch_page(SCREENS[going.screen].path, query_params=going.address)
    _put(going)


def follow_from_fragment() -> None:
    """Where only a part of the screen is drawn again: draw all of it, so that it can follow."""
    if _GO in st.session_state:
        st.rerun()


def _put(going: Destination) -> None:
    for name in _OF_A_PLACE:
        if name not in going.address:
            st.query_params.pop(name, None)
        elif st.query_params.get(name) != going.address[name]:
            st.query_params[name] = going.address[name]


def _destination(folder: RunFolder, last: GivenVerdict, bulk: bool) -> Destination:
    place = last.place or (GROUP if bulk else _likely_place(folder, last.pair))
    address = {"run": last.run}
    if place != GROUP:
        address["pair"] = last.pair
    if place in (QUEUE, GROUP):
        address |= {name: last.address[name] for name in _OF_THE_QUEUE if name in last.address}
    else:
        address[TAB] = _TABS.get(place, place)
    if LIST in last.address and place in (QUEUE, WORK_LISTS):
        address[LIST] = last.address[LIST]
    return Destination(place, address)


def _likely_place(folder: RunFolder, pair: str) -> str:
    if pair in audited_rows(folder):
        return ESTIMATE
    if pair in outside_of(folder):
        return OUTSIDE
    return LABEL if pair in drawn_rows(folder) else QUEUE
