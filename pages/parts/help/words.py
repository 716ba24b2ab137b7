"""The words, keys and signs of the screens, as lists."""

from __future__ import annotations

import html

import streamlit as st

from pages.parts.frame.glossary import WORDS
from pages.parts.frame.keys import SHORTCUTS
from pages.parts.frame.palette import SIGNS, Mark, text_tone
from pages.parts.help.plain_table import Html, show_table

LONGEST_SEARCH = 60
CAPITALS = {"f1": "F1", "auroc": "AUROC"}


def found_words(text: str) -> list[tuple[str, str]]:
    """Words that contain the text, in themselves or in their meaning, in alphabetical order."""
    wanted = text.strip().casefold()
    entries = [(CAPITALS.get(word, word), meaning) for word, meaning in WORDS.items()]
    found = [(word, meaning) for word, meaning in entries if wanted in f"{word} {meaning}".casefold()]
    return sorted(found, key=lambda entry: entry[0].casefold())


def show_glossary() -> None:
    """All words, or those that are searched for."""
    text = st.text_input(
        "Search", key="find word", max_chars=LONGEST_SEARCH, placeholder="part of a word or of its meaning", width=420
    )
    found = found_words(text or "")
    if found:
        show_table(("word", "meaning"), found)
    else:
        st.info("No word contains this text. Search for a shorter part of it.", icon=":material/search_off:")


def show_keys() -> None:
    show_table(("key", "where", "what it does"), ((_keys(one.keys), one.where, one.does) for one in SHORTCUTS))
    st.caption(
        "Keys work while no text field is active. *Queue* and *card* are on Top-risk pairs, *rule* is on Rules, "
        "*Label* is on Label & audit."
    )


def show_signs() -> None:
    show_table(("sign", "word", "colour"), ((_sign(mark), sign_words(mark), colour_word(mark)) for mark in SIGNS))
    st.caption("Nothing is shown by colour alone: a sign or a word always says the same.")


def sign_words(mark: Mark) -> str:
    """The word of a sign, and what else there is to say about it."""
    return f"{mark.word}: {SIGNS[mark]}" if SIGNS[mark] else mark.word


def colour_word(mark: Mark) -> str:
    """The colour of a sign, as the documentation spells it."""
    return "grey" if mark.name == "gray" else mark.name


def _keys(keys: tuple[str, ...]) -> Html:
    return Html("".join(f"<kbd>{html.escape(key)}</kbd>" for key in keys))


def _sign(mark: Mark) -> Html:
    return Html(f'<span style="color:{text_tone(mark.colour)};font-size:1.15rem">{html.escape(mark.sign)}</span>')
