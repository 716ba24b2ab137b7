"""Which columns of two tables correspond: by their names, and by how much of their content they share."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Sequence

import numpy as np
from scipy.optimize import linear_sum_assignment

from riskcore.data.bring.columns import ColumnFacts, name_words, plain_name
from riskcore.data.values import fold, words

ENOUGH = 0.45  # of the score, from which two columns are suggested as counterparts
NAME_WEIGHT = 0.5
SAMPLE = 1_000  # values of each column whose words are compared
_SAME = {
    "author": "authors",
    "writer": "authors",
    "name": "title",
    "cost": "price",
    "amount": "price",
    "telephone": "phone",
    "tel": "phone",
    "zip": "postcode",
    "zipcode": "postcode",
    "postal": "postcode",
    "mail": "email",
    "surname": "lastname",
    "brand": "manufacturer",
    "maker": "manufacturer",
    "date": "year",
    "journal": "venue",
    "town": "city",
}


@dataclasses.dataclass(frozen=True)
class Counterpart:
    """Two columns that seem to hold the same thing."""

    left: str
    right: str
    score: float
    reason: str


def counterparts(left: Sequence[ColumnFacts], right: Sequence[ColumnFacts]) -> tuple[Counterpart, ...]:
    """The best partner of each left column that has one; no column is used twice."""
    if not left or not right:
        return ()
    ours, theirs = [_Content.of(column) for column in left], [_Content.of(column) for column in right]
    names = np.array([[name_likeness(a.name, b.name) for b in right] for a in left])
    contents = np.array([[a.likeness(b) for b in theirs] for a in ours])
    scores = np.maximum(NAME_WEIGHT * names + (1 - NAME_WEIGHT) * contents, 0.9 * (names == 1))
    rows, columns = linear_sum_assignment(-scores)
    found = [
        Counterpart(left[a].name, right[b].name, float(scores[a, b]), _reason(names[a, b], contents[a, b]))
        for a, b in zip(rows, columns, strict=True)
        if scores[a, b] >= ENOUGH
    ]
    order = {column.name: place for place, column in enumerate(left)}
    return tuple(sorted(found, key=lambda one: order[one.left]))


def name_likeness(one: str, other: str) -> float:
    """1 for the same name however it is written, less for names that share words or letters."""
    first, second = plain_name(one), plain_name(other)
    if first == second:
        return 1.0
    ours, theirs = ({_SAME.get(word, word) for word in name_words(name)} for name in (one, other))
    shared = len(ours & theirs) / max(len(ours | theirs), 1)
    return max(shared, 0.9 * difflib.SequenceMatcher(None, first, second).ratio() ** 2)


def _reason(name: float, content: float) -> str:
    if name == 1:
        return "same name"
    if content >= 0.5:
        return "similar name and content" if name >= 0.5 else "similar content"
    return "similar name"


@dataclasses.dataclass(frozen=True)
class _Content:
    """The sampled values of a column, folded, and their words; length and share of numbers tell kinds apart."""

    values: frozenset[str]
    words: frozenset[str]
    length: float
    numeric: float

    @classmethod
    def of(cls, column: ColumnFacts) -> _Content:
        step = max(1, len(column.values) // SAMPLE)
        texts = [fold(value) for value in column.values[::step]]
        texts = [text for text in texts if text]
        if not texts:
            return cls(frozenset(), frozenset(), 0.0, 0.0)
        split = [words(text) for text in texts]
        digits = float(np.mean([text.replace(" ", "").replace(".", "").isdigit() for text in texts]))
        length = float(np.mean([len(parts) for parts in split]))
        return cls(frozenset(texts), frozenset(word for parts in split for word in parts), length, digits)

    def likeness(self, other: _Content) -> float:
        """Shared values and words, as shares of the smaller side; less where one column is much longer than the other,
        or only one of them holds numbers."""
        if not self.values or not other.values:
            return 0.0
        overlap = max(_overlap(self.values, other.values), _overlap(self.words, other.words))
        shorter, longer = sorted((self.length, other.length))
        same_length = ((shorter + 1) / (longer + 1)) ** 0.5
        return overlap * same_length * (1 - abs(self.numeric - other.numeric))


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    smaller = min(len(one), len(other))
    return len(one & other) / smaller if smaller else 0.0
