"""Charts of one pair, as values: its risk distribution, and its path through the iterations.

A chart is a frame and a Vega-Lite specification that never changes, so that stepping from pair to pair sends new
numbers only and the browser keeps what it has drawn.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pandas as pd

from pages.parts.frame.charts import PADDING
from pages.parts.frame.palette import FLIPPED, INK, NEUTRAL, RISKY, of_label
from riskcore.risk.distribution import pdf, quantile

HEIGHT = 230
_STEPS = 121
MARKERS = ("the model's probability", "threshold", "quantile")
SERIES = ("probability", "risk")


@dataclasses.dataclass(frozen=True, eq=False)
class PairChart:
    """The data of a chart and its specification."""

    data: pd.DataFrame
    spec: dict[str, Any]


def risk_chart(mu: float, sigma: float, label: int, confidence: float, probability: float) -> PairChart:
    """The truncated normal of a pair's equivalence probability, with the value at risk of its label shaded."""
    curve, edge = _curve(mu, sigma, label, confidence)
    risky = curve[curve["risky"]]
    span = pd.DataFrame({"part": ["span"], "x": [edge], "x2": [1.0 if label else 0.0], "density": [1.12]})
    markers = pd.DataFrame({"part": "marker", "x": [probability, 0.5, edge], "words": MARKERS})
    parts = [curve.assign(part="curve"), risky.assign(part="risky"), span, markers]
    columns = ["part", "x", "x2", "density", "words"]
    return PairChart(pd.concat(parts, ignore_index=True).reindex(columns=columns), _RISK_SPEC)


def _curve(mu: float, sigma: float, label: int, confidence: float) -> tuple[pd.DataFrame, float]:
    """Points of the density, and the quantile from which the label's risk is measured."""
    edge = float(quantile(1 - confidence if label else confidence, mu, sigma))
    grid = np.linspace(0, 1, _STEPS)
    near = np.clip(mu + sigma * np.linspace(-4, 4, 61), 0, 1)
    x = np.unique(np.concatenate([grid, near, [edge]]))
    density = pdf(x, mu, sigma)
    frame = pd.DataFrame({"x": x, "density": density / max(float(density.max()), 1e-12)})
    frame["risky"] = frame["x"] <= edge if label else frame["x"] >= edge
    return frame, edge


def history_chart(history: pd.DataFrame) -> PairChart:
    """Probability and risk through the iterations; a flip of the label is a diamond on the probability."""
    rows = history.sort_values("iteration")
    lines = [
        pd.DataFrame(
            {"part": "line", "iteration": rows["iteration"], "series": series, "value": rows[series].astype(float)}
        )
        for series in SERIES
    ]
    turned = rows[(rows["label"].diff().fillna(0) != 0).to_numpy()]
    words = [f"⇄ flipped to {of_label(int(label)).word}" for label in turned["label"]]
    marks = pd.DataFrame(
        {"part": "flip", "iteration": turned["iteration"], "value": turned["probability"], "words": words}
    )
    columns = ["part", "iteration", "series", "value", "words"]
    return PairChart(pd.concat([*lines, marks], ignore_index=True).reindex(columns=columns), _HISTORY_SPEC)


def path_words(history: pd.DataFrame) -> str:
    """The same path in a sentence, for those who cannot see the chart."""
    rows = history.sort_values("iteration")
    labels = [of_label(int(label)).word for label in rows["label"]]
    turns = [
        f"flipped to {after} at iteration {int(at)}"
        for before, after, at in zip(labels, labels[1:], rows["iteration"].iloc[1:], strict=False)
        if before != after
    ]
    start = f"{labels[0]} at iteration {int(rows['iteration'].iloc[0])}" if labels else "no iteration so far"
    return f"{start[0].upper()}{start[1:]}; {', '.join(turns) if turns else 'never flipped'}."


def _layer(part: str, mark: dict[str, Any], encoding: dict[str, Any]) -> dict[str, Any]:
    return {"transform": [{"filter": f"datum.part == '{part}'"}], "mark": mark, "encoding": encoding}


def _quantity(field: str, **more: Any) -> dict[str, Any]:
    return {"field": field, "type": "quantitative", **more}


def _names(field: str, domain: tuple[str, ...], colours: list[str] | None = None) -> dict[str, Any]:
    """A colour or dash by name, in a fixed order; the colour carries the legend."""
    scale = {"domain": list(domain), **({"range": colours} if colours else {})}
    legend = {"orient": "top", "title": None, "symbolType": "stroke", "columns": 3, "padding": 0} if colours else None
    return {"field": field, "type": "nominal", "scale": scale, "legend": legend}


_X = _quantity("x", title="probability of a match", scale={"domain": [0, 1]})
_DENSITY = _quantity("density", axis=None, scale={"domain": [0, 1.15]})
_RISK_SPEC: dict[str, Any] = {
    "height": HEIGHT,
    "padding": PADDING,
    "layer": [
        _layer("curve", {"type": "area", "opacity": 0.16, "color": NEUTRAL}, {"x": _X, "y": _DENSITY}),
        _layer("risky", {"type": "area", "opacity": 0.45, "color": RISKY.colour}, {"x": _X, "y": _DENSITY}),
        _layer("curve", {"type": "line", "strokeWidth": 2, "color": NEUTRAL}, {"x": _X, "y": _DENSITY}),
        _layer(
            "span",
            {"type": "rule", "strokeWidth": 5, "opacity": 0.8, "color": RISKY.colour},
            {"x": _X, "x2": {"field": "x2"}, "y": _DENSITY},
        ),
        _layer(
            "marker",
            {"type": "rule", "strokeWidth": 2},
            {
                "x": _X,
                "color": _names("words", MARKERS, [INK, NEUTRAL, RISKY.colour]),
                "strokeDash": _names("words", MARKERS),
                "tooltip": [{"field": "words", "title": "what"}, _quantity("x", format=".3f")],
            },
        ),
    ],
}
_ITERATION = _quantity(
    "iteration", axis={"tickMinStep": 1, "format": "d", "grid": False}, scale={"padding": 14, "nice": False}
)
_VALUE = _quantity("value", title=None, scale={"domain": [0, 1]})
_HISTORY_SPEC: dict[str, Any] = {
    "height": HEIGHT,
    "padding": PADDING,
    "layer": [
        {"mark": {"type": "rule", "strokeDash": [3, 4], "color": NEUTRAL}, "encoding": {"y": {"datum": 0.5}}},
        _layer(
            "line",
            {"type": "line", "point": True, "strokeWidth": 2},
            {
                "x": _ITERATION,
                "y": _VALUE,
                "color": _names("series", SERIES, [INK, RISKY.colour]),
                "strokeDash": _names("series", SERIES),
                "tooltip": [_quantity("iteration"), {"field": "series"}, _quantity("value", format=".3f")],
            },
        ),
        _layer(
            "flip",
            {"type": "point", "shape": "diamond", "size": 190, "filled": True, "opacity": 1, "color": FLIPPED.colour},
            {"x": _ITERATION, "y": _VALUE, "tooltip": [{"field": "words"}, _quantity("iteration")]},
        ),
    ],
}
