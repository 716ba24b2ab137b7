"""What the text of one cell means: words, codes, list elements, names, initials.

Pure functions of a single value. Callers run them once per distinct value, never once per pair.
"""

from __future__ import annotations

import re
import unicodedata

STOP_WORDS = frozenset(
    ("a", "an", "and", "at", "by", "de", "des", "di", "du", "for", "from", "in", "la", "le", "of", "on", "or", "the")
) | frozenset(("to", "und", "with"))
NAME_SUFFIXES = frozenset(("jr", "sr", "ii", "iii", "iv", "phd"))

_DIGIT = re.compile(r"\d")
_WORD = re.compile(r"[^\W_]+")
_JOINED = re.compile(r"[^\W_]+(?:[-/.][^\W_]+)*")
_STRONG_SEPARATOR = re.compile(r"\s*[;|]\s*")
_WEAK_SEPARATOR = re.compile(r"\s*,\s*(?:and\s+|&\s+)?|\s+and\s+|\s+&\s+")
_AROUND_ELEMENTS = " ,:;'\"()[]"
_ZERO_FRACTION = re.compile(r"(?<=\d)\.0+(?!\d)")  # 1987.0 is 1987
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")  # 1,299 is 1299
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
# Scripts written without spaces by the character; then numbers with a fraction, words, and symbols outside ASCII.
_TOKEN = re.compile(rf"[{_CJK}]|\d+\.\d+|[^\W_{_CJK}]+|[^\x00-\x7f\s\w]")
_INITIALS_ONLY = re.compile(r"(?:[^\W\d_]\.?[\s-]?){1,3}")


def fold(text: str) -> str:
    """Lower case, one form per character, no accents, single spaces: what comparisons look at."""
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    if not decomposed.isascii():
        decomposed = "".join(char for char in decomposed if not unicodedata.combining(char))
    return " ".join(decomposed.replace("\0", " ").split())  # arrays of strings end at a NUL


def words(folded: str) -> list[str]:
    """Runs of letters and digits, split at everything else."""
    return _WORD.findall(folded)


def tokens(text: str) -> list[str]:
    """Lower-case words as matchers read them. Unlike `words`, which compare values, they keep accents, fractions of
    numbers and symbols, and split scripts without spaces by the character."""
    return _TOKEN.findall(_THOUSANDS.sub("", _ZERO_FRACTION.sub("", text.lower())))


def is_numeric_word(word: str) -> bool:
    """Whether a word holds a digit: model numbers, sizes, volumes. One differing is strong evidence."""
    return _DIGIT.search(word) is not None


def codes(folded: str) -> list[str]:
    """Words that look like model numbers: a digit, and three or more characters once hyphens are gone."""
    if not is_numeric_word(folded):
        return []
    joined = (compact(word) for word in _JOINED.findall(folded) if is_numeric_word(word))
    return [code for code in joined if len(code) >= 3]


def compact(folded: str) -> str:
    """A code without its punctuation: "ps-lx 350h" and "pslx350h" are one model."""
    return "".join(_WORD.findall(folded))


def content_words(folded: str) -> list[str]:
    """Words without the ones that abbreviations leave out; all of them if nothing else is left."""
    found = words(folded)
    return [word for word in found if word not in STOP_WORDS] or found


def initials(folded: str) -> str:
    """First letters of the content words: "very large data bases" gives "vldb"."""
    return "".join(word[0] for word in content_words(folded))


def elements(folded: str) -> list[str]:
    """The entities of a list, in order: "smith, j., and wu, k." gives "j. smith" and "k. wu"."""
    strong = _parts(_STRONG_SEPARATOR, folded)
    if len(strong) > 1:
        return [_given_name_first(part) for part in strong]
    return _join_initials(_parts(_WEAK_SEPARATOR, folded))


def _parts(separator: re.Pattern[str], folded: str) -> list[str]:
    return [part.strip(_AROUND_ELEMENTS) for part in separator.split(folded) if words(part)]


def _given_name_first(part: str) -> str:
    """ "smith, john" as "john smith"; anything with more commas is left alone."""
    family, comma, given = part.partition(",")
    return f"{given.strip()} {family.strip()}" if comma and "," not in given and given.strip() else part


def _join_initials(parts: list[str]) -> list[str]:
    """Put a part that is only initials before the family name it follows."""
    joined: list[str] = []
    for part in parts:
        if joined and _INITIALS_ONLY.fullmatch(part) and not _has_given_name(joined[-1]):
            joined[-1] = f"{part} {joined[-1]}"
        else:
            joined.append(part)
    return joined


def _has_given_name(part: str) -> bool:
    return any(len(word) == 1 for word in words(part))


def person(element: str) -> tuple[str, str]:
    """Family name and first initial: "michael j. carey jr" gives ("carey", "m"); ("madonna", "")."""
    found = words(element)
    kept = [word for word in found if word not in NAME_SUFFIXES] or found
    if not kept:
        return "", ""
    return kept[-1], kept[0][0] if len(kept) > 1 else ""
