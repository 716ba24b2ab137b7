"""The agreement of two texts that a person names first."""

from __future__ import annotations

from collections.abc import Sequence

from riskcore.data.values import STOP_WORDS
from riskcore.metrics.differences.comparison import MERE_WRITING, PieceState, Relation
from riskcore.metrics.differences.side import MAX_WORDS, Side, ranges
from riskcore.metrics.differences.spelling import LABELS, is_code
from riskcore.metrics.differences.wording import QUOTED_WORDS, counted, cut, quoted

_MAX_WORDS = 400  # words that both sides have, among which a phrase is looked for
_CODE_CHARS = 4  # of a model number at least
_SCATTERED = 3  # a value of a third of the words or less has to be found in one piece
_TELLING_LETTERS = 3
_COMMONPLACE = STOP_WORDS | LABELS | {"feat", "ft", "featuring", "inc", "ltd", "llc", "corp"}
_SHARED = (PieceState.SAME, PieceState.MOVED)


def words_alike(left: Side, right: Side, relation: Relation, noun: str) -> str | None:
    """The agreement of two texts that a person names first."""
    if same := same_phrase(relation, noun):
        return same
    shared = [index for index, state in enumerate(left.states) if state in _SHARED and not left.is_entity(index)]
    code = next((found for index in shared if (found := _model_number(left, index))), None)
    if code:
        return f"model number {cut(code)} on both sides"
    if relation is Relation.CONTAINED and (part := _part(left, right, noun)):
        return part
    telling = [index for index in shared if left.words[index].text not in _COMMONPLACE]
    most = max(len(_telling_words(left)), len(_telling_words(right)))
    agreeing = len({left.words[index].text for index in telling})
    if 2 * agreeing >= most and agreeing > 1:
        return f"{min(agreeing, most)} of {counted(most, 'word')} agree"
    common = _common_phrase(left, right, telling)
    return f"{quoted(common)} on both sides" if common else None


def _part(left: Side, right: Side, noun: str) -> str | None:
    """One value as part of the other, unless it is a small part scattered over it."""
    (part, inner), (whole, outer) = ("left", left), ("right", right)
    if left.having(PieceState.ONLY_HERE):
        (part, inner), (whole, outer) = (whole, outer), (part, inner)
    in_one_piece = len(inner.words) > 1 and _spaced(inner) in _spaced(outer)
    if _SCATTERED * len(inner.words) < len(outer.words) and not in_one_piece:
        return None
    return f"the {part} {noun or 'value'} is part of the {whole} one"


def _common_phrase(left: Side, right: Side, telling: Sequence[int]) -> str | None:
    """Up to three words that follow each other on both sides; as many as there are, then the longest."""
    theirs = _spaced(right)
    windows = [
        (size, _letters(left, start, start + size), -start)
        for first, stop in ranges(telling[:_MAX_WORDS])
        for size in range(1, min(QUOTED_WORDS, stop - first) + 1)
        for start in range(first, stop - size + 1)
        if _spaced(left, start, start + size) in theirs
    ]
    size, letters, start = max(windows, default=(0, 0, 0))
    return left.text(-start, size - start) if letters >= _TELLING_LETTERS else None


def _spaced(side: Side, start: int = 0, stop: int = MAX_WORDS) -> str:
    return f" {' '.join(word.text for word in side.words[start:stop])} "


def same_phrase(relation: Relation, noun: str) -> str | None:
    """ "same title", where all differences are of writing."""
    if relation in MERE_WRITING:
        return f"same {noun or 'value'}{', abbreviated' if relation is Relation.ABBREVIATED else ''}"
    return f"same {noun or 'value'} but for spelling" if relation is Relation.NEAR else None


def _model_number(side: Side, index: int) -> str | None:
    """The model number that a shared word is, or that it is the main part of."""
    text = side.words[index].text
    if side.first[index] != index:
        return None
    stop = index + 1
    while stop < len(side.words) and side.first[stop] == index:
        text += side.words[stop].text
        stop += 1
    if not is_code(text) or len(text) < _CODE_CHARS:
        return None
    if stop > index + 1:
        return side.text(index, stop)
    start, stop = side.joined(index)
    whole = all(side.states[place] in _SHARED for place in range(start, stop))
    return side.text(start, stop) if whole else side.text(index, index + 1)


def _telling_words(side: Side) -> set[str]:
    return {word.text for word in side.words} - _COMMONPLACE


def _letters(side: Side, start: int, stop: int) -> int:
    return sum(len(word.text) for word in side.words[start:stop])
