"""What is around the points of "Watch the repair": stretched scales, named quadrants, Play and the slider.

Both axes show a probability at its log-odds: most pairs are near 0 or 1, and on an even scale they would lie on top of
each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import expit, logit

from pages.parts.frame.palette import INK, NEUTRAL, RISKY

HEIGHT = 520
NEAREST = 0.001  # what is nearer to 0 or 1 is drawn at the edge
TICKS = (0.01, 0.1, 0.5, 0.9, 0.99)
SHOWN, MOVING = 1_500, 900  # milliseconds that a frame takes, and that its points move
FIRST = 400  # milliseconds that the first one takes: mostly it is there already
PLAY, PAUSE = "▶ Play", "❚❚ Pause"
QUADRANTS = {  # by whether the rules expect a match, and whether the model says match
    (False, True): "the rules contradict the match",
    (True, True): "rules and model say match",
    (False, False): "rules and model say non-match",
    (True, False): "the rules contradict the non-match",
}
_UNIT = 1000
EDGE = round(_UNIT * float(logit(1 - NEAREST)))
RIGHT, TOP = round(1.06 * EDGE), round(1.13 * EDGE)  # ends of the axes, with room for the names of the quadrants
_QUIET = "rgba(122, 134, 148, 0.16)"


def stretched(probability: np.ndarray) -> np.ndarray:
    """Where probabilities are drawn, on either axis: at their log-odds, in thousandths, which take two bytes each."""
    return np.round(_UNIT * logit(np.clip(probability, NEAREST, 1 - NEAREST))).astype(np.int16)


def unstretched(position: float) -> float:
    """The probability that is drawn at a position. At an edge and beyond, all that is drawn at the edge is meant."""
    return 0.0 if position <= -EDGE else 1.0 if position >= EDGE else float(expit(position / _UNIT))


def layout() -> dict[str, Any]:
    """Axes, legend and quadrants."""
    ticks = np.array([0.0, *TICKS, 1.0])
    axis = {
        "tickvals": stretched(ticks).tolist(),
        "ticktext": [f"≤ {NEAREST}", *map(str, TICKS), f"≥ {1 - NEAREST}"],
        "gridcolor": _QUIET,
        "showgrid": True,
        "zeroline": False,
        "fixedrange": True,
    }
    return {
        "height": HEIGHT,
        "margin": {"l": 8, "r": 12, "t": 44, "b": 8},
        "dragmode": "select",
        "hovermode": "closest",
        "xaxis": {
            **axis,
            "range": [-RIGHT, RIGHT],
            "title": {"text": "what the rules expect: 0 non-match, 1 match", "standoff": 8},
        },
        "yaxis": {**axis, "range": [-TOP, TOP], "title": {"text": "the model's match probability", "standoff": 8}},
        "legend": {
            "orientation": "h",
            "traceorder": "normal",
            "x": 0,
            "y": 1,
            "yanchor": "bottom",
            "itemclick": False,
            "itemdoubleclick": False,
        },
        "shapes": _shapes(),
        "annotations": [_quadrant(*place, words) for place, words in QUADRANTS.items()],
    }


def _shapes() -> list[dict[str, Any]]:
    """The threshold, the rules' middle, and a faint ground where the rules contradict the model."""
    line = {"color": NEUTRAL, "width": 1.2}
    ground = {"type": "rect", "layer": "below", "line": {"width": 0}, "fillcolor": RISKY.colour, "opacity": 0.04}
    return [
        {**ground, "x0": -RIGHT, "x1": 0, "y0": 0, "y1": TOP},
        {**ground, "x0": 0, "x1": RIGHT, "y0": -TOP, "y1": 0},
        {"type": "line", "x0": -RIGHT, "x1": RIGHT, "y0": 0, "y1": 0, "line": {**line, "dash": "dash"}},
        {"type": "line", "x0": 0, "x1": 0, "y0": -TOP, "y1": TOP, "line": {**line, "dash": "dot"}},
    ]


def _quadrant(rules: bool, model: bool, words: str) -> dict[str, Any]:
    """A quadrant's name beside the middle line, where the fewest pairs are."""
    return {
        "text": words,
        "x": 0,
        "xanchor": "left" if rules else "right",
        "xshift": 8 if rules else -8,
        "y": TOP if model else -TOP,
        "yanchor": "top" if model else "bottom",
        "showarrow": False,
        "font": {"size": 12},
    }


def _animation(shown: int, moving: int) -> dict[str, Any]:
    return {
        "frame": {"duration": shown, "redraw": False},
        "transition": {"duration": moving, "easing": "cubic-in-out"},
        "mode": "immediate",
        "fromcurrent": True,
    }


def controls(steps: Sequence[tuple[str, str]], shown: int) -> dict[str, Any]:
    """Play, Pause and the slider, for frames by name and label."""
    return {"updatemenus": [_buttons(len(steps))], "sliders": [_slider(steps, shown)], "margin_b": 96}


def _buttons(frames: int) -> dict[str, Any]:
    first, play = _animation(FIRST, FIRST), _animation(SHOWN, MOVING)
    for part in ("frame", "transition"):
        play[part] = [first[part], *(dict(play[part]) for _ in range(frames - 1))]
    return {
        "type": "buttons",
        "direction": "left",
        "showactive": False,
        "x": 0,
        "xanchor": "left",
        "y": 0,
        "yanchor": "top",
        "pad": {"t": 54},
        "buttons": [
            {"label": PLAY, "method": "animate", "args": [None, play]},
            {"label": PAUSE, "method": "animate", "args": [[None], _animation(0, 0)]},
        ],
    }


def _slider(steps: Sequence[tuple[str, str]], shown: int) -> dict[str, Any]:
    move = _animation(0, MOVING // 2)
    return {
        "active": shown,
        "x": 0,
        "len": 1,
        "y": 0,
        "yanchor": "top",
        "pad": {"t": 58, "l": 180, "r": 28},
        "currentvalue": {"visible": False},
        "bgcolor": INK,
        "activebgcolor": INK,
        "borderwidth": 0,
        "tickcolor": NEUTRAL,
        "ticklen": 4,
        "minorticklen": 0,
        "steps": [{"label": words, "method": "animate", "args": [[name], move]} for name, words in steps],
    }
