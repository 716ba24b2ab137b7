"""What stays on a reviewer's desk: the browser remembers the name that verdicts are signed with, and the key ? lists
the keys. Both need the browser, so a small component without a face does it."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.parts.frame.keys import SHORTCUTS
from pages.parts.frame.sign_in_settings import sign_in_configured

MAX_NAME = 100
_KEY, _NAME = "desk", "reviewer"
_JS = """
const NAME = 'riskcore.reviewer';
export default function(component) {
  const { data, setStateValue, setTriggerValue } = component;
  try {
    if (data.name) localStorage.setItem(NAME, data.name);
    else if (data.asks) {
      const kept = localStorage.getItem(NAME);
      if (kept) setStateValue('kept', kept);
    }
  } catch (error) { /* a browser that keeps nothing */ }
  const pressed = (event) => {
    const target = event.composedPath()[0];
    const typing = target && (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName));
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
    if (event.key === '?' && plain && !typing) setTriggerValue('help', Date.now());
  };
  document.addEventListener('keydown', pressed);
  return () => document.removeEventListener('keydown', pressed);
}
"""


def show_desk() -> None:
    """Draw it, before the field for the name."""
    asks = not sign_in_configured()
    data = {"name": (st.session_state.get(_NAME) or "") if asks else "", "asks": asks}
    told = _component()(data=data, key=_KEY, on_kept_change=_take_name, on_help_change=lambda: None)
    if told.help:
        _show_keys()


@st.cache_resource(show_spinner=False)
def _component() -> Any:
    return st.components.v2.component("riskcore_desk", html="<span hidden></span>", js=_JS)


def _take_name() -> None:
    """The name that the browser has kept; it is user input."""
    kept = st.session_state[_KEY].get("kept")
    if isinstance(kept, str) and kept.strip() and not st.session_state.get(_NAME):
        st.session_state[_NAME] = kept.strip()[:MAX_NAME]


@st.dialog("Keys")
def _show_keys() -> None:
    rows = [f"| {', '.join(f'**{key}**' for key in one.keys)} | {one.where} | {one.does} |" for one in SHORTCUTS]
    st.markdown("\n".join(["| key | where | does |", "|---|---|---|", *rows]))
