"""The number that a rule cuts a metric at. Every number between two neighbouring training values separates the training
pairs alike, so the one with the fewest digits is taken."""

from __future__ import annotations

import math

import numpy as np

_MOST_DIGITS = 17  # as many as any float needs


def short_cut(below: float, above: float) -> float:
    """The number with the fewest significant digits that has `below` at or under it and `above` over it; of equally
    short ones the nearest to the middle, of two as near the lower. Both are values of float32.

    A metric of 0.74 is 0.7400000095 in float32 and shown as 0.74. A cut of 0.74 would lie below the number and at what
    people read; so the cut must separate the two values as they are stored and as they are written.
    """
    if math.isinf(above):  # no value lies above: two neighbouring floats, and their middle is the upper one
        return below
    lower, upper = max(below, _written(below)), min(above, _written(above))
    middle = below / 2 + above / 2
    for digits in range(1, _MOST_DIGITS + 1):
        fitting = [cut for cut in _around(middle, digits) if lower <= cut < upper]
        if fitting:
            return min(fitting, key=lambda cut: (abs(cut - middle), cut))
    return below


def _around(number: float, digits: int) -> tuple[float, float]:
    """The two numbers of so many significant digits that enclose a number. No other one is nearer, and where any other
    lies between two values around the number, so does one of these."""
    if number == 0:
        return 0.0, 0.0
    places = digits - 1 - math.floor(math.log10(abs(number)))
    nearest = round(number, places)
    step = 10.0**-places
    return nearest, round(nearest - step if nearest > number else nearest + step, places)


def _written(value: float) -> float:
    """The shortest decimal that stands for a float32: 0.74 for 0.7400000095."""
    return float(str(np.float32(value)))
