"""All the evidence on a pair: base learners' predictions, made once per run, and a stacker that combines them with
those of a matcher, in any state of its training.

`risk+` takes its answers from here, and the labels of every method are ranked by it (see `label_risk`). Without
validation labels of both classes there is nothing to fit a stacker on: then what the source alone teaches is averaged.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

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
from riskcore.training.domain_similarity import domain_similarity
from riskcore.training.evidence import Evidence
from riskcore.training.listeners import Listener
from riskcore.training.out_of_fold import folds_and_rests, out_of_fold_log_odds, source_log_odds
from riskcore.training.stacker import Stacker, average_stacker, fit_stacker


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
    ) -> None:
        self.evidence, self.config = evidence, config
        self.fitted = evidence.validation.has_both_classes  # whether validation labels weigh the evidence
        self.similarity = domain_similarity(
            evidence.source.metrics.values, evidence.target.metrics.values, config.seed, config.similarity
        )
        self.names = ("matcher", *self._learners(matcher))
        made_from = config.to_json() + evidence.fingerprint
        predicted = checkpoint.read(made_from) if checkpoint is not None else None
        if predicted is None:
            predict = out_of_fold_log_odds if self.fitted else source_log_odds
            predicted = Progress({"log_odds": predict(matcher, evidence, config, listeners, should_stop)}, {})
            if checkpoint is not None:
                checkpoint.write(predicted, made_from)
        self.log_odds: Arrays = dict(predicted.groups["log_odds"])  # of `validation`, `target`, `unseen`
        self._candidates = CompetingCandidates(evidence, config) if self.fitted else None

    @property
    def labels_used(self) -> tuple[str, ...]:
        return ("source", "validation") if self.fitted else ("source",)

    def stack(self, validated: np.ndarray, predicted: np.ndarray) -> Stacked:
        """Combine a matcher's probabilities of validation and target pairs with what the base learners say."""
        inputs, of_target = self._inputs("validation", validated), self._inputs("target", predicted)
        stacker = self._fit(inputs, self.evidence.validation.labels)
        alone = stacker.predict_proba(of_target)
        competition, out_of_fold, probability = None, None, alone
        if self._candidates is not None:
            out_of_fold = self._out_of_fold(inputs, self.evidence.validation.labels)
            competition, out_of_fold, probability = self._candidates.compete(out_of_fold, alone)
        spread, validation_spread = of_target.std(axis=1), inputs.std(axis=1)
        return Stacked(stacker, competition, alone, probability, spread, out_of_fold, validation_spread)

    def predict_unseen(self, stacked: Stacked, matcher_probability: np.ndarray) -> np.ndarray:
        """Probabilities of pairs that no method was given, from a matcher's for them."""
        probability = stacked.stacker.predict_proba(self._inputs("unseen", matcher_probability))
        unseen = self.evidence.unseen
        if stacked.competition is None or self._candidates is None or unseen is None:
            return probability
        pairs = unseen.examples.pairs
        return self._candidates.predict_unseen(stacked.competition, stacked.alone, pairs, probability)

    def _learners(self, matcher: Matcher) -> tuple[str, ...]:
        if not self.fitted:
            return SOURCE_LEARNERS
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


def stacked_log_odds(probability: np.ndarray) -> np.ndarray:
    """Log-odds of a stacker's probabilities, finite also where they round to 0 or 1."""
    return log_odds(probability, np.finfo(np.float64).eps)
