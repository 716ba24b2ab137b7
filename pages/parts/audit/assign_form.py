"""Assigning pairs to people: the form on the tab Work lists, and the one beside the queue."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.parts.audit import verdicts
from pages.parts.frame.actions import action, barred
from pages.parts.frame.page import reviewer
from pages.parts.frame.text import plural
from pages.parts.runs.run_picker import View
from riskcore.access import Role
from riskcore.audit import Verdict
from riskcore.audit.assigned import AssignmentError, assign, lists_of
from riskcore.audit.assignment_sources import CONFLICTS, SECOND, SOURCES, choose_pairs
from riskcore.audit.verdicts import MAX_AT_ONCE, MAX_NAME
from riskcore.runs import PairQuery, RunFolder, RunRecord, query_pairs

USUAL = 100  # pairs of a list
SECOND_SHARE = 0.2  # of what others have judged


def show_assign_form(record: RunRecord, folder: RunFolder, entries: Sequence[Verdict]) -> None:
    """The form: which pairs, how many, for whom."""
    key = f"assign {record.id} {len(lists_of(folder))}"  # a new list empties the form
    first = st.columns([3, 3, 2], vertical_alignment="bottom")
    source = first[0].selectbox(
        "Pairs", list(SOURCES), format_func=lambda one: _capital(SOURCES[one].words), key="source"
    )
    to = _people(first[1], record.id, folder, key)
    found = choose_pairs(folder, source, entries, to)
    if not found:
        st.caption(f"There are none. {SOURCES[source].empty}")
        return
    most = min(len(found), MAX_AT_ONCE)
    usual = round(SECOND_SHARE * len(found)) if source == SECOND else USUAL
    n = first[2].number_input(
        f"How many (of {len(found):,})", 1, most, min(max(usual, 1), most), key=f"{key} {source} n"
    )
    second = st.columns([6, 2], vertical_alignment="bottom")
    name = second[0].text_input(
        "Name of the list",
        value=_usual_name(folder, source, int(n)),
        max_chars=MAX_NAME,
        key=f"{key} {source} {n} name",
    )
    always = SOURCES[source].blind
    blind = second[1].toggle(
        "Blind", value=always, disabled=always, key=f"{key} {source} blind", help="Show both records and nothing else."
    )

    def pairs() -> list[str]:
        return choose_pairs(folder, source, verdicts.log().entries(record.id), to, int(n))

    st.button(
        f"Assign {plural(int(n), 'pair')}",
        type="primary",
        icon=":material/groups:",
        disabled=not to or barred(_assign),
        on_click=_assign,
        args=(folder, name, to, pairs, always or blind, source == CONFLICTS, SOURCES[source].words),
    )
    if not to:
        st.caption("Say who is to judge them. Whoever it is signs verdicts with the same name.")


def offer_assignment(view: View, query: PairQuery) -> None:
    """A small form beside the queue: its first pairs, with its filters and order, for someone."""
    with st.popover("Assign", icon=":material/groups:", width="stretch", help="Give these pairs to someone to judge."):
        key = f"assign queue {view.run.id} {len(lists_of(view.folder))}"
        to = _people(st.container(), view.run.id, view.folder, key)
        n = st.number_input("The first pairs of this queue", 1, MAX_AT_ONCE, USUAL, key=f"{key} n")
        name = st.text_input("Name of the list", max_chars=MAX_NAME, key=f"{key} name", placeholder="such as: prices")
        blind = st.toggle("Blind", key=f"{key} blind", help="Show both records and nothing else.")

        def pairs() -> list[str]:
            first = dataclasses.replace(query, page=1, page_size=int(n))
            return [
                str(pair) for pair in query_pairs(view.folder, first, verdicts.current(view.run.id)).rows["pair_id"]
            ]

        st.button(
            "Assign",
            type="primary",
            key=f"{key} go",
            disabled=not (to and name.strip()) or barred(_assign),
            on_click=_assign,
            args=(view.folder, name, to, pairs, blind, False, "first pairs of the queue"),
        )


def _people(place: DeltaGenerator, run: str, folder: RunFolder, key: str) -> list[str]:
    known = {reviewer(), *verdicts.log().people(run), *(who for one in lists_of(folder) for who in one.to)}
    chosen: list[str] = place.multiselect(
        "Assigned to",
        sorted(one for one in known if one),
        key=f"{key} to",
        accept_new_options=True,
        placeholder="a name, or several",
        help="Everyone judges all pairs. A name is the one that the person's verdicts are signed with.",
    )
    return chosen


def _usual_name(folder: RunFolder, source: str, n: int) -> str:
    """A name that no list has yet."""
    taken = {one.name for one in lists_of(folder)}
    plain = {CONFLICTS: "conflicts", SECOND: f"second review of {n:,}"}.get(source, f"{source} {n:,}")
    return next(name for name in (plain, *(f"{plain} ({more})" for more in range(2, 2_000))) if name not in taken)


@action(Role.AUDITOR)
def _assign(
    folder: RunFolder, name: str, to: list[str], pairs: Callable[[], list[str]], blind: bool, decides: bool, words: str
) -> None:
    chosen = pairs()
    if not chosen:
        raise AssignmentError("There are no pairs to assign any more. Choose others.")
    made = assign(folder, name, to, chosen, blind=blind, decides=decides, source=words, who=reviewer())
    st.toast(f"{plural(len(made.pairs), 'pair')} assigned", icon=":material/save:")


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
