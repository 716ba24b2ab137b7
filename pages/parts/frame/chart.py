"""Putting a chart on the screen."""

from __future__ import annotations

import altair as alt
import streamlit as st

PADDING = {"left": 0, "top": 4, "right": 8, "bottom": 4}  # the theme's own leaves a chart small in its place


def draw_chart(chart: alt.Chart, words: str) -> None:
    """Draw the chart, with words for those who cannot see it.

    Checking its specification against the schema takes longer than drawing it: the tests do that, not every click.
    """
    st.vega_lite_chart(spec={**chart.to_dict(validate=False), "padding": PADDING}, width="stretch", alt=words)
