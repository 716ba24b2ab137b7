"""Cuts: the shortest number between two training values, which separates them exactly as any other would."""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riskcore.rules.cuts import short_cut
from riskcore.rules.rule import Condition, Rule


def stored(value: float) -> float:
    """A metric's value as the search sees it."""
    return float(np.round(np.float32(value), 4))


def written(value: float) -> Decimal:
    """A metric's value as people read it."""
    return Decimal(str(np.float32(value)))


def digits_of(number: float) -> int:
    return len(Decimal(repr(number)).normalize().as_tuple().digits)


def separates(cut: float, below: float, above: float) -> bool:
    """Whether the two values lie on either side of the cut, as they are stored and as they are written."""
    exact = Decimal(repr(cut))
    return below <= cut < above and written(below) <= exact < written(above)


def some_decimal(below: float, above: float, digits: int) -> float | None:
    """Brute force: for every power of ten, the first few multiples of it from the lower value on."""
    if below <= 0 < above and separates(0.0, below, above):
        return 0.0
    for power in range(-9, 11):
        unit = Decimal(1).scaleb(power)
        first = (Decimal(below) / unit).to_integral_value(rounding=ROUND_CEILING) - 1
        for step in range(4):
            candidate = float((first + step) * unit)
            if separates(candidate, below, above) and digits_of(candidate) <= digits:
                return candidate
    return None


VALUES = st.one_of(
    st.integers(0, 10_000).map(lambda n: n / 10_000),
    st.integers(-10_000, 10_000).map(lambda n: n / 10_000),
    st.integers(0, 40).map(float),
    st.integers(0, 3_000_000).map(lambda n: n / 100),
    st.floats(0, 1e9, width=32),
)


@settings(max_examples=400, deadline=None)
@given(st.tuples(VALUES, VALUES).map(lambda pair: sorted(map(stored, pair))).filter(lambda pair: pair[0] < pair[1]))
def test_a_cut_separates_the_two_values_and_no_shorter_number_does(pair: list[float]) -> None:
    below, above = pair
    cut = short_cut(below, above)
    assert separates(cut, below, above)
    values = np.array([below, above], dtype=np.float32)
    assert Condition("x", "edit", "<=", cut).holds(values).tolist() == [True, False]
    if digits_of(cut) > 1:
        assert some_decimal(below, above, digits_of(cut) - 1) is None


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 9_998), st.integers(1, 9_999))
def test_of_equally_short_numbers_the_nearest_to_the_middle(start: int, width: int) -> None:
    below, above = stored(start / 10_000), stored(min(start + width, 10_000) / 10_000)
    cut = short_cut(below, above)
    digits, middle = digits_of(cut), (below + above) / 2
    alike = [n / 10_000 for n in range(start, min(start + width, 10_000) + 1)]
    nearest = [one for one in alike if separates(one, below, above) and digits_of(one) <= digits]
    assert all(abs(cut - middle) <= abs(one - middle) for one in nearest)


@pytest.mark.parametrize(
    ("below", "above", "cut"),
    [
        (0, 1, 0.5),  # of a flag
        (1, 2, 1),
        (0, 3, 1),
        (10, 12, 10),
        (12, 13, 12),
        (0.7385, 0.7388, 0.7386),
        (0.74, 0.76, 0.75),  # 0.74 is a little more in float32
        (0.7, 0.72, 0.7),  # 0.7 is a little less
        (0.72, 0.74, 0.73),
        (0.7, 0.7001, 0.7),
        (0.1234, 0.1235, 0.12345),
        (0.9987, 1, 0.999),
        (-0.3, 0.3, 0),
        (-0.5, -0.4, -0.5),
        (40_000, 40_000.004, 40_000),
    ],
)
def test_what_a_cut_reads_like(below: float, above: float, cut: float) -> None:
    found = short_cut(stored(below), stored(above))
    assert found == cut
    rule = Rule((Condition("x", "gap", ">", found),), "match")
    assert Rule.parse(rule.text) == rule


def test_without_a_value_above_the_cut_is_the_value() -> None:
    assert short_cut(7.0, float("inf")) == 7.0
