"""Records as the Ditto family reads them: `COL name VAL value ...`, in subword numbers.

Each distinct value is tokenised once. A record longer than its half of the budget loses its most common words
first (Ditto's summarising), or is cut at its end. Missing values are left out rather than spelled as empty.
Subwords remember their word, so that words which occur in both records can be marked: a model number in pieces
that are each common does not look like the same model number on the other side.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from riskcore.data.pairs import Pairs, Table
from riskcore.errors import MatcherError
from riskcore.matchers.encode import word_hash
from riskcore.matchers.frequency import Frequency

PADDING, LEFT, RIGHT = 0, 1, 2  # whose a subword is; special ones go with the record before them
SHARED = 2  # added to that where the word occurs in the other record too
Record = tuple[np.ndarray, ...]  # per attribute that has a value (2, subwords): their numbers, hashes of their words
LONGEST_SPAN = 4  # subwords that a perturbation deletes at most
MAX_VALUES = 200_000  # remembered; a long stream of tables must not fill the memory
MAX_CHARS = 20_000  # of a value: far more than any budget, and bounds the time for a broken cell


class PairText(NamedTuple):
    """A pair as one run of subwords, and the role of each."""

    tokens: np.ndarray
    roles: np.ndarray


class Serialiser:
    """Turns pairs into sequences; remembers values it has tokenised."""

    def __init__(self, folder: Path, attributes: Sequence[str], max_tokens: int, summarise: bool) -> None:
        self.tokenizer = _tokenizer(folder)
        self.front, self.middle, self.back = _special(self.tokenizer)
        self.attributes, self.summarise = tuple(attributes), summarise
        self.budget = (max_tokens - len(self.front) - len(self.middle) - len(self.back)) // 2
        self.prefixes = [self._tokens([f"COL {name} VAL"])[0] for name in attributes]
        self._values: dict[str, np.ndarray] = {}
        self._records: weakref.WeakKeyDictionary[Table, dict[int, Record]] = weakref.WeakKeyDictionary()

    def records(self, table: Table, rows: np.ndarray) -> list[Record]:
        """The records in these rows, in full length."""
        if len(self._values) > MAX_VALUES:
            self._values.clear()
            self._records.clear()
        known = self._records.setdefault(table, {})
        new = [int(row) for row in np.unique(rows) if int(row) not in known]
        if new:
            columns = [self._column(table.text(name)[new]) for name in self.attributes]
            for place, row in enumerate(new):
                known[row] = self._record([column[place] for column in columns])
        return [known[int(row)] for row in rows]

    def _column(self, texts: np.ndarray) -> list[np.ndarray | None]:
        new = sorted({text for text in texts if text is not None and text not in self._values})
        self._values.update(zip(new, self._tokens([text[:MAX_CHARS] for text in new]), strict=True))
        return [None if text is None else self._values[text] for text in texts]

    def _record(self, values: Sequence[np.ndarray | None]) -> Record:
        return tuple(
            np.concatenate([prefix, value], axis=1)
            for prefix, value in zip(self.prefixes, values, strict=True)
            if value is not None and value.size
        )

    def _tokens(self, texts: Sequence[str]) -> list[np.ndarray]:
        encoded = self.tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return [np.array([one.ids, _words(one)], dtype=np.int64) for one in encoded]

    def join(self, left: Record, right: Record, frequency: Frequency) -> PairText:
        """Both records within the budget."""
        one, other = self._fit(left, frequency), self._fit(right, frequency)
        tokens = np.concatenate([self.front, one[0], self.middle, other[0], self.back])
        roles = np.full(len(tokens), LEFT)
        start, split = len(self.front), len(self.front) + len(one[0]) + len(self.middle)
        roles[split:] = RIGHT
        roles[start : start + len(one[0])] += SHARED * np.isin(one[1], other[1])
        roles[split : split + len(other[0])] += SHARED * np.isin(other[1], one[1])
        return PairText(tokens, roles)

    def _fit(self, record: Record, frequency: Frequency) -> np.ndarray:
        run = np.concatenate(record, axis=1) if record else np.zeros((2, 0), dtype=np.int64)
        if run.shape[1] <= self.budget:
            return run
        if not self.summarise:
            return run[:, : self.budget]
        order = np.argsort(frequency.share(run[1]), kind="stable")[: self.budget]
        return run[:, np.sort(order)]


def document_frequency(records: Sequence[Record]) -> Frequency:
    """In which share of records each word occurs."""
    words = [np.unique(np.concatenate(record, axis=1)[1]) for record in records if record]
    return Frequency.of(np.concatenate(words), len(records)) if words else Frequency.none()


def perturbed(record: Record, draw: np.random.Generator, keep: int) -> Record:
    """Ditto's augmentation: attributes in another order, or a short span of one value (after `keep`) deleted."""
    if not record:
        return record
    if draw.random() < 0.5:
        return tuple(record[place] for place in draw.permutation(len(record)))
    place = int(draw.integers(len(record)))
    value = record[place]
    start = int(draw.integers(min(keep, value.shape[1]), value.shape[1] + 1))
    shorter = np.delete(value, slice(start, start + 1 + int(draw.integers(LONGEST_SPAN))), axis=1)
    return (*record[:place], shorter, *record[place + 1 :])


def distinct_records(serialiser: Serialiser, pairs: Pairs) -> list[Record]:
    """Each record that occurs in the pairs, once."""
    left = serialiser.records(pairs.left, np.unique(pairs.left_rows))
    return left + serialiser.records(pairs.right, np.unique(pairs.right_rows))


def _words(encoded: Any) -> list[int]:
    """For each subword a hash of the whole word it is a piece of."""
    spelled: dict[int | None, list[int]] = {}
    for word, token in zip(encoded.word_ids, encoded.ids, strict=True):
        spelled.setdefault(word, []).append(token)
    hashes = {word: word_hash(" ".join(map(str, tokens))) for word, tokens in spelled.items()}
    return [hashes[word] for word in encoded.word_ids]


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
    """The special tokens that the model expects before, between and after two texts."""
    ids = np.array(tokenizer.encode("", "").ids, dtype=np.int64)
    return ids[:1], ids[1:-1], ids[-1:]
