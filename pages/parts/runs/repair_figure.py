"""The picture of "Watch the repair" as a value: one plotly figure with a frame per iteration; nothing here draws.

All frames are in the figure, so playing does not ask the server.

Each state is a trace with every pair that is ever in it. A pair that flips is in two traces at least, and has a size
in one of them: while it moves, one sign shrinks and the other grows. (Plotly can move a sign and change its size, but
not its shape.)

Two limits of plotly: it cannot select in a trace that a frame has left out, so every frame names every trace; and it
cannot change the frame while a box is selected, so a box that a person has drawn is made part of a new figure.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from html import escape
from itertools import pairwise
from typing import Any

import numpy as np
import plotly.graph_objects as go

from pages.parts.frame.palette import FLIPPED, HIGH_RISK, INK, MATCH, NEUTRAL, NON_MATCH, RISKY, Mark
from pages.parts.frame.text import plural, short
from pages.parts.runs.repair_frames import RepairFrame
from pages.parts.runs.repair_layout import EDGE, RIGHT, TOP, controls, layout, stretched

_GRID = (25, 13)  # columns and rows: fine enough for any box that is worth drawing
_BOX_LINE = {"color": NEUTRAL, "width": 1.5, "dash": "dot"}
_NO_LINE: dict[str, Any] = {"x": [None], "y": [None]}


@dataclasses.dataclass(frozen=True)
class _State:
    """How the pairs in a state are drawn."""

    mark: Mark
    symbol: str
    size: int


@dataclasses.dataclass(frozen=True)
class Box:
    """A box that a person drew: both ends on each axis."""

    x: tuple[float, float]
    y: tuple[float, float]

    def holds(self, frame: RepairFrame) -> np.ndarray:
        """Which drawn pairs are in the box, by their places in a frame."""
        inside = [
            (min(ends) <= places) & (places <= max(ends))
            for ends, places in ((self.x, stretched(frame.evidence)), (self.y, stretched(frame.probability)))
        ]
        return inside[0] & inside[1]


STATES = (_State(NON_MATCH, "circle", 7), _State(MATCH, "square", 7), _State(FLIPPED, "diamond", 10))


def repair_figure(
    frames: Sequence[RepairFrame],
    kept: int | None = None,
    pair_ids: Sequence[str] = (),
    shown: int = 0,
    box: Box | None = None,
) -> go.Figure:
    """The drawn pairs by what the rules expect and what the model says, in each iteration.

    In the frame in which a label flips, a trail leads from its old to its new position. `kept` is the kept iteration
    of the last frame's method; `pair_ids` are shown on hover. The figure opens with the frame `shown`. The pairs that
    are in the box there stand out in all frames.
    """
    method = frames[-1].method
    words = [_frame_words(frame, method, kept) for frame in frames]
    trails = [_trail(before, frame) for before, frame in pairwise(frames)]
    in_state = np.stack([states(frame) for frame in frames])
    members = [np.flatnonzero((in_state == state).any(axis=0)) for state in range(len(STATES))]
    fixed = [
        *(_trail_trace() for _ in trails),
        *(_points_trace(state, rows, pair_ids) for state, rows in zip(STATES, members, strict=True)),
        _words_trace(),
        _grid_trace(),
        *_legend(),
    ]
    moves = []
    for at, frame in enumerate(frames):
        lines = [trail if place == at - 1 else _NO_LINE for place, trail in enumerate(trails)]
        points = [_points(frame, state, rows) for state, rows in enumerate(members)]
        move = [*lines, *points, {"text": [words[at]]}, {"legendgroup": frame.name}]
        moves.append([*move, *({} for _ in fixed[len(move) :])])
    every = list(range(len(fixed)))
    figure = go.Figure(
        data=[trace.update(move) for trace, move in zip(fixed, moves[shown], strict=True)],
        frames=[go.Frame(name=frame.name, data=move, traces=every) for frame, move in zip(frames, moves, strict=True)],
        layout=layout(),
    )
    if box is not None:
        held = box.holds(frames[shown])
        for trace, rows in zip(figure.data[len(trails) :], members, strict=False):
            trace.selectedpoints = np.flatnonzero(held[rows])
        figure.add_shape(type="rect", x0=box.x[0], x1=box.x[1], y0=box.y[0], y1=box.y[1], line=_BOX_LINE)
    if len(frames) > 1:
        steps = [(frame.name, _step_words(frame, method, kept)) for frame in frames]
        figure.update_layout(**controls(steps, shown))
    return figure


def states(frame: RepairFrame) -> np.ndarray:
    """The state of each drawn pair, by its place among STATES."""
    return np.where(frame.flipped, 2, frame.label)


def _frame_words(frame: RepairFrame, method: str, kept: int | None) -> str:
    """What a frame shows, in a line."""
    if frame.method != method:
        return "The matcher before fine-tuning"
    iteration = f"Iteration {frame.iteration}{' (kept)' if frame.iteration == kept else ''}"
    if frame.is_start:
        return f"{iteration}: the matcher before fine-tuning"
    flips = plural(frame.flips, "label flips", "labels flip") if frame.flips else "no label flips"
    return f"{iteration}: {flips}, {frame.flipped_pairs:,} flipped since the start"


def _step_words(frame: RepairFrame, method: str, kept: int | None) -> str:
    if frame.method != method:
        return "start"
    return f"{frame.iteration} (kept)" if frame.iteration == kept else str(frame.iteration)


# Traces: what stays, and what a frame changes.


def _points_trace(state: _State, rows: np.ndarray, pair_ids: Sequence[str]) -> go.Scatter:
    pair = "pair %{text}<br>" if len(pair_ids) else ""
    return go.Scatter(
        mode="markers",
        text=[escape(short(pair_ids[row], 40)) for row in rows] if len(pair_ids) else None,
        hovertemplate=f"{pair}the rules expect a match: %{{customdata[0]}} %<br>"
        "the model says match: %{customdata[1]} %<br>risk: %{customdata[2]} %<extra></extra>",
        marker={"color": state.mark.colour, "symbol": state.symbol, "opacity": 0.75},
        marker_line_color=RISKY.colour,
        selected_marker_opacity=0.95,
        unselected_marker_opacity=0.15,
        showlegend=False,
    )


def _points(frame: RepairFrame, state: int, rows: np.ndarray) -> dict[str, Any]:
    """The pairs of one trace. The numbers on hover are whole percents, since each frame has them."""
    if not len(rows):
        return _NO_LINE
    there = states(frame)[rows] == state
    numbers = np.column_stack([frame.evidence, frame.probability, frame.risk])[rows]
    return {
        "x": stretched(frame.evidence[rows]),
        "y": stretched(frame.probability[rows]),
        "customdata": np.round(100 * numbers).astype(np.uint8),
        "marker": {
            "size": np.where(there, STATES[state].size, 0).astype(np.uint8),
            "line": {"width": np.where(there & (frame.risk[rows] >= HIGH_RISK), 2, 0).astype(np.uint8)},
        },
    }


def _trail(before: RepairFrame, frame: RepairFrame) -> dict[str, Any]:
    """The ways of the labels that flip, as lines with a gap after each."""
    rows = np.flatnonzero(before.label != frame.label)
    if not len(rows):
        return _NO_LINE
    gap = np.full(len(rows), np.nan, dtype=np.float32)
    ends = [(stretched(one.evidence[rows]), stretched(one.probability[rows])) for one in (before, frame)]
    return {
        name: np.column_stack([*axis, gap]).ravel() for name, axis in zip("xy", zip(*ends, strict=True), strict=True)
    }


def _trail_trace() -> go.Scatter:
    line = {"color": FLIPPED.colour, "width": 1.4}
    return go.Scatter(_NO_LINE, mode="lines", line=line, opacity=0.6, hoverinfo="skip", showlegend=False)


def _words_trace() -> go.Scatter:
    """The frame in words, above the picture. It is a trace and no annotation, so that it changes with the points."""
    return go.Scatter(
        x=[RIGHT],
        y=[TOP],
        mode="text",
        textposition="top left",
        textfont={"size": 14},
        selected_textfont_color=INK,  # without a colour of its own, it would fade with every selection
        cliponaxis=False,
        hoverinfo="skip",
        showlegend=False,
    )


def _grid_trace() -> go.Scatter:
    """Points that nobody sees. Of those in a box, Streamlit returns the legend group: the frame it was drawn in."""
    x, y = np.meshgrid(np.linspace(-RIGHT, RIGHT, _GRID[0]), np.linspace(-TOP, TOP, _GRID[1]))
    places = {"x": x.ravel().astype(np.int16), "y": y.ravel().astype(np.int16)}
    hidden = dict.fromkeys(("marker_opacity", "selected_marker_opacity", "unselected_marker_opacity"), 0)
    return go.Scatter(places, mode="markers", hoverinfo="skip", showlegend=False, **hidden)


def _legend() -> list[go.Scatter]:
    """Entries with a point outside of the picture: the sizes of the points themselves change."""
    drawn = {one.mark: {"color": one.mark.colour, "symbol": one.symbol, "size": one.size + 1} for one in STATES}
    ring = {"color": "rgba(0, 0, 0, 0)", "size": 9, "line": {"color": RISKY.colour, "width": 2}}
    entries = [(mark, drawn.get(mark, ring)) for mark in (MATCH, NON_MATCH, FLIPPED, RISKY)]
    outside = [9 * EDGE]
    return [go.Scatter(x=outside, y=outside, mode="markers", name=mark.text, marker=one) for mark, one in entries]
