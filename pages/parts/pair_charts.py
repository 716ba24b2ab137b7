"""Charts of one pair, as values: its risk distribution, and its path through the iterations."""

from __future__ import annotations

import altair as alt
import numpy as np
import pandas as pd

from pages.parts.palette import FLIPPED, INK, NEUTRAL, RISKY, of_label
from riskcore.risk.distribution import pdf, quantile

_STEPS = 241


def risk_chart(mu: float, sigma: float, label: int, confidence: float, probability: float) -> alt.Chart:
    """The truncated normal of a pair's equivalence probability, with the value at risk of its label shaded."""
    curve, edge = _curve(mu, sigma, label, confidence)
    x = alt.X("x:Q", title="how likely the records are the same thing", scale=alt.Scale(domain=[0, 1]))
    y = alt.Y("density:Q", title=None, axis=None)
    base = alt.Chart(curve)
    area = base.mark_area(opacity=0.16, color=NEUTRAL).encode(x=x, y=y)
    line = base.mark_line(strokeWidth=2, color=NEUTRAL).encode(x=x, y=y)
    risky = base.transform_filter(alt.datum.risky).mark_area(opacity=0.45, color=RISKY.colour).encode(x=x, y=y)
    span = pd.DataFrame({"x": [edge], "x2": [1.0 if label else 0.0], "density": [1.12]})
    width = alt.Chart(span).mark_rule(strokeWidth=5, color=RISKY.colour, opacity=0.8).encode(x=x, x2="x2:Q", y=y)
    return (area + risky + line + width + _markers(label, edge, probability)).properties(height=230)


def _curve(mu: float, sigma: float, label: int, confidence: float) -> tuple[pd.DataFrame, float]:
    """Points of the density, and the quantile that the label's risk is measured from."""
    edge = float(quantile(1 - confidence if label else confidence, mu, sigma))
    grid = np.linspace(0, 1, _STEPS)
    near = np.clip(mu + sigma * np.linspace(-4, 4, 81), 0, 1)
    x = np.unique(np.concatenate([grid, near, [edge]]))
    density = pdf(x, mu, sigma)
    frame = pd.DataFrame({"x": x, "density": density / max(float(density.max()), 1e-12)})
    frame["risky"] = frame["x"] <= edge if label else frame["x"] >= edge
    return frame, edge


def _markers(label: int, edge: float, probability: float) -> alt.Chart:
    """Where the matcher stands, where a label turns, and how far the label may well be off."""
    rows = pd.DataFrame(
        {
            "x": [probability, 0.5, edge],
            "words": ["matcher", "match from here", "value at risk"],
        }
    )
    colours = alt.Scale(domain=list(rows["words"]), range=[of_label(label).colour, NEUTRAL, RISKY.colour])
    legend = alt.Legend(orient="top", title=None, symbolType="stroke", columns=3)
    return (
        alt.Chart(rows)
        .mark_rule(strokeWidth=2)
        .encode(
            x="x:Q",
            color=alt.Color("words:N", scale=colours, legend=legend, sort=list(rows["words"])),
            strokeDash=alt.StrokeDash("words:N", legend=None, sort=list(rows["words"])),
            tooltip=[alt.Tooltip("words:N", title="what"), alt.Tooltip("x:Q", format=".3f")],
        )
    )


def history_chart(history: pd.DataFrame) -> alt.Chart:
    """Probability and risk through the iterations; a flip of the label is a diamond on the probability."""
    rows = history.sort_values("iteration")
    long = pd.concat(
        pd.DataFrame({"iteration": rows["iteration"], "series": series, "value": rows[series].astype(float)})
        for series in ("probability", "risk")
    )
    order = ["probability", "risk"]
    colour = alt.Color(
        "series:N",
        sort=order,
        scale=alt.Scale(domain=order, range=[INK, RISKY.colour]),
        legend=alt.Legend(orient="top", title=None, symbolType="stroke"),
    )
    x = alt.X(
        "iteration:Q", axis=alt.Axis(tickMinStep=1, format="d", grid=False), scale=alt.Scale(padding=14, nice=False)
    )
    y = alt.Y("value:Q", title=None, scale=alt.Scale(domain=[0, 1]))
    tip = ["iteration:Q", "series:N", alt.Tooltip("value:Q", format=".3f")]
    lines = (
        alt.Chart(long)
        .mark_line(point=True, strokeWidth=2)
        .encode(x=x, y=y, color=colour, strokeDash=alt.StrokeDash("series:N", sort=order, legend=None), tooltip=tip)
    )
    half = alt.Chart(pd.DataFrame({"value": [0.5]})).mark_rule(strokeDash=[3, 4], color=NEUTRAL).encode(y="value:Q")
    return (half + lines + _flip_marks(rows, x)).properties(height=230)


def _flip_marks(rows: pd.DataFrame, x: alt.X) -> alt.Chart:
    turned = rows["label"].diff().fillna(0) != 0
    marks = rows.loc[turned, ["iteration", "probability", "label"]].rename(columns={"probability": "value"})
    marks["words"] = [f"⇄ flipped to {of_label(int(label)).word}" for label in marks["label"]]
    return (
        alt.Chart(marks)
        .mark_point(shape="diamond", size=190, filled=True, opacity=1, color=FLIPPED.colour)
        .encode(x=x, y="value:Q", tooltip=["words:N", "iteration:Q"])
    )


def path_words(history: pd.DataFrame) -> str:
    """The same path in a sentence, for those who cannot see the chart."""
    rows = history.sort_values("iteration")
    labels = [of_label(int(label)).word for label in rows["label"]]
    turns = [
        f"flipped to {after} at iteration {int(at)}"
        for before, after, at in zip(labels, labels[1:], rows["iteration"].iloc[1:], strict=False)
        if before != after
    ]
    start = f"{labels[0]} at iteration {int(rows['iteration'].iloc[0])}" if labels else "no iteration yet"
    return f"{start[0].upper()}{start[1:]}; {', '.join(turns) if turns else 'the label never changed'}."
