"""Balance sheets of many pairs: what every voice of a method's evidence says about every subject, as arrays.

The stacked log-odds of a pair are `offset + sum of weight * log-odds of each voice`, before and after competing
candidates count; each voice's log-odds are split by `attribution`. How stable the leading subject is shows in fits on
resampled evidence: stacker, linear model and the means of the rules on pairs drawn anew, forests of trees drawn anew
(each was grown on a resample of its training pairs). The matcher is not trained again for it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from riskcore.data.pairs import Pairs
from riskcore.matchers.base import Arrays
from riskcore.metrics.kinds import Metric
from riskcore.random_streams import Stream, stream_seed
from riskcore.risk.balance import COMPETITION, MATCHER, OTHER_CANDIDATES, WHOLE_RECORD
from riskcore.training import attribution
from riskcore.training.answer_model import AnswerModel, Gathered, KnownPairs
from riskcore.training.attribution import ForestParts, MatcherViews, Parts, Subjects, grouped, look
from riskcore.training.base_learners import (
    BASE_LEARNERS,
    FINE_TUNED,
    SOURCE_LEARNERS,
    TARGET_RULES,
)
from riskcore.training.competition import Competition
from riskcore.training.evidence import EvidencePart
from riskcore.training.fitted_learners import (
    FittedLearner,
    FittedLearners,
    ForestLearner,
    LinearLearner,
    RulesLearner,
    TargetRulesLearner,
    log_odds,
)
from riskcore.training.resampled_fits import Resample

HEARD = {WHOLE_RECORD: 1 / 3, OTHER_CANDIDATES: 1 / 2}  # of what they say, beside an attribute
LEAST_PART = 0.1  # log-odds: a subject that contributes less does not speak


@dataclasses.dataclass(frozen=True, eq=False)
class SpokenParts:
    """What one voice says of some pairs, before it is weighted."""

    name: str
    log_odds: np.ndarray  # as it enters the stacker
    parts: Parts  # by subject; they add up to it
    metrics: np.ndarray | None = None  # pairs x metrics, for models on the metrics
    rule_factor: np.ndarray | None = None  # for the rules: see `attribution.RuleParts`
    forest: ForestParts | None = None

    def __post_init__(self) -> None:
        """Rounding of the models that predict in float32 goes into the base."""
        settled = Parts(self.parts.base + self.log_odds - self.parts.total, self.parts.parts)
        object.__setattr__(self, "parts", settled)


@dataclasses.dataclass(frozen=True, eq=False)
class BalanceSheets:
    """The sheets of some pairs. Contributions are weighted log-odds."""

    subjects: tuple[str, ...]
    voices: tuple[str, ...]
    weights: np.ndarray  # of each voice in the combined log-odds
    metrics: tuple[str, ...]  # keys
    total: np.ndarray  # the combined log-odds
    offset: np.ndarray  # the combination's own
    spoken: np.ndarray  # pairs x voices: log-odds of each voice, not weighted; 0 for competing candidates
    cells: np.ndarray  # pairs x voices x (1 + subjects): before comparing, then each subject
    by_metric: np.ndarray  # pairs x metrics
    rule_factor: np.ndarray  # a fired rule's contribution is this, times its weight, times its mean - 1/2
    alone: np.ndarray | None  # pairs x (1 + subjects): the matcher's own answer; None where the stacker answers
    leading: np.ndarray  # place of the subject that speaks most for what the evidence says; -1 where none does
    against: np.ndarray
    stability: np.ndarray  # NaN where it was not computed


class SheetMaker:
    """Makes the sheets of a method's answers."""

    def __init__(self, model: AnswerModel, attributes: Sequence[str], metrics: Sequence[Metric]) -> None:
        self.model, self.subjects, self.metrics = model, Subjects(attributes), tuple(metrics)

    def make(
        self,
        part: EvidencePart,
        pairs: Pairs,
        gathered: Gathered,
        probability: np.ndarray,
        known: KnownPairs | None = None,
        resampled: Sequence[Resample] = (),
    ) -> BalanceSheets:
        """The sheets of these pairs. `gathered` are the same pairs' inputs, `probability` the method's answer; how
        stable the leading subjects are is known only where there are `resampled` fits."""
        model = self.model
        own = self._look(model.learned, part, gathered.own)
        if model.ranking is None or model.learners is None:
            return self._matcher_alone(own, part)
        start = (
            own
            if model.learned is model.start
            else self._look(model.start, part, model.predict_with(model.start, part))
        )
        voices = self._voices(part, gathered, own, start)
        return self._combined(voices, own, start, part, pairs, gathered, probability, known, resampled)

    def _look(self, weights: Arrays, part: EvidencePart, probability: np.ndarray) -> MatcherViews:
        def ask() -> MatcherViews:
            self.model.matcher.restore(weights)
            return look(self.model.matcher, part.examples, probability, part.metrics.metrics, self.subjects)

        return ask() if self.model.asked is None else self.model.asked.once(weights, part, "views", ask)

    def _voices(
        self, part: EvidencePart, gathered: Gathered, own: MatcherViews, start: MatcherViews
    ) -> list[SpokenParts]:
        """The stacker's inputs in their order, each split."""
        model, floor = self.model, self.model.config.stack.probability_floor
        assert model.learners is not None
        names = learner_names(model.learners)
        ranked = start if model.ranked_with_start else own
        found = [SpokenParts(MATCHER, gathered.inputs[:, 0], attribution.matcher_parts(ranked, floor))]
        for place, learner in enumerate(model.learners.learners, start=1):
            found.append(self._learner(names[place], learner, part, gathered.inputs[:, place], start))
        if model.learners.fine_tuned:
            probability = model.predict_with(model.learners.fine_tuned, part)
            tuned = self._look(model.learners.fine_tuned, part, probability)
            found.append(SpokenParts(FINE_TUNED, gathered.inputs[:, -1], attribution.matcher_parts(tuned, floor)))
        return found

    def _learner(
        self, name: str, learner: FittedLearner, part: EvidencePart, says: np.ndarray, start: MatcherViews
    ) -> SpokenParts:
        floor = self.model.config.stack.probability_floor
        if isinstance(learner, RulesLearner):
            rules = part.rules.rules
            found = attribution.rule_parts(learner.model, part.source_fired, start, rules, self.subjects, floor)
            return SpokenParts(name, says, found.parts, rule_factor=found.factor)
        if isinstance(learner, TargetRulesLearner):
            fired = learner.fired(part)
            found = attribution.rule_parts(learner.model, fired, start, learner.rules.rules, self.subjects, floor)
            return SpokenParts(name, says, found.parts)
        assert isinstance(learner, ForestLearner | LinearLearner)
        metrics = part.metrics if learner.shared_only else part.all_metrics
        subject_of, forest = self.subjects.of_metrics(metrics.metrics), None
        if isinstance(learner, ForestLearner):
            forest = attribution.forest_parts(learner.forest, metrics.values, subject_of, len(self.subjects), floor)
            by_metric = forest.by_metric
        else:
            by_metric = attribution.linear_parts(learner, metrics.values, floor)
        parts = Parts(by_metric.base, grouped(by_metric.parts, subject_of, len(self.subjects)))
        wide = np.zeros((len(says), len(self.metrics)))
        wide[:, : by_metric.parts.shape[1]] = by_metric.parts  # the metrics of shared attributes come first
        return SpokenParts(name, says, parts, wide, forest=forest)

    def _combined(
        self,
        voices: list[SpokenParts],
        own: MatcherViews,
        start: MatcherViews,
        part: EvidencePart,
        pairs: Pairs,
        gathered: Gathered,
        probability: np.ndarray,
        known: KnownPairs | None,
        resampled: Sequence[Resample],
    ) -> BalanceSheets:
        model, stacker = self.model, self.model.stacker
        stacked = stacker.offset + gathered.inputs @ stacker.weights
        scale, others = 1.0, np.zeros((len(stacked), 2))
        squeeze = np.ones(len(stacked))
        total = stacked
        if model.ranking is not None and model.ranking.competition is not None:
            competition = Competition(*model.ranking.competition)
            margin, inputs = model.competing(pairs, stacker.predict_proba(gathered.inputs), known)
            squeeze = np.divide(margin, stacked, out=np.ones(len(stacked)), where=np.abs(stacked) > 1e-12)
            scale = competition.scale
            others = inputs * np.array([competition.left, competition.right])
            total = competition.log_odds(margin, inputs)
        if model.stacked:
            total = log_odds(probability, attribution.CLOSEST)
        factor = (scale * squeeze)[:, None]
        width = 1 + len(self.subjects)
        cells = np.zeros((len(stacked), len(voices) + 1, width))
        for place, (voice, weight) in enumerate(zip(voices, stacker.weights, strict=True)):
            cells[:, place, 0] = factor[:, 0] * weight * voice.parts.base
            cells[:, place, 1:] = factor * weight * voice.parts.parts
        cells[:, -1, 1 + self.subjects.names.index(OTHER_CANDIDATES)] = others.sum(axis=1)
        by_metric = np.zeros((len(stacked), len(self.metrics)))
        rule_factor = np.zeros(len(stacked))
        for voice, weight in zip(voices, stacker.weights, strict=True):
            if voice.metrics is not None:
                by_metric += factor * weight * voice.metrics
            if voice.rule_factor is not None:
                rule_factor = factor[:, 0] * weight * voice.rule_factor
        missing = missing_subjects(part, self.subjects)
        constant = total - others.sum(axis=1) - squeeze * scale * stacked  # what competition adds to every pair
        leading, against = leaders(cells[:, :, 1:].sum(axis=1), total, self.subjects.names, missing)
        return BalanceSheets(
            self.subjects.names,
            (*(voice.name for voice in voices), COMPETITION),
            np.append(scale * stacker.weights, 1.0),
            tuple(one.key for one in self.metrics),
            total,
            total - cells.sum(axis=(1, 2)),  # offsets, and what rounding leaves
            np.column_stack([*(voice.log_odds for voice in voices), np.zeros(len(stacked))]),
            cells,
            by_metric,
            rule_factor,
            None if model.stacked else _columns(own.log_odds),
            leading,
            against,
            self._stability(voices, part, start, others, squeeze * scale, constant, leading, missing, resampled),
        )

    def _stability(
        self,
        voices: list[SpokenParts],
        part: EvidencePart,
        start: MatcherViews,
        others: np.ndarray,
        factor: np.ndarray,
        constant: np.ndarray,
        leading: np.ndarray,
        missing: np.ndarray,
        resampled: Sequence[Resample],
    ) -> np.ndarray:
        """The share of resampled fits in which the leading subject stays the same; NaN without any."""
        if not resampled:
            return np.full(len(leading), np.nan)
        same = np.zeros(len(leading))
        draw = np.random.default_rng(stream_seed(self.model.config.seed, Stream.REASON_RESAMPLES))
        place = self.subjects.names.index(OTHER_CANDIDATES)
        for one in resampled:
            total, parts = np.full(len(leading), one.stacker.offset), np.zeros((len(leading), len(self.subjects)))
            for voice, weight in zip(voices, one.stacker.weights, strict=True):
                said = self._resampled(voice, one, part, start, draw)
                parts += weight * said.parts
                total += weight * said.base
            parts *= factor[:, None]
            parts[:, place] += others.sum(axis=1)
            found, _ = leaders(parts, constant + total * factor + parts.sum(axis=1), self.subjects.names, missing)
            same += found == leading
        return same / len(resampled)

    def _resampled(
        self, voice: SpokenParts, one: Resample, part: EvidencePart, start: MatcherViews, draw: np.random.Generator
    ) -> Parts:
        """The voice as it might have been; a matcher, and rules on the target's own attributes, as they are."""
        floor = self.model.config.stack.probability_floor
        if voice.forest is not None:
            groups = len(voice.forest.sizes)
            counts = np.bincount(draw.integers(0, groups, groups), minlength=groups)
            return voice.forest.of_groups(counts, floor)
        if voice.rule_factor is not None:
            rules = part.rules.rules
            return attribution.rule_parts(one.rules, part.source_fired, start, rules, self.subjects, floor).parts
        if voice.metrics is not None:
            by_metric = attribution.linear_parts(one.linear, part.all_metrics.values, floor)
            subject_of = self.subjects.of_metrics(part.all_metrics.metrics)
            return Parts(by_metric.base, grouped(by_metric.parts, subject_of, len(self.subjects)))
        return voice.parts

    def _matcher_alone(self, own: MatcherViews, part: EvidencePart) -> BalanceSheets:
        """The sheet of a matcher's answer where there is no other evidence."""
        parts = own.log_odds
        missing = missing_subjects(part, self.subjects)
        leading, against = leaders(parts.parts, parts.total, self.subjects.names, missing)
        pairs = len(part)
        return BalanceSheets(
            self.subjects.names,
            (MATCHER,),
            np.ones(1),
            (),
            parts.total,
            np.zeros(pairs),
            parts.total[:, None],
            _columns(parts)[:, None, :],
            np.zeros((pairs, 0)),
            np.zeros(pairs),
            _columns(parts),
            leading,
            against,
            np.full(pairs, np.nan),
        )


def leaders(
    parts: np.ndarray, total: np.ndarray, subjects: Sequence[str], missing: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """For each pair the subject that speaks most for what its total says, and the one that speaks most against it; -1
    where none does.

    A person names an attribute with values on both sides: what has none is left out, and whole records and other
    candidates lead only where they say clearly more.
    """
    heard = np.array([HEARD.get(name, 1.0) for name in subjects]) * ~missing
    towards = parts * heard * np.where(total >= 0, 1.0, -1.0)[:, None]
    strongest, weakest = towards.argmax(axis=1), towards.argmin(axis=1)
    rows = np.arange(len(parts))
    leading = np.where(towards[rows, strongest] >= LEAST_PART, strongest, -1)
    return leading, np.where(towards[rows, weakest] <= -LEAST_PART, weakest, -1)


def missing_subjects(part: EvidencePart, subjects: Subjects) -> np.ndarray:
    """Pairs x subjects: where nothing about a subject could be compared."""
    known = ~np.isnan(part.all_metrics.values)
    found = grouped(known.astype(np.float64), subjects.of_metrics(part.all_metrics.metrics), len(subjects)) == 0
    has_metrics = np.isin(np.arange(len(subjects)), subjects.of_metrics(part.all_metrics.metrics))
    return found & has_metrics


def learner_names(learners: FittedLearners) -> list[str]:
    """The names of a run's voices, the matcher first, as the stacker's inputs are ordered."""
    several = [one.kind for one in learners.learners]
    known = BASE_LEARNERS if several.count("forest") > 1 else SOURCE_LEARNERS
    own = [TARGET_RULES] if "target rules" in several else []
    return [MATCHER, *known, *own, *([FINE_TUNED] if learners.fine_tuned else [])]


def _columns(parts: Parts) -> np.ndarray:
    return np.column_stack([parts.base, parts.parts])
