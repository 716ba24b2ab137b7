"""Charts that compare methods and rankings, as values: functions of plain rows that return a chart."""

from __future__ import annotations

import altair as alt
import pandas as pd

from pages.parts.frame.charts import colour_scale, legend, percent_axis, sized
from pages.parts.frame.palette import NEUTRAL, method_colour, ranking_colour

CURVE_HEIGHT = 300


def methods_chart(rows: pd.DataFrame) -> alt.Chart:
    """F1 of each method with its confidence interval. Columns: method, f1, low, high."""
    order = list(dict.fromkeys(rows["method"]))
    colour = alt.Color("method:N", legend=None, scale=colour_scale(order, [method_colour(m) for m in order]))
    y = alt.Y("method:N", sort=order, title=None, axis=alt.Axis(labelFontSize=13, ticks=False, domain=False))
    base = alt.Chart(rows).encode(y=y)
    x = alt.X("f1:Q", title="F1 on the target", scale=alt.Scale(zero=False, nice=True, padding=20), axis=percent_axis())
    tip = [alt.Tooltip("method:N"), *(alt.Tooltip(f"{c}:Q", format=".1%") for c in ("f1", "low", "high"))]
    interval = base.mark_rule(strokeWidth=4, opacity=0.35).encode(x=x, x2="high:Q", color=colour)
    interval = interval.encode(x=alt.X("low:Q"), tooltip=tip)
    point = base.mark_point(filled=True, size=140, opacity=1).encode(x=x, color=colour, tooltip=tip)
    words = base.mark_text(dy=-14, fontSize=12).encode(x=x, text=alt.Text("f1:Q", format=".1%"))
    return sized(interval + point + words, height=48 * max(len(rows), 1) + 70)


def precision_recall_chart(rows: pd.DataFrame) -> alt.Chart:
    """Precision against recall of each method. Columns: method, recall, precision."""
    order = list(dict.fromkeys(rows["method"]))
    chart = alt.Chart(rows).mark_line(strokeWidth=2, interpolate="step-after")
    return sized(
        chart.encode(
            x=alt.X("recall:Q", title="recall", axis=percent_axis(), scale=alt.Scale(domain=[0, 1])),
            y=alt.Y("precision:Q", title="precision", axis=percent_axis(), scale=alt.Scale(domain=[0, 1])),
            color=legend("method", order, [method_colour(m) for m in order]),
            strokeDash=alt.StrokeDash("method:N", sort=order, legend=None),
            tooltip=["method:N", alt.Tooltip("recall:Q", format=".1%"), alt.Tooltip("precision:Q", format=".1%")],
        ),
        height=CURVE_HEIGHT,
    )


def reliability_chart(rows: pd.DataFrame, method: str) -> alt.Chart:
    """Observed match rate by predicted probability, with intervals, and the diagonal of perfect calibration.

    Columns: predicted, observed, low, high, pairs.
    """
    share = alt.Scale(domain=[0, 1])
    x = alt.X("predicted:Q", title="predicted probability of a match", scale=share, axis=percent_axis())
    y = alt.Y("observed:Q", title="observed share of matches", scale=share, axis=percent_axis())
    ends = pd.DataFrame({"predicted": [0.0, 1.0], "observed": [0.0, 1.0]})
    diagonal = alt.Chart(ends).mark_line(strokeDash=[3, 4], strokeWidth=1.5, color=NEUTRAL).encode(x=x, y=y)
    shares = ("predicted", "observed", "low", "high")
    tip = [*(alt.Tooltip(f"{name}:Q", format=".1%") for name in shares), alt.Tooltip("pairs:Q", format=",")]
    base, colour = alt.Chart(rows).encode(x=x, tooltip=tip), method_colour(method)
    interval = base.mark_rule(strokeWidth=3, opacity=0.35, color=colour).encode(y=alt.Y("low:Q"), y2="high:Q")
    line = base.mark_line(strokeWidth=2, color=colour).encode(y=y)
    points = base.mark_point(filled=True, opacity=1, size=60, color=colour).encode(y=y)
    return sized(diagonal + interval + line + points, height=CURVE_HEIGHT)


def budget_chart(rows: pd.DataFrame) -> alt.Chart:
    """Errors found by the number of pairs reviewed, one line per ranking. Columns: ranking, reviewed, found."""
    order = list(dict.fromkeys(rows["ranking"]))
    return sized(
        alt.Chart(rows)
        .mark_line(strokeWidth=2.5)
        .encode(
            x=alt.X("reviewed:Q", title="pairs reviewed, riskiest first"),
            y=alt.Y("found:Q", title="wrong labels found"),
            color=legend("ranking", order, [ranking_colour(name) for name in order]),
            strokeDash=alt.StrokeDash("ranking:N", sort=order, legend=None),
            tooltip=["ranking:N", "reviewed:Q", "found:Q"],
        ),
        height=CURVE_HEIGHT,
    )
