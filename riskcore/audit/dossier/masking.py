"""Hiding values of a run in a document: those of chosen attributes, wherever they stand, and ids of records and pairs.

A hidden value is replaced by blocks that tell only whether it is short or long. Values are found in any free text too,
also inside other attributes and notes, whatever their case.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from riskcore.columns import LEFT, LEFT_ID, PAIR_ID, RECORD_ID, RIGHT, RIGHT_ID, VALUE
from riskcore.errors import ConfigError
from riskcore.runs.folder import RunFolder
from riskcore.storage.parquet import column_names, load_columns

BLOCK = "█"
_CLASSES = ((4, 3), (12, 6), (40, 12))  # up to so many characters, so many blocks
_MOST_BLOCKS = 20
_KEY = 4  # characters from which on a value is looked for inside words too; shorter ones only as whole words
Span = tuple[int, int]


class Finder:
    """Finds any of many values in a text, whatever their case."""

    def __init__(self, values: Iterable[str]) -> None:
        self._values = {folded for value in values if (folded := _fold(value.strip()))}
        lengths: dict[str, set[int]] = {}  # of values, by how they begin
        for value in self._values:
            lengths.setdefault(value[:_KEY], set()).add(len(value))
        self._lengths = {key: sorted(found, reverse=True) for key, found in lengths.items()}
        self._short = sorted({len(value) for value in self._values if len(value) < _KEY}, reverse=True)

    def spans(self, text: str) -> list[Span]:
        """Where the values stand in a text, the longest at each place, from left to right."""
        folded, found, place = _fold(text), [], 0
        while self._values and place < len(folded):
            length = self._length_at(folded, place)
            if length:
                found.append((place, place + length))
            place += length or 1
        return found

    def _length_at(self, folded: str, place: int) -> int:
        for length in self._lengths.get(folded[place : place + _KEY], ()):
            if length >= _KEY and folded[place : place + length] in self._values:
                return length
        if place and folded[place - 1].isalnum():
            return 0
        for length in self._short:
            after = folded[place + length : place + length + 1]
            if folded[place : place + length] in self._values and not after.isalnum():
                return length
        return 0


class Mask:
    """What is hidden, and how. Without attributes and ids, nothing is.

    `values` are those of the hidden attributes. Ids are looked for in what people wrote; in records they are not, where
    the id 95 would hide a part of "windows 95".
    """

    def __init__(
        self,
        attributes: Iterable[str] = (),
        values: Iterable[str] = (),
        pair_ids: Iterable[str] = (),
        record_ids: Iterable[str] = (),
        ids: bool = False,
    ) -> None:
        self.attributes, self.ids = frozenset(attributes), ids
        self._of_values = Finder(values)
        self._of_figures = (self._of_values, Finder(pair_ids))
        self._of_words = (*self._of_figures, Finder(record_ids))
        self._names: dict[str, str] = {}

    def text(self, text: str) -> str:
        """What a person wrote, with hidden values and ids in it as blocks."""
        return _without(text, self._of_words)

    def figures(self, value: Any) -> Any:
        """A JSON value with hidden values and pairs' ids in its texts as blocks."""
        if isinstance(value, Mapping):
            return {self.figures(str(name)): self.figures(one) for name, one in value.items()}
        if isinstance(value, list | tuple):
            return [self.figures(one) for one in value]
        return _without(value, self._of_figures) if isinstance(value, str) else value

    def pair(self, pair_id: str) -> str:
        """The pair's id; with hidden ids, a number for it that is the same throughout the document."""
        if self.ids:
            return self._names.setdefault(pair_id, f"pair {len(self._names) + 1}")
        return self.value(pair_id)

    def value(self, text: str) -> str:
        """A value of a record or an id, with hidden values in it as blocks."""
        return _without(text, (self._of_values,))

    def spans(self, text: str) -> list[Span]:
        """Where hidden values stand in a record's value."""
        return self._of_values.spans(text)


def apart(text: str, pieces: Sequence[str], spans: Sequence[Span]) -> list[str]:
    """The pieces that a text consists of, with each span of the text as blocks in the piece in which it begins."""
    starts = {start: blocks(text[start:end]) for start, end in spans}
    hidden = {place for start, end in spans for place in range(start, end)}
    found, place = [], 0
    for piece in pieces:
        shown = (starts.get(at, "") if at in hidden else char for at, char in enumerate(piece, start=place))
        found.append("".join(shown))
        place += len(piece)
    return found


def _without(text: str, finders: Iterable[Finder]) -> str:
    for finder in finders:
        spans = finder.spans(text)
        text = apart(text, [text], spans)[0] if spans else text
    return text


def blocks(value: str) -> str:
    """Blocks in place of a value, that tell only the class of its length."""
    return BLOCK * next((count for most, count in _CLASSES if len(value) <= most), _MOST_BLOCKS)


def mask_of(folder: RunFolder, attributes: Iterable[str], ids: bool = False) -> Mask:
    """The mask that hides these attributes of a run, with all values that its files have of them."""
    wanted = set(attributes)
    known = folder.attributes()
    if unknown := sorted(wanted - set(known)):
        named = ", ".join(repr(name) for name in unknown)
        raise ConfigError(f"The run has no attribute {named}. It has: {', '.join(known)}.")
    columns = {side + name for side in (LEFT, RIGHT, VALUE) for name in wanted}
    if not ids:
        return Mask(wanted, _values(folder, columns))
    pairs, records = _values(folder, {PAIR_ID}), _values(folder, {LEFT_ID, RIGHT_ID, RECORD_ID})
    return Mask(wanted, _values(folder, columns), pairs, records, ids=True)


def _values(folder: RunFolder, columns: Collection[str]) -> set[str]:
    """All distinct values of these columns in the files of a run, as text."""
    found: set[str] = set()
    for file in (folder.pairs_file, folder.other_pairs_file, folder.records_file):
        names = [one for one in column_names(file) if one in columns] if columns and file.exists() else []
        for name in names:  # one at a time: columns may be large
            column = pc.unique(load_columns(file, columns=[name]).column(name).cast(pa.large_string()))
            found.update(value for value in column.to_pylist() if value)
    return found


def _fold(text: str) -> str:
    """Lower case, character by character, so that places stay the same."""
    lower = text.lower()
    return lower if len(lower) == len(text) else "".join(low if len(low := one.lower()) == 1 else one for one in text)
