"""The caption of a comparison: how two values relate, in a few words."""

from __future__ import annotations

import re
import unicodedata

from riskcore.metrics.differences.comparison import PieceState, Relation
from riskcore.metrics.differences.side import Side
from riskcore.metrics.differences.wording import counted, listed

_SPELT_OUT = 20_000  # characters up to which it is told what the difference in writing is
_WRITING = ("case", "accents", "punctuation", "spaces")


def words_caption(left: Side, right: Side, relation: Relation) -> str:
    """The relation of two texts in a few words."""
    if relation is Relation.SAME:
        ours, theirs = ({word.text for word in side.words} for side in (left, right))
        return same_caption(left.value, right.value, "repeated words" if ours == theirs else "signs")
    if relation is Relation.REORDERED:
        return "same words, other order"
    if relation is Relation.ABBREVIATED:
        return "abbreviated"
    if relation is Relation.NEAR:
        return spelling_caption(left, right)
    numbers = len(left.having(PieceState.NUMBER))
    alone = [len(side.having(PieceState.ONLY_HERE)) for side in (left, right)]
    if numbers and not any(alone):
        return f"{counted(numbers, 'number')} {'differs' if numbers == 1 else 'differ'}"
    if not have_common(left):
        return "no word in common"
    return only_caption(alone[0] + numbers, alone[1] + numbers, "word")


def have_common(side: Side) -> bool:
    return any(state not in (PieceState.ONLY_HERE, PieceState.NUMBER) for state in side.states)


def only_caption(left: int, right: int, noun: str) -> str:
    """ "3 words only left, 1 only right"."""
    if left and right:
        return f"{counted(left, noun)} only left, {right:,} only right"
    return f"{counted(left or right, noun)} only {'left' if left else 'right'}"


def spelling_caption(left: Side, right: Side) -> str:
    slips = max(len(side.having(PieceState.TYPO)) for side in (left, right))
    return f"spelling of {counted(slips, 'word')} differs"


def same_caption(left: str, right: str, otherwise: str | None = None) -> str:
    """What has to be overlooked for two values to be the same; `otherwise` if it is more than a way of writing."""
    if max(len(left), len(right)) > _SPELT_OUT:
        return "same but for case or punctuation"
    if _overlooking(left) != _overlooking(right):
        return f"same but for {otherwise}" if otherwise else "same, written differently"
    needed = [kept for kept in _WRITING if _overlooking(left, kept) != _overlooking(right, kept)]
    return f"same but for {listed(needed or ['spaces'])}"


def _overlooking(value: str, kept: str = "") -> str:
    """The value without all differences of writing but one."""
    if kept != "accents":
        value = "".join(char for char in unicodedata.normalize("NFKD", value) if not unicodedata.combining(char))
    if kept != "case":
        value = value.casefold()
    if kept != "punctuation":
        value = re.sub(r"[\W_]+", " ", value)
    return (" " if kept == "spaces" else "").join(value.split())
