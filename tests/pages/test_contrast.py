"""Text can be read on both themes: at least 4.5:1 against the page and against boxes and the sidebar."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from pages.parts.frame.palette import INK, NEUTRAL, SIGNS, TEXT_SHARE, text_tone
from pages.parts.frame.style import ON_PRIMARY, QUIET
from tests.pages.contrast import ENOUGH, colour, contrast, mixed

PROJECT = Path(__file__).resolve().parents[2]
THEMES = tomllib.loads((PROJECT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["theme"]
OWN_STYLES = ("overview.py", "parts/frame", "parts/help", "parts/compare", "parts/results")
GROUNDS = [(name, ground) for name in ("light", "dark") for ground in ("backgroundColor", "secondaryBackgroundColor")]
TEXT_COLOURS = [
    (theme, name) for theme in ("light", "dark") for name in THEMES[theme] if name.endswith(("TextColor", "linkColor"))
]


def text_and_ground(theme: str, ground: str):
    return colour(THEMES[theme]["textColor"]), colour(THEMES[theme][ground])


def test_contrast_of_known_colours():
    black, white = colour("#000000"), colour("#ffffff")
    assert contrast(black, white) == pytest.approx(21)
    assert contrast(white, white) == 1
    assert contrast(colour("#777777"), white) == pytest.approx(4.48, abs=0.005)  # the well-known near miss
    assert mixed(black, white, 0.25) == pytest.approx((0.75, 0.75, 0.75))


@pytest.mark.parametrize(("theme", "ground"), GROUNDS)
@pytest.mark.parametrize("tone", sorted({mark.colour for mark in SIGNS} | {INK, NEUTRAL}))
def test_text_in_a_colour_of_the_palette(theme, ground, tone):
    text, behind = text_and_ground(theme, ground)
    assert f"{tone} {TEXT_SHARE}%" in text_tone(tone)
    assert contrast(mixed(colour(tone), text, TEXT_SHARE / 100), behind) >= ENOUGH


@pytest.mark.parametrize(("theme", "ground"), GROUNDS)
def test_quiet_text(theme, ground):
    text, behind = text_and_ground(theme, ground)
    assert contrast(mixed(text, behind, QUIET), behind) >= ENOUGH
    assert contrast(mixed(text, behind, 0.55), behind) < contrast(mixed(text, behind, QUIET), behind)


@pytest.mark.parametrize(("theme", "name"), TEXT_COLOURS)
def test_text_colours_of_the_theme(theme, name):
    for ground in ("backgroundColor", "secondaryBackgroundColor"):
        assert contrast(colour(THEMES[theme][name]), colour(THEMES[theme][ground])) >= ENOUGH


@pytest.mark.parametrize(("theme", "text"), [*zip(("light", "dark"), ON_PRIMARY, strict=True)])
def test_text_on_a_primary_button(theme, text):
    assert contrast(colour(text), colour(THEMES[theme]["primaryColor"])) >= ENOUGH


@pytest.mark.parametrize("place", OWN_STYLES)
def test_no_style_makes_text_fainter_than_quiet(place):
    files = [PROJECT / "pages" / place] if place.endswith(".py") else (PROJECT / "pages" / place).glob("*.py")
    for file in files:
        faint = [value for value in re.findall(r"[{;]opacity:(\.\d+)", file.read_text("utf-8")) if float(value) < QUIET]
        assert faint == [], file.name
