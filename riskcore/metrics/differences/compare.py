"""The comparison of two values of one attribute, by its type."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TypeVar

from riskcore.data.schema import AttributeType
from riskcore.data.values import compact, fold
from riskcore.metrics.differences.alignment import align_words
from riskcore.metrics.differences.alike import same_phrase, words_alike
from riskcore.metrics.differences.captions import same_caption, words_caption
from riskcore.metrics.differences.comparison import Piece, PieceState, Relation, ValueComparison
from riskcore.metrics.differences.decisive import code_decisive, words_decisive
from riskcore.metrics.differences.entries import Entry, are_people, read_entries, split_again
from riskcore.metrics.differences.entry_phrases import ListPhrases
from riskcore.metrics.differences.list_alignment import align_entries
from riskcore.metrics.differences.numbers import Numbers, number_pieces, read_numbers
from riskcore.metrics.differences.side import Side
from riskcore.metrics.differences.wording import entry_noun, noun_of, quoted

Found = TypeVar("Found")


def compare_values(
    left: str | None,
    right: str | None,
    type: AttributeType,  # noqa: A002 - the word of the schema
    name: str | None = None,
) -> ValueComparison:
    """How two values of an attribute relate, piece by piece and in words. Phrases need the `name` for "same title"."""
    kind, noun = AttributeType(type), noun_of(name)
    if not left or not right or left.isspace() or right.isspace():
        return _compare_missing(left, right)
    if left == right:
        return ValueComparison(
            _whole(left, PieceState.SAME),
            _whole(right, PieceState.SAME),
            Relation.IDENTICAL,
            "identical",
            None,
            _identical(left, kind, noun),
        )
    if kind is AttributeType.NUMBER and (found := _compare_numbers(left, right, noun)):
        return found
    if kind is AttributeType.CODE and compact(fold(left)) == compact(fold(right)) != "":
        return _compare_same(left, right, noun)
    if kind is AttributeType.SET and (found := _compare_lists(left, right, noun)):
        return found
    return _compare_texts(left, right, kind, noun)


def _compare_missing(left: str | None, right: str | None) -> ValueComparison:
    missing = [not value or value.isspace() for value in (left, right)]
    relation = Relation.BOTH_MISSING if all(missing) else Relation.MISSING
    words = "no value on either side" if all(missing) else f"no value on the {'left' if missing[0] else 'right'}"
    pieces = [_whole(value, PieceState.SAME) for value in (left, right)]
    return ValueComparison(pieces[0], pieces[1], relation, words, None, None)


def _identical(value: str, kind: AttributeType, noun: str) -> str:
    if kind is AttributeType.NUMBER and (numbers := read_numbers(value, value, noun)):
        return _same_number(numbers, noun)
    return f"same {noun or 'value'}"


def _same_number(numbers: Numbers, noun: str) -> str:
    named = {"year": "year", "date": "date"}.get(numbers.form, "number")
    if numbers.form != "date" or "date" in noun:
        named = noun or named
    return f"same {named} {numbers.common}"


def _compare_numbers(left: str, right: str, noun: str) -> ValueComparison | None:
    numbers = read_numbers(left, right, noun)
    if numbers is None:
        return None
    if numbers.equal:
        words = same_caption(left, right)
        pieces = [_whole(value, PieceState.SAME) for value in (left, right)]
        return ValueComparison(pieces[0], pieces[1], Relation.SAME, words, None, _same_number(numbers, noun))
    pieces = [number_pieces(left, right), number_pieces(right, left)]
    words = f"differs by {numbers.gap}"
    return ValueComparison(pieces[0], pieces[1], Relation.DIFFERENT, words, numbers.against, None)


def _compare_same(left: str, right: str, noun: str) -> ValueComparison:
    pieces = [_whole(value, PieceState.SAME) for value in (left, right)]
    words, alike = same_caption(left, right), same_phrase(Relation.SAME, noun)
    return ValueComparison(pieces[0], pieces[1], Relation.SAME, words, None, alike)


def _compare_lists(left: str, right: str, noun: str) -> ValueComparison | None:
    """None if a value is no list."""
    one, other = Side.read(left), Side.read(right)
    ours, theirs = read_entries(one), read_entries(other)
    if not ours or not theirs:
        return None
    entry = entry_noun(noun)
    people = are_people(ours, theirs, entry)
    if not people:
        ours, theirs = split_again(ours), split_again(theirs)
    align_entries(*_sorted(left, right, ours, theirs), people=people)
    relation = _list_relation(one, other, ours, theirs)
    phrases = ListPhrases(one, other, ours, theirs, relation, entry, people)
    return ValueComparison(one.pieces(), other.pieces(), relation, phrases.caption, phrases.decisive, phrases.alike)


def _list_relation(one: Side, other: Side, ours: Sequence[Entry], theirs: Sequence[Entry]) -> Relation:
    alone = [any(not entry.agrees for entry in entries) for entries in (ours, theirs)]
    if any(alone):
        return Relation.DIFFERENT if all(alone) else Relation.CONTAINED
    found = _relation(one, other)
    moved = any(entry.moved for entry in ours)  # "smith, j." and "j. smith" are not
    return Relation.SAME if found is Relation.REORDERED and not moved else found


def _compare_texts(left: str, right: str, kind: AttributeType, noun: str) -> ValueComparison:
    one, other = Side.read(left), Side.read(right)
    if not one.words or not other.words:
        return _compare_symbols(left, right, noun)
    align_words(*_sorted(left, right, one, other), digits_join=kind is AttributeType.CODE)
    relation = _relation(one, other)
    return ValueComparison(
        one.pieces(),
        other.pieces(),
        relation,
        words_caption(one, other, relation),
        code_decisive(one, other, relation) if kind is AttributeType.CODE else words_decisive(one, other, relation),
        words_alike(one, other, relation, noun),
    )


def _compare_symbols(left: str, right: str, noun: str) -> ValueComparison:
    """Values of which one has no word: "--", "?"."""
    if fold(left) == fold(right):
        return _compare_same(left, right, noun)
    pieces = [_whole(value, PieceState.ONLY_HERE) for value in (left, right)]
    against = f"{quoted(left.strip())} against {quoted(right.strip())}"
    return ValueComparison(pieces[0], pieces[1], Relation.DIFFERENT, "no word in common", against, None)


def _relation(one: Side, other: Side) -> Relation:
    states = {*one.states, *other.states}
    alone = [bool(side.having(PieceState.ONLY_HERE)) for side in (one, other)]
    if PieceState.NUMBER in states or all(alone):
        return Relation.DIFFERENT
    if any(alone):
        return Relation.CONTAINED
    for state, relation in (
        (PieceState.TYPO, Relation.NEAR),
        (PieceState.ABBREVIATION, Relation.ABBREVIATED),
        (PieceState.MOVED, Relation.REORDERED),
    ):
        if state in states:
            return relation
    ours, theirs = ([word.text for word in side.words] for side in (one, other))
    moved = "".join(ours) != "".join(theirs) and Counter(ours) == Counter(theirs)
    return Relation.REORDERED if moved else Relation.SAME


def _sorted(left: str, right: str, one: Found, other: Found) -> tuple[Found, Found]:
    """Both in the order of their values: the alignment must not hang on which value is the left one."""
    return (one, other) if left <= right else (other, one)


def _whole(value: str | None, state: PieceState) -> tuple[Piece, ...]:
    return (Piece(value, state),) if value else ()
