"""What a method is given, and how to add one.

A method is a function that takes a `MethodContext` and returns a `MethodResult`: the match probability of every target
pair. To add one, write the function and register a `MethodSpec` for it, in `riskcore/registry.py` or from a package of
your own (docs/extending.md). The run then trains, times, checkpoints, stores, compares and reports it like the others.

The context holds no label of the target. `labels_used` of the result names what trained, fitted or chose the answer:
`context.labels_to_choose` where validation pairs only choose an epoch or an iteration, `context.labels_to_learn` where
they are trained on.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from riskcore.config import RunConfig
from riskcore.data.schema import Attribute
from riskcore.data.scored_ids import ScoredIds
from riskcore.matchers import create
from riskcore.matchers.base import Arrays, Matcher, ShouldStop, never
from riskcore.matchers.external import ExternalMatcher
from riskcore.random_streams import Stream, stream_seed
from riskcore.training.checkpoint import Checkpoint
from riskcore.training.ensemble import Ensemble
from riskcore.training.evidence import Evidence
from riskcore.training.label_risk import label_risk
from riskcore.training.listeners import Listener, notify
from riskcore.training.results import LabelRisk, MethodResult
from riskcore.training.supervised import validation_scores


class AwaitedEnsemble(Protocol):
    """All the evidence, while another process gathers it."""

    def ready(self) -> bool: ...
    def get(self) -> Ensemble: ...


@dataclasses.dataclass(frozen=True, eq=False)
class MethodContext:
    """What every method of a run shares: evidence, settings, the trained matcher, and where checkpoints go."""

    name: str
    attributes: tuple[Attribute, ...]
    evidence: Evidence
    config: RunConfig
    trained: Arrays  # weights of the traditionally trained matcher; empty while `tradition` itself works
    listeners: Sequence[Listener] = ()
    folder: Path | None = None
    should_stop: ShouldStop = never
    ensemble: Ensemble | None = None  # all the evidence; None while `tradition` works, or where no method uses it
    scored_ids: ScoredIds | None = None  # how a file of scores names the pairs, where that is decided already
    start: Arrays | None = None  # the trained matcher's probabilities of `validation`, `target` and `unseen` pairs
    awaited: AwaitedEnsemble | None = None  # in place of `ensemble` while another process still gathers the evidence

    @property
    def ranks(self) -> bool:
        """Whether labels are ranked by all the evidence."""
        return self.ensemble is not None or self.awaited is not None

    def can_rank(self) -> bool:
        """Whether that is possible now, without waiting for another process."""
        return self.awaited is None or self.awaited.ready()

    def rank(self, result: MethodResult) -> LabelRisk | None:
        """The risk of a method's labels by all the evidence; None where it was not gathered."""
        if not self.ranks:
            return None
        if result.validated is not None:
            return self.rank_with_matcher(result.probability, result.validated)
        ensemble = self._all_the_evidence()
        stacked = ensemble.stack_start(lambda part: self.trained_matcher().predict_proba(part.examples), self.start)
        return label_risk(ensemble, stacked, result.probability)

    def rank_with_matcher(self, probability: np.ndarray, validated: np.ndarray) -> LabelRisk:
        """The risk of the labels of a matcher, whose probabilities of target and validation pairs are evidence too."""
        ensemble = self._all_the_evidence()
        trusted = validated[ensemble.trusted]
        return label_risk(ensemble, ensemble.stack(trusted, probability), probability, trusted)

    def _all_the_evidence(self) -> Ensemble:
        if self.ensemble is not None:
            return self.ensemble
        assert self.awaited is not None  # `ranks` says so
        return self.awaited.get()

    def new_matcher(self) -> Matcher:
        """An untrained matcher of the configured kind."""
        matcher = create(self.config.matcher, self.attributes)
        if isinstance(matcher, ExternalMatcher) and self.scored_ids is not None:
            matcher.ids = self.scored_ids
        elif isinstance(matcher, ExternalMatcher):
            matcher.fit_ids([self.evidence.target.examples.pairs, self.evidence.validation.examples.pairs])
        return matcher

    def trained_matcher(self) -> Matcher:
        """A fresh copy of the traditionally trained matcher."""
        matcher = self.new_matcher()
        matcher.begin(self.evidence.source.examples, stream_seed(self.config.seed, Stream.INITIAL_WEIGHTS))
        matcher.restore(self.trained)
        return matcher

    def checkpoint(self, suffix: str = "") -> Checkpoint | None:
        """The method's own checkpoint file, so that a killed run can continue; None where nothing is kept."""
        return None if self.folder is None else Checkpoint(self.folder / f"{self.name}{suffix}.safetensors")

    def progress(self, done: int, total: int) -> None:
        """Report how far the method is."""
        notify(self.listeners, "on_progress", {"phase": self.name, "done": done, "total": total})

    @property
    def labels_to_choose(self) -> tuple[str, ...]:
        """Labels used by a method that trains on the source and chooses an epoch or iteration on validation pairs."""
        return ("source", "validation") if self.evidence.validation.has_both_classes else ("source",)

    @property
    def labels_to_learn(self) -> tuple[str, ...]:
        """Labels used by a method that trains on the validation pairs themselves, whatever their classes."""
        return ("source", "validation") if len(self.evidence.validation) else ("source",)

    def answer(
        self,
        matcher: Matcher,
        labels_used: tuple[str, ...],
        record: dict[str, Any],
        learned: Arrays | None = None,
        taught: bool = False,
    ) -> MethodResult:
        """The matcher's answers for target and unseen pairs. `taught` says that it was trained on validation labels:
        then what it says of the validation pairs is no evidence."""
        evidence = self.evidence
        validated = matcher.predict_proba(evidence.validation.examples)
        f1, _ = validation_scores(evidence.validation.labels, validated, evidence.validation.weights)
        return MethodResult(
            self.name,
            matcher.predict_proba(evidence.target.examples),
            None if evidence.unseen is None else matcher.predict_proba(evidence.unseen.examples),
            labels_used if matcher.trainable else (),  # where external scores come from is not known here
            {**record, "validation_f1": f1},
            learned if learned is not None else matcher.snapshot(),
            None if taught else validated,
        )
