"""Colours and signs: match, non-match, flipped and risky have one colour, one sign and one word each.

The sign is a character, so that it works in tables, charts and text alike, and nothing is shown by colour alone.
The colours are mid-tones that are readable on light and dark backgrounds.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable


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
NEUTRAL = "#7a8694"
INK = "#2f7fc1"

VERDICTS = {"match": MATCH, "non-match": NON_MATCH, "unsure": UNSURE}

METHOD_COLOURS = {
    "tradition": "#7a8694",
    "risk": "#2f7fc1",
    "risk+": "#12a5b5",
    "transfer": "#b07d4f",
    "supervised": "#9a8f2c",
    "self-training": "#b565a7",
    "forest": "#5f9e57",
}
RANKING_COLOURS = {
    "risk": RISKY.colour,
    "confidence": INK,
    "static rules": "#b07d4f",
    "trust score": "#5f9e57",
    "uncertainty": "#b565a7",
    "random order": NEUTRAL,
}
METHOD_WORDS = {
    "tradition": "the matcher as trained on the source, before any adaptation",
    "risk": "the matcher fine-tuned on the target by risk, as published",
    "risk+": "risk combined with a forest's evidence, cross-fitted on validation",
    "transfer": "the matcher trained to not tell source from target apart",
    "supervised": "the matcher fine-tuned on the validation labels",
    "self-training": "the matcher trained again on its own surest answers on the target",
    "forest": "a random forest on the metrics, given source and validation labels",
}


def of_label(label: int) -> Mark:
    """The mark of a label: 1 is match, 0 is non-match."""
    return MATCH if label else NON_MATCH


def risk_word(risk: float) -> str:
    """A risk in one word."""
    return "high" if risk >= 0.7 else "medium" if risk >= 0.4 else "low"


def method_colour(method: str) -> str:
    """A method's colour; grey for an unknown one."""
    return METHOD_COLOURS.get(method, NEUTRAL)


def ranking_colour(ranking: str) -> str:
    """A ranking's colour; grey for an unknown one."""
    return RANKING_COLOURS.get(ranking, NEUTRAL)


def method_words(methods: Iterable[str]) -> str:
    """A help text that describes the methods."""
    return " ".join(f"**{method}**: {METHOD_WORDS[method]}." for method in methods if method in METHOD_WORDS)
