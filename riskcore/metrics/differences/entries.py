"""The entries of a list, such as the authors of a paper: which words of the value belong to which."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterable, Sequence

from riskcore.data.values import NAME_SUFFIXES, elements, fold, words
from riskcore.metrics.differences.comparison import PieceState
from riskcore.metrics.differences.side import Side
from riskcore.metrics.differences.wording import UNNAMED

_MAX_LIST_WORDS = 600  # a value with more words is compared by words
_MAX_ENTRY_WORDS = 7  # an entry with more words is a sentence: the value is compared by words
_OTHERS = frozenset(("et", "al", "others"))
_PEOPLE = frozenset(
    (
        *("author", "editor", "artist", "director", "actor", "writer", "creator", "composer", "inventor", "person"),
        *("cast", "member", "contributor", "performer", "singer", "people", "owner", "investigator"),
    )
)
# How well an entry fits its counterpart. Of those that contradict, only family name and initial are the same.
EXACT, AGREES, FAMILY_ONLY, CONTRADICTS, ALONE = 4, 3, 2, 1, 0


@dataclasses.dataclass(eq=False)
class Entry:
    """One entry of a list: the places of its words, given names first."""

    side: Side
    places: tuple[int, ...]
    fit: int = ALONE
    partner: Entry | None = None
    moved: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(self.side.words[place].text for place in self.places)

    @property
    def family(self) -> int:
        """The position of the family name: the last that is no initial, as in "john smith" and "smith j"."""
        found = [index for index, word in enumerate(self.words) if word not in NAME_SUFFIXES]
        names = [index for index in found if len(self.words[index]) > 1]
        return (names or found or [len(self.places) - 1])[-1]

    @property
    def text(self) -> str:
        last = max(self.places)
        initial = len(self.side.words[last].text) == 1 and self.side.dotted(last)
        return self.side.text(min(self.places), last + 1) + ("." if initial else "")

    @property
    def agrees(self) -> bool:
        return self.fit >= FAMILY_ONLY

    def meet(self, other: Entry, fit: int) -> None:
        """Make the two each other's counterpart."""
        self.partner, other.partner = other, self
        self.fit = other.fit = fit

    def mark_same(self) -> None:
        for place in self.places:
            self.side.mark(place, PieceState.SAME)

    def leave_out(self, positions: Iterable[int]) -> None:
        """Mark words that the other side leaves out."""
        for position in positions:
            self.side.mark(self.places[position], PieceState.ABBREVIATION)


def read_entries(side: Side) -> list[Entry]:
    """The entries of a list, in order; empty if the value is no list, or too long a one."""
    parts = elements(fold(side.value)) if len(side.words) <= _MAX_LIST_WORDS else []
    found: list[Entry] = []
    place = 0
    for element in parts:
        wanted = words(element)
        places: dict[str, list[int]] = defaultdict(list)
        missing = list(wanted)
        while missing and place < len(side.words):
            word = side.words[place].text
            if word in missing:
                missing.remove(word)
                places[word].append(place)
            place += 1
        if missing:
            return []
        entry = Entry(side, tuple(places[word].pop(0) for word in wanted))
        named = len(wanted) - 2 if wanted[-2:] == ["et", "al"] else 0 if _OTHERS.issuperset(wanted) else len(wanted)
        entry.leave_out(range(named, len(wanted)))
        if named:
            found.extend(_apart(Entry(side, entry.places[:named])))
    if any(len(entry.places) > _MAX_ENTRY_WORDS for entry in found):
        return []
    between = set(range(len(side.words))) - {place for entry in found for place in entry.places}
    for place in between:  # "and" between two entries
        if side.open(place):
            side.mark(place, PieceState.SAME)
    return found


def _apart(entry: Entry) -> list[Entry]:
    """Two names that were taken for one, because a short family name looks like initials: "john smith and k. wu"."""
    places = sorted(entry.places)
    for number, place in enumerate(places[2:-1], 2):
        separated = places[number - 1] + 1 < place or entry.side.has_separator(place)  # a word between is "and"
        if separated and len(entry.side.words[place].text) == 1 < len(entry.side.words[places[-1]].text):
            return [Entry(entry.side, tuple(places[:number])), Entry(entry.side, tuple(places[number:]))]
    return [entry]


def split_again(entries: Sequence[Entry]) -> list[Entry]:
    """Entries that are no names, cut at commas: short ones were taken for the initials of the one before."""
    found: list[Entry] = []
    for entry in entries:
        for number, place in enumerate(sorted(entry.places)):
            if number and not entry.side.has_separator(place):
                found[-1] = Entry(entry.side, (*found[-1].places, place))
            else:
                found.append(Entry(entry.side, (place,)))
    return found


def are_people(left: Sequence[Entry], right: Sequence[Entry], noun: str) -> bool:
    """Whether entries are people: by the attribute's name, by initials, or by their length if it has no name."""
    if _PEOPLE & set(noun.split()):
        return True
    for entries in (left, right):
        if 2 * sum(any(len(word) == 1 for word in entry.words) for entry in entries) >= len(entries):
            return True
    return noun == UNNAMED and all(2 <= len(entry.places) <= 4 for entry in (*left, *right))
