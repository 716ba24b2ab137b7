"""Charts of a run by iteration, as values: each function takes plain rows and returns a chart; nothing here draws.

`history` has one row per iteration, as `riskcore.runs.summary` returns it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from pages.parts.frame.charts import legend, percent_axis, sized
from pages.parts.frame.palette import FLIPPED, INK, NEUTRAL, RIGHT, RISKY, WRONG, ranking_colour

_LINE: dict[str, Any] = {"point": {"size": 45, "filled": True}, "strokeWidth": 2.5}


def f1_chart(history: pd.DataFrame) -> alt.Chart:
    """F1 by iteration: on validation, and on the target where its labels are known."""
    names = {"validation_f1": "validation", "f1": "target (scoring only)"}
    long = _long(history, names)
    return _lines(long, "F1", [INK, NEUTRAL], percent=True, zero=False)


def mean_risk_chart(history: pd.DataFrame) -> alt.Chart:
    """Mean risk of all target pairs by iteration: where it is calibrated, the share of labels expected to be wrong."""
    return _lines(_long(history, {"mean_risk": "mean risk"}), "mean risk", [RISKY.colour])


def flips_chart(history: pd.DataFrame) -> alt.Chart:
    """Labels fixed (upwards) and broken (downwards) since iteration 0; without labels, the number of flips."""
    if not _has(history, "fixed"):
        long = _long(history, {"flips": FLIPPED.text})
        return _bars(long, [FLIPPED.text], [FLIPPED.colour], "labels flipped")
    signed = history.assign(down=-history["broken"])
    long = _long(signed, {"fixed": "✓ fixed", "down": "✗ broken"})
    return _bars(long, ["✓ fixed", "✗ broken"], [RIGHT.colour, WRONG.colour], "pairs, since iteration 0")


def auroc_chart(history: pd.DataFrame) -> alt.Chart:
    """How well risk, the matcher's own confidence, and the published risk model rank wrong labels first."""
    names = {"auroc_risk": "risk", "auroc_confidence": "confidence", "auroc_learnrisk": "learnrisk"}
    colours = [ranking_colour(name) for name in names.values()]
    return _lines(_long(history, names), "AUROC", colours, zero=False)


def epochs_chart(epochs: Sequence[dict[str, Any]]) -> alt.Chart:
    """Validation F1 by epoch while a matcher is trained on labels."""
    rows = pd.DataFrame(
        {"iteration": e["epoch"], "series": "validation", "value": e.get("validation_f1")} for e in epochs
    )
    return _lines(rows.dropna(), "F1", [INK], percent=True, zero=False, x_title="epoch")


def with_kept(chart: alt.Chart, kept: int | None) -> alt.TopLevelMixin:
    """The chart with a dashed line at the kept iteration, once it is known."""
    if kept is None:
        return chart
    rule = alt.Chart(pd.DataFrame({"iteration": [kept], "kept": ["kept"]})).encode(x=_iterations("iteration"))
    line = rule.mark_rule(strokeDash=[4, 3], strokeWidth=1.5, color=NEUTRAL).encode(tooltip=["kept", "iteration:Q"])
    word = rule.mark_text(align="left", baseline="top", dx=9, fontSize=11).encode(text="kept", y=alt.value(0))
    return alt.layer(chart, line, word)


def _has(history: pd.DataFrame, column: str) -> bool:
    return column in history and bool(history[column].notna().any())


def _long(history: pd.DataFrame, names: dict[str, str]) -> pd.DataFrame:
    """One row per known value: iteration, series, value."""
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
    return sized(
        chart.encode(
            x=_iterations(x_title),
            y=alt.Y(
                "value:Q",
                title=title,
                scale=alt.Scale(zero=zero) if zero else alt.Scale(zero=False, padding=8),
                axis=percent_axis() if percent else alt.Axis(tickCount=5),
            ),
            color=legend("series", order, colours),
            strokeDash=alt.StrokeDash("series:N", sort=order, legend=None),
            tooltip=[alt.Tooltip("iteration:Q", title=x_title), "series:N", alt.Tooltip("value:Q", format=pattern)],
        )
    )


def _bars(long: pd.DataFrame, order: list[str], colours: list[str], title: str) -> alt.Chart:
    chart = alt.Chart(long).mark_bar(size=14, cornerRadius=2)
    return sized(
        chart.encode(
            x=_iterations("iteration"),
            y=alt.Y("value:Q", title=title, axis=alt.Axis(tickCount=5, tickMinStep=1, format="d")),
            color=legend("series", order, colours, "square"),
            tooltip=["iteration:Q", "series:N", alt.Tooltip("value:Q", format=",.0f")],
        )
    )


def _iterations(title: str) -> alt.X:
    return alt.X(
        "iteration:Q",
        title=title,
        axis=alt.Axis(tickMinStep=1, format="d", grid=False),
        scale=alt.Scale(nice=False, padding=14),
    )
