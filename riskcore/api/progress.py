"""Progress of a run on stderr: a bar in a terminal, a line now and then elsewhere."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.text import Text

from riskcore.registry import METHODS, iterations_of
from riskcore.runs.readers.time_left import (
    pass_words,
    seconds_left,
    share_done,
    step_seconds,
    time_left_text,
    within_evidence,
    within_passes,
)
from riskcore.training.listeners import Listener, PairsProgress, PhaseEnd, PhaseProgress, PhaseStart, TrainingStart

if TYPE_CHECKING:
    from riskcore.config import RunConfig
    from riskcore.training.results import EpochRow, IterationScores

LINE_SECONDS = 10.0


class Estimate:
    """How far a run has come, from the phases that are over and the share of the current one."""

    def __init__(self, config: RunConfig) -> None:
        seconds = step_seconds(config)
        self.seconds = {step: seconds[step] for step in seconds if step not in ("data", "report")}  # not reported
        self.over: set[str] = set()
        self.phase, self.within = "", 0.0
        self.started = time.monotonic()

    def begin(self, phase: str) -> None:
        self.phase, self.within = phase, 0.0

    def end(self, phase: str) -> None:
        self.over.add(phase)
        self.within = 0.0

    def step(self, share: float) -> None:
        self.within = max(self.within, share)

    @property
    def share(self) -> float:
        """The share of the run that is done, from 0 to 1."""
        return share_done(self.seconds, self.over, self.phase, self.within)

    @property
    def left(self) -> str:
        """The time left in words; empty while it is unknown."""
        seconds = seconds_left(time.monotonic() - self.started, self.share)
        return "" if seconds is None else time_left_text(seconds)


class ProgressListener(Listener):
    """Keeps the estimate and passes it to `show`."""

    def __init__(self, config: RunConfig, show: Any) -> None:
        self.estimate, self.config, self.show = Estimate(config), config, show
        self._epochs = 0

    def on_phase_start(self, record: PhaseStart) -> None:
        self.estimate.begin(record["phase"])
        self.show(self.estimate, record["phase"], at_once=True)

    def on_progress(self, record: PhaseProgress) -> None:
        done, total = record["done"], record["total"] or 0
        share = done / total if total else 0.0
        own = record["phase"] == self.estimate.phase  # else a part of the step, such as the metrics of evidence
        self.estimate.step(share if own else within_evidence(record["phase"], share))
        self.show(self.estimate, record["phase"])

    def on_pairs(self, record: PairsProgress) -> None:
        task = record["task"]
        if task == self.estimate.phase:  # else a method that is reported later
            self.estimate.step(within_passes(record, int(task in METHODS and METHODS[task].iterates)))
        self.show(self.estimate, pass_words(record))

    def on_start(self, record: TrainingStart) -> None:
        self._epochs = int(record.get("epochs") or 0)

    def on_epoch_end(self, record: EpochRow) -> None:
        self._step(record["epoch"], self._epochs, f"{self.estimate.phase} epoch {record['epoch']} of {self._epochs}")

    def on_iteration_end(self, scores: IterationScores) -> None:
        total = max(iterations_of(self.config, scores.method), scores.iteration)
        what = f"{scores.method} iteration {scores.iteration} of {total}"
        self._step(scores.iteration + 1, total + 1, what)

    def on_phase_end(self, record: PhaseEnd) -> None:
        self.estimate.end(record["phase"])
        self.show(self.estimate, f"{record['phase']} took {record['seconds']:.1f} s", at_once=True)

    def _step(self, done: int, total: int, what: str) -> None:
        self.estimate.step(min(done / total, 1.0) if total else 0.0)
        self.show(self.estimate, what)


@contextlib.contextmanager
def showing_progress(config: RunConfig) -> Iterator[ProgressListener]:
    """A listener that shows how far the run has come and how much time may be left."""
    screen = _stderr()
    if not screen.is_terminal:
        yield ProgressListener(config, _Lines())
        return
    figures = TextColumn("{task.percentage:>3.0f} %  {task.fields[left]}")
    with Progress(TextColumn("{task.description}"), BarColumn(), figures, console=screen, transient=True) as bar:
        task = bar.add_task("starting", total=1.0, left="")

        def show(estimate: Estimate, what: str, at_once: bool = False) -> None:
            bar.update(task, completed=estimate.share, description=what, left=estimate.left)

        yield ProgressListener(config, show)


class _Lines:
    """A line where a phase begins or ends, and every ten seconds in between."""

    def __init__(self) -> None:
        self._last = 0.0

    def __call__(self, estimate: Estimate, what: str, at_once: bool = False) -> None:
        if at_once or time.monotonic() - self._last >= LINE_SECONDS:
            self._last = time.monotonic()
            left = f", {estimate.left}" if estimate.left else ""
            _stderr().print(Text(f"{100 * estimate.share:3.0f} %  {what}{left}"), soft_wrap=True)


def _stderr() -> Console:
    return Console(stderr=True, highlight=False, markup=False, emoji=False)
