"""Aligning two lists: the counterpart of each entry, and of the words within, before words are compared at all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from rapidfuzz.distance import LCSseq

from riskcore.metrics.differences.comparison import PieceState
from riskcore.metrics.differences.entries import AGREES, EXACT, FAMILY_ONLY, Entry
from riskcore.metrics.differences.pairing import Pairing, writes_initials

_MAX_ENTRIES = 30  # entries compared each with each, as the metrics do


def align_entries(left: list[Entry], right: list[Entry], people: bool) -> None:
    """Find the counterpart of each entry, and of the words within."""
    _match_equal(left, right)
    ours, theirs = ([entry for entry in side if not entry.fit][:_MAX_ENTRIES] for side in (left, right))
    initials = [writes_initials(side) for side in (left, right)] if people else [False, False]
    found = []
    for i, one in enumerate(ours):
        for j, other in enumerate(theirs):
            pairing = Pairing(one, other, people, initials[0], initials[1])
            if pairing.fit:
                found.append((-pairing.fit, abs(i - j), i, j, pairing))
    for *_, pairing in sorted(found, key=lambda row: row[:4]):
        if not pairing.one.fit and not pairing.other.fit:
            pairing.apply()
    for these, those in ((left, right), (right, left)):
        if people:
            _join_given_names(these)
        else:
            _match_compound(these, those)
    _mark_moved(left, right)


def _match_equal(left: Sequence[Entry], right: Sequence[Entry]) -> None:
    known: dict[tuple[str, ...], list[Entry]] = defaultdict(list)
    for entry in reversed(right):
        known[tuple(sorted(entry.words))].append(entry)
    for entry in left:
        found = known.get(tuple(sorted(entry.words)))
        if found:
            other = found.pop()
            entry.meet(other, EXACT)
            entry.mark_same()
            other.mark_same()


def _match_compound(whole: Sequence[Entry], parts: Sequence[Entry]) -> None:
    """One entry that is several of the other side: "hip-hop/rap" and "rap & hip-hop"."""
    for entry in whole:
        words = set(entry.words)
        inside = [part for part in parts if words.issuperset(part.words)]
        if entry.fit or words != {word for part in inside for word in part.words}:
            continue
        for one in (entry, *(part for part in inside if not part.fit)):
            one.fit = AGREES
            one.mark_same()


def _join_given_names(entries: list[Entry]) -> None:
    """ "kearns, michael" was read as two entries: put them together if the counterpart is "m. kearns"."""
    for family, given in pairwise(list(entries)):
        partner = family.partner
        if family.fit != FAMILY_ONLY or len(family.places) > 1 or given.fit or len(given.places) > 1 or not partner:
            continue
        whole = Pairing(Entry(family.side, (*given.places, *family.places)), partner, True, False, False)
        if whole.fit == AGREES:
            entries[entries.index(family)] = whole.one
            entries.remove(given)
            whole.apply()


def _mark_moved(left: Sequence[Entry], right: Sequence[Entry]) -> None:
    """Mark the words of entries that are out of order."""
    number = {id(entry): index for index, entry in enumerate(left)}
    ours = [index for index, entry in enumerate(left) if entry.partner]
    theirs = [number[id(entry.partner)] for entry in right if entry.partner]
    kept = {
        index
        for block in LCSseq.opcodes(ours, theirs)
        if block.tag == "equal"
        for index in ours[block.src_start : block.src_end]
    }
    for index in set(ours) - kept:
        for entry in (left[index], left[index].partner):
            if entry is not None:
                entry.moved = True
                for place in entry.places:
                    if entry.side.states[place] is PieceState.SAME:
                        entry.side.mark(place, PieceState.MOVED)
