"""Work lists for people: yours first, then all with their progress; the form to assign pairs; judging a list blind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from pages.parts.audit import verdicts
from pages.parts.audit.assign_form import show_assign_form
from pages.parts.audit.drawn import records_of_pair
from pages.parts.audit.list_queue import requested_list
from pages.parts.audit.undo import TAB, follow_from_fragment, undo_button, undo_last
from pages.parts.audit.verdict_bar import verdict_bar
from pages.parts.frame.actions import action, barred
from pages.parts.frame.errors import boundary
from pages.parts.frame.given import LIST, WORK_LISTS, remember
from pages.parts.frame.navigation import SCREENS
from pages.parts.frame.page import reviewer, section
from pages.parts.frame.palette import VERDICTS
from pages.parts.frame.text import literal, plural
from pages.parts.pairs.masks import show_judged_records
from pages.parts.runs.run_files import types_of
from riskcore.access import Role
from riskcore.audit import Verdict
from riskcore.audit.agreement import adjudication_note, conflicts, current_by_person
from riskcore.audit.assigned import AssignedList, close_list, for_person, lists_of
from riskcore.runs import RunFolder, RunRecord, RunState

SHOWN = 50  # lists; older ones are on the command line
_close = action(Role.AUDITOR)(close_list)


def offer_lists(record: RunRecord) -> None:
    """A line above the tabs for whoever has pairs left in a list."""
    folder = RunFolder(record.folder)
    if st.session_state.get(TAB) == WORK_LISTS or not folder.lists.is_dir():
        return
    lists = lists_of(folder)
    left = for_person(lists, verdicts.log().entries(record.id), reviewer())
    if not left:
        return
    row = st.container(horizontal=True, vertical_alignment="center")
    row.markdown(_left_words(lists, left), width="content")
    row.button("Work lists", icon=":material/groups:", type="tertiary", on_click=_open_tab)


def _open_tab() -> None:
    st.session_state[TAB] = WORK_LISTS


@st.fragment
def show_work_lists(record: RunRecord) -> None:
    """The tab. A verdict draws only this again."""
    with boundary("work lists"):
        follow_from_fragment()
        folder = RunFolder(record.folder)
        if record.state is not RunState.DONE:
            st.info("Pairs can be assigned once the run is done.", icon=":material/hourglass_empty:")
            return
        entries = verdicts.log().entries(record.id)
        working = requested_list(folder)
        if working is not None and working.open and reviewer() in working.to and not working.on_cards:
            _work(record, folder, working, entries)
            return
        lists = lists_of(folder)
        left = for_person(lists, entries, reviewer())
        if not lists:
            st.markdown(
                "A work list gives pairs to someone to judge: the riskiest hundred to one, the conflicts to another, a "
                "blind second review to a third. Everyone finds their lists here, and all see how far they are."
            )
        _show_mine(record, lists, left)
        if lists:
            _show_all(record, folder, lists, entries)
        undo_button(record)
        section("Assign pairs")
        show_assign_form(record, folder, entries)


def _left_words(lists: Sequence[AssignedList], left: Mapping[int, Sequence[str]]) -> str:
    names = {one.number: literal(one.name, 60) for one in lists}
    number, pairs = next(iter(left.items()))
    more = f", and more in {plural(len(left) - 1, 'other list')}" if len(left) > 1 else ""
    return f"You have **{plural(len(pairs), 'pair')}** left in “{names[number]}”{more}."


def _show_mine(record: RunRecord, lists: Sequence[AssignedList], left: Mapping[int, Sequence[str]]) -> None:
    if not left:
        return
    section("Yours", help=f"Lists that are assigned to {literal(reviewer(), 60)}.")
    for place, one in enumerate(one for one in lists if one.number in left):
        row = st.container(horizontal=True, vertical_alignment="center")
        here = not one.on_cards
        pressed = row.button(
            "Work",
            key=f"work {one.number}",
            icon=":material/play_arrow:",
            type="secondary" if place else "primary",
            on_click=_open if here else None,
            args=(one.number,) if here else (),
        )
        row.markdown(_left_words([one], {one.number: left[one.number]}), width="content")
        if pressed and not here:
            link = {"run": record.id, LIST: str(one.number), "pair": left[one.number][0]}
            st.switch_page(SCREENS["pairs"].path, query_params=link)


def _show_all(record: RunRecord, folder: RunFolder, lists: Sequence[AssignedList], entries: Sequence[Verdict]) -> None:
    section("All work lists")
    judged = current_by_person(entries)
    open_ones = [one for one in reversed(lists) if one.open]
    if not open_ones:
        st.caption("All are closed.")
    for one in open_ones[:SHOWN]:
        _show_list(folder, one, judged)
    closed = [one for one in reversed(lists) if not one.open]
    if closed:
        with st.expander(f"Closed: {len(closed):,}"):
            for one in closed[:SHOWN]:
                _show_list(folder, one, judged)


def _show_list(folder: RunFolder, one: AssignedList, judged: Mapping[str, Mapping[str, Verdict]]) -> None:
    with st.container(border=True):
        words, bars, action = st.columns([5, 4, 1.4], vertical_alignment="center", gap="medium")
        kind = "decides conflicts" if one.decides else "blind" if one.blind else "with the card"
        words.markdown(f"**{literal(one.name, 80)}** · {plural(len(one.pairs), 'pair')} · {kind}")
        ended = f"; closed by {literal(one.closed_by, 60) or 'unknown'} on {one.closed_at[:10]}" if not one.open else ""
        words.caption(
            f"{literal(one.source, 120)}; made by {literal(one.who, 60) or 'unknown'} on {one.at[:10]}{ended}"
        )
        for who in one.to:
            done = len(one.pairs) - len(one.left(judged, who))
            bars.progress(done / len(one.pairs), text=f"{literal(who, 60)}: {done:,} of {len(one.pairs):,}")
        if one.open:
            action.button(
                "Close",
                key=f"close {one.number}",
                icon=":material/close:",
                on_click=_close,
                args=(folder, str(one.number), reviewer()),
                disabled=barred(_close),
                help="Nobody is asked to work on it any more. Verdicts stay.",
            )


def _work(record: RunRecord, folder: RunFolder, one: AssignedList, entries: Sequence[Verdict]) -> None:
    """One pair of a list, and nothing of what a model says."""
    left = one.left(current_by_person(entries), reviewer())
    done = len(one.pairs) - len(left)
    row = st.container(horizontal=True, vertical_alignment="center")
    row.button("All work lists", icon=":material/arrow_back:", on_click=_leave)
    row.progress(done / len(one.pairs), text=f"**{literal(one.name, 80)}**: {done:,} of {len(one.pairs):,} judged")
    asked = st.query_params.get("pair")
    pair = asked if asked in one.pairs else next(iter(left), None)
    if pair is None:
        st.success(f"All {plural(len(one.pairs), 'pair')} are judged.", icon=":material/check_circle:")
        undo_button(record, WORK_LISTS)
        return
    verdict_bar(
        record.id,
        pair,
        verdicts.mine(record.id).get(pair),
        give=lambda word: _give(record.id, one, pair, word),
        undo=lambda: undo_last(record, WORK_LISTS),
        can_undo=verdicts.last_given(record.id) is not None,
    )
    if one.decides and not one.blind:
        for conflict in (found for found in conflicts(entries) if found.pair_id == pair):
            st.markdown(f"They disagree. {literal(conflict.sentence, 400)} Your verdict decides.")
    types = {name: str(kind) for name, kind in types_of(folder).items()}
    show_judged_records(record.id, pair, *records_of_pair(folder, pair), types)


def _give(run: str, one: AssignedList, pair: str, word: str) -> None:
    if one.decides:
        _decide(run, pair, word)
    else:
        verdicts.give(run, pair, word, WORK_LISTS)
    st.query_params.pop("pair", None)


@action(Role.AUDITOR)
def _decide(run: str, pair: str, word: str) -> None:
    if not verdicts.takes_one(pair):
        return
    note = adjudication_note(verdicts.note_of(run, pair))
    remember(verdicts.log().add(run, pair, word, note=note, who=reviewer()), WORK_LISTS)
    verdicts.close_bar()
    st.toast(f"{VERDICTS[word].text} · decided", icon=":material/save:")


def _open(number: int) -> None:
    st.query_params[LIST] = str(number)
    st.query_params.pop("pair", None)


def _leave() -> None:
    for name in (LIST, "pair"):
        st.query_params.pop(name, None)
