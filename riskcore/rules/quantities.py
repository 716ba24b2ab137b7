"""Numbers as people say them: percentages, fractions, counts and how rare a word is.

What is rounded stays true of every pair that meets the condition: "more than" is rounded down, "at most" up.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

_DIGITS = 3  # significant ones that a number has at most
_FRACTIONS = {"a third": 1 / 3, "half": 1 / 2, "two thirds": 2 / 3, "three quarters": 3 / 4}
_NEAR = 0.007  # at most 0.33 is fewer than a third, above 0.34 more than a third
_NEARLY_ALL = 0.95
_NEARLY_ALIKE = 0.995
_HARDLY = 0.005
_LITTLE = 0.05
_ANY_WORD = 0.05  # no word is as common: in e^19 records a word that all of them have would be
# Above which rarity a word is so called. Of 5,000 records an unusual word is in about 300 at most, a rare one in 30, a
# very rare one in 3; a unique one is in none of the records that rarity was learned from.
_GRADES = (
    (0.4, "an unusual word"),
    (0.65, "a rare word"),
    (0.85, "a very rare word"),
    (0.95, "a nearly unique word"),
    (0.9999, "a unique word"),
)
_LESS_COMMON = 0.2


def rounded(value: float, up: bool, decimals: int | None = None) -> str:
    """A number with at most three significant digits, rounded to one side; or with so many decimals, if that leaves
    anything of it."""
    exact = Decimal(repr(float(value)))
    if not exact:
        return "0"
    last = exact.adjusted() - _DIGITS + 1  # exponent of the last digit that is kept
    if decimals is not None:
        last = max(last, min(-decimals, exact.adjusted()))
    short = exact.quantize(Decimal(1).scaleb(last), rounding=ROUND_CEILING if up else ROUND_FLOOR)
    return _plain(short)


def nearest(value: float) -> str:
    """The nearest number with three significant digits; "about" it, where that is not the number itself."""
    short = Decimal(f"{value:.{_DIGITS}g}")
    return f"{'' if math.isclose(short, value, rel_tol=1e-6) else 'about '}{_plain(short)}"


def _plain(number: Decimal) -> str:
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def percent(share: float, up: bool) -> str:
    """A share as a whole percentage; below 1 % with its first digit, above 99 % with one decimal."""
    exact = Decimal(repr(float(share))) * 100
    return f"{rounded(float(exact), up, decimals=1 if 99 < exact < 100 else 0)} %"


def about_percent(share: float) -> str:
    """The percentage of one pair. Nothing and everything are said of 0 and 1 alone."""
    if 0 < share < _HARDLY:
        return "less than 1 %"
    if 1 - _HARDLY < share < 1:
        return "more than 99 %"
    return f"{share * 100:.0f} %"


def share_above(cut: float) -> str:
    """ "more than half" of something, for a share above the cut."""
    if cut >= _NEARLY_ALL:
        return "all or nearly all"
    if cut < _HARDLY:
        return "some"
    name = next((name for name, fraction in _FRACTIONS.items() if 0 <= cut - fraction <= _NEAR), None)
    return f"more than {name or percent(cut, up=False)}"


def share_below(cut: float) -> str:
    """ "at most half" of something, for a share of at most the cut."""
    if cut >= _NEARLY_ALL:
        return "not all"
    if cut < _HARDLY:
        return "hardly any" if cut else "none"
    name = next((name for name, fraction in _FRACTIONS.items() if 0 <= fraction - cut <= _NEAR), None)
    if name:
        return f"{'at most' if cut == _FRACTIONS[name] else 'fewer than'} {name}"
    return f"at most {percent(cut, up=True)}"


def share_of(value: float) -> str:
    """The share of one pair: "31 %", "all", "none"."""
    return {0.0: "none", 1.0: "all"}.get(value, about_percent(value))


def alike_above(cut: float) -> str:
    """ "more than 80 % alike", for a similarity above the cut."""
    if cut >= _NEARLY_ALIKE:
        return "exactly or almost exactly alike"
    return "at least a little alike" if cut < _LITTLE else f"more than {percent(cut, up=False)} alike"


def alike_below(cut: float) -> str:
    """ "at most 80 % alike", for a similarity of at most the cut."""
    if cut >= _NEARLY_ALIKE:
        return "not exactly alike"
    return "hardly or not at all alike" if cut < _HARDLY else f"at most {percent(cut, up=True)} alike"


def alike(value: float) -> str:
    """The similarity of one pair."""
    return "exactly alike" if value == 1 else f"{about_percent(value)} alike"


def word_above(cut: float) -> str:
    """ "a rare word": one whose rarity is above the cut."""
    if cut < _GRADES[0][0]:
        return "a less common word" if cut >= _LESS_COMMON else "a word"
    return next(name for grade, name in reversed(_GRADES) if grade <= cut)


def no_word_above(cut: float) -> str:
    """ "no rare word": none whose rarity is above the cut, so none of the next grade."""
    if cut < _ANY_WORD:
        return "no word"
    name = next((name for grade, name in _GRADES if cut <= grade), _GRADES[-1][1])
    return f"no {name.split(' ', 1)[1]}"


def word_of(value: float) -> str:
    """ "a rare word" of exactly this rarity; 0 is no word at all."""
    if value < _ANY_WORD:
        return "no word"
    return "a common word" if value <= _LESS_COMMON else word_above(math.nextafter(value, 0))
