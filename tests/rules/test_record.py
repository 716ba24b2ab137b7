"""A rule's record in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskcore.evaluation.truth import wilson_interval
from riskcore.rules.record import record_words


def test_a_record_says_how_often_a_rule_was_right_and_how_sure_that_is() -> None:
    assert record_words(5, 8, "validation") == "right on 5 of 8 validation pairs (at least 31 %)"
    assert record_words(1, 1, "source") == "right on 1 of 1 source pair (at least 21 %)"
    assert record_words(0, 3, "target") == "right on 0 of 3 target pairs (at least 0 %)"
    assert record_words(123_456, 123_456, "source") == "right on 123,456 of 123,456 source pairs (at least 99 %)"
    assert record_words(0, 0, "validation") == "fired on no validation pair"


@given(st.integers(0, 300), st.integers(0, 300))
def test_the_bound_is_the_lower_end_of_wilsons_interval(right: int, wrong: int) -> None:
    ends = wilson_interval(right, right + wrong, 0.95)
    said = record_words(right, right + wrong, "source")
    if ends is None:
        assert "at least" not in said
    else:
        least = float(said.rpartition("at least ")[2].removesuffix(" %)"))
        assert least == pytest.approx(100 * ends[0], abs=0.51)
