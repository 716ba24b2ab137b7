"""What a method answers with, once a run is over: probability and risk of any pairs, as the run gave them to its own.

A pair of the run has the competitors that it had in the run. A new pair also meets the other new pairs it is given
with, as unseen pairs do.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from scipy.special import expit

from riskcore.config import RunConfig
from riskcore.data.pairs import Pairs
from riskcore.matchers.base import Arrays, Matcher
from riskcore.training.asked import Asked
from riskcore.training.base_learners import fine_tuned_log_odds
from riskcore.training.competition import CandidatePool, Competition, competitor_inputs
from riskcore.training.evidence import EvidencePart
from riskcore.training.fitted_learners import FittedLearners, ScoredPart, log_odds
from riskcore.training.label_risk import evidence_against
from riskcore.training.results import CONFIDENCE, RankingModel
from riskcore.training.stacker import Stacker


@dataclasses.dataclass(frozen=True, eq=False)
class KnownPairs:
    """Pairs that may compete with others, and how much each counts: its label where that is known, else the stacked
    probability."""

    pairs: Pairs
    probability: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class Gathered:
    """The matcher's probability of some pairs, and the stacker's inputs (pairs x learners; none without a stacker)."""

    own: np.ndarray
    inputs: np.ndarray

    @classmethod
    def joined(cls, parts: Sequence[Gathered]) -> Gathered:
        """Those of several parts, one after the other."""
        return cls(np.concatenate([one.own for one in parts]), np.concatenate([one.inputs for one in parts]))


@dataclasses.dataclass(frozen=True, eq=False)
class Answers:
    """A method's answer on some pairs."""

    probability: np.ndarray
    risk: np.ndarray  # of its labels


@dataclasses.dataclass(frozen=True, eq=False)
class AnswerModel:
    """Everything that a method's answer follows from."""

    matcher: Matcher  # in any state; it is restored before it predicts
    learned: Arrays  # by the matcher that answers
    start: Arrays  # by the matcher as trained on the source
    stacked: bool  # whether the stacker answers, not the matcher
    ranked_with_start: bool  # the ranking has the starting matcher among its inputs, not the one that answers
    learners: FittedLearners | None  # None where the run has no base learners
    ranking: RankingModel | None
    ranked_by: str
    config: RunConfig
    asked: Asked | None = None  # where the same questions are asked again

    def gather(self, part: EvidencePart) -> Gathered:
        """What is known of each pair by itself; pairs can be gathered some at a time."""
        own = self.predict_with(self.learned, part)
        if self.ranking is None or self.learners is None:
            return Gathered(own, np.zeros((len(part), 0)))
        start = own if self.learned is self.start else self.predict_with(self.start, part)
        return Gathered(own, self._inputs(start if self.ranked_with_start else own, ScoredPart(part, start)))

    def answer(self, pairs: Pairs, gathered: Gathered, known: KnownPairs | None = None) -> Answers:
        """Probability and risk of these pairs; `known` are pairs of the same tables that compete with them."""
        own = gathered.own
        if self.ranking is None:
            return Answers(own, np.minimum(own, 1 - own))
        stacked = self._compete(pairs, self.stacker.predict_proba(gathered.inputs), known)
        probability = stacked if self.stacked else own
        return Answers(probability, self.risk_of(probability, stacked, gathered.inputs.std(axis=1)))

    def predict_with(self, weights: Arrays, part: EvidencePart) -> np.ndarray:
        """The matcher's probabilities in one of its states."""

        def ask() -> np.ndarray:
            self.matcher.restore(weights)
            return self.matcher.predict_proba(part.examples)

        return ask() if self.asked is None else self.asked.once(weights, part, "probability", ask)

    def beside(self, other: AnswerModel) -> AnswerModel:
        """The same model with the matcher, and what was made once for the run, of another method's model."""
        learned = other.start if self.learned is self.start else self.learned
        return dataclasses.replace(
            self,
            matcher=other.matcher,
            learned=learned,
            start=other.start,
            learners=other.learners,
            asked=other.asked,
        )

    def _inputs(self, matcher_probability: np.ndarray, scored: ScoredPart) -> np.ndarray:
        """The stacker's inputs: log-odds of the matcher and of the base learners."""
        assert self.learners is not None
        floor = self.config.stack.probability_floor
        columns = [log_odds(matcher_probability, floor), self.learners.log_odds(scored, floor)]
        if self.learners.fine_tuned:
            columns.append(fine_tuned_log_odds(self.matcher, self.learners.fine_tuned, scored, floor))
        return np.column_stack(columns)

    @property
    def stacker(self) -> Stacker:
        """What combines the inputs; only where there is a ranking."""
        assert self.ranking is not None
        return Stacker(self.ranking.stacker_offset, np.array(self.ranking.stacker_weights))

    def competing(self, pairs: Pairs, stacked: np.ndarray, known: KnownPairs | None) -> tuple[np.ndarray, np.ndarray]:
        """The stacked log-odds of pairs, within the floor, and the inputs of their competitors."""
        margin = log_odds(stacked, self.config.stack.probability_floor)
        strongest = self._strongest(pairs, margin, known)
        return margin, competitor_inputs(strongest, self.config.competition)

    def _compete(self, pairs: Pairs, stacked: np.ndarray, known: KnownPairs | None) -> np.ndarray:
        """Probabilities after competing candidates have counted, where they do."""
        assert self.ranking is not None
        if self.ranking.competition is None:
            return stacked
        margin, inputs = self.competing(pairs, stacked, known)
        return expit(Competition(*self.ranking.competition).log_odds(margin, inputs))

    def _strongest(self, pairs: Pairs, margin: np.ndarray, known: KnownPairs | None) -> np.ndarray:
        """Each pair's strongest competitors: of a pair that is known, known pairs; of others, all pairs."""
        if known is None or not len(known.pairs):
            return CandidatePool([pairs]).strongest(margin)
        theirs = log_odds(known.probability, self.config.stack.probability_floor)
        place = _places(pairs, known.pairs)
        strongest, new = np.empty((len(pairs), 2)), np.flatnonzero(place < 0)
        strongest[place >= 0] = CandidatePool([known.pairs]).strongest(theirs)[place[place >= 0]]
        pool = CandidatePool([known.pairs, pairs.take(new)])
        strongest[new] = pool.strongest(np.concatenate([theirs, margin[new]]))[len(theirs) :]
        return strongest

    def risk_of(self, probability: np.ndarray, stacked: np.ndarray, spread: np.ndarray) -> np.ndarray:
        """How likely the labels of `probability` are wrong, by the stacked evidence and how far it disagrees."""
        assert self.ranking is not None
        label, config = probability >= 0.5, self.config.rank
        if self.ranked_by == CONFIDENCE:
            against = evidence_against(probability, None, label, config)
        else:
            against = evidence_against(stacked, spread, label, config)
        risk: np.ndarray = expit(self.ranking.offset + self.ranking.scale * against)
        return risk


def _places(pairs: Pairs, known: Pairs) -> np.ndarray:
    """For each pair its place among the known ones, the last of several; -1 where it is new."""
    width = 1 + max(len(side) for some in (known, pairs) for side in (some.left, some.right))
    theirs, ours = _keys(known, width), _keys(pairs, width)
    place = dict(zip(theirs.tolist(), range(len(theirs)), strict=True))
    return np.array([place.get(one, -1) for one in ours.tolist()], dtype=np.int64)


def _keys(pairs: Pairs, width: int) -> np.ndarray:
    """One number per pair of records, in one table whichever of the two comes first."""
    left, right = pairs.left_rows.astype(np.int64), pairs.right_rows.astype(np.int64)
    if pairs.left is pairs.right:
        left, right = np.minimum(left, right), np.maximum(left, right)
    keys: np.ndarray = left * width + right
    return keys
