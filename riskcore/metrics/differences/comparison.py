"""What a comparison of two values consists of: the values in pieces, how they relate, and what a person would say."""

from __future__ import annotations

import dataclasses
from enum import StrEnum


class Relation(StrEnum):
    """How two values relate, from most to least alike."""

    IDENTICAL = "identical"
    SAME = "same"  # but for case, accents, punctuation and spaces
    REORDERED = "reordered"  # the same words in another order
    ABBREVIATED = "abbreviated"  # every difference is an abbreviation
    CONTAINED = "contained"  # one value has all words of the other
    NEAR = "near"  # every difference is a spelling
    DIFFERENT = "different"
    MISSING = "missing"  # on one side
    BOTH_MISSING = "both_missing"


MERE_WRITING = (Relation.IDENTICAL, Relation.SAME, Relation.REORDERED, Relation.ABBREVIATED)  # nothing else differs


class PieceState(StrEnum):
    """What the other value has in place of a piece."""

    SAME = "same"
    ONLY_HERE = "only_here"  # nothing
    ABBREVIATION = "abbreviation"  # a short or a long form of it; without a partner, it is left out there
    TYPO = "typo"  # a word that is spelt almost like it
    MOVED = "moved"  # the same word at another place
    NUMBER = "number"  # another number


@dataclasses.dataclass(frozen=True)
class Piece:
    """A part of a value: a word, some words that belong together, or all that lies between two differences."""

    text: str
    state: PieceState
    partner: str | None = None  # what the other value has instead


@dataclasses.dataclass(frozen=True)
class ValueComparison:
    """Two values of one attribute. All texts are plain: whoever shows them escapes them."""

    left: tuple[Piece, ...]  # the texts of the pieces together are exactly the value
    right: tuple[Piece, ...]
    relation: Relation
    words: str  # a caption of the relation: "same words, other order"
    decisive: str | None  # the difference a person names first: "2007 against 2006"
    alike: str | None  # the agreement a person names first: "2 of 3 authors agree"
