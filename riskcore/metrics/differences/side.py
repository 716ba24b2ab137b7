"""One of the two values while they are compared: its words with their places, and what was found out about each.

Words are those of the metrics (`words` of `fold`), but each knows which characters of the value it came from, so that
the value can be cut into pieces and put together again.
"""

from __future__ import annotations

import dataclasses
import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice

from riskcore.data.values import compact, fold
from riskcore.metrics.differences.comparison import Piece, PieceState

MAX_WORDS = 2_000  # words that are aligned; those that follow are only looked up among the other value's words
MAX_READ = 5_000  # words that are looked at one by one; all that follows is compared as a whole
MAX_CHARS = 60_000  # characters in which these words are looked for

_LONGEST_JOINED = 8  # words
_SIGNS = ("c", "p", "r", "tm")
_WORD = re.compile(r"[^\W_]+")
# Of two words that share a character of the value (“½” is read as 1 and 2), the piece tells of the first here.
_GRAVEST = (PieceState.ONLY_HERE, PieceState.NUMBER, PieceState.TYPO, PieceState.ABBREVIATION, PieceState.MOVED)


@dataclasses.dataclass(frozen=True, slots=True)
class Word:
    """A folded word and the characters it stands for."""

    text: str
    start: int
    end: int


@dataclasses.dataclass(eq=False)
class Side:
    """A value, its words, and per word its state, its partner, and the word its piece begins with."""

    value: str
    words: list[Word]
    states: list[PieceState] = dataclasses.field(init=False)
    partners: list[str | None] = dataclasses.field(init=False)
    first: list[int] = dataclasses.field(init=False)  # words of one piece share it
    gaps: list[int] = dataclasses.field(init=False)  # how many words that both sides have in order stand before it

    def __post_init__(self) -> None:
        self.states = [PieceState.ONLY_HERE] * len(self.words)
        self.partners = [None] * len(self.words)
        self.first = list(range(len(self.words)))
        self.gaps = [0] * len(self.words)

    @classmethod
    def read(cls, value: str) -> Side:
        return cls(value, read_words(value))

    def mark(self, index: int, state: PieceState, partner: str | None = None) -> None:
        self.states[index], self.partners[index] = state, partner

    def mark_run(self, start: int, stop: int, state: PieceState, partner: str | None = None) -> None:
        """Make words that follow each other one piece."""
        for index in range(start, stop):
            self.mark(index, state, partner)
            self.first[index] = start

    def open(self, index: int) -> bool:
        """Whether no counterpart of the word has been found."""
        return self.states[index] is PieceState.ONLY_HERE

    def still_open(self) -> list[int]:
        """The words to be aligned for which no counterpart has been found."""
        return [index for index, state in enumerate(self.states[:MAX_WORDS]) if state is PieceState.ONLY_HERE]

    def having(self, state: PieceState) -> list[int]:
        return [index for index, found in enumerate(self.states) if found is state]

    def text(self, start: int, stop: int) -> str:
        """The words from `start` up to `stop`, as they are written."""
        return self.value[self.words[start].start : self.words[stop - 1].end] if stop > start else ""

    def dotted(self, index: int) -> bool:
        """Whether the word is written with a full stop: "proc.", or "proc ." in data cut into tokens."""
        return self.value[self.words[index].end : self.words[index].end + 2].lstrip()[:1] == "."

    def is_entity(self, index: int) -> bool:
        """Whether the word is a sign spelt out: "&hellip;" of a web page, "(c)" for a copyright."""
        word = self.words[index]
        before = self.value[max(0, word.start - 2) : word.start].rstrip(" #")[-1:]
        after = self.value[word.end : word.end + 2].lstrip()[:1]
        return before + after == "&;" or (before + after == "()" and word.text in _SIGNS)

    def adjoins(self, index: int) -> bool:
        """Whether nothing that cuts a phrase stands between the word and the one before it."""
        between = self.value[self.words[index - 1].end : self.words[index].start]
        return between == "." or between.strip() in ("", "-", "/", "'", "’", "&")

    def has_separator(self, index: int) -> bool:
        """Whether a sign that separates entries stands before the word."""
        between = self.value[self.words[index - 1].end : self.words[index].start]
        return any(sign in between for sign in (",", ";", "|", " & "))

    def joined(self, index: int) -> tuple[int, int]:
        """The words that are written as one with this one, by hyphens and the like: "ps-lx350h"."""
        start, stop = index, index + 1
        while start and index - start < _LONGEST_JOINED and self._is_joint(start):
            start -= 1
        while stop < len(self.words) and stop - index < _LONGEST_JOINED and self._is_joint(stop):
            stop += 1
        return start, stop

    def _is_joint(self, index: int) -> bool:
        between = self.value[self.words[index - 1].end : self.words[index].start]
        return len(between) == 1 and between in "-/."

    def _is_one_piece(self, index: int) -> bool:
        """Whether the word goes on the piece of the one before: by what was found out, or "ps-lx350h" by its hyphen."""
        if self.first[index] == self.first[index - 1]:
            return True
        return self.open(index) and self.open(index - 1) and self._is_joint(index)

    def pieces(self) -> tuple[Piece, ...]:
        """The whole value in pieces; neighbours without a difference are one."""
        found: list[Piece] = []
        place, index = 0, 0
        while index < len(self.words):
            stop, end = index + 1, self.words[index].end
            while stop < len(self.words) and (self.words[stop].start < end or self._is_one_piece(stop)):
                end = max(end, self.words[stop].end)
                stop += 1
            worst = min(range(index, stop), key=lambda word: _gravity(self.states[word]))
            start = max(self.words[index].start, place)
            if self.states[worst] is not PieceState.SAME and start < end:
                if place < start:
                    found.append(Piece(self.value[place:start], PieceState.SAME))
                found.append(Piece(self.value[start:end], self.states[worst], self.partners[worst]))
                place = end
            index = stop
        if place < len(self.value):
            found.append(Piece(self.value[place:], PieceState.SAME))
        return tuple(found)


def _gravity(state: PieceState) -> int:
    return _GRAVEST.index(state) if state in _GRAVEST else len(_GRAVEST)


def read_words(value: str) -> list[Word]:
    """The folded words of a value with their places. In a very long value, all that is left is one word at the end."""
    text = value[:MAX_CHARS]
    if text.isascii():
        found = _first(_WORD.finditer(text.lower()))
        words = [Word(match.group(), match.start(), match.end()) for match in found]
    else:
        characters: list[str] = []
        places: list[int] = []
        for place, character in enumerate(text):
            for folded in _fold_character(character):
                characters.append(folded)
                places.append(place)
        found = _first(_WORD.finditer("".join(characters)))
        words = [
            Word(match.group(), places[match.start()], _with_accents(text, places[match.end() - 1] + 1))
            for match in found
        ]
    if len(value) > MAX_CHARS and words and words[-1].end == MAX_CHARS:
        words.pop()  # it may go on
    place = words[-1].end if words else 0
    rest = compact(fold(value[place:])) if len(words) == MAX_READ or len(value) > MAX_CHARS else ""
    return [*words, Word(rest, place, len(value))] if rest else words


def _first(found: Iterator[re.Match[str]]) -> list[re.Match[str]]:
    return list(islice(found, MAX_READ))


@lru_cache(maxsize=4096)
def _fold_character(character: str) -> str:
    """`fold` of one character, spaces kept."""
    decomposed = unicodedata.normalize("NFKD", character).casefold()
    return "".join(char for char in decomposed if not unicodedata.combining(char))


def _with_accents(text: str, end: int) -> int:
    """The end of a word, behind the accents that are characters of their own."""
    while end < len(text) and unicodedata.combining(text[end]):
        end += 1
    return end


def ranges(places: Sequence[int]) -> list[tuple[int, int]]:
    """Ascending numbers as runs without a hole: (start, stop)."""
    found: list[tuple[int, int]] = []
    for place in places:
        if found and found[-1][1] == place:
            found[-1] = (found[-1][0], place + 1)
        else:
            found.append((place, place + 1))
    return found
