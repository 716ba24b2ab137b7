"""Two entries of lists word by word: "smith, j." is "john smith", and "mary smith" is not.

Names of people agree if the family names agree and no given name contradicts: initials, middle names and given names
that one side leaves out are abbreviations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from riskcore.metrics.differences.comparison import PieceState
from riskcore.metrics.differences.entries import AGREES, ALONE, CONTRADICTS, FAMILY_ONLY, Entry
from riskcore.metrics.differences.spelling import initials_of, is_abbreviation, is_slip, is_typo

_INITIALS = 3  # letters of "jc" and "mjf"
_LEFT_OUT = 1  # names beside the family name, other than initials, that one side may leave out


class Pairing:
    """Two entries word by word: which words go together, which are left, and how well the entries fit."""

    def __init__(self, one: Entry, other: Entry, people: bool, initials: bool, other_initials: bool) -> None:
        self.one, self.other, self.people = one, other, people
        self._ours, self._theirs = one.words, other.words
        self._pairs: list[tuple[tuple[int, ...], tuple[int, ...], PieceState]] = []
        self._left, self._right = list(range(len(self._ours))), list(range(len(self._theirs)))
        self._pair_words(initials, other_initials)
        self.fit = self._fit()

    def apply(self) -> None:
        """Mark the words of both entries."""
        self.one.meet(self.other, self.fit)
        for ours, theirs, state in self._pairs:
            shows = state is not PieceState.SAME
            for entry, these, partner, those in (
                (self.one, ours, self.other, theirs),
                (self.other, theirs, self.one, ours),
            ):
                text = " ".join(partner.side.text(partner.places[i], partner.places[i] + 1) for i in those)
                for position in these:
                    entry.side.mark(entry.places[position], state, text if shows else None)
        if self.fit != CONTRADICTS:
            self.one.leave_out(self._left)
            self.other.leave_out(self._right)

    def _pair_words(self, initials: bool, other_initials: bool) -> None:
        self._take(lambda one, other: PieceState.SAME if one == other else None)
        self._take_joined()
        if self.people:
            self._take_initials()
        self._take(self._written_otherwise)
        if initials or other_initials:  # "ay levy" is "alon levy"
            self._take(lambda one, other: _by_first_letter(one, other, initials, other_initials))
        if len(self._pairs) > 1 and len(self._left) == len(self._right) == 1:  # "marie-anne", "marie-anna"
            self._take(lambda one, other: PieceState.TYPO if is_slip(one, other) else None)

    def _take(self, test: Callable[[str, str], PieceState | None]) -> None:
        for i in list(self._left):
            for j in self._right:
                state = test(self._ours[i], self._theirs[j])
                if state and (state is not PieceState.ABBREVIATION or not self._is_family(i, j)):
                    self._pair((i,), (j,), state)
                    break

    def _is_family(self, i: int, j: int) -> bool:
        """Whether an abbreviation would stand for a family name."""
        return self.people and (i == self.one.family or j == self.other.family)

    def _pair(self, ours: tuple[int, ...], theirs: tuple[int, ...], state: PieceState) -> None:
        self._pairs.append((ours, theirs, state))
        self._left = [index for index in self._left if index not in ours]
        self._right = [index for index in self._right if index not in theirs]

    def _take_joined(self) -> None:
        """ "garcia molina" is "garciamolina"."""
        for i in list(self._left):
            for j in list(self._right):
                ours, theirs = self._ours[i], self._theirs[j]
                if i not in self._left or j not in self._right:
                    continue
                if j + 1 in self._right and ours == theirs + self._theirs[j + 1]:
                    self._pair((i,), (j, j + 1), PieceState.SAME)
                elif i + 1 in self._left and theirs == ours + self._ours[i + 1]:
                    self._pair((i, i + 1), (j,), PieceState.SAME)
                else:
                    continue
                break

    def _take_initials(self) -> None:
        """ "jc" is "james c."."""
        for i in list(self._left):
            run = self._spelt(self._ours[i], self._theirs, self._right)
            if run:
                self._pair((i,), run, PieceState.ABBREVIATION)
        for j in list(self._right):
            run = self._spelt(self._theirs[j], self._ours, self._left)
            if run:
                self._pair(run, (j,), PieceState.ABBREVIATION)

    @staticmethod
    def _spelt(word: str, names: Sequence[str], free: Sequence[int]) -> tuple[int, ...] | None:
        if len(word) > _INITIALS or not initials_of(word):
            return None
        run = tuple(index for index in free[: len(word)])
        return run if "".join(names[index][0] for index in run) == word and len(run) > 1 else None

    def _written_otherwise(self, one: str, other: str) -> PieceState | None:
        short, long = sorted((one, other), key=len)
        if is_abbreviation(short, long, of_name=self.people):
            return PieceState.ABBREVIATION
        return PieceState.TYPO if is_typo(one, other) else None

    def _fit(self) -> int:
        if not self._left and not self._right:
            return AGREES
        if not self.people or not self._families_agree():
            return ALONE
        if self._left and self._right:
            same = self._ours[0][0] == self._theirs[0][0] and min(len(self._ours), len(self._theirs)) > 1
            return CONTRADICTS if same else ALONE
        lone = min(len(self._ours), len(self._theirs)) == 1
        names = sum(len(self._ours[i]) > 1 for i in self._left) + sum(len(self._theirs[j]) > 1 for j in self._right)
        if names > _LEFT_OUT + lone:
            return ALONE
        return FAMILY_ONLY if lone else AGREES

    def _families_agree(self) -> bool:
        return any(self.one.family in ours and self.other.family in theirs for ours, theirs, _ in self._pairs)


def _by_first_letter(one: str, other: str, initials: bool, other_initials: bool) -> PieceState | None:
    """Initials written together against a given name of which they begin with the initial."""
    short = (initials and len(one) <= _INITIALS) or (other_initials and len(other) <= _INITIALS)
    return PieceState.ABBREVIATION if short and one[0] == other[0] else None


def writes_initials(entries: Sequence[Entry]) -> bool:
    """Whether all given names of a list are initials written together: "jc lingoes, ay levy"."""
    return all(len(word) <= _INITIALS for entry in entries for word in entry.words[: entry.family])
