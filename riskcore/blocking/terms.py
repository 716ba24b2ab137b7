"""Records as rows of weighted terms, words or character n-grams: the TF-IDF matrices that are searched.

A term counts once in a record. Its weight is its rarity in both tables, log((1 + n) / (1 + records)) + 1, and rows have
length 1, so the product of two rows is their cosine. Term numbers do not depend on how the records are chunked, so
neither do sums of weights, to the last bit.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from scipy import sparse

from riskcore.errors import ConfigError

_NEWLINE = ord("\n")
_BITS = {2: 21, 3: 21, 4: 16}  # of a character within an n-gram's 64 bits; beyond 16, four would not fit
HASH_BITS = 22  # n-grams are numbered by a hash: of 100,000 different ones, 2 % share a number with another
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # Fibonacci hashing: neighbouring codes are spread over all numbers

Chunks = Callable[[], Iterable[list[str]]]  # reads the texts of one table, a list per chunk


@dataclasses.dataclass(frozen=True, eq=False)
class Incidence:
    """Which terms a table's records have: where each record's terms begin, and their numbers in ascending order."""

    starts: np.ndarray  # int64, one more than records
    terms: np.ndarray  # int32

    def __len__(self) -> int:
        return len(self.starts) - 1


def weighted(sides: Sequence[Incidence], terms: int) -> list[sparse.csr_matrix]:
    """The tables as matrices of weights; rarity is counted over all of them."""
    if max(len(side.terms) for side in sides) > np.iinfo(np.int32).max:
        raise ConfigError("The records hold too much text to search it all. Name fewer or shorter attributes.")
    records = sum(map(len, sides))
    counts = np.sum([np.bincount(side.terms, minlength=terms) for side in sides], axis=0)
    rarity = (np.log((1 + records) / (1 + counts)) + 1).astype(np.float32)
    return [_rows(side, rarity) for side in sides]


def _rows(side: Incidence, rarity: np.ndarray) -> sparse.csr_matrix:
    sizes = np.diff(side.starts)
    weights = rarity[side.terms]
    squares = np.zeros(len(side), dtype=np.float64)
    filled = sizes > 0
    if filled.any():  # reduceat takes the next row's first term for an empty row
        squares[filled] = np.add.reduceat(np.square(weights, dtype=np.float64), side.starts[:-1][filled])
    lengths = np.sqrt(squares, out=np.ones_like(squares), where=filled)
    weights /= np.repeat(lengths.astype(np.float32), sizes)
    return sparse.csr_matrix((weights, side.terms, side.starts.astype(np.int32)), shape=(len(side), len(rarity)))


def word_incidence(tables: Iterable[Chunks]) -> tuple[list[Incidence], int]:
    """The words of each table, numbered in order of first sight; and how many there are."""
    numbers: dict[str, int] = {}
    found = [_incidence(_words(texts, numbers) for texts in chunks()) for chunks in tables]
    return found, len(numbers)


def _words(texts: list[str], numbers: dict[str, int]) -> tuple[np.ndarray, np.ndarray, int]:
    split = [text.split(" ") if text else [] for text in texts]
    terms = [numbers.setdefault(word, len(numbers)) for words in split for word in words]
    rows = np.repeat(np.arange(len(texts)), [len(words) for words in split])
    return rows, np.array(terms, dtype=np.int64), len(texts)


def ngram_incidence(tables: Iterable[Chunks], size: int) -> tuple[list[Incidence], int]:
    """The n-grams of each table, numbered by a hash; and how many numbers there are."""
    found = [_incidence((*ngrams(texts, size), len(texts)) for texts in chunks()) for chunks in tables]
    return found, 1 << HASH_BITS


def ngrams(texts: list[str], size: int) -> tuple[np.ndarray, np.ndarray]:
    """Record and number of every n-gram; a space before and after each record marks its ends."""
    one = "".join(f" {text} \n" for text in texts)
    characters = np.frombuffer(one.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    count = max(len(characters) - size + 1, 0)
    ends = characters == _NEWLINE
    codes, across = np.zeros(count, dtype=np.uint64), np.zeros(count, dtype=bool)
    for place in range(size):
        codes = (codes << np.uint64(_BITS[size])) ^ characters[place : place + count]
        across |= ends[place : place + count]
    numbers = (codes[~across] * _MULTIPLIER) >> np.uint64(64 - HASH_BITS)
    return np.cumsum(ends, dtype=np.int64)[:count][~across], numbers.astype(np.int64)


def _incidence(chunks: Iterable[tuple[np.ndarray, np.ndarray, int]]) -> Incidence:
    """One incidence of chunks of record, term and the number of records; a term twice in a record counts once."""
    sizes, parts = [np.zeros(1, dtype=np.int64)], [np.empty(0, dtype=np.int32)]
    for rows, terms, records in chunks:
        width = int(terms.max(initial=0)) + 1
        keys = np.sort(rows * width + terms)  # several times faster than np.unique, which hashes first
        keys = keys[np.diff(keys, prepend=-1) > 0]
        sizes.append(np.bincount(keys // width, minlength=records))
        parts.append((keys % width).astype(np.int32))
    return Incidence(np.cumsum(np.concatenate(sizes)), np.concatenate(parts))
