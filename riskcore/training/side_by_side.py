"""Works through a run with helper processes: what waits for nothing else is done where a core is free.

    this process                       helpers
    evidence
    tradition                          base learners that know nothing but metrics
    risk (its labels ranked later)     all other base learners, then
                                       risk+, supervised, the forests, ...: the costliest first
    whatever method is left

Bits are those of one method after the other: every method has the same inputs and its own random numbers. So are the
reports: what a method tells before its turn is put aside in files (see `told`), and listeners hear of the methods in
order. A method that no helper has begun when this process has nothing else to do is done here.
"""

from __future__ import annotations

import contextlib
import dataclasses
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path

from riskcore.data.pairs import Table
from riskcore.matchers.base import never
from riskcore.registry import BASE_LEARNERS_STEP
from riskcore.training.costs import RunSizes, base_learners, method_seconds
from riskcore.training.ensemble import Ensemble
from riskcore.training.evidence import Evidence
from riskcore.training.helpers import Helpers
from riskcore.training.listeners import Listener, PairsProgress, PhaseProgress, PhaseStart, notify
from riskcore.training.method import MethodContext
from riskcore.training.one_by_one import Assignment, OneByOne, answer_of, gathered, ranked
from riskcore.training.out_of_fold import FitOnMetrics, fit_on_metrics
from riskcore.training.resampled_fits import resamples_of
from riskcore.training.results import IterationScores, MethodResult
from riskcore.training.told import Teller, ToldFiles

ADAPTS_FIRST = "risk"  # the costliest method, as a rule; its training does not need the base learners


def seconds_beside(assignment: Assignment) -> float:
    """Roughly how long everything takes that could be done beside something else."""
    config, sizes = assignment.config, _sizes(assignment)
    gathering = base_learners(config, sizes) if assignment.gathers else 0.0
    return gathering + sum(method_seconds(method, config, sizes) for method in assignment.methods[1:])


@contextlib.contextmanager
def helped(assignment: Assignment, processes: int) -> Iterator[OneByOne]:
    """The run of an assignment with this many processes, this one included; alone where helpers would not pay off."""
    count = min(processes, len(assignment.methods)) - 1
    if count < 1 or seconds_beside(assignment) < assignment.config.engine.least_seconds:
        yield OneByOne(assignment)
        return
    with Helpers(count, assignment.should_stop) as helpers, tempfile.TemporaryDirectory() as aside:
        yield SideBySide(assignment, helpers, Path(aside))


class SideBySide(OneByOne):
    """The evidence and `tradition` here, and what follows here and in helpers."""

    def __init__(self, assignment: Assignment, helpers: Helpers, aside: Path) -> None:
        super().__init__(assignment)
        self._helpers, self._aside = helpers, assignment.folder or aside
        self._files: dict[str, ToldFiles] = {}
        self._turns: list[str] = []  # steps that were not reported yet, in order
        self._known: dict[str, MethodResult] = {}  # answers, reported or not
        self._tasks: dict[str, Future[MethodResult]] = {}
        self._on_metrics: Future[list[FitOnMetrics]] | None = None
        self._gathering: Future[Ensemble] | None = None
        self._here = ""  # the method that is being worked out in this process

    def results(self) -> dict[str, MethodResult]:
        """The answer of every method."""
        first, *others = methods = self.assignment.methods
        share_evidence(self._helpers, self.evidence)
        gathers = self.assignment.gathers and not self._is_kept(BASE_LEARNERS_STEP)
        if gathers and self.evidence.validation.has_both_classes:
            self._on_metrics = self._helpers.submit(fit_on_metrics, self.evidence, self.assignment.config)
        self._known[first] = self._answer(first)
        self._start_from(self._known[first])
        if gathers and ADAPTS_FIRST in others and not self._is_kept(f"{ADAPTS_FIRST}-done"):
            self._turns = [BASE_LEARNERS_STEP, *others]
            self._gather_in_helper()
            self._work_on(ADAPTS_FIRST)
        else:
            if self.assignment.gathers:
                self._gather_predictions()
            self._report_first()
            self._turns = list(others)
            self._hand_out(others[1:])
        self._finish()
        notify(self.assignment.listeners, "on_helpers_end", self._helpers.peak_rss_mb)
        return {name: self._known[name] for name in methods}

    # The base learners.

    def ready(self) -> bool:
        """Whether all the evidence is there; methods that are trained before it look now and then."""
        if self.ensemble is None and self._gathering is not None and self._gathering.done():
            self._take_up(self._helpers.result(self._gathering))
        return self.ensemble is not None

    def get(self) -> Ensemble:
        """All the evidence, once it is there."""
        assert self._gathering is not None
        self._helpers.result(self._gathering, self._go_on)
        self.ready()
        assert self.ensemble is not None
        return self.ensemble

    def _gather_in_helper(self) -> None:
        context = dataclasses.replace(self.context(BASE_LEARNERS_STEP), listeners=(), should_stop=never)
        self._gathering = self._helpers.submit(
            gather_aside, context, self._aside, self.assignment.made_from, self._on_metrics
        )

    def _gather_predictions(self) -> None:
        """Here: there is no method that could be trained meanwhile."""
        self._catch_up(BASE_LEARNERS_STEP)
        fits = self._on_metrics
        known = None if fits is None or fits.cancel() else lambda: self._helpers.result(fits)
        self._take_up(gathered(self.context(BASE_LEARNERS_STEP), known))
        self._tell_of_base_learners()

    def _take_up(self, ensemble: Ensemble) -> None:
        """Go on with all the evidence: what waited for it can begin."""
        self.ensemble = ensemble
        self._helpers.share("ensemble", ensemble)
        if self._turns:
            self._hand_out(self._turns[1:])

    def _report_first(self) -> None:
        first = self.assignment.methods[0]
        self._known[first] = self._reported(ranked(self._known[first], self.context(first)))

    # The methods.

    def _hand_out(self, methods: list[str]) -> None:
        """Let helpers do these methods, the costliest first, but for those that are done or under way here."""
        config, sizes = self.assignment.config, _sizes(self.assignment)
        for name in [name for name in methods if self._is_kept(f"{name}-done")]:
            self._known[name] = self._answer(name)
        left = [name for name in methods if name not in self._known and name != self._here]
        for name in sorted(left, key=lambda name: -method_seconds(name, config, sizes)):
            context = dataclasses.replace(self.context(name), listeners=(), should_stop=never)
            self._tasks[name] = self._helpers.submit(work_aside, context, self._aside, self.assignment.made_from)

    def _work_on(self, name: str) -> None:
        """Work out a method here, and put aside what it tells until its turn."""
        self._here = name
        context = dataclasses.replace(
            self.context(name),
            listeners=(Teller(self._told(name)), _GoOn(self._go_on)),
            should_stop=self._stopping,
            awaited=self if self.ensemble is None and self._gathering is not None else None,
        )
        self._known[name] = answer_of(context, self.assignment.made_from)
        self._here = ""
        self._go_on()

    def _stopping(self) -> bool:
        """Asked at every step of a training here: it is also when helpers are given what they can begin with."""
        self.ready()
        return self.assignment.should_stop()

    def _finish(self) -> None:
        """Do here what no helper has begun, and wait for the others."""
        self._go_on()
        while self._turns:
            free = next((name for name in self._turns if name not in self._known and self._is_free(name)), None)
            if free is not None:
                self._work_on(free)
                continue
            if self.ensemble is not None:
                resamples_of(self.ensemble)  # the report needs them, and there is time now
            if not self._is_over(self._turns[0]):
                self._helpers.result(self._tasks[self._turns[0]], self._go_on)
            self._go_on()

    def _is_free(self, name: str) -> bool:
        """Whether no helper has begun the method; from now on none will."""
        if name in self._tasks and self._tasks[name].cancel():
            del self._tasks[name]
        return name not in self._tasks

    # What listeners hear.

    def _go_on(self) -> None:
        """Tell listeners what is next, as far as it is known, and how far the passes are that go on anywhere."""
        for step in self._turns:
            self._told(step).retell_pass(self.assignment.listeners)
        while self._turns:
            name = self._turns[0]
            over = self._is_over(name)
            self._told(name).retell(self.assignment.listeners, self._with_weights)
            if not over:
                return
            self._told(name).forget()
            del self._turns[0]
            if name == BASE_LEARNERS_STEP:
                self._tell_of_base_learners()
                self._report_first()
            else:
                self._reported(self._known[name])

    def _is_over(self, step: str) -> bool:
        """Whether a step has told everything."""
        if step == BASE_LEARNERS_STEP:
            return self.ready()
        if step not in self._known and step in self._tasks and self._tasks[step].done():
            self._known[step] = self._helpers.result(self._tasks[step])
        return step in self._known

    def _told(self, step: str) -> ToldFiles:
        if step not in self._files:
            self._files[step] = ToldFiles.of(self._aside, step, self.assignment.made_from)
            self._files[step].forget_pass()  # of a process that was killed
        return self._files[step]

    def _is_kept(self, checkpoint: str) -> bool:
        kept = self.context(checkpoint).checkpoint()
        return kept is not None and kept.path.exists()


class _GoOn(Listener):
    """Listens to a method at work, to tell what is due whenever it tells something."""

    def __init__(self, go_on: Callable[[], None]) -> None:
        self._go_on = go_on

    def on_phase_start(self, record: PhaseStart) -> None:
        self._go_on()

    def on_progress(self, record: PhaseProgress) -> None:
        self._go_on()

    def on_pairs(self, record: PairsProgress) -> None:
        self._go_on()

    def on_iteration_end(self, scores: IterationScores) -> None:
        self._go_on()


def work_aside(context: MethodContext, aside: Path, made_from: str) -> MethodResult:
    """A method's answer; what it tells is put aside. A task for helpers."""
    files = ToldFiles.of(aside, context.name, made_from)
    return answer_of(dataclasses.replace(context, listeners=(Teller(files),)), made_from)


def gather_aside(
    context: MethodContext, aside: Path, made_from: str, on_metrics: list[FitOnMetrics] | None
) -> Ensemble:
    """All the evidence; what is told of it is put aside. A task for helpers."""
    files = ToldFiles.of(aside, context.name, made_from)
    known = None if on_metrics is None else lambda: on_metrics
    return gathered(dataclasses.replace(context, listeners=(Teller(files),)), known)


def share_evidence(helpers: Helpers, evidence: Evidence) -> None:
    """Give the evidence to the helpers; tables, pairs and parts by names of their own, as other objects hold them."""
    parts = {name: getattr(evidence, name) for name in ("source", "validation", "target", "unseen")}
    tables: list[Table] = []
    for name, part in parts.items():
        if part is None:
            continue
        for table in (part.examples.pairs.left, part.examples.pairs.right):
            if not any(table is one for one in tables):
                helpers.share(f"table {len(tables)}", table)
                tables.append(table)
        helpers.share(f"{name} pairs", part.examples.pairs)
        helpers.share(name, part)
    helpers.share("evidence", evidence)


def _sizes(assignment: Assignment) -> RunSizes:
    workload = assignment.workload
    return RunSizes(len(workload.source), len(workload.validation), len(workload.target))
