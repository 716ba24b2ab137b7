"""Help: the words, keys and signs of the screens, the method, the theory behind it, and what Riskcore is."""

import streamlit as st

from pages.parts.audit.undo import show_undo
from pages.parts.frame import address
from pages.parts.frame.page import open_page
from pages.parts.help.about import show_about
from pages.parts.help.bound import show_theory
from pages.parts.help.method import show_method
from pages.parts.help.words import show_glossary, show_keys, show_signs

PARTS = {  # by `?part=` in the address
    "glossary": ("Glossary", show_glossary),
    "keys": ("Keys", show_keys),
    "signs": ("Signs", show_signs),
    "method": ("The method", show_method),
    "theory": ("Theory", show_theory),
    "about": ("About", show_about),
}
FIRST = next(iter(PARTS))
LINE_PIXELS = 900  # longer lines are hard to read


def choose_part() -> str:
    """The part in the address; the first one where it names none."""
    asked = st.query_params.get("part", FIRST).lower()
    asked = asked if asked in PARTS else FIRST
    titles = {title: part for part, (title, _) in PARTS.items()}
    if st.session_state.get("help part") != PARTS[asked][0]:
        st.session_state["help part"] = PARTS[asked][0]

    def changed() -> None:
        address.put("part", titles[st.session_state["help part"]], FIRST)

    st.segmented_control(
        "Show", list(titles), key="help part", required=True, on_change=changed, label_visibility="collapsed"
    )
    return asked


with open_page("help", "What the words, keys and signs mean, how the method works, and what Riskcore is."):
    show_undo("help")
    part = choose_part()
    with st.container(width=LINE_PIXELS):
        PARTS[part][1]()
