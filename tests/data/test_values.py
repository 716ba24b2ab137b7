"""Reading single cells: words, codes, lists, names, numbers."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskcore.data.numbers import NumberFormat, is_number
from riskcore.data.values import codes, compact, content_words, elements, fold, initials, person, words


@given(st.text())
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)


def test_folding_ignores_case_accents_and_spacing() -> None:
    assert fold("  Müller\u00a0 &  Søn ") == fold("muller & Søn")
    assert fold("ﬁne") == "fine"
    assert fold("数据库") == "数据库"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("p. auer, n. cesa-bianchi, and r. e. schapire,", ["p. auer", "n. cesa-bianchi", "r. e. schapire"]),
        ("ehrenfeucht, a., haussler, d., and valiant, l.", ["a. ehrenfeucht", "d. haussler", "l. valiant"]),
        ("smith, john; wu, kai", ["john smith", "kai wu"]),
        ("m.j. kearns and r.e. schapire.", ["m.j. kearns", "r.e. schapire."]),
        ("country , music , r&b / soul", ["country", "music", "r&b / soul"]),
        ("freund, y.:", ["y. freund"]),
        ("madonna", ["madonna"]),
        ("--", []),
    ],
)
def test_elements(text: str, expected: list[str]) -> None:
    assert [part.rstrip(".") for part in elements(text)] == [part.rstrip(".") for part in expected]


def test_people() -> None:
    assert person("michael j. carey jr") == ("carey", "m")
    assert person("madonna") == ("madonna", "")
    assert person("...") == ("", "")


def test_codes_are_words_with_digits_without_hyphens() -> None:
    assert codes("sony mdr-nc22 / blk 10/100 d5") == ["mdrnc22", "10100"]
    assert codes("no digits here") == []
    assert compact("ps-lx 350h") == "pslx350h"


def test_initials_leave_small_words_out() -> None:
    assert initials("proceedings of the very large data bases") == "pvldb"
    assert content_words("of the") == ["of", "the"]
    assert words("a-b c_d") == ["a", "b", "c", "d"]


YEARS, LENGTHS, PLAIN = NumberFormat(years=True), NumberFormat(durations=True), NumberFormat()


@pytest.mark.parametrize(
    ("reading", "text", "expected"),
    [
        (PLAIN, "$ 0.99", 0.99),
        (PLAIN, "1,299.00", 1299.0),
        (PLAIN, "-5", -5.0),
        (PLAIN, "1987.0", 1987.0),
        (YEARS, "(1990a),", 1990.0),
        (YEARS, "'75", 1975.0),
        (YEARS, "05", 2005.0),
        (LENGTHS, "3:01", 181.0),
        (LENGTHS, "1:02:03", 3723.0),
        (LENGTHS, "1m 58sec", 118.0),
        (LENGTHS, "209000", 209.0),
        (LENGTHS, "3.65", 219.0),
        (LENGTHS, "219", 219.0),
    ],
)
def test_numbers(reading: NumberFormat, text: str, expected: float) -> None:
    assert reading.parse(fold(text)) == pytest.approx(expected)


def test_dates_become_decimal_years() -> None:
    spelt, short, plain = (PLAIN.parse(text) for text in ("september 9 , 2011", "9-sep-11", "2011-09-09"))
    assert spelt == short == plain == pytest.approx(2011.687, abs=1e-3)


@pytest.mark.parametrize("text", ["album only", "pp. 322-331.", "310-246-1501", "", "--", "b9", "1995-1999", "12(3)"])
def test_not_numbers(text: str) -> None:
    assert not is_number(text)
    assert math.isnan(PLAIN.parse(text))


def test_readings_follow_the_column() -> None:
    assert NumberFormat.infer(["1999", "2001", "75", "'83"]) == YEARS
    assert NumberFormat.infer(["3:01", "181000", "240", "2m 3sec"]) == LENGTHS
    assert NumberFormat.infer(["9.99", "120", "$ 4"]) == PLAIN
    assert NumberFormat.infer([]) == PLAIN


@given(st.text(max_size=50))
def test_any_text_is_read_without_failing(text: str) -> None:
    folded = fold(text)
    for reading in (PLAIN, YEARS, LENGTHS):
        assert math.isnan(reading.parse(folded)) or math.isfinite(reading.parse(folded))
    assert all(isinstance(part, str) and words(part) for part in elements(folded))
