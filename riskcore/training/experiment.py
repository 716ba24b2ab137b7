"""A whole run, from workload to results: metrics, rules, then each method in turn, with every step reported.

Every method that adapts starts from the same trained matcher. With `checkpoints`, finished steps are read back and
interrupted ones continue, to the same bits as an undisturbed run.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from riskcore.config import RunConfig
from riskcore.data.pairs import Pairs
from riskcore.data.workload import Workload
from riskcore.matchers.base import Arrays, ShouldStop, never
from riskcore.registry import BASE_LEARNERS_STEP, MATCHERS, METHODS, needs_base_learners
from riskcore.training.checkpoint import Progress
from riskcore.training.ensemble import Ensemble
from riskcore.training.evidence import Evidence
from riskcore.training.gather import gather
from riskcore.training.listeners import Listener, notify
from riskcore.training.method import MethodContext
from riskcore.training.results import LabelRisk, MethodResult, RankingModel

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
    rank: bool = True,
) -> dict[str, MethodResult]:
    """Run every method of the config on the workload, continuing from the `checkpoints` of a killed run.

    `unseen` are target pairs that no method learns from; each method scores them at the end, unless the matcher is a
    file of scores, which need not have any for them. `trained` are the weights of a traditionally trained matcher, if
    the caller has them: then it is not trained again. Without `rank`, the labels of the methods are not ranked by all
    the evidence, which spares gathering it unless a method needs it.
    """
    run = _Run(workload, config, listeners, checkpoints, should_stop, trained or {}, rank)
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
    ensemble: Ensemble | None = None

    def __init__(
        self,
        workload: Workload,
        config: RunConfig,
        listeners: Sequence[Listener],
        folder: Path | None,
        should_stop: ShouldStop,
        trained: Arrays,
        rank: bool,
    ) -> None:
        self.rank = rank
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

    def gather_predictions(self) -> None:
        """All the evidence on the pairs, once the matcher is trained: the base learners' predictions."""
        context = self.context(BASE_LEARNERS_STEP)
        ensemble = self.phase(
            BASE_LEARNERS_STEP,
            lambda: Ensemble(
                context.trained_matcher(),
                self.evidence,
                self.config,
                self.listeners,
                context.checkpoint(),
                self.should_stop,
            ),
        )
        self.ensemble = ensemble
        notify(self.listeners, "on_doubted_labels", ensemble.doubted)
        notify(self.listeners, "on_base_learners", ensemble)

    def context(self, name: str) -> MethodContext:
        return MethodContext(
            name,
            self.workload.attributes,
            self.evidence,
            self.config,
            self.trained,
            self.listeners,
            self.folder,
            self.should_stop,
            self.ensemble,
            self.workload.scored_ids,
        )

    def method(self, name: str) -> MethodResult:
        """A method's answer: read back if it was finished before, worked out otherwise."""
        context = self.context(name)
        done = context.checkpoint("-done")
        progress = done.read(self.made_from) if done else None
        if progress is not None:
            result = _stored_result(name, progress)
        else:
            result = self.phase(name, lambda: _ranked(METHODS[name].load()(context), context))
            if done:
                done.write(_progress(result), self.made_from)
        if name == "tradition":  # what ranks its labels starts from the matcher that it has trained
            self.trained = dict(result.learned)
            if self.rank and needs_base_learners(methods_of(self.config)):
                self.gather_predictions()
            result = _ranked(result, self.context(name))
        notify(self.listeners, "on_method_end", result)
        return result


def _ranked(result: MethodResult, context: MethodContext) -> MethodResult:
    """The result with the risk of its labels, where the method has not given it."""
    return result if result.risk is not None else dataclasses.replace(result, risk=context.rank(result))


def _progress(result: MethodResult) -> Progress:
    known = {"probability": result.probability, "unseen": result.unseen, "validated": result.validated}
    facts: dict[str, Any] = {
        "labels_used": list(result.labels_used),
        "record": result.record,
        "stacked": result.stacked,
    }
    if result.risk is not None:
        known["risk"] = result.risk.risk
        facts["risk"] = {**dataclasses.asdict(result.risk), "risk": None}
        if result.risk.model is not None:
            known["before_competition"] = result.risk.model.before_competition
            facts["risk"]["model"]["before_competition"] = None
    answer = {name: values for name, values in known.items() if values is not None}
    return Progress({"answer": answer, "learned": result.learned}, facts)


def _stored_result(method: str, progress: Progress) -> MethodResult:
    answer, facts = progress.groups["answer"], progress.facts
    labels, learned = tuple(facts["labels_used"]), dict(progress.groups["learned"])
    risk = None
    if "risk" in facts:
        how = facts["risk"]
        model = None if how["model"] is None else _stored_model(how["model"], answer.get("before_competition"))
        known = {"risk": answer["risk"], "labels_used": tuple(how["labels_used"]), "model": model}
        risk = LabelRisk(**{**how, **known})
    return MethodResult(
        method,
        answer["probability"],
        answer.get("unseen"),
        labels,
        facts["record"],
        learned,
        answer.get("validated"),
        risk,
        facts["stacked"],
    )


def _stored_model(facts: dict[str, Any], before_competition: np.ndarray | None) -> RankingModel:
    weights, competition = tuple(facts["stacker_weights"]), facts["competition"]
    known = {"stacker_weights": weights, "competition": None if competition is None else tuple(competition)}
    return RankingModel(**{**facts, **known, "before_competition": before_competition})
