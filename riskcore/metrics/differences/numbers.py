"""Numbers: what two values stand for, their gap, and how a person would put it."""

from __future__ import annotations

import dataclasses
import math
import re

from riskcore.data.numbers import NumberFormat
from riskcore.data.values import fold, words
from riskcore.metrics.differences.comparison import Piece, PieceState
from riskcore.metrics.differences.wording import counted, cut

_YEARS = frozenset(("year", "years", "yr"))
_DURATIONS = frozenset(("duration", "runtime", "playtime", "time"))
_LENGTHS = frozenset(("length", "len"))  # of a track or of a cable
_PRICES = frozenset(("price", "prices", "cost", "costs", "amount", "msrp"))
_CURRENCY = re.compile(r"[$€£¥]|\b(?:usd|eur|gbp)\b")
_BARE_YEAR = re.compile(r"(?:1[5-9]|20)\d\d(?:\.0+)?|2100(?:\.0+)?")
_DATE = re.compile(r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*|\d[-/.]\d+[-/.]\d")
_NUMBER = re.compile(r"-?(?:\d(?:[\d,]*\d)?(?:\.\d+)?|\.\d+)")
_NO_FRACTION = re.compile(r"(?<=\d)\.0$")  # 1987.0 is how programs write 1987
_AROUND = " \t\r\n,;:'\"()[]"
_MANY_TIMES = 3  # from this factor on a percentage says less than "4 times as much"
_COUNTS_UNDER = 100  # whole numbers below are counts and positions: no one takes percentages of them
_MILLISECONDS_FROM = 10_000  # as when a column is read
_DAYS = 365.25
_CLOSER, _FURTHER = {"time": "shorter", "date": "earlier"}, {"time": "longer", "date": "later"}
_SAME_UNDER = {"time": 1.0, "date": 0.5 / _DAYS}  # a second: of 177973 ms some write 2:57, others 2:58


@dataclasses.dataclass(frozen=True)
class Numbers:
    """Two values that are both numbers."""

    left: str
    right: str
    one: float
    other: float
    form: str  # "year", "date", "time" or "plain"
    price: bool

    @property
    def equal(self) -> bool:
        gap = abs(self.one - self.other)
        return gap == 0 or gap < _SAME_UNDER.get(self.form, 0.0)

    @property
    def gap(self) -> str:
        """How far apart they are: "4.51", "40 s", "12 days"."""
        gap = abs(self.one - self.other)
        if self.form == "time":
            return f"{_written(gap, 1 if gap < 10 else 0)} s"
        if self.form == "date":
            return counted(round(gap * _DAYS), "day") if gap < 1 else f"{_written(gap, 1)} years"
        return _written(gap, max(map(_decimals, (self.left, self.right))))

    @property
    def against(self) -> str:
        """ "2007 against 2006", "$ 19.99 against $ 24.50 (23 % more)"."""
        change = self._change
        return f"{self._shown(self.left)} against {self._shown(self.right)}{f' ({change})' if change else ''}"

    @property
    def common(self) -> str:
        """The number that both are, in the writing a person would choose."""
        if self.form == "time":
            return f"{int(self.one // 60)}:{int(self.one % 60):02}"
        return min(self._shown(self.left), self._shown(self.right), key=len)

    def _shown(self, value: str) -> str:
        if self.form != "year":
            return shown_number(value)
        return f"{self.one if value is self.left else self.other:.0f}"

    @property
    def _change(self) -> str:
        more = self.other > self.one
        if self.form in ("time", "date"):
            return f"{self.gap} {(_FURTHER if more else _CLOSER)[self.form]}"
        small, large = sorted((self.one, self.other))
        counts = small == int(small) and large == int(large) and small < _COUNTS_UNDER
        if self.form == "year" or small <= 0 or (counts and not self.price):
            return ""
        if large >= _MANY_TIMES * small:
            times = f"{_written(large / small, 0)} times as much"
            return times if more else f"the left is {times}"
        percent = 100 * abs(self.other - self.one) / self.one
        return f"{f'{percent:.0f}' if percent >= 1 else 'less than 1'} % {'more' if more else 'less'}"


def read_numbers(left: str, right: str, name: str) -> Numbers | None:
    """Both values as numbers, read as a column of them would be; None if one is none."""
    folded = [fold(left), fold(right)]
    known = set(words(fold(name).replace("_", " ")))
    price = bool(known & _PRICES) or any(map(_CURRENCY.search, folded))
    inferred, mixed = NumberFormat.infer(folded), _mixes_scales(*map(NumberFormat().parse, folded))
    reading = NumberFormat(
        years=not price and (inferred.years or bool(known & _YEARS)),
        durations=not price and (inferred.durations or bool(known & _DURATIONS) or (bool(known & _LENGTHS) and mixed)),
    )
    one, other = map(reading.parse, folded)
    if not math.isfinite(one) or not math.isfinite(other):
        return None
    form = _form(folded, reading)
    if form == "date" and any(map(_is_bare_year, folded)):  # of a year, only the year of a date can be compared
        return Numbers(left, right, math.floor(one), math.floor(other), "year", price)
    return Numbers(left, right, one, other, form, price)


def _mixes_scales(one: float, other: float) -> bool:
    """Whether lengths seem to be milliseconds, seconds or minutes and not all of them the same."""
    small, large = sorted((one, other))
    return small < 100 <= large or small < _MILLISECONDS_FROM <= large


def number_pieces(value: str, partner: str) -> tuple[Piece, ...]:
    """The value with its number as a piece of its own; a date or a duration is one as a whole."""
    folded = fold(value)
    found = None if _is_time(folded) or _DATE.search(folded) else _NUMBER.search(value)
    stripped = value.strip(_AROUND)
    start = found.start() if found else value.find(stripped)
    end = found.end() if found else start + len(stripped)
    pieces = (
        Piece(value[:start], PieceState.SAME),
        Piece(value[start:end], PieceState.NUMBER, shown_number(partner)),
        Piece(value[end:], PieceState.SAME),
    )
    return tuple(piece for piece in pieces if piece.text)


def shown_number(value: str) -> str:
    """A number as it is written, without what stands around it."""
    return cut(_NO_FRACTION.sub("", value.strip(_AROUND).rstrip(_AROUND + ".")))


def _form(folded: list[str], reading: NumberFormat) -> str:
    if any(map(_DATE.search, folded)):
        return "date"
    if reading.durations:
        return "time"
    years = all(map(_is_bare_year, folded)) or (reading.years and all(_bare(text).isdigit() for text in folded))
    return "year" if years else "plain"


def _is_bare_year(folded: str) -> bool:
    return _BARE_YEAR.fullmatch(_bare(folded)) is not None


def _bare(folded: str) -> str:
    return folded.strip(_AROUND + ".")


def _is_time(folded: str) -> bool:
    return NumberFormat.infer([folded]).durations


def _decimals(value: str) -> int:
    _, point, fraction = value.strip(_AROUND).rstrip(".").rpartition(".")
    return min(len(fraction), 6) if point and fraction.isdigit() else 0


def _written(number: float, decimals: int) -> str:
    if number >= 1e12:
        return f"{number:.3g}"
    text = f"{number:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
