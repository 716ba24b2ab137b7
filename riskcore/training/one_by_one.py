"""Works through the methods of a run one after the other, and keeps what is done."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from riskcore.config import RunConfig
from riskcore.data.workload import Workload
from riskcore.matchers.base import Arrays, Matcher, ShouldStop
from riskcore.registry import BASE_LEARNERS_STEP, METHODS, needs_base_learners
from riskcore.training.ensemble import Ensemble
from riskcore.training.evidence import Evidence
from riskcore.training.listeners import Listener, notify
from riskcore.training.method import MethodContext
from riskcore.training.out_of_fold import FitOnMetrics
from riskcore.training.passes import forget_pass
from riskcore.training.results import MethodResult
from riskcore.training.stored_results import result_progress, stored_result
from riskcore.training.told import ToldFiles

START = "tradition"  # the method that the others start from
T = TypeVar("T")


@dataclasses.dataclass(frozen=True, eq=False)
class Assignment:
    """What a run is to do, and for whom."""

    workload: Workload
    config: RunConfig
    methods: Sequence[str]  # in the order in which they are reported; the first is `START`
    listeners: Sequence[Listener]
    folder: Path | None  # of checkpoints
    should_stop: ShouldStop
    trained: Arrays  # weights of a trained matcher; empty where there is none
    rank: bool  # whether the labels are ranked by all the evidence

    @property
    def made_from(self) -> str:
        """What checkpoints belong to."""
        return self.config.to_json() + self.workload.fingerprint

    @property
    def gathers(self) -> bool:
        """Whether the base learners' predictions are needed."""
        return self.rank and needs_base_learners(self.methods)


class OneByOne:
    """The evidence first, then each method in this process."""

    evidence: Evidence

    def __init__(self, assignment: Assignment) -> None:
        self.assignment = assignment
        self.trained, self.start = assignment.trained, Arrays()
        self.ensemble: Ensemble | None = None

    def gather(self, work: Callable[[], Evidence]) -> None:
        """Metrics and rules."""
        self.evidence = self.phase("evidence", work)
        notify(self.assignment.listeners, "on_evidence", self.evidence)

    def results(self) -> dict[str, MethodResult]:
        """The answer of every method."""
        first, *others = self.assignment.methods
        return {first: self._first(first), **{name: self._next(name) for name in others}}

    def phase(self, name: str, work: Callable[[], T]) -> T:
        """Do a part of the run; listeners are notified when it begins and how long it took."""
        return timed_phase(name, work, self.assignment.listeners)

    def context(self, name: str) -> MethodContext:
        one = self.assignment
        return MethodContext(
            name,
            one.workload.attributes,
            self.evidence,
            one.config,
            self.trained,
            one.listeners,
            one.folder,
            one.should_stop,
            self.ensemble,
            one.workload.scored_ids,
            self.start or None,
        )

    def _first(self, name: str) -> MethodResult:
        """The method that the others start from; what ranks its labels starts from the matcher that it has trained."""
        result = self._answer(name)
        self._start_from(result)
        if self.assignment.gathers:
            self._gather_predictions()
        return self._reported(ranked(result, self.context(name)))

    def _next(self, name: str) -> MethodResult:
        self._catch_up(name)
        return self._reported(self._answer(name))

    def _reported(self, result: MethodResult) -> MethodResult:
        notify(self.assignment.listeners, "on_method_end", result)
        return result

    def _answer(self, name: str) -> MethodResult:
        """A method's answer: read back if it was finished before, worked out otherwise."""
        return answer_of(self.context(name), self.assignment.made_from)

    def _start_from(self, result: MethodResult) -> None:
        """Keep what the other methods start from."""
        known = {"validation": result.validated, "target": result.probability, "unseen": result.unseen}
        self.trained = dict(result.learned)
        self.start = {part: values for part, values in known.items() if values is not None}

    def _gather_predictions(self) -> None:
        """All the evidence on the pairs, once the matcher is trained: the base learners' predictions."""
        self._catch_up(BASE_LEARNERS_STEP)
        self.ensemble = gathered(self.context(BASE_LEARNERS_STEP))
        self._tell_of_base_learners()

    def _tell_of_base_learners(self) -> None:
        assert self.ensemble is not None
        notify(self.assignment.listeners, "on_doubted_labels", self.ensemble.doubted)
        notify(self.assignment.listeners, "on_base_learners", self.ensemble)

    def _catch_up(self, step: str) -> None:
        """Tell listeners what a process that was killed had put aside until the step's turn."""
        if self.assignment.folder is not None:
            told = ToldFiles.of(self.assignment.folder, step, self.assignment.made_from)
            told.retell(self.assignment.listeners, self._with_weights)
            told.forget()

    def _with_weights(self, learned: Arrays) -> Matcher:
        """A matcher that has learned this."""
        matcher = self.context(START).trained_matcher()
        matcher.restore(learned)
        return matcher


def timed_phase(name: str, work: Callable[[], T], listeners: Sequence[Listener]) -> T:
    """Do a part of a run; listeners are notified when it begins and how long it took."""
    started = time.perf_counter()
    notify(listeners, "on_phase_start", {"phase": name})
    result = work()
    notify(listeners, "on_phase_end", {"phase": name, "seconds": time.perf_counter() - started})
    return result


def answer_of(context: MethodContext, made_from: str) -> MethodResult:
    """A method's ranked answer: read back if it was finished before, worked out otherwise."""
    done = context.checkpoint("-done")
    progress = done.read(made_from) if done else None
    if progress is not None:
        return stored_result(context.name, progress)
    result = timed_phase(
        context.name, lambda: ranked(METHODS[context.name].load()(context), context), context.listeners
    )
    if done:
        done.write(result_progress(result), made_from)
    own = context.checkpoint()
    if own:
        forget_pass(own)
    return result


def gathered(context: MethodContext, on_metrics: Callable[[], Sequence[FitOnMetrics]] | None = None) -> Ensemble:
    """All the evidence, as a phase of the run."""
    return timed_phase(
        context.name,
        lambda: Ensemble(
            context.trained_matcher(),
            context.evidence,
            context.config,
            context.listeners,
            context.checkpoint(),
            context.should_stop,
            context.start,
            on_metrics,
        ),
        context.listeners,
    )


def ranked(result: MethodResult, context: MethodContext) -> MethodResult:
    """The result with the risk of its labels, where the method has not given it."""
    return result if result.risk is not None else dataclasses.replace(result, risk=context.rank(result))
