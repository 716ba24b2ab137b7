"""The reason of a pair in words: what speaks for it, what against it, and nothing that a person would not see."""

from __future__ import annotations

import pytest

from riskcore.data.schema import AttributeType
from riskcore.risk.balance import BROUGHT, OTHER_CANDIDATES, WHOLE_RECORD
from riskcore.runs.readers.pair_reasons import pair_reason, subject_phrase

TYPES = {"title": AttributeType.NAME, "year": AttributeType.NUMBER, "price": AttributeType.NUMBER}
LEFT = {"title": "query processing in data bases", "year": "2007", "price": "397.0"}
RIGHT = {"title": "query processing in data bases", "year": "2006", "price": "910.91"}


def reason(says_match: bool, leading: str, against: str, stability: float | None = 1.0):
    return pair_reason(LEFT, RIGHT, TYPES, says_match, leading, against, stability)


def test_the_decisive_difference_and_what_speaks_against_it() -> None:
    found = reason(False, "year", "title")
    assert found.because == found.difference == "year: 2007 against 2006"
    assert found.words == "year: 2007 against 2006, although same title"


def test_of_a_match_the_difference_is_what_speaks_against_it() -> None:
    found = reason(True, "title", "year")
    assert (found.because, found.although) == ("same title", "year: 2007 against 2006")
    assert found.difference == "year: 2007 against 2006"


def test_a_difference_is_no_sign_of_a_match_whatever_a_model_makes_of_it() -> None:
    assert reason(False, "year", "price").although == ""
    assert reason(True, "year", "title").although == ""  # equal titles are no sign of a non-match


def test_an_unsteady_reason_is_one_among_others() -> None:
    assert not reason(False, "year", "", 0.4).steady
    assert reason(False, "year", "", None).steady


def test_where_other_candidates_lead_the_values_still_have_their_difference() -> None:
    found = reason(False, OTHER_CANDIDATES, "title")
    assert found.because == "another candidate fits better"
    assert found.difference == "year: 2007 against 2006"


@pytest.mark.parametrize("subject", [WHOLE_RECORD, OTHER_CANDIDATES, BROUGHT])
def test_every_other_subject_has_words(subject: str) -> None:
    assert subject_phrase(LEFT, RIGHT, TYPES, subject, True)
    assert subject_phrase(LEFT, RIGHT, TYPES, subject, False)


def test_a_missing_value_is_said_to_be_missing() -> None:
    left = {**LEFT, "year": None}
    assert subject_phrase(left, RIGHT, TYPES, "year", False) == "year: no value on the left"
