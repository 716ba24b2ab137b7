"""All the evidence on a pair: base learners' predictions, made once per run, and a stacker that combines them with
those of a matcher, in any state of its training.

`risk+` takes its answers from here, and the labels of every method are ranked by it (see `label_risk`). Without
validation labels of both classes there is nothing to fit a stacker on: then what the source alone teaches is averaged.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from riskcore.config import RunConfig
from riskcore.matchers.base import Arrays, Matcher, ShouldStop, never
from riskcore.random_streams import Stream, stream_seed
from riskcore.training.base_learners import (
    BASE_LEARNERS,
    FINE_TUNED,
    SOURCE_FOREST,
    SOURCE_LEARNERS,
    TARGET_RULES,
    log_odds,
)
from riskcore.training.checkpoint import Checkpoint, Progress
from riskcore.training.competition import CompetingCandidates, Competition
from riskcore.training.evidence import Evidence, EvidencePart
from riskcore.training.fine_tuned_fits import forget_fits
from riskcore.training.fitted_learners import FittedLearners, ForestLearner
from riskcore.training.listeners import Listener
from riskcore.training.out_of_fold import (
    FitOnMetrics,
    Predicted,
    folds_and_rests,
    out_of_fold_log_odds,
    source_log_odds,
)
from riskcore.training.results import DoubtedLabel
from riskcore.training.stacker import Stacker, average_stacker, fit_stacker
from riskcore.training.stored_forest import StoredForest


@dataclasses.dataclass(frozen=True, eq=False)
class Stacked:
    """The stacker's match probabilities, with a matcher's predictions among its inputs."""

    stacker: Stacker
    competition: Competition | None  # None where competing candidates do not help
    alone: np.ndarray  # of target pairs, before competition
    probability: np.ndarray  # of target pairs
    spread: np.ndarray  # of target pairs: standard deviation of the inputs' log-odds, how far they disagree
    out_of_fold: np.ndarray | None  # of validation pairs, each without its own label; None without a fit
    validation_spread: np.ndarray


class Ensemble:
    """The base learners' predictions, and the stacker that combines them with a matcher's."""

    def __init__(
        self,
        matcher: Matcher,
        evidence: Evidence,
        config: RunConfig,
        listeners: Sequence[Listener] = (),
        checkpoint: Checkpoint | None = None,
        should_stop: ShouldStop = never,
        start: Arrays | None = None,
        on_metrics: Callable[[], Sequence[FitOnMetrics]] | None = None,
    ) -> None:
        """`start` are the matcher's probabilities of `validation`, `target` and `unseen` pairs, where they are known;
        `on_metrics` gives what `fit_on_metrics` found, where that was done before."""
        self.evidence, self.config = evidence, config  # later without validation labels that are not trusted
        self.fitted = evidence.validation.has_both_classes  # whether validation labels weigh the evidence
        self.similarity = evidence.domain_similarity(config)
        self.names = ("matcher", *self._learners(matcher))
        made_from = config.to_json() + evidence.fingerprint
        predicted = checkpoint.read(made_from) if checkpoint is not None else None
        if predicted is None:
            predicted = self._predict(matcher, listeners, should_stop, start, on_metrics, checkpoint)
            if checkpoint is not None:
                checkpoint.write(predicted, made_from)
                forget_fits(checkpoint)
        self.log_odds: Arrays = dict(predicted.groups["log_odds"])  # of `validation`, `target`, `unseen`
        self.learners = FittedLearners.stored(
            predicted.groups["learners"], predicted.groups["fine_tuned"], predicted.facts["learners"], config
        )
        self.trusted = np.array(predicted.facts["trusted"], dtype=np.int64)  # rows of the run's validation pairs
        used = set(predicted.facts["trusted"])
        self.doubted = tuple(_doubted(evidence.validation, row, row in used) for row in predicted.facts["doubted"])
        self.trusts_all = len(self.trusted) == len(evidence.validation)
        if not self.trusts_all:
            self.evidence = dataclasses.replace(evidence, validation=evidence.validation.take(self.trusted))
        self._candidates = CompetingCandidates(self.evidence, config) if self.fitted else None
        self._start: Stacked | None = None
        self.resamples: Any = None  # fits to pairs drawn anew, once somebody needs them (see `resampled_fits`)

    @property
    def labels_used(self) -> tuple[str, ...]:
        """Those that the evidence beside the matcher is made from."""
        if self.fitted:
            return ("source", "validation")
        return ("source",) if self.names[1:] else ()

    def source_forest(self, trees: int) -> StoredForest | None:
        """The forest on the metrics of source and all validation pairs, if it has this many trees."""
        grown = self.config.stack.source_forest_factor * self.config.adapt.base_learner_trees
        if not self.fitted or not self.trusts_all or grown != trees:
            return None
        found = self.learners.learners[BASE_LEARNERS.index(SOURCE_FOREST)]
        assert isinstance(found, ForestLearner)
        return found.forest

    def stack_start(self, predict: Callable[[EvidencePart], np.ndarray], start: Arrays | None) -> Stacked:
        """What `stack` gives for the matcher as trained on the source, worked out once; `start` are its probabilities,
        where they are known."""
        if self._start is None:
            known = start if start is not None and self.trusts_all else {}
            parts = {"validation": self.evidence.validation, "target": self.evidence.target}
            self._start = self.stack(*(known[name] if name in known else predict(parts[name]) for name in parts))
        return self._start

    def stack(self, validated: np.ndarray, predicted: np.ndarray) -> Stacked:
        """Combine a matcher's probabilities of the (trusted) validation pairs and of the target pairs with what the
        base learners say."""
        inputs, of_target = self._inputs("validation", validated), self._inputs("target", predicted)
        stacker = self._fit(inputs, self.evidence.validation.labels)
        alone = stacker.predict_proba(of_target)
        competition, out_of_fold, probability = None, None, alone
        if self._candidates is not None:
            out_of_fold = self._out_of_fold(inputs, self.evidence.validation.labels)
            competition, out_of_fold, probability = self._candidates.compete(out_of_fold, alone)
        spread, validation_spread = of_target.std(axis=1), inputs.std(axis=1)
        return Stacked(stacker, competition, alone, probability, spread, out_of_fold, validation_spread)

    def drawn_anew(self, draw: np.random.Generator) -> np.ndarray:
        """Rows of validation pairs, drawn with replacement; those there are where the draw is of one class."""
        labels = self.evidence.validation.labels
        rows = draw.integers(0, len(labels), len(labels))
        return rows if _both(labels[rows]) else np.arange(len(labels))

    def refitted(self, validated: np.ndarray, rows: np.ndarray) -> Stacker:
        """The stacker as these rows of the validation pairs would make it."""
        inputs = self._inputs("validation", validated)
        return self._fit(inputs[rows], self.evidence.validation.labels[rows])

    def predict_unseen(self, stacked: Stacked, matcher_probability: np.ndarray) -> np.ndarray:
        """Probabilities of pairs that no method was given, from a matcher's for them."""
        probability = stacked.stacker.predict_proba(self._inputs("unseen", matcher_probability))
        unseen = self.evidence.unseen
        if stacked.competition is None or self._candidates is None or unseen is None:
            return probability
        pairs = unseen.examples.pairs
        return self._candidates.predict_unseen(stacked.competition, stacked.alone, pairs, probability)

    def _predict(
        self,
        matcher: Matcher,
        listeners: Sequence[Listener],
        should_stop: ShouldStop,
        start: Arrays | None,
        on_metrics: Callable[[], Sequence[FitOnMetrics]] | None,
        checkpoint: Checkpoint | None,
    ) -> Progress:
        """The base learners' log-odds.

        Where several of a few validation labels are contradicted by the matcher and by all base learners, these labels
        are left out and everything is learned again from the others, as long as there are as many again.
        """
        evidence, config = self.evidence, self.config
        trusted = np.arange(len(evidence.validation))
        if not self.fitted:
            found = source_log_odds(matcher, evidence, config, listeners, should_stop, start)
            return _progress(found, [], trusted)
        doubted: list[int] = []
        few = len(trusted) < config.adapt.few_validation_pairs
        known = None if on_metrics is None else on_metrics()
        for _ in range(config.stack.doubting_rounds + 1):
            kept = dataclasses.replace(evidence, validation=evidence.validation.take(trusted))
            own = start or _probabilities(matcher, kept)
            found = out_of_fold_log_odds(matcher, kept, config, listeners, should_stop, own, known, checkpoint)
            rows = contradicted(self._beside(own["validation"], found.log_odds), kept.validation.labels)
            start = known = None  # they are of all validation pairs: from the second round on there are fewer
            doubted += trusted[rows].tolist()
            rest = np.delete(trusted, rows)
            several = max(2, config.stack.doubted_share * len(trusted))
            if not few or len(rows) < several or not _both(evidence.validation.labels[rest]):
                break
            trusted = rest
        return _progress(found, sorted(doubted), trusted)

    def _beside(self, own: np.ndarray, predicted: Arrays) -> np.ndarray:
        """The matcher's log-odds of the validation pairs, and beside them those of the base learners."""
        return np.column_stack([log_odds(own, self.config.stack.probability_floor), predicted["validation"]])

    def _learners(self, matcher: Matcher) -> tuple[str, ...]:
        if not self.fitted:
            return SOURCE_LEARNERS if self.evidence.source.has_both_classes else ()
        own = (TARGET_RULES,) if self.evidence.target.target_only is not None else ()
        return (*BASE_LEARNERS, *own, *((FINE_TUNED,) if matcher.trainable else ()))

    def _fit(self, inputs: np.ndarray, labels: np.ndarray) -> Stacker:
        if not self.fitted:
            return average_stacker(inputs.shape[1])
        return fit_stacker(inputs, labels, self.similarity, self.names.index(SOURCE_FOREST), self.config.stack)

    def _out_of_fold(self, inputs: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """The probability of each validation pair from a stacker that was fitted without its label."""
        probability = np.zeros(len(labels))
        drawn = stream_seed(self.config.seed, Stream.STACKING_FOLDS)
        for fold, rest in folds_and_rests(labels, self.config.adapt.stacking_folds, drawn):
            probability[fold] = self._fit(inputs[rest], labels[rest]).predict_proba(inputs[fold])
        return probability

    def _inputs(self, part: str, matcher_probability: np.ndarray) -> np.ndarray:
        own = log_odds(matcher_probability, self.config.stack.probability_floor)
        return np.column_stack([own, self.log_odds[part]])


def _probabilities(matcher: Matcher, evidence: Evidence) -> Arrays:
    """What the matcher says of every part."""
    parts = {"validation": evidence.validation, "target": evidence.target, "unseen": evidence.unseen}
    return {name: matcher.predict_proba(part.examples) for name, part in parts.items() if part is not None}


def _progress(found: Predicted, doubted: list[int], trusted: np.ndarray) -> Progress:
    learners = found.learners
    groups = {"log_odds": found.log_odds, "learners": learners.arrays(), "fine_tuned": learners.fine_tuned}
    return Progress(groups, {"doubted": doubted, "trusted": trusted.tolist(), "learners": learners.facts()})


def contradicted(log_odds: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Rows of pairs (pairs x learners, out-of-fold) whose label every learner contradicts."""
    against = np.where(labels[:, None] == 1, log_odds < 0, log_odds > 0)
    return np.flatnonzero(against.all(axis=1))


def _both(labels: np.ndarray) -> bool:
    return len(np.unique(labels)) == 2


def _doubted(validation: EvidencePart, row: int, used: bool) -> DoubtedLabel:
    pairs = validation.examples.pairs
    left, right = pairs.record(row)
    label = int(validation.labels[row])
    return {"pair_id": str(pairs.ids[row]), "label": label, "left": left, "right": right, "used": used}


def stacked_log_odds(probability: np.ndarray) -> np.ndarray:
    """Log-odds of a stacker's probabilities, finite also where they round to 0 or 1."""
    return log_odds(probability, np.finfo(np.float64).eps)
