"""Verdicts as the screens record and read them: added with name and time, never overwritten."""

from __future__ import annotations

import dataclasses
import time

import streamlit as st

from pages.parts.frame.actions import action
from pages.parts.frame.given import GivenVerdict, latest_first, remember
from pages.parts.frame.page import reviewer
from pages.parts.frame.palette import VERDICTS
from pages.parts.frame.sign_in_settings import sign_in_configured
from pages.parts.pairs.masks import note_with_disclosure
from pages.parts.runs.run_picker import store
from riskcore.access import Role
from riskcore.audit import Verdict
from riskcore.audit.log_cache import CachedLog, Judged
from riskcore.audit.tags import with_tags

_BAR, _LEFT = "pair of the verdict bar", "pair just left"
_UNTIL_THERE = 2.0  # seconds within which the browser has the address that the server has set


@dataclasses.dataclass(frozen=True)
class LeftPair:
    """A pair that was judged, where that led, and when."""

    pair: str
    go_to: str
    page: int | None
    at: float


def log() -> CachedLog:
    return CachedLog(store())


def judged(run: str, own: bool = False) -> Judged:
    """The current verdicts of any reviewer, or only this person's, as queries take them."""
    return log().judged(run, reviewer() if own else None)


def current(run: str) -> dict[str, Verdict]:
    """The current verdict on each reviewed pair, by any reviewer."""
    return log().current(run)


def mine(run: str) -> dict[str, Verdict]:
    """The verdicts of this person."""
    return log().current(run, reviewer())


def open_bar(pair: str) -> None:
    """The bar of verdicts is drawn for this pair: it takes one verdict until it is drawn again."""
    st.session_state[_BAR] = pair


def takes_one(pair: str) -> bool:
    """Whether the bar waits for a verdict on this pair; if not, the person is told."""
    if st.session_state.get(_BAR) == pair:
        return True
    st.toast("The next pair is opening. Look at it, then press again.", icon=":material/hourglass_top:")
    return False


def close_bar() -> None:
    """The bar has taken its verdict."""
    st.session_state[_BAR] = None


@action(Role.AUDITOR)
def give(run: str, pair: str, verdict: str, place: str, go_to: str | None = None, page: int | None = None) -> None:
    """Add a verdict with the text of the note field; once it is saved, go to the next pair.

    A key that is pressed again before the next pair is there was meant for that one, or for none: it judges nothing.
    """
    if takes_one(pair):
        entry = log().add(run, pair, verdict, note=note_of(run, pair), who=reviewer())
        close_bar()
        remember(entry, place)
        st.toast(f"{VERDICTS[verdict].text} · saved", icon=":material/save:")
    if go_to is not None:
        st.session_state[_LEFT] = LeftPair(pair, go_to, page, time.monotonic())
        _go_on(go_to, page)


def catch_up() -> None:
    """A key that is pressed before the browser has the new address sends the old one once more: go on from there."""
    left: LeftPair | None = st.session_state.get(_LEFT)
    if left is not None and st.query_params.get("pair") == left.pair and time.monotonic() - left.at < _UNTIL_THERE:
        _go_on(left.go_to, left.page)


def may_return() -> None:
    """Somebody goes to a pair on purpose, perhaps to the one just judged."""
    st.session_state.pop(_LEFT, None)


def _go_on(pair: str, page: int | None) -> None:
    st.query_params["pair"] = pair
    if page is not None:
        st.query_params["page"] = str(page)


@action(Role.AUDITOR)
def undo(run: str, pair: str) -> None:
    """Withdraw the pair's verdict; the withdrawal is added to the log, nothing is deleted."""
    log().undo(run, pair, who=reviewer())
    st.toast("Verdict withdrawn", icon=":material/undo:")


def last_given(run: str) -> GivenVerdict | None:
    """This person's last verdict of this session that is still current, else their newest in the run.

    The session comes first: the same name may be used in another window.
    """
    name, own = reviewer(), mine(run)
    for one in latest_first():
        held = own.get(one.pair)
        if (one.run, one.who) == (run, name) and held is not None and held.number == one.number:
            return one
    newest = max(own.values(), key=lambda entry: entry.number, default=None)
    return None if newest is None else GivenVerdict(run, name, newest.pair_id, newest.number)


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


def note_of(run: str, pair: str) -> str:
    """What stands in the field for the note, the chosen tags, and what was masked and revealed."""
    note = str(st.session_state.get(note_key(run, pair)) or "")
    return note_with_disclosure(run, pair, with_tags(note, st.session_state.get(tags_key(run, pair)) or ()))


def tagged(run: str) -> dict[str, tuple[str, ...]]:
    """The pairs that each tag of the run stands on, the most frequent tag first."""
    return log().tagged(run)


def tags_key(run: str, pair: str) -> str:
    return f"tags {run} {pair}"


def note_key(run: str, pair: str) -> str:
    return f"note {run} {pair}"
