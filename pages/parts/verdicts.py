"""Verdicts as the screens give and read them. They are only ever added, with name and time."""

from __future__ import annotations

import streamlit as st

from pages.parts.callbacks import guarded
from pages.parts.page import signs_in, who
from pages.parts.palette import VERDICTS
from pages.parts.run_picker import store
from riskcore.audit import Verdict, VerdictLog


def log() -> VerdictLog:
    return VerdictLog(store())


def current(run: str) -> dict[str, Verdict]:
    """The verdict that holds for each judged pair, whoever gave it."""
    return log().current(run)


def mine(run: str) -> dict[str, Verdict]:
    """The verdicts of this person."""
    return log().current(run, who())


@guarded
def give(run: str, pair: str, verdict: str, go_to: str | None) -> None:
    """Add a verdict with the note that stands in the note field, then go on to the next pair."""
    note = str(st.session_state.get(note_key(run, pair)) or "")
    log().add(run, pair, verdict, note=note, who=who())
    st.toast(f"{VERDICTS[verdict].text} · kept", icon=":material/save:")
    if go_to is not None:
        st.query_params["pair"] = go_to


@guarded
def undo(run: str, pair: str) -> None:
    """Withdraw the pair's verdict; the withdrawal is added, nothing is erased."""
    log().undo(run, pair, who=who())
    st.toast("Withdrawn", icon=":material/undo:")


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
