"""The frame of all screens: drawings that fetch nothing, charts with words for everyone, sections below the title."""

from __future__ import annotations

import ast
from pathlib import Path
from xml.etree import ElementTree

import altair as alt
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from pages.parts.frame.charts import WORDS, readable
from pages.parts.frame.logo import FAVICON, LOGO
from pages.parts.frame.navigation import SCREENS

PAGES = sorted((Path(__file__).resolve().parents[2] / "pages").rglob("*.py"))
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("drawing", [FAVICON, LOGO])
def test_a_drawing_is_complete_and_names_no_other_file(drawing):
    root = ElementTree.fromstring(drawing)
    assert root.tag == f"{SVG}svg"
    assert {one.tag.removeprefix(SVG) for one in root.iter()} <= {
        "svg", "title", "style", "rect", "circle", "g", "path",
    }  # fmt: skip
    assert not any("href" in name for one in root.iter() for name in one.attrib)
    assert "url(" not in drawing


def test_the_logo_is_the_icon_and_eight_letters():
    shapes = [[one.attrib for one in ElementTree.fromstring(text).iter(f"{SVG}circle")] for text in (FAVICON, LOGO)]
    assert shapes[0] == shapes[1]
    assert len(list(ElementTree.fromstring(LOGO).iter(f"{SVG}path"))) == len("Riskcore")


def test_help_is_the_last_screen_and_alone_in_its_section():
    assert list(SCREENS)[-1] == "help"
    assert [screen.name for screen in SCREENS.values() if screen.section == SCREENS["help"].section] == ["help"]


def test_every_chart_has_a_text():
    charts = 0
    for file in PAGES:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            name = getattr(node.func, "attr", "") if isinstance(node, ast.Call) else ""
            if name.endswith("_chart") and _is_streamlits(node):
                charts += 1
                assert "alt" in {keyword.arg for keyword in node.keywords}, f"{file.name}:{node.lineno}"
    assert charts >= 3


def _is_streamlits(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name) and node.func.value.id == "st"


def test_words_of_a_chart_follow_the_text_colour_and_its_own_settings_stay():
    chart = alt.Chart(pd.DataFrame({"a": [1]})).mark_point().encode(x="a:Q")
    spec = readable(chart.configure_view(strokeWidth=0).to_dict())
    assert spec["config"]["view"]["strokeWidth"] == 0
    assert spec["config"]["axis"] == WORDS["axis"]
    assert alt.Chart.from_dict(spec).to_dict()["config"]["legend"]["labelColor"] == "currentColor"


def test_a_section_is_one_level_below_the_title():
    def script() -> None:
        from pages.parts.frame.page import section

        section("Methods", help="What they are.")

    (heading,) = AppTest.from_function(script).run().header
    assert (heading.value, heading.proto.help, heading.proto.hide_anchor) == ("Methods", "What they are.", True)
