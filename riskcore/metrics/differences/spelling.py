"""When two words are one word written differently: an abbreviation, or a slip of spelling. Words are folded.

Words with digits are never taken for each other: 2006 is not 2007, and 350h is not 450h.
"""

from __future__ import annotations

import re

from rapidfuzz.distance import OSA

from riskcore.data.values import STOP_WORDS, is_numeric_word

LABELS = frozenset(("p", "pp", "page", "pages", "pg", "pgs", "vol", "volume", "no", "nr", "number", "issue"))
_IRREGULAR = frozenset(
    (
        *(("pp", "pages"), ("pp", "page"), ("p", "page"), ("p", "pages"), ("no", "number"), ("nr", "number")),
        *(("n", "north"), ("s", "south"), ("e", "east"), ("w", "west"), ("rd", "road"), ("ft", "fort")),
    )
)
# The longer word is the shorter with an ending: that is no abbreviation.
_ENDINGS = frozenset(
    (
        *("s", "es", "ed", "d", "ing", "ling", "led", "er", "ers", "r", "rs", "ly", "al", "n", "ment", "ments"),
        *("ion", "ions", "ation", "ations", "ive", "ity", "ness", "y"),
    )
)
_PLURALS = frozenset(("s", "es", "d", "ed"))
_UNITS = (
    "st|nd|rd|th|s|x|[kmgt]b|[kmg]?hz|[kmg]bps|k?w|m?v|[kmc]?m|in|ft|rpm|mp|p|k|oz|lbs?|k?g|m?l|m?ah|va|db|btu|ms|dpi|"
    "fps|ppm|ch|cd|hrs?|min|bit|inch|port|pin|way|pack|pk|watts?|volts?"
)
_QUANTITY = re.compile(rf"(\d+)(?:{_UNITS})")  # letters and digits, but no model number
_DIGITS = re.compile(r"\d")
_UNIT = re.compile(_UNITS)
_VOWELS = re.compile(r"[aeiou]")
_ALPHABETS_END = "\u1100"  # from here on a single character is a syllable or a word, and another one another word
_SHORTEST_TYPO = 4  # letters; of shorter words every other is a neighbour
_LONG_TYPO = 8  # letters from which two slips are one word
_LONGEST_WORD = 60  # letters; longer runs are no words
_LONGEST_ACRONYM = 8
_INTEREST_GROUP = "sig"  # "special interest group", whose conferences are named by the group's subject
_CONTRACTION = (2, 5)  # letters of "rd" and "assoc"


def is_typo(one: str, other: str) -> bool:
    """One slip apart (two in long words), the beginning right; or one is the other with an ending."""
    shortest, longest = sorted((one, other), key=len)
    if len(shortest) < _SHORTEST_TYPO or len(longest) > _LONGEST_WORD or one == other:
        return False
    if one[0] != other[0] and one[:2] != other[1::-1]:  # the first letter is right, or changed places with the next
        return False
    if not _is_spelt(one) or not _is_spelt(other):
        return False
    if is_inflected(shortest, longest):
        return True
    if len(one) == len(other) == _SHORTEST_TYPO:
        return sorted(one) == sorted(other)  # "wang" and "wong" are two names, "jhon" is "john"
    allowed = 2 if len(shortest) >= _LONG_TYPO else 1
    return OSA.distance(one, other, score_cutoff=allowed) <= allowed


def is_slip(one: str, other: str) -> bool:
    """One slip apart, whatever their length: for words whose neighbours all agree."""
    return _is_spelt(one) and _is_spelt(other) and min(len(one), len(other)) > 2 and OSA.distance(one, other) == 1


def is_inflected(short: str, long: str) -> bool:
    """Whether the longer word is the shorter with an ending: "model", "modelling"."""
    return len(short) >= _SHORTEST_TYPO and long.startswith(short) and long[len(short) :] in _ENDINGS


def is_abbreviation(short: str, long: str, dotted: bool = False, of_name: bool = False) -> bool:
    """Whether the first stands for the second: "proc" for "proceedings", "dept" for "department", "j." for "john"."""
    if len(short) >= len(long) or short[0] != long[0] or not _is_spelt(short) or not _is_spelt(long):
        return False
    if (short, long) in _IRREGULAR:
        return True
    if long.startswith(short):
        return _is_beginning(short, long, dotted, of_name)
    return not of_name and _is_contraction(short, long)


def _is_beginning(short: str, long: str, dotted: bool, of_name: bool) -> bool:
    if of_name or (dotted and long[len(short) :] not in _PLURALS):  # the full stop may be the sentence's
        return True
    if len(short) == 1 or short in STOP_WORDS or is_inflected(short, long):
        return False
    if len(short) > 3 and short[-1] in "aeiouy":  # a word cut short ends in a consonant: "data" is none
        return False
    return len(long) - len(short) >= 2 and (len(short) >= 3 or not _VOWELS.search(short))


def _is_contraction(short: str, long: str) -> bool:
    """ "dept", "intl", "mgmt", "blvd": first and last letter, few vowels, the letters in their order."""
    shortest, longest = _CONTRACTION
    if (
        short in STOP_WORDS
        or not shortest <= len(short) <= longest
        or len(long) < len(short) + 3
        or short[-1] != long[-1]
    ):
        return False
    if len(_VOWELS.findall(short[1:])) > (len(short) > 3):
        return False
    letters = iter(long)
    return all(letter in letters for letter in short)


def is_quantity(word: str) -> bool:
    """Whether a word is a number with its unit, or an ordinal: "250gb", "21st"."""
    return _QUANTITY.fullmatch(word) is not None


def is_code(word: str) -> bool:
    """Whether a folded word looks like a model number or a part of one: letters and digits, no quantity."""
    return is_numeric_word(word) and not word.isdigit() and len(word) >= 3 and not is_quantity(word)


def unit_of(word: str) -> str:
    """What a word has beside its digits; an ordinal has no unit."""
    letters = _DIGITS.sub("", word)
    return "" if letters in ("st", "nd", "rd", "th") else letters


def is_number_of(number: str, quantity: str) -> bool:
    """Whether a bare number is that of a quantity: 15 and "15in"."""
    found = _QUANTITY.fullmatch(quantity)
    return found is not None and found[1] == number


def initials_of(word: str) -> tuple[str, ...]:
    """The first letters of words that this word may stand for: "vldb"; of "sigmod" also "mod", a group's subject."""
    if not 2 <= len(word) <= _LONGEST_ACRONYM or word in STOP_WORDS or not _is_spelt(word) or _UNIT.fullmatch(word):
        return ()
    subject = word.removeprefix(_INTEREST_GROUP)
    return (word, subject) if 2 <= len(subject) < len(word) else (word,)


def _is_spelt(word: str) -> bool:
    return max(word) < _ALPHABETS_END and not is_numeric_word(word)
