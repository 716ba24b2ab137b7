"""Verdicts as the screens record and read them: added with name and time, never overwritten."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection

import streamlit as st

from pages.parts.frame.errors import guarded
from pages.parts.frame.page import reviewer
from pages.parts.frame.palette import VERDICTS
from pages.parts.frame.sign_in_settings import sign_in_configured
from pages.parts.runs.run_picker import store
from riskcore.audit import Verdict, VerdictLog

_GIVEN = "verdicts given"  # of this session, the oldest first


@dataclasses.dataclass(frozen=True)
class GivenVerdict:
    """A verdict of this session that can be withdrawn, and the page of the queue it was given on (None: unknown)."""

    run: str
    who: str
    pair: str
    number: int
    page: str | None = None


def log() -> VerdictLog:
    return VerdictLog(store())


def current(run: str) -> dict[str, Verdict]:
    """The current verdict on each reviewed pair, by any reviewer."""
    return log().current(run)


def mine(run: str) -> dict[str, Verdict]:
    """The verdicts of this person."""
    return log().current(run, reviewer())


@guarded
def give(run: str, pair: str, verdict: str, go_to: str | None, page: int | None = None) -> None:
    """Add a verdict with the text of the note field; once it is saved, go to the next pair."""
    note = str(st.session_state.get(note_key(run, pair)) or "")
    entry = log().add(run, pair, verdict, note=note, who=reviewer())
    given = GivenVerdict(run, entry.who, pair, entry.number, st.query_params.get("page", "1"))
    st.session_state.setdefault(_GIVEN, []).append(given)
    st.toast(f"{VERDICTS[verdict].text} · saved", icon=":material/save:")
    if go_to is not None:
        st.query_params["pair"] = go_to
        if page is not None:
            st.query_params["page"] = str(page)


@guarded
def undo(run: str, pair: str) -> None:
    """Withdraw the pair's verdict; the withdrawal is added to the log, nothing is deleted."""
    log().undo(run, pair, who=reviewer())
    st.toast("Verdict withdrawn", icon=":material/undo:")


def last_given(run: str, among: Collection[str] | None = None) -> GivenVerdict | None:
    """This person's last verdict of this session that is still current, else their newest in the run; of the pairs
    `among` which it is looked for.

    The session comes first: the same name may be used in another window.
    """
    name = reviewer()
    current_mine = {pair: one for pair, one in mine(run).items() if among is None or pair in among}
    for one in reversed(st.session_state.get(_GIVEN, [])):
        held = current_mine.get(one.pair)
        if (one.run, one.who) == (run, name) and held is not None and held.number == one.number:
            return one
    newest = max(current_mine.values(), key=lambda entry: entry.number, default=None)
    return None if newest is None else GivenVerdict(run, name, newest.pair_id, newest.number)


@guarded
def undo_last(run: str, among: Collection[str] | None = None) -> None:
    """Withdraw this person's last verdict and return to its pair, which the screen has left since."""
    last = last_given(run, among)
    if last is None:
        st.toast("You have no verdict to undo in this run.", icon=":material/undo:")
        return
    log().undo(run, last.pair, who=last.who)
    st.toast("Verdict withdrawn", icon=":material/undo:")
    st.query_params["pair"] = last.pair
    if last.page is not None:
        st.query_params["page"] = last.page


def ask_name() -> None:
    """A field for the name on verdicts, where there is no sign-in."""
    if sign_in_configured():
        return
    st.sidebar.text_input(
        "Your name",
        key="reviewer",
        persist_state="session",
        placeholder=reviewer(),
        max_chars=100,
        help="Your verdicts are signed with this name and the time.",
    )


def note_key(run: str, pair: str) -> str:
    return f"note {run} {pair}"


def as_words(verdicts: dict[str, Verdict]) -> dict[str, str]:
    """Verdict words by pair id, for queries."""
    return {pair: str(verdict.verdict) for pair, verdict in verdicts.items()}
