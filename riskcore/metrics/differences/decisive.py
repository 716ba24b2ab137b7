"""The difference of two texts that a person names first.

Of many differing words, those with digits come first (model numbers, sizes, years), then long and capitalised words.
"""

from __future__ import annotations

from itertools import product

from rapidfuzz.distance import Levenshtein

from riskcore.data.values import STOP_WORDS, compact, fold, is_numeric_word
from riskcore.metrics.differences.captions import have_common
from riskcore.metrics.differences.comparison import MERE_WRITING, PieceState, Relation
from riskcore.metrics.differences.side import MAX_WORDS, Side
from riskcore.metrics.differences.spelling import is_code, unit_of
from riskcore.metrics.differences.wording import QUOTED_WORDS, cut, quoted

_LONG_WORD, _ORDINARY_WORD = 8, 4  # letters
_STOP_WORD = 3  # the rank of words that say nothing
_MAX_RANKED = 400  # differing words of a side that are ranked
_MAX_CODES = 12  # model numbers of a side that are compared with those of the other
_JOINED_WORDS = 6  # words that hyphens make one
_CODE_CHARS = 4  # from which one model number that begins another is the same model
_AROUND = " \t\r\n,;:.'\"()[]"


def words_decisive(left: Side, right: Side, relation: Relation) -> str | None:
    """The difference of two texts that a person names first."""
    if relation in MERE_WRITING:
        return None
    if relation is Relation.NEAR:
        return spelling_decisive(left)
    common = have_common(left)
    if not common and max(len(left.words), len(right.words)) <= QUOTED_WORDS:
        return _whole_values(left, right)
    numbers = _numbers_decisive(left, right) if common else None
    return _codes_decisive(left, right) or numbers or _quote_sides(*_decisive_words(left, right))


def code_decisive(left: Side, right: Side, relation: Relation) -> str | None:
    """The difference of two codes: of them, the whole is compared."""
    return None if relation in MERE_WRITING else _whole_values(left, right)


def spelling_decisive(left: Side) -> str:
    """The first word that is spelt differently."""
    index = left.having(PieceState.TYPO)[0]
    return f"spelling: {quoted(left.text(index, index + 1))} against {quoted(left.partners[index] or '')}"


def _whole_values(left: Side, right: Side) -> str:
    return f"{quoted(left.value.strip(_AROUND))} against {quoted(right.value.strip(_AROUND))}"


def _codes_decisive(left: Side, right: Side) -> str | None:
    """The model numbers that differ. Of several, the two that are most alike."""
    ours, theirs = _differing_codes(left, right), _differing_codes(right, left)
    if not ours or not theirs:
        return _quote_sides("".join(ours[:1]), "".join(theirs[:1])) if ours or theirs else None
    return _quote_sides(*max(product(ours, theirs), key=lambda pair: Levenshtein.normalized_similarity(*pair)))


def _numbers_decisive(left: Side, right: Side) -> str | None:
    """The first numbers that differ at the same place."""
    theirs = {_place(right, index): index for index in reversed(_differing_numbers(right))}
    for index in _differing_numbers(left):
        if _place(left, index) in theirs:
            one, other = _number_text(left, index), _number_text(right, theirs[_place(left, index)])
            lettered = any(character.isalpha() for character in one + other)
            return _quote_sides(one, other) if lettered else f"{cut(one)} against {cut(other)}"
    return None


def _differing_codes(side: Side, other: Side) -> list[str]:
    """Model numbers as they are written: "ps-lx350h". Not those that only lengthen or shorten one of the other side."""
    found = {
        _code_text(side, index): None for index in _differing(side)[:_MAX_RANKED] if is_code(side.words[index].text)
    }
    known = {compact(fold(code)) for code in _codes_of(other)} if found else set()
    return [code for code in found if not _lengthens(compact(fold(code)), known)][:_MAX_CODES]


def _codes_of(side: Side) -> list[str]:
    return [_code_text(side, index) for index, word in enumerate(side.words[:MAX_WORDS]) if is_numeric_word(word.text)][
        :_MAX_RANKED
    ]


def _lengthens(code: str, known: set[str]) -> bool:
    return any(
        min(len(code), len(other)) >= _CODE_CHARS and (code.startswith(other) or other.startswith(code))
        for other in known
    )


def _code_text(side: Side, index: int) -> str:
    start, stop = side.joined(index)
    return side.text(start, stop) if stop - start <= _JOINED_WORDS else side.text(index, index + 1)


def _differing_numbers(side: Side) -> list[int]:
    return [index for index in _differing(side) if is_numeric_word(side.words[index].text)]


def _place(side: Side, index: int) -> tuple[int, str]:
    """Where a number stands, and its unit: only numbers with the same one are compared."""
    return side.gaps[index], unit_of(side.words[index].text)


def _number_text(side: Side, index: int) -> str:
    """A number with the numbers it is joined to: "2.5", "10/100"."""
    start, stop = side.joined(index)
    whole = stop - start <= _JOINED_WORDS and all(is_numeric_word(word.text) for word in side.words[start:stop])
    return side.text(start, stop) if whole else side.text(index, index + 1)


def _differing(side: Side) -> list[int]:
    return [index for index, state in enumerate(side.states) if state in (PieceState.ONLY_HERE, PieceState.NUMBER)]


def _decisive_words(left: Side, right: Side) -> tuple[str, str]:
    """Of the words only one side has, those that say most; if possible, from the same place on both sides."""
    ours, theirs = _ranked(left), _ranked(right)
    one, other = min(ours, default=None), min(theirs, default=None)
    opposite: dict[int, tuple[int, int]] = {}
    for rank, index in sorted(theirs):
        opposite.setdefault(right.gaps[index], (rank, index))
    meeting = [
        (rank + opposite[left.gaps[index]][0], (rank, index), opposite[left.gaps[index]])
        for rank, index in ours
        if rank < _STOP_WORD and left.gaps[index] in opposite
    ]
    if meeting:
        _, one, other = min(meeting)
    elif one and other and _STOP_WORD in (one[0], other[0]) and one[0] != other[0]:
        one, other = (None, other) if one[0] == _STOP_WORD else (one, None)
    return _run_around(left, one[1]) if one else "", _run_around(right, other[1]) if other else ""


def _ranked(side: Side) -> list[tuple[int, int]]:
    """Words that only this side has, with their rank: 0 says most."""
    return [(_rank(side, index), index) for index in side.having(PieceState.ONLY_HERE)[:_MAX_RANKED]]


def _rank(side: Side, index: int) -> int:
    word = side.words[index]
    if word.text in STOP_WORDS:
        return _STOP_WORD
    if (
        is_numeric_word(word.text)
        or len(word.text) >= _LONG_WORD
        or (side.value[word.start].isupper() and not side.value.isupper())
    ):
        return 0
    return 1 if len(word.text) >= _ORDINARY_WORD else 2


def _run_around(side: Side, index: int) -> str:
    """The word with its neighbours that only this side has, up to three words, no stop word at either end."""
    start = index
    while index - start + 1 < QUOTED_WORDS and start and side.open(start - 1) and side.adjoins(start):
        start -= 1
    stop = index + 1
    while stop - start < QUOTED_WORDS and stop < len(side.words) and side.open(stop) and side.adjoins(stop):
        stop += 1
    while start < index and side.words[start].text in STOP_WORDS:
        start += 1
    while stop - 1 > index and side.words[stop - 1].text in STOP_WORDS:
        stop -= 1
    return side.text(start, stop)


def _quote_sides(left: str, right: str) -> str:
    if left and right:
        return f"{quoted(left)} only on the left, {quoted(right)} on the right"
    return f"{quoted(left or right)} only on the {'left' if left else 'right'}"
