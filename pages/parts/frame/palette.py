"""Colours and signs: match, non-match, flipped and risky have one colour, one sign and one word each.

The sign is a character, so that it works in tables, charts and text alike, and nothing is shown by colour alone.
The colours are mid-tones: fills and lines that can be told apart on light and dark backgrounds. Text in them would be
too faint on one of the two, so it takes `text_tone`. The colours of methods and rankings are registered with them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from riskcore.registry import METHODS, NEUTRAL_COLOUR, RANKINGS


@dataclasses.dataclass(frozen=True)
class Mark:
    """A word with its sign, its colour, and Streamlit's name for the colour."""

    word: str
    sign: str
    colour: str
    name: str

    @property
    def text(self) -> str:
        return f"{self.sign} {self.word}"


MATCH = Mark("match", "=", "#0d9488", "green")
NON_MATCH = Mark("non-match", "≠", "#7c6cf0", "violet")
FLIPPED = Mark("flipped", "⇄", "#d97706", "orange")
RISKY = Mark("risky", "▲", "#e0355a", "red")
UNSURE = Mark("unsure", "?", "#7a8694", "gray")
RIGHT = Mark("correct", "✓", "#0d9488", "green")
WRONG = Mark("wrong", "✗", "#e0355a", "red")
FLIPPED_BACK = Mark("flipped back", "↺", FLIPPED.colour, FLIPPED.name)
NEUTRAL = NEUTRAL_COLOUR
INK = "#2f7fc1"
TEXT_SHARE = 70  # percent of the colour in text of that colour; more would be too faint on one of the themes

VERDICTS = {"match": MATCH, "non-match": NON_MATCH, "unsure": UNSURE}
SIGNS = {  # all signs with what there is to say beyond their word
    MATCH: "",
    NON_MATCH: "",
    UNSURE: "",
    FLIPPED: "the label differs from the one before fine-tuning; proposed where no label confirms it",
    FLIPPED_BACK: "the label changed, and returned to the first one",
    RISKY: "the label may be wrong",
    RIGHT: "needs the target's labels",
    WRONG: "needs the target's labels",
}


def text_tone(colour: str) -> str:
    """A colour for text, in CSS: mixed with the text's own colour, so that it is readable on both themes."""
    return f"color-mix(in srgb,{colour} {TEXT_SHARE}%,currentColor)"


def of_label(label: int) -> Mark:
    """The mark of a label: 1 is match, 0 is non-match."""
    return MATCH if label else NON_MATCH


HIGH_RISK, MEDIUM_RISK = 0.5, 0.1  # more likely wrong than right; wrong in more than one pair of ten


def risk_word(risk: float) -> str:
    """A risk in one word."""
    return "high" if risk >= HIGH_RISK else "medium" if risk >= MEDIUM_RISK else "low"


def method_colour(method: str) -> str:
    """A method's colour; grey for an unknown one."""
    return METHODS[method].colour if method in METHODS else NEUTRAL


def ranking_colour(ranking: str) -> str:
    """A ranking's colour; grey for an unknown one."""
    return RANKINGS[ranking].colour if ranking in RANKINGS else NEUTRAL


def method_words(methods: Iterable[str]) -> str:
    """A help text that describes the methods."""
    return " ".join(f"**{method}**: {METHODS[method].words}." for method in methods if method in METHODS)
