"""Several people judging the same pairs: how far they agree, where they do not, what follows, and who stands out.

Every function takes entries of the log (`VerdictLog.entries`). A person's latest entry on a pair counts. Agreement and
flags look at independent verdicts alone: those that a person gave to one pair at a time, and not to decide a conflict.
`unsure` is no third answer: it is kept apart, and its share is reported.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
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
FALSE_FLAG = 0.05  # the chance that a reviewer who errs like the others is ever flagged
_MORE = (0.1, 0.2, 0.3, 0.4, 0.5)  # how much more often than the others a flagged reviewer may err
_PRIOR_ERRORS, _PRIOR_VERDICTS = 0.5, 10.0  # before any verdict: 1 in 20 is wrong, as ten verdicts would show it
_SUREST = 0.95  # a model counts at most like one colleague
_ROUNDS = 30


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
    for entry in _in_order(entries):
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


def _in_order(entries: Iterable[Verdict]) -> list[Verdict]:
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
        return f"{said}. {_name(self.adjudicated.who)} decided: {self.adjudicated.verdict}."


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


def agreed_in(folder: Path) -> dict[str, Verdict]:
    """The same of the run in a folder; none if the folder is no longer in its store."""
    store = RunStore(folder.absolute().parent)
    try:
        return agreed(VerdictLog(store).entries(store.get(folder.absolute().name).id))
    except RunNotFoundError:
        return {}


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
    return ", ".join(map(_name, people))


def _name(who: str) -> str:
    return who or "a reviewer without a name"


# ---- reviewers who stand out


@dataclasses.dataclass(frozen=True)
class ReviewerCheck:
    """How one person's verdicts compare with what all others say of the same pairs."""

    who: str
    verdicts: int  # match or non-match, independent
    compared: int  # of these, on pairs that others judged too, or of which the model's probability is known
    disagreed: int  # of these, against what others and model together find more likely
    error_rate: float  # estimated
    others_error_rate: float  # estimated, of all others together
    evidence: float  # how many times likelier the verdicts are if the person errs far more often; at its highest
    flagged_at: int | None  # the number of verdicts after which the evidence was enough

    @property
    def flagged(self) -> bool:
        return self.flagged_at is not None

    @property
    def sentence(self) -> str:
        """The finding in words."""
        against = f"{self.disagreed:,} of {self.compared:,} verdicts that can be compared are against the others"
        rates = f"estimated errors {self.error_rate:.0%}, the others' {self.others_error_rate:.0%}"
        start = f"{_name(self.who)}: {against} ({rates})."
        return f"{start} Look at these pairs together." if self.flagged else start


def check_reviewers(
    entries: Iterable[Verdict], expected: Mapping[str, float] | None = None, false_flag: float = FALSE_FLAG
) -> list[ReviewerCheck]:
    """Everyone's verdicts compared with those of all others, the strongest evidence first.

    `expected` is the calibrated probability of a match that a model gives, by pair; it must not have learned from these
    verdicts. Without it, pairs that one person judged tell nothing.

    What others say of a pair, each as reliable as all their verdicts suggest (the one-coin model of Dawid and Skene),
    and what the model says give a probability of a match, without the person's own verdict. Two claims are compared by
    it: that the person errs as often as all others taken together, and that the person errs more often, by 10 to 50
    points. The evidence is their likelihood ratio after each verdict. If the first claim holds and the rates are known,
    it ever exceeds 1 / `false_flag` with at most that chance (Ville's inequality), so one may look after every verdict.
    Here the rates are estimated; `benchmarks/reviewers.py` measures what that does.
    """
    judged = _Judged(independent(entries), expected or {})
    found = [_checked(judged, person, false_flag) for person in range(len(judged.people))]
    return sorted(found, key=lambda one: (-one.evidence, one.who))


def flagged_reviewers(
    entries: Iterable[Verdict], expected: Mapping[str, float] | None = None, false_flag: float = FALSE_FLAG
) -> list[ReviewerCheck]:
    """Those who err far more often than the others; takes what `check_reviewers` takes."""
    return [one for one in check_reviewers(entries, expected, false_flag) if one.flagged]


class _Judged:
    """Match and non-match verdicts as arrays, in the order in which they were given."""

    def __init__(self, own: Mapping[str, Mapping[str, Verdict]], expected: Mapping[str, float]) -> None:
        every = [one for people in own.values() for one in people.values()]
        told = _in_order([one for one in every if one.verdict != UNSURE])
        self.people = sorted({one.who for one in every})
        person_of = {who: place for place, who in enumerate(self.people)}
        pair_of = {pair: place for place, pair in enumerate(dict.fromkeys(one.pair_id for one in told))}
        self.person = np.array([person_of[one.who] for one in told], dtype=np.int64)
        self.pair = np.array([pair_of[one.pair_id] for one in told], dtype=np.int64)
        self.sign = np.array([1.0 if one.verdict == MATCH else -1.0 for one in told])
        known = [_probability(expected, pair) for pair in pair_of]
        self.prior = _log_odds(np.clip(np.array(known, dtype=float), 1 - _SUREST, _SUREST))
        self.wrong, self.total, self.log_odds = self._estimate()

    def _estimate(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Expected wrong verdicts of each person, their number, and the log-odds of a match of each pair."""
        total = np.bincount(self.person, minlength=len(self.people)).astype(float)
        wrong: np.ndarray = np.zeros(len(self.people))
        log_odds = self.prior
        for _ in range(_ROUNDS):
            log_odds = self.prior + np.bincount(self.pair, self._votes(wrong, total), minlength=len(self.prior))
            mistaken = 1 / (1 + np.exp(self.sign * log_odds[self.pair]))
            wrong = np.bincount(self.person, mistaken, minlength=len(self.people))
        return wrong, total, log_odds

    def _votes(self, wrong: np.ndarray, total: np.ndarray) -> np.ndarray:
        """What each verdict adds to the log-odds of a match."""
        votes: np.ndarray = self.sign * -_log_odds(_rate(wrong, total))[self.person]
        return votes

    def without(self, person: int) -> tuple[np.ndarray, np.ndarray]:
        """For this person's verdicts in their order: the log-odds, by all others and the model, that each is right; and
        whether others or the model say anything."""
        at = self.person == person
        rest = self.log_odds - np.bincount(
            self.pair[at], self._votes(self.wrong, self.total)[at], minlength=len(self.prior)
        )
        others = np.bincount(self.pair[~at], minlength=len(self.prior)) > 0
        return self.sign[at] * rest[self.pair[at]], (others | (self.prior != 0))[self.pair[at]]


def _probability(expected: Mapping[str, float], pair: str) -> float:
    value = expected.get(pair)
    return 0.5 if value is None or math.isnan(value) else float(value)


def _rate(wrong: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Error rates. At most a half: a person whose verdicts are all turned round is as informative, but is not believed
    to be."""
    rate: np.ndarray = np.minimum((wrong + _PRIOR_ERRORS) / (total + _PRIOR_VERDICTS), 0.5)
    return rate


def _log_odds(probability: np.ndarray) -> np.ndarray:
    found: np.ndarray = np.log(probability) - np.log1p(-probability)
    return found


def _checked(judged: _Judged, person: int, false_flag: float) -> ReviewerCheck:
    right, comparable = judged.without(person)
    others = np.arange(len(judged.people)) != person
    base = float(_rate(judged.wrong[others].sum(), judged.total[others].sum()))
    evidence = _evidence(1 / (1 + np.exp(-right)), base)
    compare = judged.total[others].sum() > 0  # with nobody else at work, the model alone accuses nobody
    enough = np.flatnonzero((evidence >= -math.log(false_flag)) & compare)
    return ReviewerCheck(
        who=judged.people[person],
        verdicts=len(right),
        compared=int(comparable.sum()),
        disagreed=int((comparable & (right < 0)).sum()),
        error_rate=float(_rate(judged.wrong[person], judged.total[person])),
        others_error_rate=base,
        evidence=math.exp(min(float(evidence.max(initial=0.0)), 700.0)),
        flagged_at=int(enough[0]) + 1 if len(enough) else None,
    )


def _evidence(right: np.ndarray, base: float) -> np.ndarray:
    """The log of the likelihood ratio after each verdict, given the probability that each is right by all others."""

    def likelihood(error: np.ndarray) -> np.ndarray:
        found: np.ndarray = np.log(right[:, None] * (1 - error) + (1 - right[:, None]) * error)
        return found

    more = np.minimum(base + np.array(_MORE), 0.95)
    against = np.cumsum(likelihood(more) - likelihood(np.array([base])), axis=0)
    ratio: np.ndarray = np.logaddexp.reduce(against, axis=1) - math.log(len(_MORE))
    return ratio
