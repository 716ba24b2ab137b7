"""What a sentence calls an attribute: "the titles", "the shorter title", "the two values of released".

Column names are written by anybody. One that reads as an English noun gets its plural; any other is named as it is,
after "the two values of".
"""

from __future__ import annotations

import dataclasses
import re

from riskcore.metrics.kinds import LEAD_KINDS, RECORD_KINDS, Metric

_WHOLE_RECORD = re.compile(r"(full_)?record_*")  # what `MetricSpace` calls the record as a whole
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")  # beerName
_BETWEEN_WORDS = re.compile(r"[\s_.-]+")
_PLAIN = re.compile(r"[a-z]{2,}(?: [a-z]{2,}){0,3}")
_MOST_LETTERS = 30  # of a name that is put in the plural
_MOST_SHOWN = 40  # characters of any other
_ACRONYMS = frozenset(
    ("abv", "asin", "cd", "doi", "dvd", "ean", "gtin", "ibu", "id", "isbn", "issn", "mpn", "sku", "upc", "url")
)
_UNCOUNTED = frozenset(
    ("content", "data", "hardware", "information", "media", "metadata", "misc", "music", "news", "software", "stock")
)
_IRREGULAR = {"child": "children", "man": "men", "person": "people", "series": "series", "woman": "women"}


@dataclasses.dataclass(frozen=True)
class Noun:
    """The forms of an attribute's name that sentences use. `one` is a single value, as in "one title" or "one list of
    authors"; the words and items of a value are those that the metrics compare."""

    both: str  # the titles
    one: str  # title
    words: str  # the title's words
    shorter_words: str  # the shorter title's words
    items: str  # authors
    in_years: bool = False  # whole numbers, of which 1 is the least difference


def noun_of(metric: Metric) -> Noun:
    """What to call a metric's attribute, or the record as a whole."""
    if metric.kind in (*RECORD_KINDS, *LEAD_KINDS) and (whole := _WHOLE_RECORD.fullmatch(metric.attribute)):
        name = "whole record" if whole[1] else "record"
        return dataclasses.replace(_singular(name, f"{name}s"), words=f"the {name}s' words")
    name = _readable(metric.attribute)
    first, of, rest = name.partition(" of ")  # dates of birth
    head = first.split(" ")[-1]
    if not _PLAIN.fullmatch(name) or len(name) > _MOST_LETTERS or head in _UNCOUNTED or _is_participle(head):
        return _unnamed(_shown(metric.attribute, name))
    before = first.removesuffix(head)
    if head in _ACRONYMS:
        acronym = f"{before}{head.upper()}{of}{rest}"
        return _singular(acronym, f"{acronym} values")
    if _is_plural(head):
        return _plural(name)
    return _singular(name, f"{before}{_plural_of(head)}{of}{rest}")


def _singular(name: str, plural: str) -> Noun:
    in_years = name.split(" ")[-1] == "year"
    return Noun(f"the {plural}", name, f"the {name}'s words", f"the shorter {name}'s words", plural, in_years)


def _plural(name: str) -> Noun:
    words, shorter = f"the words in the lists of {name}", f"the words in the shorter list of {name}"
    return Noun(f"the {name}", f"list of {name}", words, shorter, name)


def _unnamed(name: str) -> Noun:
    both, shorter = f"the two values of {name}", f"the words in the shorter value of {name}"
    return Noun(both, f"value of {name}", f"the words in {name}", shorter, f"entries in {name}")


def _readable(attribute: str) -> str:
    """Words in lower case, whatever stands between them."""
    return " ".join(_BETWEEN_WORDS.split(_HUMP.sub(" ", attribute).strip(" _.-"))).lower()


def _shown(attribute: str, name: str) -> str:
    """A name that no plural is made of: as it is, in quotes unless it is made of plain words."""
    if _PLAIN.fullmatch(name) and len(name) <= _MOST_SHOWN:
        return name
    printable = " ".join("".join(char if char.isprintable() else " " for char in attribute).split())
    short = printable if len(printable) <= _MOST_SHOWN else f"{printable[: _MOST_SHOWN - 1]}…"
    return f'"{short}"'


def _is_participle(word: str) -> bool:
    return word.endswith("ed") and not word.endswith("eed")  # released; but speed


def _is_plural(word: str) -> bool:
    return word.endswith("s") and not word.endswith(("ss", "us", "is")) and word not in _IRREGULAR


def _plural_of(word: str) -> str:
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word.endswith("y") and word[-2] not in "aeiou":
        return f"{word[:-1]}ies"
    if word.endswith("is"):
        return f"{word[:-2]}es"
    return f"{word}es" if word.endswith(("s", "x", "z", "ch", "sh")) else f"{word}s"
