"""Metrics that see through abbreviation: "proc. vldb" and "proceedings of very large data bases".

A word stands for another if one begins the other ("proc", "proceedings"; "j", "john"), and for a run of words
if it spells their first letters ("vldb"). Words are numbered in sorted order, so "begins" is a range test on
integers; acronyms are looked up once per distinct value.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
from numba import njit

from riskcore.data.values import content_words
from riskcore.metrics.strings import Scores
from riskcore.metrics.words import Rows, slabs, vocabulary_of

_MAX_WORDS = 40  # comparing is quadratic in words; names longer than this are text
_ACRONYM = (2, 8)  # letters of a word that may stand for that many words


class AbbreviationScorer:
    """Whether the words of the shorter value are explained by the longer one, abbreviations allowed."""

    def __init__(self, left: Sequence[str], right: Sequence[str]) -> None:
        vocabulary = vocabulary_of(_split, left, right)
        number = {word: index for index, word in enumerate(vocabulary)}
        self._begins_until = np.array(
            [bisect_left(vocabulary, word + "\U0010ffff") for word in vocabulary], dtype=np.int64
        )
        self._left, self._right = _rows(left, number), _rows(right, number)

    def score(self, left: np.ndarray, right: np.ndarray) -> Scores:
        table = _compare(*self._left, *self._right, self._begins_until, left, right)  # type: ignore[call-arg]
        names = (
            "abbreviated",
            "unexplained",
            "not_abbreviation",
            "not_abbreviated_prefix",
            "not_abbreviated_suffix",
        )
        return dict(zip(names, table.T, strict=True))


def _split(value: str) -> list[str]:
    return content_words(value)[:_MAX_WORDS]


def _rows(values: Sequence[str], number: dict[str, int]) -> tuple[np.ndarray, ...]:
    """Per value: its words in order, and the known words that spell a run of its first letters."""
    parts = [_some_rows([_split(value) for value in some], number) for some in slabs(values)]
    words, spelt = Rows.joined([one for one, _, _ in parts]), Rows.joined([one for _, one, _ in parts])
    runs = np.concatenate([np.zeros((0, 2), dtype=np.int32), *(one for _, _, one in parts)])
    return words.starts, words.items, spelt.starts, spelt.items, runs[:, 0].copy(), runs[:, 1].copy()


def _some_rows(values: Sequence[Sequence[str]], number: dict[str, int]) -> tuple[Rows, Rows, np.ndarray]:
    acronyms = [_acronyms(found, number) for found in values]
    runs = [(start, size) for found in acronyms for _, start, size in found]
    return (
        Rows.build([[number[word] for word in found] for found in values]),
        Rows.build([[word for word, _, _ in found] for found in acronyms]),
        np.array(runs, dtype=np.int32).reshape(-1, 2),
    )


def _acronyms(found: Sequence[str], number: dict[str, int]) -> list[tuple[int, int, int]]:
    """(word, first position, count) for each known word that spells `count` successive first letters."""
    letters = "".join(word[0] for word in found)
    shortest, longest = _ACRONYM
    return [
        (number[letters[start : start + size]], start, size)
        for size in range(shortest, min(longest, len(letters)) + 1)
        for start in range(len(letters) - size + 1)
        if letters[start : start + size] in number
    ]


@njit(cache=True, nogil=True)
def _stands_for(one, other, begins_until):  # type: ignore[no-untyped-def]
    return one <= other < begins_until[one] or other <= one < begins_until[other]


@njit(cache=True, nogil=True)
def _explained(words, others, spelt_by_others, spelt, first, length, begins_until):  # type: ignore[no-untyped-def]
    """How many of `words` have a counterpart among `others`."""
    covered = np.zeros(len(words), dtype=np.bool_)
    for i in range(len(words)):
        for other in others:
            if _stands_for(words[i], other, begins_until):
                covered[i] = True
                break
        for acronym in spelt_by_others:
            covered[i] |= acronym == words[i]
    for k in range(len(spelt)):  # a word of the others that spells a run of ours explains the whole run
        for other in others:
            if other == spelt[k]:
                covered[first[k] : first[k] + length[k]] = True
    return covered.sum()


@njit(cache=True, nogil=True)
def _place(short, long, spelt, first, length, begins_until):  # type: ignore[no-untyped-def]
    """Whether `short` stands for a run of `long`: anywhere, at its beginning, at its end."""
    anywhere, beginning, end = False, False, False
    last = len(long) - len(short)
    for offset in range(last + 1):
        fits = True
        for i in range(len(short)):
            if not _stands_for(short[i], long[offset + i], begins_until):
                fits = False
                break
        anywhere |= fits
        beginning |= fits and offset == 0
        end |= fits and offset == last
    if len(short) == 1:
        for k in range(len(spelt)):
            if spelt[k] == short[0]:
                anywhere = True
                beginning |= first[k] == 0
                end |= first[k] + length[k] == len(long)
    return anywhere, beginning, end


@njit(cache=True, nogil=True)
def _compare(  # type: ignore[no-untyped-def]
    l_starts, l_words, l_spelt_starts, l_spelt, l_first, l_length,
    r_starts, r_words, r_spelt_starts, r_spelt, r_first, r_length,
    begins_until, left, right,
):  # fmt: skip
    result = np.full((len(left), 5), np.nan)
    for pair in range(len(left)):
        a, b = left[pair], right[pair]
        one, other = l_words[l_starts[a] : l_starts[a + 1]], r_words[r_starts[b] : r_starts[b + 1]]
        if len(one) == 0 or len(other) == 0:
            continue
        ls, rs = slice(l_spelt_starts[a], l_spelt_starts[a + 1]), slice(r_spelt_starts[b], r_spelt_starts[b + 1])
        size = min(len(one), len(other))
        explained = 0
        anywhere, beginning, end = False, False, False
        if len(one) == size:
            explained = _explained(one, other, r_spelt[rs], l_spelt[ls], l_first[ls], l_length[ls], begins_until)
            anywhere, beginning, end = _place(one, other, r_spelt[rs], r_first[rs], r_length[rs], begins_until)
        if len(other) == size:
            reverse = _explained(other, one, l_spelt[ls], r_spelt[rs], r_first[rs], r_length[rs], begins_until)
            explained = max(explained, reverse)
            placed = _place(other, one, l_spelt[ls], l_first[ls], l_length[ls], begins_until)
            anywhere, beginning, end = anywhere | placed[0], beginning | placed[1], end | placed[2]
        result[pair, 0] = explained / size
        result[pair, 1] = size - explained
        result[pair, 2] = not anywhere
        result[pair, 3] = not beginning
        result[pair, 4] = not end
    return result
