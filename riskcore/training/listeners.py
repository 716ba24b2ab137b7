"""Listeners of training. The loop itself prints and writes nothing: it notifies listeners, which record or show."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from riskcore.matchers.base import Matcher
    from riskcore.training.evidence import Evidence
    from riskcore.training.results import IterationScores, MethodResult

Record = dict[str, Any]


class Listener:
    """Receives every event and does nothing; override what you care about."""

    def on_start(self, record: Record) -> None:
        """Training begins: `task`, `epochs`, `pairs`, `done` (epochs that a checkpoint already holds)."""

    def on_epoch_end(self, record: Record) -> None:
        """One pass is over: one row of the history."""

    def on_end(self, record: Record) -> None:
        """Training is over: `best_epoch`, `validation_f1`."""

    def on_phase_start(self, record: Record) -> None:
        """A phase of a run begins: `phase` (metrics, rules, or a method)."""

    def on_progress(self, record: Record) -> None:
        """Within a phase: `phase`, `done`, `total`."""

    def on_phase_end(self, record: Record) -> None:
        """A phase is over: `phase`, `seconds`."""

    def on_evidence(self, evidence: Evidence) -> None:
        """Metrics and rules are ready."""

    def on_iteration_end(self, scores: IterationScores) -> None:
        """One iteration of adaptive training over all target pairs."""

    def on_adapted(self, matcher: Matcher) -> None:
        """Adaptive training is over, and this is the matcher it has made."""

    def on_method_end(self, result: MethodResult) -> None:
        """A method has given its answer."""


def notify(listeners: Iterable[Listener], event: str, record: Any) -> None:
    for listener in listeners:
        getattr(listener, event)(record)


class ConsoleProgress(Listener):
    """A line per epoch, on stderr by default: stdout belongs to results."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stderr

    def on_epoch_end(self, record: Record) -> None:
        score = record["validation_f1"]
        shown = "" if score is None else f"  validation F1 {100 * score:5.1f}"
        self.stream.write(f"epoch {record['epoch']:3d}  loss {record['loss']:.4f}{shown}  {record['seconds']:.1f} s\n")
        self.stream.flush()
