"""Verdicts as the screens give and read them. They are only ever added, with name and time."""

from __future__ import annotations

import dataclasses

import streamlit as st

from pages.parts.frame.callbacks import guarded
from pages.parts.frame.page import signs_in, who
from pages.parts.frame.palette import VERDICTS
from pages.parts.runs.run_picker import store
from riskcore.audit import Verdict, VerdictLog

_GIVEN = "verdicts given"  # of this session, the oldest first


@dataclasses.dataclass(frozen=True)
class Given:
    """A verdict that can be taken back, and the page of the queue it was given on (None where that is not known)."""

    run: str
    who: str
    pair: str
    number: int
    page: str | None = None


def log() -> VerdictLog:
    return VerdictLog(store())


def current(run: str) -> dict[str, Verdict]:
    """The verdict that holds for each judged pair, whoever gave it."""
    return log().current(run)


def mine(run: str) -> dict[str, Verdict]:
    """The verdicts of this person."""
    return log().current(run, who())


@guarded
def give(run: str, pair: str, verdict: str, go_to: str | None, page: int | None = None) -> None:
    """Add a verdict with the note that stands in the note field; once it is saved, go on to the next pair."""
    note = str(st.session_state.get(note_key(run, pair)) or "")
    entry = log().add(run, pair, verdict, note=note, who=who())
    given = Given(run, entry.who, pair, entry.number, st.query_params.get("page", "1"))
    st.session_state.setdefault(_GIVEN, []).append(given)
    st.toast(f"{VERDICTS[verdict].text} · kept", icon=":material/save:")
    if go_to is not None:
        st.query_params["pair"] = go_to
        if page is not None:
            st.query_params["page"] = str(page)


@guarded
def undo(run: str, pair: str) -> None:
    """Withdraw the pair's verdict; the withdrawal is added, nothing is erased."""
    log().undo(run, pair, who=who())
    st.toast("Withdrawn", icon=":material/undo:")


def last_given(run: str) -> Given | None:
    """This person's last verdict of this session that still stands, else their newest in the run.

    The session comes first: the same name may be at work in another window.
    """
    standing, name = mine(run), who()
    for one in reversed(st.session_state.get(_GIVEN, [])):
        held = standing.get(one.pair)
        if (one.run, one.who) == (run, name) and held is not None and held.number == one.number:
            return one
    newest = max(standing.values(), key=lambda entry: entry.number, default=None)
    return None if newest is None else Given(run, name, newest.pair_id, newest.number)


@guarded
def undo_last(run: str) -> None:
    """Withdraw this person's last verdict, and return to its pair: a verdict has gone on to another one."""
    last = last_given(run)
    if last is None:
        st.toast("You have no verdict to undo in this run.", icon=":material/undo:")
        return
    log().undo(run, last.pair, who=last.who)
    st.toast("Withdrawn", icon=":material/undo:")
    st.query_params["pair"] = last.pair
    if last.page is not None:
        st.query_params["page"] = last.page


def ask_name() -> None:
    """Who signs verdicts, where nobody signs in."""
    if signs_in():
        return
    st.sidebar.text_input(
        "Your name",
        key="reviewer",
        persist_state="session",
        placeholder=who(),
        max_chars=100,
        help="Verdicts are signed with it, together with the time.",
    )


def note_key(run: str, pair: str) -> str:
    return f"note {run} {pair}"


def as_words(verdicts: dict[str, Verdict]) -> dict[str, str]:
    """Pair id to the verdict's word, for queries."""
    return {pair: str(verdict.verdict) for pair, verdict in verdicts.items()}
