"""Aligning the words of two values: which are the same, moved, joined, abbreviated, misspelt, or only on one side.

The words that both values have in the same order are found first. They cut both values into gaps. What stands in the
same gap on both sides is likely the same thing written differently, so most other comparisons stay within a gap.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from rapidfuzz.distance import LCSseq

from riskcore.data.values import STOP_WORDS, is_numeric_word
from riskcore.metrics.differences.comparison import PieceState
from riskcore.metrics.differences.numerals import is_spelt_out, number_of
from riskcore.metrics.differences.side import MAX_WORDS, Side, ranges
from riskcore.metrics.differences.spelling import LABELS, initials_of, is_abbreviation, is_number_of, is_typo

_JOINED_WORDS = 4  # words that may be written as one: "ps lx 350 h"
_LONG_NUMBER = 7  # digits from which a number is a part number, however it is grouped
_MAX_COMPARED = 900  # word pairs compared by letters in one gap, or in the whole of short values
_MAX_ACRONYM_WORDS = 60  # a value with more words is text, in which first letters spell anything
_FAR_ABBREVIATION = 3  # letters from which an abbreviation is recognised away from its place
_FAR_TYPO = 6
_NAME_WORDS = 8  # in values up to this long, two letters may stand for two words
_SHORT_VALUE = 5  # words; in values this short an initial is recognised anywhere: "smith, j." and "john smith"


def align_words(left: Side, right: Side, digits_join: bool = False) -> None:
    """Find the counterpart of every word. `digits_join`: groups of digits are one number, as in phone numbers."""
    _match_in_order(left, right)
    _skip_entities(left, right)
    _match_moved(left, right)
    _match_joined(left, right, digits_join)
    for one, other in ((left, right), (right, left)):
        _match_acronyms(one, other)
    _match_numerals(left, right)
    _match_in_gaps(left, right)
    _match_far(left, right)
    for one, other in ((left, right), (right, left)):
        _match_repeated(one, other)
    _match_numbers(left, right)
    _set_aside_left_out(left, right)


def _match_in_order(left: Side, right: Side) -> None:
    ours, theirs = ([word.text for word in side.words[:MAX_WORDS]] for side in (left, right))
    matched = 0
    for block in LCSseq.opcodes(ours, theirs):
        for side, start, stop in (
            (left, block.src_start, block.src_end),
            (right, block.dest_start, block.dest_end),
        ):
            for index in range(start, stop):
                side.gaps[index] = matched
                if block.tag == "equal":
                    side.mark(index, PieceState.SAME)
        matched += block.src_end - block.src_start if block.tag == "equal" else 0
    for side in (left, right):
        for index in range(MAX_WORDS, len(side.words)):
            side.gaps[index] = matched


def _skip_entities(*sides: Side) -> None:
    for side in sides:
        for index in side.still_open():
            if side.is_entity(index):
                side.mark(index, PieceState.SAME)


def _match_moved(left: Side, right: Side) -> None:
    """The same word out of order. A moved "of" tells nothing."""
    places: dict[str, list[int]] = defaultdict(list)
    for index in reversed(right.still_open()):
        places[right.words[index].text].append(index)
    for index in left.still_open():
        word = left.words[index].text
        if places.get(word):
            state = PieceState.SAME if word in STOP_WORDS else PieceState.MOVED
            left.mark(index, state)
            right.mark(places[word].pop(), state)


def _match_joined(left: Side, right: Side, digits_join: bool) -> None:
    """ "ps-lx 350h" and "pslx350h", "data base" and "database": the same letters with other gaps between them."""
    theirs: dict[str, tuple[int, int]] = {}
    for start, stop in _windows(right):
        theirs.setdefault(_letters(right, start, stop), (start, stop))
    for start, stop in _windows(left):
        letters = _letters(left, start, stop)
        found = theirs.get(letters)
        if found is None or (_is_short_number(letters) and not digits_join):
            continue
        if all(map(left.open, range(start, stop))) and all(map(right.open, range(*found))):
            left.mark_run(start, stop, PieceState.SAME)
            right.mark_run(*found, PieceState.SAME)


def _is_short_number(letters: str) -> bool:
    """Digits that may come together by chance: "1 2" is not 12, but 010-10823-03 is 0101082303."""
    return letters.isdigit() and len(letters) < _LONG_NUMBER


def _windows(side: Side, longest: int = _JOINED_WORDS) -> list[tuple[int, int]]:
    """Runs of open words up to some length, the longest first."""
    found = [
        (place, place + size)
        for start, stop in ranges(side.still_open())
        for size in range(1, min(longest, stop - start) + 1)
        for place in range(start, stop - size + 1)
    ]
    return sorted(found, key=lambda window: window[0] - window[1])


def _letters(side: Side, start: int, stop: int) -> str:
    return "".join(word.text for word in side.words[start:stop])


def _match_acronyms(short: Side, long: Side) -> None:
    """A word that spells the first letters of a run: "vldb" and "very large data bases"."""
    if max(len(short.words), len(long.words)) > _MAX_ACRONYM_WORDS or not long.still_open():
        return
    shortest = 2 if max(len(short.words), len(long.words)) <= _NAME_WORDS else 3
    content = [index for index, word in enumerate(long.words) if word.text not in STOP_WORDS]
    rows = [(row, "".join(long.words[index].text[0] for index in row)) for row in (content, range(len(long.words)))]
    for index, word in enumerate(short.words):
        if short.states[index] not in (PieceState.ONLY_HERE, PieceState.SAME) or len(word.text) < shortest:
            continue
        found = [_spelt_by(initials, *row, long) for initials in initials_of(word.text) for row in rows]
        run = next(filter(None, found), None)
        if run is not None:
            partner = long.text(*run)
            long.mark_run(*run, PieceState.ABBREVIATION, short.text(index, index + 1))
            if short.open(index):
                short.mark(index, PieceState.ABBREVIATION, partner)


def _spelt_by(word: str, row: Sequence[int], letters: str, side: Side) -> tuple[int, int] | None:
    """The words of `row` with these first letters, if none has found a counterpart."""
    place = letters.find(word)
    while place >= 0:
        run = row[place : place + len(word)]
        if all(map(side.open, run)):
            return run[0], run[-1] + 1
        place = letters.find(word, place + 1)
    return None


def _match_numerals(left: Side, right: Side) -> None:
    """ "7th" and "seventh", "Vol. 2" and "Vol. II", in the same gap; at least one of them written without figures."""
    theirs: dict[tuple[int, int], tuple[int, int]] = {}
    for window, number in _numerals(right):
        theirs.setdefault((right.gaps[window[0]], number), window)
    for window, number in _numerals(left):
        found = theirs.get((left.gaps[window[0]], number))
        if found is None or not (_spelt_out(left, window) or _spelt_out(right, found)):
            continue
        if all(map(left.open, range(*window))) and all(map(right.open, range(*found))):
            left.mark_run(*window, PieceState.ABBREVIATION, right.text(*found))
            right.mark_run(*found, PieceState.ABBREVIATION, left.text(*window))


def _numerals(side: Side) -> list[tuple[tuple[int, int], int]]:
    """Open words that are a number, in figures or not; "twenty-first" before "first"."""
    return [
        (window, number)
        for window in _windows(side, longest=2)
        if (number := number_of([word.text for word in side.words[slice(*window)]])) is not None
    ]


def _spelt_out(side: Side, window: tuple[int, int]) -> bool:
    return is_spelt_out([word.text for word in side.words[slice(*window)]])


def _match_in_gaps(left: Side, right: Side) -> None:
    ours, theirs = _by_gap(left), _by_gap(right)
    for gap in ours.keys() & theirs.keys():
        if len(ours[gap]) * len(theirs[gap]) <= _MAX_COMPARED:
            _match_by_letters(left, right, ours[gap], theirs[gap], near=True)


def _by_gap(side: Side) -> dict[int, list[int]]:
    found: dict[int, list[int]] = defaultdict(list)
    for index in side.still_open():
        found[side.gaps[index]].append(index)
    return found


def _match_far(left: Side, right: Side) -> None:
    """Abbreviations and slips away from their place, where there are few words that could be meant."""
    ours, theirs = left.still_open(), right.still_open()
    if len(ours) * len(theirs) <= _MAX_COMPARED:
        short = max(len(left.words), len(right.words)) <= _SHORT_VALUE
        _match_by_letters(left, right, ours, theirs, near=short)


def _match_by_letters(left: Side, right: Side, ours: list[int], theirs: list[int], near: bool) -> None:
    beginning: dict[str, list[int]] = defaultdict(list)  # only words that begin alike are compared
    for other in theirs:
        for letter in set(right.words[other].text[:2]):
            beginning[letter].append(other)
    for index in ours:
        for other in beginning.get(left.words[index].text[0], ()):
            if right.open(other) and (state := _by_letters(left, index, right, other, near)):
                left.mark(index, state, right.text(other, other + 1))
                right.mark(other, state, left.text(index, index + 1))
                break


def _by_letters(left: Side, index: int, right: Side, other: int, near: bool) -> PieceState | None:
    one, two = left.words[index].text, right.words[other].text
    if near and (is_number_of(one, two) or is_number_of(two, one)):
        whole = all(side.joined(word) == (word, word + 1) for side, word in ((left, index), (right, other)))
        return PieceState.ABBREVIATION if whole else None
    dotted = left.dotted(index) if len(one) < len(two) else right.dotted(other)
    short, long = sorted((one, two), key=len)
    if (near or (dotted and len(short) >= _FAR_ABBREVIATION)) and is_abbreviation(short, long, dotted):
        return PieceState.ABBREVIATION
    if (near or len(short) >= _FAR_TYPO) and is_typo(one, two):
        return PieceState.TYPO
    return None


def _match_repeated(side: Side, other: Side) -> None:
    """A word that the other side has, only not as often, is no difference; nor is a model number with other hyphens."""
    known = {word.text for word in other.words}
    for index in side.having(PieceState.ONLY_HERE):  # also among the words that were not aligned
        if side.words[index].text in known:
            side.mark(index, PieceState.SAME)
    for start, stop in _windows(side):
        whole = _letters(side, start, stop)
        if whole in known and not _is_short_number(whole) and all(map(side.open, range(start, stop))):
            side.mark_run(start, stop, PieceState.SAME)


def _match_numbers(left: Side, right: Side) -> None:
    """Two numbers in the same gap, if there is but one on each side, are each other's counterpart."""
    ours, theirs = _lone_numbers(left), _lone_numbers(right)
    for gap in ours.keys() & theirs.keys():
        index, other = ours[gap], theirs[gap]
        left.mark(index, PieceState.NUMBER, right.text(other, other + 1))
        right.mark(other, PieceState.NUMBER, left.text(index, index + 1))


def _lone_numbers(side: Side) -> dict[int, int]:
    numbers = [index for index in side.still_open() if is_numeric_word(side.words[index].text)]
    count = Counter(side.gaps[index] for index in numbers)
    return {
        side.gaps[index]: index
        for index in numbers
        if count[side.gaps[index]] == 1 and side.words[index].text.isdigit() and index < MAX_WORDS
    }


def _set_aside_left_out(left: Side, right: Side) -> None:
    """What abbreviating leaves out is no difference: "pp." before pages, and the "of" of a name that is abbreviated."""
    still = [(side, index) for side in (left, right) for index in side.having(PieceState.ONLY_HERE)]
    if not any(state is not PieceState.ONLY_HERE for side in (left, right) for state in side.states):
        return
    for side, index in still:
        if side.words[index].text in LABELS and _before_number(side, index):
            side.mark(index, PieceState.ABBREVIATION)
    still = [(side, index) for side, index in still if side.open(index)]
    abbreviated = any(PieceState.ABBREVIATION in side.states for side in (left, right))
    if abbreviated and all(side.words[index].text in STOP_WORDS for side, index in still):
        for side, index in still:
            side.mark(index, PieceState.ABBREVIATION)


def _before_number(side: Side, index: int) -> bool:
    """Whether a number follows that the other side has too."""
    return index + 1 < len(side.words) and is_numeric_word(side.words[index + 1].text) and not side.open(index + 1)
