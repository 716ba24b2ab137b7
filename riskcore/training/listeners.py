"""Listeners of training. The loop itself prints and writes nothing: it notifies listeners, which record or show."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NotRequired, TextIO, TypedDict, overload

if TYPE_CHECKING:
    from riskcore.matchers.base import Matcher
    from riskcore.training.evidence import Evidence
    from riskcore.training.results import DoubtedLabel, EpochRow, IterationScores, MethodResult


class TrainingStart(TypedDict):
    """Training on labels begins."""

    task: str
    epochs: int
    pairs: int
    done: int  # epochs that a checkpoint already holds


class TrainingEnd(TypedDict):
    """Training on labels is over."""

    best_epoch: int
    validation_f1: float | None


class PhaseStart(TypedDict):
    """A phase of a run begins: data, evidence, a method or report."""

    phase: str
    steps: NotRequired[int | None]


class PhaseProgress(TypedDict):
    """How far a phase, or a part of it such as metrics, rules or base learners, has come."""

    phase: str
    done: int
    total: int


class PairsProgress(TypedDict):
    """How far a pass has come that lasts more than a moment."""

    task: str  # whose pass: a method, or the base learners
    unit: str  # what the passes are called: epoch, iteration, pass
    number: int
    of: int  # passes in all
    done: int  # pairs
    total: int
    seconds: float  # of the pass so far, without a time at which it was interrupted
    per_second: float  # pairs, since the pass began or went on


class PhaseEnd(TypedDict):
    """A phase of a run is over."""

    phase: str
    seconds: float


class Listener:
    """Receives every event and does nothing; override what you care about."""

    def on_start(self, record: TrainingStart) -> None:
        """Training on labels begins."""

    def on_epoch_end(self, record: EpochRow) -> None:
        """One epoch is over."""

    def on_end(self, record: TrainingEnd) -> None:
        """Training on labels is over."""

    def on_phase_start(self, record: PhaseStart) -> None:
        """A phase of a run begins."""

    def on_progress(self, record: PhaseProgress) -> None:
        """A step within a phase is done."""

    def on_pairs(self, record: PairsProgress) -> None:
        """A pass goes on: now and then while it does, and at the end of one of which that was said."""

    def on_phase_end(self, record: PhaseEnd) -> None:
        """A phase of a run is over."""

    def on_evidence(self, evidence: Evidence) -> None:
        """Metrics and rules are ready."""

    def on_doubted_labels(self, labels: Sequence[DoubtedLabel]) -> None:
        """Validation labels that the matcher and every base learner contradict; none, as a rule."""

    def on_base_learners(self, ensemble: Any) -> None:  # an `Ensemble`, which itself reports to listeners
        """All the evidence is there: the base learners, fitted on all validation pairs that are trusted."""

    def on_iteration_end(self, scores: IterationScores) -> None:
        """One iteration of adaptive training over all target pairs."""

    def on_adapted(self, matcher: Matcher) -> None:
        """Adaptive training is over, and this is the matcher it has made."""

    def on_method_end(self, result: MethodResult) -> None:
        """A method has given its answer."""

    def on_helpers_end(self, peak_rss_mb: float) -> None:
        """The helper processes of a run are done; the most memory that each has had, added up."""


@overload
def notify(listeners: Iterable[Listener], event: Literal["on_start"], record: TrainingStart) -> None: ...
@overload
def notify(listeners: Iterable[Listener], event: Literal["on_epoch_end"], record: EpochRow) -> None: ...
@overload
def notify(listeners: Iterable[Listener], event: Literal["on_end"], record: TrainingEnd) -> None: ...
@overload
def notify(listeners: Iterable[Listener], event: Literal["on_phase_start"], record: PhaseStart) -> None: ...
@overload
def notify(listeners: Iterable[Listener], event: Literal["on_progress"], record: PhaseProgress) -> None: ...
@overload
def notify(listeners: Iterable[Listener], event: Literal["on_pairs"], record: PairsProgress) -> None: ...
@overload
def notify(listeners: Iterable[Listener], event: Literal["on_phase_end"], record: PhaseEnd) -> None: ...
@overload
def notify(listeners: Iterable[Listener], event: Literal["on_evidence"], record: Evidence) -> None: ...
@overload
def notify(
    listeners: Iterable[Listener], event: Literal["on_doubted_labels"], record: Sequence[DoubtedLabel]
) -> None: ...
@overload
def notify(listeners: Iterable[Listener], event: Literal["on_base_learners"], record: Any) -> None: ...
@overload
def notify(listeners: Iterable[Listener], event: Literal["on_iteration_end"], record: IterationScores) -> None: ...
@overload
def notify(listeners: Iterable[Listener], event: Literal["on_adapted"], record: Matcher) -> None: ...
@overload
def notify(listeners: Iterable[Listener], event: Literal["on_method_end"], record: MethodResult) -> None: ...
@overload
def notify(listeners: Iterable[Listener], event: Literal["on_helpers_end"], record: float) -> None: ...
def notify(listeners: Iterable[Listener], event: str, record: Any) -> None:
    """Call `event` of every listener; the overloads say which record goes with which event."""
    for listener in listeners:
        getattr(listener, event)(record)


class ConsoleProgress(Listener):
    """A line per epoch, on stderr by default: stdout belongs to results."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stderr

    def on_epoch_end(self, record: EpochRow) -> None:
        score = record["validation_f1"]
        shown = "" if score is None else f"  validation F1 {100 * score:5.1f}"
        self.stream.write(f"epoch {record['epoch']:3d}  loss {record['loss']:.4f}{shown}  {record['seconds']:.1f} s\n")
        self.stream.flush()
