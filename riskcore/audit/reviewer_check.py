"""Reviewers who stand out: whose verdicts differ from those of all others, and of the model, far more often than theirs
do. Only independent verdicts count (see `agreement`)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping

import numpy as np

from riskcore.audit.agreement import MATCH, UNSURE, in_order, independent, name_of
from riskcore.audit.verdicts import Verdict

FALSE_FLAG = 0.05  # the chance that a reviewer who errs like the others is ever flagged
_MORE = (0.1, 0.2, 0.3, 0.4, 0.5)  # how much more often than the others a flagged reviewer may err
_PRIOR_ERRORS, _PRIOR_VERDICTS = 0.5, 10.0  # before any verdict: 1 in 20 is wrong, as ten verdicts would show it
_SUREST = 0.95  # a model counts at most like one colleague
_ROUNDS = 30


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
        start = f"{name_of(self.who)}: {against} ({rates})."
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
        told = in_order([one for one in every if one.verdict != UNSURE])
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
