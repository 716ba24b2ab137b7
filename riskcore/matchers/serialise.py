"""Records and pairs as the Ditto family reads them, in subword numbers.

A record is the values of its attributes, one after the other; an attribute is told by a mark on its subwords, not by
its name spelled out, and missing values are left out. Each record is read once, whatever pairs it is in. A pair is a
choice from its two records, as many subwords as the budget allows: every attribute gets its share, and within an
attribute the rarest words come first (Ditto's summarising). Each subword carries the mark of its word: whether the
other record has it too, in the same attribute or elsewhere, and whether it holds a digit. A model number in pieces that
are each common does not look like the same model number on the other side.
"""

from __future__ import annotations

import dataclasses
import re
import weakref
from collections.abc import Iterator, Sequence, Set
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from riskcore.data.pairs import Pairs, Table
from riskcore.data.values import compact, fold, is_numeric_word
from riskcore.errors import MatcherError
from riskcore.matchers.encode import word_hash
from riskcore.matchers.frequency import Frequency

PADDING, LEFT, RIGHT = 0, 1, 2  # whose a subword is
# Marks of subwords. A code is a word with a digit: a model number, a year, a price.
SPECIAL, OWN, OWN_CODE, NEAR_CODE, MOVED, MOVED_CODE, SHARED, SHARED_CODE = range(8)
MARKS = 8
RECORD_TOKENS = 200  # subwords read of a record: five times what most pairs have room for
MAX_CHARS = 20_000  # of a value: far more than is read, and bounds the time for a broken cell
MAX_RECORDS = 200_000  # remembered; a long stream of tables must not fill the memory
SHORTEST_CODE = 4  # characters of a code that may be a part of another one by more than chance
LONGEST_SPAN = 4  # subwords that a perturbation hides at most
_ATTRIBUTES = 1 << 15  # more than a record can have
PRESENCE = 0.3  # what an attribute says by being there on both sides, next to shares from -1 to 1
OVERLAPS = 6  # numbers for each attribute

_PIECE = re.compile(r"\S+")


@dataclasses.dataclass(frozen=True, eq=False)
class Record:
    """A record's subwords. Special ones have attribute 0 and word 0."""

    tokens: np.ndarray  # int32
    attribute: np.ndarray  # int16, 1 for the first
    word: np.ndarray  # int64, hash of the word that a subword is a piece of
    piece: list[str]  # the same for what stands between spaces: letters and digits only
    code: np.ndarray  # bool, whether that holds a digit

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def keys(self) -> list[int]:
        """Each subword's word in its attribute, as one number."""
        found: list[int] = (self.word * np.int64(_ATTRIBUTES) + self.attribute).tolist()
        return found

    @property
    def codes(self) -> tuple[str, ...]:
        """What may be a part of a code of another record, or have it as a part."""
        found = {self.piece[place] for place in np.flatnonzero(self.code)}
        return tuple(code for code in found if len(code) >= SHORTEST_CODE)


class PairText(NamedTuple):
    """What is read of a pair: places in both records, and by subword its attribute, mark and rarity."""

    left: np.ndarray  # int16, places in the left record
    right: np.ndarray  # int16
    attribute: np.ndarray  # int16, left ones first
    mark: np.ndarray  # int8
    rarity: np.ndarray  # float32, 1 for words never met
    overlap: np.ndarray  # float32 (attributes * OVERLAPS,)

    @property
    def roles(self) -> np.ndarray:
        return np.repeat([LEFT, RIGHT], [len(self.left), len(self.right)])


class Serialiser:
    """Turns rows of tables into records, and two records into a pair."""

    def __init__(self, folder: Path, attributes: Sequence[str], max_tokens: int, summarise: bool) -> None:
        self.tokenizer = _tokenizer(folder)
        self.front, self.between, self.back = _special(self.tokenizer)
        self.attributes, self.summarise, self.budget = tuple(attributes), summarise, max_tokens // 2
        self._records: weakref.WeakKeyDictionary[Table, dict[int, Record]] = weakref.WeakKeyDictionary()

    def records(self, table: Table, rows: np.ndarray) -> list[Record]:
        """The records in these rows."""
        known = self._records.setdefault(table, {})
        new = [int(row) for row in np.unique(rows) if int(row) not in known]
        if new:
            if len(known) + len(new) > MAX_RECORDS:
                known.clear()
                new = [int(row) for row in np.unique(rows)]
            columns = [table.text(name, np.array(new)) for name in self.attributes]
            known.update(zip(new, (self._record(values) for values in zip(*columns, strict=True)), strict=True))
        return [known[int(row)] for row in rows]

    def pairs(self, pairs: Pairs, frequency: Frequency) -> list[PairText]:
        left, right = self.records(pairs.left, pairs.left_rows), self.records(pairs.right, pairs.right_rows)
        return [self.join(one, other, frequency) for one, other in zip(left, right, strict=True)]

    def _record(self, values: Sequence[str | None]) -> Record:
        tokens, attribute, words, pieces = [self.front], [np.zeros(len(self.front))], [], []
        for number, value in enumerate(values, start=1):
            if value is None:
                continue
            found, word, piece = self._value(value)
            tokens += [found, self.between]
            attribute += [np.full(len(found), number), np.zeros(len(self.between))]
            words += [*word, *(0 for _ in self.between)]
            pieces += [*piece, *("" for _ in self.between)]
        if len(tokens) > 1:
            tokens[-1] = self.back
            attribute[-1] = np.zeros(len(self.back))
        begin = len(self.front)
        end = min(sum(map(len, tokens)), RECORD_TOKENS)
        words = [*(0 for _ in range(begin)), *words, *(0 for _ in self.back)][:end]
        pieces = [*("" for _ in range(begin)), *pieces, *("" for _ in self.back)][:end]
        return Record(
            np.concatenate(tokens)[:end].astype(np.int32),
            np.concatenate(attribute)[:end].astype(np.int16),
            np.array(words, dtype=np.int64),
            pieces,
            np.array([is_numeric_word(piece) for piece in pieces], dtype=bool),
        )

    def _value(self, value: str) -> tuple[np.ndarray, list[int], list[str]]:
        """A value's subwords, for each the hash of its word, and what stands there between spaces."""
        text = value[:MAX_CHARS]
        encoded = self.tokenizer.encode(text, add_special_tokens=False)
        count = min(len(encoded.ids), RECORD_TOKENS)
        offsets, of_word = encoded.offsets[:count], encoded.word_ids[:count]
        spans: dict[int | None, tuple[int, int]] = {}
        for word, (start, end) in zip(of_word, offsets, strict=True):
            before = spans.get(word, (start, end))
            spans[word] = min(before[0], start), max(before[1], end)
        hashes = {word: word_hash(fold(text[start:end])) for word, (start, end) in spans.items()}
        return (
            np.array(encoded.ids[:count], dtype=np.int64),
            [hashes[word] for word in of_word],
            list(_pieces_at(text, [end for _, end in offsets])),
        )

    def join(self, left: Record, right: Record, frequency: Frequency) -> PairText:
        """What is read of two records."""
        marks, rarity = [_marks(left, right), _marks(right, left)], [_rarity(one, frequency) for one in (left, right)]
        kept = [self._kept(one, rare) for one, rare in zip((left, right), rarity, strict=True)]
        return PairText(
            kept[0].astype(np.int16),
            kept[1].astype(np.int16),
            np.concatenate([one.attribute[rows] for one, rows in zip((left, right), kept, strict=True)]),
            np.concatenate([one[rows] for one, rows in zip(marks, kept, strict=True)]),
            np.concatenate([one[rows] for one, rows in zip(rarity, kept, strict=True)]),
            _overlap(left, right, marks, rarity, len(self.attributes)),
        )

    def _kept(self, record: Record, rarity: np.ndarray) -> np.ndarray:
        """Places of the subwords that fit, in order; the first one, which stands for the whole record, always does."""
        if len(record) <= self.budget:
            return np.arange(len(record))
        if not self.summarise:
            return np.arange(self.budget)
        begin = min(len(self.front), self.budget)
        places = np.flatnonzero(record.attribute)
        counts = np.bincount(record.attribute[places], minlength=len(self.attributes) + 1)
        kept = [np.arange(begin)]
        for number, room in enumerate(_shares(counts, self.budget - begin)):
            mine = places[record.attribute[places] == number]
            kept.append(mine[np.argsort(-rarity[mine], kind="stable")[:room]])
        return np.sort(np.concatenate(kept))


def document_frequency(records: Sequence[Record]) -> Frequency:
    """In which share of records each word occurs."""
    words = [np.unique(record.word[record.attribute > 0]) for record in records]
    return Frequency.of(np.concatenate(words), len(records)) if words else Frequency.none()


def distinct_records(serialiser: Serialiser, pairs: Pairs) -> list[Record]:
    """Each record that occurs in the pairs, once."""
    left = serialiser.records(pairs.left, np.unique(pairs.left_rows))
    return left + serialiser.records(pairs.right, np.unique(pairs.right_rows))


def perturbed(text: PairText, draw: np.random.Generator) -> np.ndarray:
    """Ditto's augmentation: which subwords are still read when one record loses a short span or a whole attribute.
    Special ones always are."""
    seen = np.ones(len(text.mark), dtype=bool)
    mine = np.flatnonzero((text.roles == draw.integers(LEFT, RIGHT + 1)) & (text.attribute > 0))
    if len(mine):
        place = int(draw.integers(len(mine)))
        if draw.random() < 0.5 and len(np.unique(text.attribute[mine])) > 1:
            seen[mine[text.attribute[mine] == text.attribute[mine[place]]]] = False
        else:
            seen[mine[place : place + 1 + int(draw.integers(LONGEST_SPAN))]] = False
    return seen


def _marks(record: Record, other: Record) -> np.ndarray:
    """The mark of each subword, seen from the other record."""
    same = _among(record.keys, set(other.keys))
    moved = _among(record.word.tolist(), set(other.word.tolist())) | _among(record.piece, set(other.piece) - {""})
    plain = np.where(same, SHARED, np.where(moved, MOVED, OWN))
    coded = np.where(same, SHARED_CODE, np.where(moved, MOVED_CODE, OWN_CODE))
    own = np.flatnonzero(record.code & (coded == OWN_CODE))
    others = other.codes if len(own) else ()
    coded[own] = [NEAR_CODE if _is_near(record.piece[place], others) else OWN_CODE for place in own]
    return np.where(record.attribute == 0, SPECIAL, np.where(record.code, coded, plain)).astype(np.int8)


def _among(some: Sequence[Any], known: Set[Any]) -> np.ndarray:
    return np.fromiter((one in known for one in some), dtype=bool, count=len(some))


def _is_near(code: str, others: Sequence[str]) -> bool:
    """Whether one code is a part of the other: a model number with its colour, or without its maker."""
    return len(code) >= SHORTEST_CODE and any(code in other or other in code for other in others)


def _rarity(record: Record, frequency: Frequency) -> np.ndarray:
    """How rare each subword's word is: 0 if every record of the training pairs has it, 1 if none or one does."""
    share = frequency.share(record.word)
    rarest = float(frequency.frequency.min()) if len(frequency.frequency) else 1.0
    if rarest >= 1.0:
        rarity = np.ones(len(record), dtype=np.float32)
    else:
        rarity = (np.log(np.maximum(share, rarest)) / np.log(rarest)).astype(np.float32)
    rarity[record.word == 0] = 0.0
    return rarity


def _overlap(
    left: Record, right: Record, marks: Sequence[np.ndarray], rarity: Sequence[np.ndarray], attributes: int
) -> np.ndarray:
    """For each attribute that both records have: which share of either side's words the other side has, rare words
    counting more, from -1 (none) to 1 (all), or 0 where there are none; the same for codes alone; that it is there;
    whether all words are shared. Zeros for other attributes."""
    found = np.zeros((attributes, OVERLAPS), dtype=np.float32)
    both = set(left.attribute.tolist()) & set(right.attribute.tolist()) - {0}
    for side, (record, mark, rare) in enumerate(zip((left, right), marks, rarity, strict=True)):
        weight, shared = rare + 0.05, (mark == SHARED) | (mark == SHARED_CODE)
        for number in both:
            mine = record.attribute == number
            row = found[number - 1]
            row[side] = _signed_share(weight, shared, mine)
            row[2 + side] = _signed_share(weight, shared, mine & record.code)
            row[4] = PRESENCE
            row[5] = float(shared[mine].all()) * (row[5] if side else 1.0)
    return found.ravel()


def _signed_share(weight: np.ndarray, shared: np.ndarray, mine: np.ndarray) -> float:
    total = float(weight[mine].sum())
    return 2.0 * float(weight[mine & shared].sum()) / total - 1.0 if total else 0.0


def _shares(counts: np.ndarray, room: int) -> np.ndarray:
    """How much of `room` each gets that wants `counts`: all the same, and what one does not need goes to others."""
    given, waiting = np.zeros_like(counts), counts > 0
    while room > 0 and waiting.any():
        share = max(1, room // int(waiting.sum()))
        for number in np.flatnonzero(waiting):
            more = min(share, int(counts[number] - given[number]), room)
            given[number] += more
            room -= more
        waiting = given < counts
    return given


def _pieces_at(text: str, ends: Sequence[int]) -> Iterator[str]:
    """What stands between spaces at these places: letters and digits only."""
    spans = [(found.end(), compact(fold(found.group()))) for found in _PIECE.finditer(text)]
    number = 0
    for end in ends:
        while number < len(spans) - 1 and spans[number][0] < end:
            number += 1
        yield spans[number][1] if spans else ""


def _tokenizer(folder: Path) -> Any:
    from tokenizers import Tokenizer

    file = Path(folder) / "tokenizer.json"
    if not file.is_file():
        raise MatcherError(f"{folder} is not a Hugging Face model folder: it has no tokenizer.json.")
    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _special(tokenizer: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The special tokens that the model expects before, between and after texts."""
    alone = np.array(tokenizer.encode("").ids, dtype=np.int64)
    return alone[:1], alone[1:2], alone[1:]
