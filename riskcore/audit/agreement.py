"""Several people judging the same pairs: how far they agree, where they do not, and what follows.

Every function takes entries of the log (`VerdictLog.entries`). A person's latest entry on a pair counts. Agreement
looks at independent verdicts alone: those that a person gave to one pair at a time, and not to decide a conflict.
`unsure` is no third answer: it is kept apart, and its share is reported.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from riskcore.audit.kappa import Kappa, cohen, fleiss
from riskcore.audit.verdicts import VERDICTS, WITHDRAWN, Verdict, VerdictLog, is_bulk
from riskcore.runs.store.run_record import RunNotFoundError
from riskcore.runs.store.run_store import RunStore

MATCH, NON_MATCH, UNSURE = VERDICTS
ADJUDICATION = "adjudicated: "  # how the note of a verdict begins that decides a conflict


def adjudication_note(reason: str = "") -> str:
    """The note of a verdict that decides a conflict."""
    return f"{ADJUDICATION}{reason}"


def is_adjudication(verdict: Verdict) -> bool:
    """Whether the verdict decides a conflict. White space at the end of a note may have been removed."""
    return verdict.note.startswith(ADJUDICATION.rstrip())


# ---- the current verdicts of everyone


def current_by_person(entries: Iterable[Verdict]) -> dict[str, dict[str, Verdict]]:
    """Each person's current verdict on each pair, by pair and then by person."""
    found: dict[str, dict[str, Verdict]] = {}
    for entry in in_order(entries):
        of_pair = found.setdefault(entry.pair_id, {})
        of_pair.pop(entry.who, None)
        if entry.verdict != WITHDRAWN:
            of_pair[entry.who] = entry
    return {pair: people for pair, people in found.items() if people}


def independent(entries: Iterable[Verdict]) -> dict[str, dict[str, Verdict]]:
    """The same without verdicts that do not tell what a person saw in a pair: adjudications, and verdicts given to many
    pairs at once. A person who decides a conflict keeps the verdict given before."""
    own = [entry for entry in entries if not (is_adjudication(entry) or is_bulk(entry))]
    return current_by_person(own)


def in_order(entries: Iterable[Verdict]) -> list[Verdict]:
    return sorted(entries, key=lambda entry: (entry.number, entry.at))


# ---- agreement


@dataclasses.dataclass(frozen=True)
class Between:
    """How far two people agree."""

    people: tuple[str, str]
    measured: Kappa


@dataclasses.dataclass(frozen=True)
class Agreement:
    """How far people agree on the pairs that several of them judged."""

    judged: int  # pairs with a verdict of anyone
    shared: int  # pairs that two people or more judged match or non-match
    unanimous: int  # of these, pairs on which all agree
    pooled: Kappa  # Fleiss' kappa of all people; its `agreement` is that of two people on a shared pair
    between: tuple[Between, ...]  # Cohen's kappa of every two people with a shared pair
    verdicts: int  # that are current and independent
    unsure: int  # of these
    unsure_counts: bool  # whether unsure was counted as an answer

    @property
    def unsure_share(self) -> float:
        return self.unsure / self.verdicts if self.verdicts else 0.0

    @property
    def sentence(self) -> str:
        """The finding in words."""
        if not self.shared:
            return "No pair was judged by two people yet, so nothing is known of their agreement."
        start = f"On {self.unanimous:,} of {self.shared:,} pairs that several people judged, all of them agree"
        if self.pooled.kappa is None:
            return f"{start}. Kappa is undefined: all verdicts on them are the same."
        ends = f"{self.pooled.low:.2f} to {self.pooled.high:.2f}"
        return f"{start} (Fleiss' kappa {self.pooled.kappa:.2f}, 95 % interval {ends})."


def agreement(entries: Iterable[Verdict], unsure_counts: bool = False) -> Agreement:
    """How far people agree, each two of them and all together.

    With `unsure_counts`, unsure is an answer like match and non-match.
    """
    own = independent(entries)
    words = VERDICTS if unsure_counts else (MATCH, NON_MATCH)
    number = {word: place for place, word in enumerate(words)}
    said = {
        pair: {who: number[one.verdict] for who, one in people.items() if one.verdict in number}
        for pair, people in own.items()
    }
    shared = [people for people in said.values() if len(people) > 1]
    counts = np.array([np.bincount(list(people.values()), minlength=len(words)) for people in shared])
    every = [one for people in own.values() for one in people.values()]
    return Agreement(
        judged=len(own),
        shared=len(shared),
        unanimous=sum(len(set(people.values())) == 1 for people in shared),
        pooled=fleiss(counts.reshape(-1, len(words))),
        between=tuple(_between(shared, len(words))),
        verdicts=len(every),
        unsure=sum(one.verdict == UNSURE for one in every),
        unsure_counts=unsure_counts,
    )


def _between(shared: Sequence[Mapping[str, int]], words: int) -> list[Between]:
    both: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for people in shared:
        for one, other in itertools.combinations(sorted(people), 2):
            both.setdefault((one, other), []).append((people[one], people[other]))
    found = []
    for names, said in sorted(both.items()):
        first, second = np.array(said).T
        found.append(Between(names, cohen(first, second, words)))
    return found


# ---- conflicts and consensus


@dataclasses.dataclass(frozen=True)
class Conflict:
    """A pair that some people call a match and others a non-match."""

    pair_id: str
    match: tuple[str, ...]  # who said so
    non_match: tuple[str, ...]
    unsure: tuple[str, ...]
    adjudicated: Verdict | None  # the latest verdict that decides it

    @property
    def open(self) -> bool:
        """Whether it is still to be decided. An adjudicator who is unsure has not decided it."""
        return self.adjudicated is None or self.adjudicated.verdict == UNSURE

    @property
    def sentence(self) -> str:
        """Who said what, in words."""
        sides = ((MATCH, self.match), (NON_MATCH, self.non_match), (UNSURE, self.unsure))
        said = "; ".join(f"{word}: {_names(people)}" for word, people in sides if people)
        if self.adjudicated is None:
            return f"{said}."
        return f"{said}. {name_of(self.adjudicated.who)} decided: {self.adjudicated.verdict}."


def conflicts(entries: Iterable[Verdict]) -> list[Conflict]:
    """The pairs on which people disagree, open ones first, each in the order of the first verdict on the pair."""
    log = list(entries)
    decided, plain = _adjudications(log), _without_adjudications(log)
    found = []
    for pair, people in plain.items():
        sides = {word: tuple(who for who, one in people.items() if one.verdict == word) for word in VERDICTS}
        if sides[MATCH] and sides[NON_MATCH]:
            found.append(Conflict(pair, sides[MATCH], sides[NON_MATCH], sides[UNSURE], decided.get(pair)))
    return sorted(found, key=lambda one: not one.open)


def consensus(entries: Iterable[Verdict]) -> dict[str, str]:
    """Match or non-match for each pair: the adjudicated verdict, else that of the majority. Pairs with a tie, and pairs
    that an adjudicator is unsure of, are left out."""
    log = list(entries)
    decided = _adjudications(log)
    found = {pair: word for pair, people in _without_adjudications(log).items() if (word := _majority(people.values()))}
    for pair, one in decided.items():
        if one.verdict == UNSURE:
            found.pop(pair, None)
        else:
            found[pair] = one.verdict
    return found


def agreed(entries: Iterable[Verdict]) -> dict[str, Verdict]:
    """One verdict per judged pair: the latest of those that say what people agree on. Where they disagree and nobody
    has decided, the pair is unsure."""
    log = list(entries)
    words, found = consensus(log), {}
    for pair, people in current_by_person(log).items():
        word = words.get(pair, UNSURE)
        latest = max(people.values(), key=lambda one: (one.verdict == word, one.number))
        found[pair] = dataclasses.replace(latest, verdict=word)
    return found


def agreed_in(folder: Path, bulk: bool = True) -> dict[str, Verdict]:
    """The same of the run in a folder; none if the folder is no longer in its store. Without `bulk`, verdicts that were
    given to many pairs at once are left out: nobody has looked at these pairs."""
    store = RunStore(folder.absolute().parent)
    try:
        entries = VerdictLog(store).entries(store.get(folder.absolute().name).id)
    except RunNotFoundError:
        return {}
    return agreed(one for one in entries if bulk or not is_bulk(one))


def _adjudications(entries: Sequence[Verdict]) -> dict[str, Verdict]:
    """The latest current adjudication of each pair."""
    found: dict[str, Verdict] = {}
    for pair, people in current_by_person(entries).items():
        deciding = [one for one in people.values() if is_adjudication(one)]
        if deciding:
            found[pair] = deciding[-1]
    return found


def _without_adjudications(entries: Sequence[Verdict]) -> dict[str, dict[str, Verdict]]:
    return current_by_person([one for one in entries if not is_adjudication(one)])


def _majority(verdicts: Iterable[Verdict]) -> str | None:
    count = Counter(one.verdict for one in verdicts)
    if count[MATCH] == count[NON_MATCH]:
        return None
    return MATCH if count[MATCH] > count[NON_MATCH] else NON_MATCH


def _names(people: Collection[str]) -> str:
    return ", ".join(map(name_of, people))


def name_of(who: str) -> str:
    return who or "a reviewer without a name"
