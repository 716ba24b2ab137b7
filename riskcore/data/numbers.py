"""Reading numbers out of text: years, prices, durations, dates.

One cell alone is ambiguous ("75" is a year or a length), so a column is read as a whole: `NumberFormat.infer`
looks at what most of its values are, and `NumberFormat.parse` then reads each value in that light.
Dates become decimal years and durations become seconds, so that gaps mean something.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterable
from typing import Self

_MONTH_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTHS = {name: number for number, name in enumerate(_MONTH_NAMES, 1)}
_DAYS_BEFORE = (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334)
_MONTH = f"(?P<month>{'|'.join(_MONTH_NAMES)})[a-z]*"

_PLAIN = re.compile(
    r"\W{0,4}?(?:usd|eur|gbp|vol(?:ume)?\.?|no\.?|pages?|pp\.?)?\s*(?P<sign>-?)\s*"
    r"(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)"
    r"\s*(?:usd|eur|gbp|[a-d])?\W{0,4}"
)
_CLOCK = re.compile(r"(?:(?P<hours>\d{1,2}):)?(?P<minutes>\d{1,3}):(?P<seconds>\d{2}(?:\.\d+)?)")
_SPELT = re.compile(
    r"(?:(?P<hours>\d+)\s*h(?:ours?|rs?)?)?\s*(?:(?P<minutes>\d+)\s*m(?:in(?:ute)?s?)?)?"
    r"\s*(?:(?P<seconds>\d+(?:\.\d+)?)\s*s(?:ec(?:ond)?s?)?)?\.?"
)
_DATES = (
    re.compile(rf"(?P<day>\d{{1,2}})[\s./-]*{_MONTH}[\s.,/-]*(?P<year>\d{{4}}|\d{{2}})"),
    re.compile(rf"{_MONTH}[\s.]*(?P<day>\d{{1,2}})?\s*,?\s*(?P<year>\d{{4}})"),
    re.compile(r"(?P<year>\d{4})[-/](?P<number>\d{1,2})[-/](?P<day>\d{1,2})(?:[t ].*)?"),
    re.compile(r"(?P<day>\d{1,2})\.(?P<number>\d{1,2})\.(?P<year>\d{4})"),
)

_MILLISECONDS_FROM = 10_000  # no track lasts that many seconds
_DECIMAL_MINUTES_UNDER = 100
_CENTURY_TURN = 30  # '29 is 2029, '30 is 1930


@dataclasses.dataclass(frozen=True)
class NumberFormat:
    """How the bare numbers of one column are to be understood."""

    years: bool = False
    durations: bool = False

    @classmethod
    def infer(cls, values: Iterable[str]) -> Self:
        """Years if half of the bare numbers lie in 1800-2100; durations if a tenth are written as such."""
        parsed = [found for found in map(_parse, values) if found]
        plain = [number for form, number in parsed if form == "plain"]
        years = sum(1800 <= number <= 2100 and number == int(number) for number in plain)
        clocks = sum(form == "duration" for form, _ in parsed)
        return cls(years=bool(plain) and years >= len(plain) / 2, durations=bool(clocks) and clocks >= len(parsed) / 10)

    def parse(self, folded: str) -> float:
        """The number a value stands for; NaN if it is none."""
        found = _parse(folded)
        if not found:
            return math.nan
        form, number = found
        if form == "plain" and self.durations:
            return _seconds(number, decimal="." in folded)
        if form == "plain" and self.years:
            return _full_year(number)
        return number


def is_number(folded: str) -> bool:
    """Whether a value as a whole reads as a number, price, duration or date."""
    return _parse(folded) is not None


def _parse(folded: str) -> tuple[str, float] | None:
    text = folded.strip()
    if not text or len(text) > 40 or not any(char.isdigit() for char in text):
        return None
    for form, attempt in (("duration", _duration), ("date", _date), ("plain", _plain)):
        number = attempt(text)
        if number is not None:
            return form, number
    return None


def _plain(text: str) -> float | None:
    found = _PLAIN.fullmatch(text)
    if not found:
        return None
    number = float(found["number"].replace(",", ""))
    return -number if found["sign"] and text.lstrip("$€£( ").startswith("-") else number


def _duration(text: str) -> float | None:
    found = _CLOCK.fullmatch(text) or _SPELT.fullmatch(text)
    if not found:
        return None
    hours, minutes, seconds = (float(found[unit] or 0) for unit in ("hours", "minutes", "seconds"))
    return hours * 3600 + minutes * 60 + seconds


def _date(text: str) -> float | None:
    for pattern in _DATES:
        found = pattern.fullmatch(text)
        if not found:
            continue
        parts = found.groupdict()
        month = _MONTHS[parts["month"]] if parts.get("month") else int(parts["number"])
        day = int(parts["day"] or 1)
        if 1 <= month <= 12 and 1 <= day <= 31:
            return _full_year(float(parts["year"])) + (_DAYS_BEFORE[month - 1] + day - 1) / 365.25
    return None


def _full_year(number: float) -> float:
    if not 0 <= number < 100 or number != int(number):
        return number
    return number + (2000 if number < _CENTURY_TURN else 1900)


def _seconds(number: float, decimal: bool) -> float:
    if number >= _MILLISECONDS_FROM:
        return number / 1000
    return number * 60 if decimal and number < _DECIMAL_MINUTES_UNDER else number
