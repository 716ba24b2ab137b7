"""A whole run, from workload to results: metrics, rules, then each method in turn, with every step reported.

Every method that adapts starts from the same trained matcher. With `checkpoints`, finished steps are read back and
interrupted ones continue, to the same bits as an undisturbed run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from riskcore.config import RunConfig
from riskcore.data.pairs import Pairs
from riskcore.data.workload import Workload
from riskcore.matchers.base import Arrays, ShouldStop, never
from riskcore.registry import MATCHERS, METHODS
from riskcore.training.checkpoint import Progress
from riskcore.training.evidence import Evidence
from riskcore.training.gather import gather
from riskcore.training.listeners import Listener, notify
from riskcore.training.method import MethodContext
from riskcore.training.results import MethodResult

T = TypeVar("T")


def run_experiment(
    workload: Workload,
    config: RunConfig,
    listeners: Sequence[Listener] = (),
    *,
    checkpoints: Path | None = None,
    unseen: Pairs | None = None,
    trained: Arrays | None = None,
    should_stop: ShouldStop = never,
) -> dict[str, MethodResult]:
    """Run every method of the config on the workload, continuing from the `checkpoints` of a killed run.

    `unseen` are target pairs that no method learns from; each method scores them at the end, unless the matcher is a
    file of scores, which need not have any for them. `trained` are the weights of a traditionally trained matcher, if
    the caller has them: then it is not trained again.
    """
    run = _Run(workload, config, listeners, checkpoints, should_stop, trained or {})
    unseen = unseen if MATCHERS[config.matcher.kind].trainable else None
    run.evidence = run.phase("evidence", lambda: gather(workload, config, listeners, unseen))
    notify(listeners, "on_evidence", run.evidence)
    return {method: run.method(method) for method in methods_of(config)}


def methods_of(config: RunConfig) -> list[str]:
    """What a run works through, in the registry's order. External scores cannot be trained."""
    asked = {"tradition", *config.methods}
    trainable = MATCHERS[config.matcher.kind].trainable
    return [spec.name for spec in METHODS if spec.name in asked and (trainable or not spec.trains_matcher)]


class _Run:
    """Runs the methods one after the other, and keeps what is done."""

    evidence: Evidence

    def __init__(
        self,
        workload: Workload,
        config: RunConfig,
        listeners: Sequence[Listener],
        folder: Path | None,
        should_stop: ShouldStop,
        trained: Arrays,
    ) -> None:
        self.workload, self.config, self.listeners = workload, config, listeners
        self.folder, self.should_stop, self.trained = folder, should_stop, trained
        self.made_from = config.to_json() + workload.fingerprint

    def phase(self, name: str, work: Callable[[], T]) -> T:
        """Do a part of the run; listeners are notified when it begins and how long it took."""
        started = time.perf_counter()
        notify(self.listeners, "on_phase_start", {"phase": name})
        result = work()
        notify(self.listeners, "on_phase_end", {"phase": name, "seconds": time.perf_counter() - started})
        return result

    def method(self, name: str) -> MethodResult:
        """A method's answer: read back if it was finished before, worked out otherwise."""
        context = MethodContext(
            name,
            self.workload.attributes,
            self.evidence,
            self.config,
            self.trained,
            self.listeners,
            self.folder,
            self.should_stop,
        )
        done = context.checkpoint("-done")
        progress = done.read(self.made_from) if done else None
        if progress is not None:
            result = _stored_result(name, progress)
        else:
            result = self.phase(name, lambda: METHODS[name].load()(context))
            if done:
                done.write(_progress(result), self.made_from)
        if name == "tradition":
            self.trained = dict(result.learned)
        notify(self.listeners, "on_method_end", result)
        return result


def _progress(result: MethodResult) -> Progress:
    unseen = {} if result.unseen is None else {"unseen": result.unseen}
    answer = {"probability": result.probability, **unseen}
    facts = {"labels_used": list(result.labels_used), "record": result.record}
    return Progress({"answer": answer, "learned": result.learned}, facts)


def _stored_result(method: str, progress: Progress) -> MethodResult:
    answer, facts = progress.groups["answer"], progress.facts
    labels, learned = tuple(facts["labels_used"]), dict(progress.groups["learned"])
    return MethodResult(method, answer["probability"], answer.get("unseen"), labels, facts["record"], learned)
