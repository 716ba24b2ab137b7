"""Charts of a run, as values: each function takes plain rows and returns a chart; nothing here draws.

`history` is one row per iteration, as `riskcore.runs.summary` gives it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from pages.parts.frame.palette import FLIPPED, INK, NEUTRAL, RANKING_COLOURS, RIGHT, RISKY, WRONG, method_colour

HEIGHT = 250
_LINE = {"point": {"size": 45, "filled": True}, "strokeWidth": 2.5}


def f1_chart(history: pd.DataFrame) -> alt.Chart:
    """F1 by iteration: on validation always, on the target where its labels are known."""
    names = {"validation_f1": "validation", "f1": "target (scoring only)"}
    long = _long(history, names)
    return _lines(long, "F1", [INK, NEUTRAL], percent=True, zero=False)


def mean_risk_chart(history: pd.DataFrame) -> alt.Chart:
    """Mean risk of all target pairs by iteration: falls as matcher and rules come to agree."""
    return _lines(_long(history, {"mean_risk": "mean risk"}), "mean risk", [RISKY.colour])


def flips_chart(history: pd.DataFrame) -> alt.Chart:
    """Labels changed against iteration 0, right upwards and wrong downwards; plain flips where labels are unknown."""
    if not _has(history, "fixed"):
        long = _long(history, {"flips": "⇄ flipped"})
        return _bars(long, ["⇄ flipped"], [FLIPPED.colour], "labels flipped")
    signed = history.assign(down=-history["broken"])
    long = _long(signed, {"fixed": "✓ flipped right", "down": "✗ flipped wrong"})
    return _bars(
        long, ["✓ flipped right", "✗ flipped wrong"], [RIGHT.colour, WRONG.colour], "pairs against iteration 0"
    )


def auroc_chart(history: pd.DataFrame) -> alt.Chart:
    """How well risk, and the matcher's own confidence, put wrong predictions first."""
    names = {"auroc_risk": "risk", "auroc_confidence": "confidence"}
    return _lines(_long(history, names), "AUROC", [RISKY.colour, NEUTRAL], zero=False)


def epochs_chart(epochs: Sequence[dict[str, Any]]) -> alt.Chart:
    """Validation F1 by epoch while a matcher is trained on labels."""
    rows = pd.DataFrame(
        {"iteration": e["epoch"], "series": "validation", "value": e.get("validation_f1")} for e in epochs
    )
    return _lines(rows.dropna(), "F1", [INK], percent=True, zero=False, x_title="epoch")


def methods_chart(rows: pd.DataFrame) -> alt.Chart:
    """F1 of each method with its interval. Columns: method, f1, low, high."""
    order = list(dict.fromkeys(rows["method"]))
    colour = alt.Color("method:N", legend=None, scale=_scale(order, [method_colour(m) for m in order]))
    y = alt.Y("method:N", sort=order, title=None, axis=alt.Axis(labelFontSize=13, ticks=False, domain=False))
    base = alt.Chart(rows).encode(y=y)
    x = alt.X(
        "f1:Q", title="F1 on the target", scale=alt.Scale(zero=False, nice=True, padding=20), axis=_percent_axis()
    )
    tip = [alt.Tooltip("method:N"), *(alt.Tooltip(f"{c}:Q", format=".1%") for c in ("f1", "low", "high"))]
    interval = base.mark_rule(strokeWidth=4, opacity=0.35).encode(x=x, x2="high:Q", color=colour)
    interval = interval.encode(x=alt.X("low:Q"), tooltip=tip)
    point = base.mark_point(filled=True, size=140, opacity=1).encode(x=x, color=colour, tooltip=tip)
    words = base.mark_text(dy=-14, fontSize=12, color=NEUTRAL).encode(x=x, text=alt.Text("f1:Q", format=".1%"))
    return _finished(interval + point + words, height=48 * max(len(rows), 1) + 70)


def precision_recall_chart(rows: pd.DataFrame) -> alt.Chart:
    """Precision against recall of each method. Columns: method, recall, precision."""
    order = list(dict.fromkeys(rows["method"]))
    chart = alt.Chart(rows).mark_line(strokeWidth=2, interpolate="step-after")
    return _finished(
        chart.encode(
            x=alt.X("recall:Q", title="recall", axis=_percent_axis(), scale=alt.Scale(domain=[0, 1])),
            y=alt.Y("precision:Q", title="precision", axis=_percent_axis(), scale=alt.Scale(domain=[0, 1])),
            color=_legend("method", order, [method_colour(m) for m in order]),
            strokeDash=alt.StrokeDash("method:N", sort=order, legend=None),
            tooltip=["method:N", alt.Tooltip("recall:Q", format=".1%"), alt.Tooltip("precision:Q", format=".1%")],
        ),
        height=300,
    )


def budget_chart(rows: pd.DataFrame) -> alt.Chart:
    """Errors found by reviews made, one line per ranking. Columns: ranking, reviewed, found."""
    order = list(dict.fromkeys(rows["ranking"]))
    colours = [RANKING_COLOURS.get(name, NEUTRAL) for name in order]
    return _finished(
        alt.Chart(rows)
        .mark_line(strokeWidth=2.5)
        .encode(
            x=alt.X("reviewed:Q", title="pairs reviewed, riskiest first"),
            y=alt.Y("found:Q", title="wrong predictions found"),
            color=_legend("ranking", order, colours),
            strokeDash=alt.StrokeDash("ranking:N", sort=order, legend=None),
            tooltip=["ranking:N", "reviewed:Q", "found:Q"],
        ),
        height=300,
    )


def _has(history: pd.DataFrame, column: str) -> bool:
    return column in history and bool(history[column].notna().any())


def _long(history: pd.DataFrame, names: dict[str, str]) -> pd.DataFrame:
    """Iteration, series, value: one row each, without those that are unknown."""
    parts = [
        pd.DataFrame({"iteration": history["iteration"], "series": word, "value": history[column].astype(float)})
        for column, word in names.items()
        if _has(history, column)
    ]
    empty = pd.DataFrame({"iteration": [], "series": [], "value": []})
    return pd.concat(parts).dropna() if parts else empty


def _lines(
    long: pd.DataFrame,
    title: str,
    colours: list[str],
    *,
    percent: bool = False,
    zero: bool = True,
    x_title: str = "iteration",
) -> alt.Chart:
    order = list(dict.fromkeys(long["series"]))
    pattern = ".1%" if percent else ".3f"
    chart = alt.Chart(long).mark_line(**_LINE)
    return _finished(
        chart.encode(
            x=_iterations(x_title),
            y=alt.Y(
                "value:Q",
                title=title,
                scale=alt.Scale(zero=zero) if zero else alt.Scale(zero=False, padding=8),
                axis=_percent_axis() if percent else alt.Axis(tickCount=5),
            ),
            color=_legend("series", order, colours),
            strokeDash=alt.StrokeDash("series:N", sort=order, legend=None),
            tooltip=[alt.Tooltip("iteration:Q", title=x_title), "series:N", alt.Tooltip("value:Q", format=pattern)],
        )
    )


def _bars(long: pd.DataFrame, order: list[str], colours: list[str], title: str) -> alt.Chart:
    chart = alt.Chart(long).mark_bar(size=14, cornerRadius=2)
    return _finished(
        chart.encode(
            x=_iterations("iteration"),
            y=alt.Y("value:Q", title=title, axis=alt.Axis(tickCount=5, tickMinStep=1, format="d")),
            color=_legend("series", order, colours, "square"),
            tooltip=["iteration:Q", "series:N", alt.Tooltip("value:Q", format=",.0f")],
        )
    )


def _iterations(title: str) -> alt.X:
    return alt.X("iteration:Q", title=title, axis=alt.Axis(tickMinStep=1, format="d", grid=False), scale=_padded())


def _padded() -> alt.Scale:
    return alt.Scale(nice=False, padding=14)


def _legend(field: str, order: list[str], colours: list[str], symbol: str = "stroke", columns: int = 3) -> alt.Color:
    legend = alt.Legend(
        orient="top", title=None, symbolType=symbol, labelLimit=260, columns=columns, offset=4, padding=0
    )
    return alt.Color(f"{field}:N", sort=order, legend=legend, scale=_scale(order, colours))


def _scale(order: list[str], colours: list[str]) -> alt.Scale:
    return alt.Scale(domain=order, range=colours[: len(order)])


def _percent_axis() -> alt.Axis:
    return alt.Axis(format=".4~p", tickCount=5)


def _finished(chart: Any, height: int = HEIGHT) -> alt.Chart:
    return chart.properties(height=height)
