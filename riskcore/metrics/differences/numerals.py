"""Numbers that are written as words or Roman numerals: "seventh" is 7th, "twenty-first" is 21st, "II" is 2."""

from __future__ import annotations

import re
from collections.abc import Sequence

_ORDINALS = (
    *("zeroth", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"),
    *("eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth"),
    *("nineteenth", "twentieth"),
)
_CARDINALS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)
_TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
_WORDS = {word: value for words in (_ORDINALS, _CARDINALS) for value, word in enumerate(words)} | {
    **_TENS,
    **{f"{word[:-1]}ieth": value for word, value in _TENS.items()},
}
# No single letters: "I" is a word, "C" and "V" are names of things.
_ROMAN = {
    numeral: value
    for value, numeral in enumerate(
        ("ii", "iii", "iv", "", "vi", "vii", "viii", "ix", "", "xi", "xii", "xiii", "xiv", "xv", "xvi"), 2
    )
    if numeral
}
_FIGURES = re.compile(r"0*(\d{1,4})(?:st|nd|rd|th)?")


def number_of(words: Sequence[str]) -> int | None:
    """The number that one word stands for, or two: "twenty", "first"."""
    if len(words) == 2:
        tens, ones = _TENS.get(words[0]), _WORDS.get(words[1])
        return tens + ones if tens is not None and ones is not None and 0 < ones < 10 else None
    word = words[0]
    if found := _FIGURES.fullmatch(word):
        return int(found[1])
    return _WORDS.get(word, _ROMAN.get(word))


def is_spelt_out(words: Sequence[str]) -> bool:
    """Whether the number is written without figures."""
    return _FIGURES.fullmatch(words[0]) is None
