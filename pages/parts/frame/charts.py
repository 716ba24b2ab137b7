"""What all charts share: drawing one on the screen, and their legends, scales and axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import streamlit as st

from pages.parts.frame.style import QUIET

HEIGHT = 250
# Numbers and names beside a chart, in the text colour of the visitor's theme; Streamlit's grey is too faint on light.
WORDS: dict[str, Any] = {
    "axis": {"labelColor": "currentColor", "titleColor": "currentColor", "labelOpacity": QUIET, "titleOpacity": QUIET},
    "legend": {"labelColor": "currentColor", "labelOpacity": QUIET},
    "text": {"color": "currentColor"},
}
PADDING = {"left": 0, "top": 4, "right": 8, "bottom": 4}  # the theme's own makes a chart small


def draw_chart(chart: alt.TopLevelMixin, words: str) -> None:
    """Draw the chart, with a text for those who cannot see it.

    Checking its specification against the schema takes longer than drawing it: the tests do that, not every click.
    """
    st.vega_lite_chart(spec=readable(chart.to_dict(validate=False)), width="stretch", alt=words)


def readable(spec: dict[str, Any]) -> dict[str, Any]:
    """The specification with words that can be read on both themes, and without the theme's padding."""
    return {**spec, "config": {**spec.get("config", {}), **WORDS}, "padding": PADDING}


def legend(field: str, order: Sequence[str], colours: Sequence[str], symbol: str = "stroke") -> alt.Color:
    """A colour by name, in a fixed order, with its legend above the chart."""
    above = alt.Legend(orient="top", title=None, symbolType=symbol, labelLimit=260, columns=3, offset=4, padding=0)
    return alt.Color(f"{field}:N", sort=list(order), legend=above, scale=colour_scale(order, colours))


def colour_scale(order: Sequence[str], colours: Sequence[str]) -> alt.Scale:
    return alt.Scale(domain=list(order), range=list(colours[: len(order)]))


def percent_axis() -> alt.Axis:
    return alt.Axis(format=".4~p", tickCount=5)


def sized(chart: Any, height: int = HEIGHT) -> alt.Chart:
    """The chart with its height; its width follows the screen."""
    found: alt.Chart = chart.properties(height=height)
    return found
