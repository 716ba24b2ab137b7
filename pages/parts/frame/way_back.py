"""The way through a sign-in and back: the browser keeps the page that someone came for, and hands it back afterwards.

Streamlit returns from every sign-in and sign-out to the bare address of the server, in a new session. So the target
is kept where only this tab of this browser can read it (`sessionStorage`): two tabs have two targets, nothing about
them is on the server, and a link cannot set one. A component without a face keeps it. Before the browser leaves, the
component says that the target is kept, and only then Streamlit is asked to leave.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.parts.frame.access import end
from pages.parts.frame.navigation import SCREENS
from pages.parts.frame.target import Target, is_landing, parse_target, requested

MINUTES = 60  # that a target is kept after the browser has left
SIGN_IN, SIGN_OUT = "sign in", "sign out"
_KEY = "way_back"
_LEAVING, _MODE, _KEPT, _GOING, _CAME_BACK = "leaving by", "way back", "kept target", "going to target", "came back"
_TIMES, _GONE = "times left", "has left by"
_ASK, _DROP = "ask", "drop"
# A command is carried out once, whatever else makes Streamlit draw the component again.
_JS = """
const KEY = 'riskcore.target';
let done = '';
function kept(minutes) {
  try {
    const found = JSON.parse(sessionStorage.getItem(KEY));
    return found && Math.abs(Date.now() - found.at) < minutes * 60000 ? found : null;
  } catch (error) { return null; }
}
function keep(entry) {
  try {
    if (entry) sessionStorage.setItem(KEY, JSON.stringify(entry));
    else sessionStorage.removeItem(KEY);
  } catch (error) { /* a browser that keeps nothing: the sign-in works, and ends at the overview */ }
}
export default function(component) {
  const { data, setTriggerValue } = component;
  const turn = JSON.stringify(data);
  if (turn === done) return;
  done = turn;
  const found = kept(data.minutes);
  if (data.command === 'leave') {
    keep({ target: data.target || (found ? found.target : ''), by: data.by, at: Date.now() });
    setTriggerValue('left', data.by);
  } else if (data.command === 'drop') keep(null);
  else if (data.command === 'ask' && found) {
    setTriggerValue('kept', { target: found.target, by: found.by });
    keep({ target: found.target, by: '', at: found.at });
  }
}
"""


def leave(by: str) -> None:
    """For a button: leave by a sign-in or a sign-out, once the browser has kept the target."""
    st.session_state[_LEAVING] = by
    st.session_state[_TIMES] = st.session_state.get(_TIMES, 0) + 1
    st.session_state.pop(_GONE, None)


def show_way_out(screen: str) -> Target | None:
    """For who is not let in: keep the target while the browser leaves. Returns the target of the next sign-in."""
    target = requested(screen)
    if _is_leaving():
        _command_to_leave(target)
    elif target is None:
        st.session_state[_MODE] = _ASK
        _command("ask")
    return target or st.session_state.get(_KEPT)


def came_back_by() -> str:
    """How this tab left before it came back without being let in; "" where it did not."""
    return str(st.session_state.get(_CAME_BACK, ""))


def show_way_back(screen: str) -> None:
    """For who is let in: go to the kept target once, from where Streamlit lands. Draws nothing while leaving."""
    if _is_leaving():
        _command_to_leave(requested(screen))
        st.stop()
    going: Target | None = st.session_state.pop(_GOING, None)
    landed = st.session_state.get(_MODE, _ASK) == _ASK and is_landing(screen)
    st.session_state[_MODE] = _ASK if landed and going is None else _DROP
    if going is not None:
        st.switch_page(SCREENS[going.screen].path, query_params=going.parameters)
    _command(st.session_state[_MODE])


def _is_leaving() -> bool:
    """Also once the browser has been told to go: another command would change what it has kept."""
    return bool(st.session_state.get(_LEAVING) or st.session_state.get(_GONE))


def _command_to_leave(target: Target | None) -> None:
    by = st.session_state.get(_LEAVING) or st.session_state[_GONE]
    _command("leave", target=target.text() if target else "", by=by, times=st.session_state[_TIMES])


def _command(command: str, **more: str | int) -> None:
    data = {"command": command, "minutes": MINUTES, **more}
    _component()(data=data, key=_KEY, on_left_change=_leave, on_kept_change=_take)


@st.cache_resource(show_spinner=False)
def _component() -> Any:
    return st.components.v2.component("riskcore_way_back", html="<span hidden></span>", js=_JS)


def _leave() -> None:
    """The browser has kept the target, or cannot keep anything: go."""
    by = st.session_state[_GONE] = st.session_state.pop(_LEAVING, None)
    if by == SIGN_IN:
        st.login()
    elif by == SIGN_OUT:
        end()
        st.logout()


def _take() -> None:
    """What the browser has kept; it is user input."""
    told = st.session_state[_KEY].get("kept")
    if not isinstance(told, dict) or st.session_state.get(_MODE) != _ASK:
        return
    st.session_state[_CAME_BACK] = told.get("by") if told.get("by") in (SIGN_IN, SIGN_OUT) else ""
    st.session_state[_KEPT] = st.session_state[_GOING] = parse_target(told.get("target"))
    st.session_state[_MODE] = _DROP
