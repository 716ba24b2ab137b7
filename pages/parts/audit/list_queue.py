"""A work list on Top-risk pairs: `?list=3` leaves its pairs alone in the queue; after a verdict its next pair opens."""

from __future__ import annotations

import dataclasses

import streamlit as st

from pages.parts.audit import verdicts
from pages.parts.frame.given import LIST, WORK_LISTS
from pages.parts.frame.navigation import SCREENS
from pages.parts.frame.page import reviewer
from pages.parts.frame.text import literal
from pages.parts.pairs.queue import QueuePosition
from pages.parts.runs.run_picker import View
from riskcore.audit.agreement import current_by_person
from riskcore.audit.assigned import AssignedList, lists_of
from riskcore.runs import PairQuery, RunFolder


def requested_list(folder: RunFolder) -> AssignedList | None:
    """The list whose number the address has; None where it has none, or there is no such list."""
    asked = st.query_params.get(LIST)
    return None if asked is None else next((one for one in lists_of(folder) if str(one.number) == asked), None)


def of_list(view: View, query: PairQuery) -> PairQuery:
    """The query with the pairs of the requested list alone, if it is judged on cards."""
    one = requested_list(view.folder)
    if one is None or not one.on_cards:
        return query
    pairs = one.pairs if query.pairs is None else tuple(pair for pair in one.pairs if pair in set(query.pairs))
    return dataclasses.replace(query, pairs=pairs)


def show_list_line(view: View) -> None:
    """Which list narrows the queue, and how far you are; one click takes it away. Nothing without a list."""
    one = requested_list(view.folder)
    if one is None:
        return
    row = st.container(horizontal=True, vertical_alignment="center")
    if one.on_cards:
        row.markdown(f"Work list: **{literal(one.name, 80)}**{_progress(view, one)}", width="content")
    else:
        row.markdown(f"The work list **{literal(one.name, 80)}** is not judged on cards.", width="content")
    leaves = row.button("Show all pairs", key="leave list", icon=":material/close:", type="tertiary")
    link = {"run": view.run.id, "part": WORK_LISTS}
    row.page_link(SCREENS["audit"].path, label=WORK_LISTS, icon=SCREENS["audit"].icon, query_params=link)
    if leaves:
        for name in (LIST, "page", "pair"):
            st.query_params.pop(name, None)
        st.rerun()  # the whole screen: the queue is another one


def following_list(view: View, position: QueuePosition, pair: str) -> QueuePosition:
    """With the next pair of the requested list that this person has not judged; unchanged without a list."""
    one = requested_list(view.folder)
    if one is None or not one.on_cards or reviewer() not in one.to or pair not in one.pairs:
        return position
    left = set(one.left(current_by_person(verdicts.log().entries(view.run.id)), reviewer())) - {pair}
    at = one.pairs.index(pair)
    after = next((other for other in (*one.pairs[at:], *one.pairs[:at]) if other in left), None)
    return position if after is None else dataclasses.replace(position, next=after, next_page=None)


def _progress(view: View, one: AssignedList) -> str:
    if reviewer() not in one.to:
        return ""
    done = one.progress(verdicts.log().entries(view.run.id))[reviewer()]
    return f" · {done:,} of {len(one.pairs):,} judged by you"
