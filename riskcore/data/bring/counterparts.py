"""Which columns of two tables correspond: by their names, and by how much of their content they share."""

from __future__ import annotations

import dataclasses
import difflib
from collections import Counter
from collections.abc import Sequence

import numpy as np
from scipy.optimize import linear_sum_assignment

from riskcore.data.bring.columns import ColumnFacts, name_words, plain_name
from riskcore.data.values import fold, words

ENOUGH = 0.45  # of the score, from which two columns are suggested as counterparts
NAME_WEIGHT = 0.5
CONTENT_ALONE = 0.9  # of the score, for content that is alike whatever the names are
ALIKE = 0.2  # content, from which it counts alone
MARGIN = 0.1  # by which it must be more alike than any other
NUMERIC = 0.6  # share of numbers, from which a column is one of numbers
SAME_SIZE = 0.6  # likeness of two columns of numbers of the same size that share no value
SAME_NAME = "same name"
MOST_COMPARED = 2_500  # pairs of columns whose content is compared: wide tables are matched by name
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
    """The best partner of each left column that has one; no column is used twice. The same name settles it."""
    theirs = {plain_name(column.name): column for column in right}
    same: dict[str, str] = {}
    for column in left:
        other = theirs.get(plain_name(column.name))
        if other is not None and other.name not in same.values():
            same[column.name] = other.name
    found = [Counterpart(ours, other, 1.0, SAME_NAME) for ours, other in same.items()]
    found += _guessed(
        [column for column in left if column.name not in same],
        [column for column in right if column.name not in same.values()],
    )
    order = {column.name: place for place, column in enumerate(left)}
    return tuple(sorted(found, key=lambda one: order[one.left]))


def _guessed(left: Sequence[ColumnFacts], right: Sequence[ColumnFacts]) -> list[Counterpart]:
    """Partners of columns with other names, by the names and the content."""
    if not left or not right:
        return []
    names = np.array([[name_likeness(a.name, b.name) for b in right] for a in left])
    contents = np.zeros_like(names)
    if contents.size <= MOST_COMPARED:
        ours, theirs = [_Content.of(column) for column in left], [_Content.of(column) for column in right]
        contents = np.array([[a.likeness(b) for b in theirs] for a in ours])
    scores = NAME_WEIGHT * names + (1 - NAME_WEIGHT) * contents
    scores = np.maximum(scores, np.where(_stands_out(contents), CONTENT_ALONE, 0) * (0.5 + contents / 2))
    rows, columns = linear_sum_assignment(-scores)
    return [
        Counterpart(left[a].name, right[b].name, float(scores[a, b]), _reason(names[a, b], contents[a, b]))
        for a, b in zip(rows, columns, strict=True)
        if scores[a, b] >= ENOUGH
    ]


def _stands_out(contents: np.ndarray) -> np.ndarray:
    """Which two columns are alike by their content alone: enough, and more than either is to any other."""
    rivals = np.maximum(_best_other(contents), _best_other(contents.T).T)
    return (contents >= ALIKE) & (contents >= rivals + MARGIN)


def _best_other(contents: np.ndarray) -> np.ndarray:
    """For each cell the largest of the others in its row."""
    if contents.shape[1] < 2:
        return np.zeros_like(contents)
    second, first = np.partition(contents, -2, axis=1)[:, -2:].T
    is_first = np.arange(contents.shape[1]) == contents.argmax(axis=1)[:, None]
    found: np.ndarray = np.where(is_first, second[:, None], first[:, None])
    return found


def name_likeness(one: str, other: str) -> float:
    """1 for the same name however it is written, less for names that share words or letters."""
    first, second = plain_name(one), plain_name(other)
    if first == second:
        return 1.0
    ours, theirs = ({_SAME.get(word, word) for word in name_words(name)} for name in (one, other))
    shared = len(ours & theirs) / max(len(ours | theirs), 1)
    return max(shared, 0.9 * difflib.SequenceMatcher(None, first, second).ratio() ** 2)


def _reason(name: float, content: float) -> str:
    if content >= 2 * ALIKE or name < 0.3:
        return "similar name and content" if name >= 0.5 else "similar content"
    return "similar name"


@dataclasses.dataclass(frozen=True)
class _Content:
    """The words of a column's sampled values with their counts, their number per value, and the size of its numbers."""

    words: Counter[str]
    length: float
    numeric: float  # share of values that are numbers
    size: float  # median of their logarithm

    @classmethod
    def of(cls, column: ColumnFacts) -> _Content:
        step = max(1, len(column.values) // SAMPLE)
        texts = [fold(value) for value in column.values[::step]]
        split = [words(text) for text in texts if text]
        if not split:
            return cls(Counter(), 0.0, 0.0, 0.0)
        numbers = [number for text in texts if text and (number := _number(text)) is not None]
        size = float(np.median([np.log10(abs(number) + 1) for number in numbers])) if numbers else 0.0
        counts = Counter(word for parts in split for word in parts)
        return cls(counts, float(np.mean([len(parts) for parts in split])), len(numbers) / len(split), size)

    def likeness(self, other: _Content) -> float:
        """How alike the words and their frequencies are; less where one column is much longer than the other, or only
        one of them holds numbers. Numbers are also alike if they are of the same size, as prices are."""
        if not self.words or not other.words:
            return 0.0
        alike = _cosine(self.words, other.words)
        if min(self.numeric, other.numeric) > NUMERIC:
            alike = max(alike, SAME_SIZE / (1 + 4 * abs(self.size - other.size)))
        shorter, longer = sorted((self.length, other.length))
        same_length = ((shorter + 1) / (longer + 1)) ** 0.5
        return alike * same_length * (1 - abs(self.numeric - other.numeric))


def _cosine(one: Counter[str], other: Counter[str]) -> float:
    """Of the square roots of the counts: a word that is everywhere says less than many that are now and then."""
    shared = sum(np.sqrt(count * other[word]) for word, count in one.items() if word in other)
    return float(shared / np.sqrt(one.total() * other.total()))


def _number(folded: str) -> float | None:
    try:
        found = float(folded.replace("$", "").replace(" ", "").replace(",", "."))
    except ValueError:
        return None
    return found if np.isfinite(found) else None
