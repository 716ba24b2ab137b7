"""A whole run, from workload to results: metrics, rules, then each method in turn, telling listeners all the way.

Every method that adapts starts from the same trained matcher. With `checkpoints`, whatever is finished is read
back and whatever was cut off goes on, to the same bits as an undisturbed run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from riskcore.config import METHODS, RunConfig
from riskcore.data.pairs import Pairs
from riskcore.data.workload import Workload
from riskcore.matchers import create, matcher_class
from riskcore.matchers.base import Arrays, Matcher, ShouldStop, never
from riskcore.training.adaptive import Adapted, adapt
from riskcore.training.checkpoint import Checkpoint, Progress
from riskcore.training.evidence import Evidence
from riskcore.training.forest import forest_proba, train_forest
from riskcore.training.gather import gather
from riskcore.training.listeners import Listener, notify
from riskcore.training.results import MethodResult
from riskcore.training.risk_plus import go_beyond
from riskcore.training.self_training import train_on_own_labels
from riskcore.training.supervised import train_on_labels, validation_scores
from riskcore.training.validation_tuning import fine_tune_on_validation


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
    """Run every method of the config on the workload, going on from `checkpoints` where a killed run left them.

    `unseen` are target pairs that no method learns from; each method scores them at the end, unless the matcher is
    a file of scores, which need not have any for them. `trained` are the weights of a traditionally trained matcher,
    for whoever has them already: then it is not trained again.
    """
    run = _Run(workload, config, listeners, checkpoints, should_stop)
    run.trained = trained or {}
    unseen = unseen if matcher_class(config.matcher.kind).trainable else None
    run.evidence = run.phase("evidence", lambda: gather(workload, config, listeners, unseen))
    notify(listeners, "on_evidence", run.evidence)
    return {method: run.method(method) for method in methods_of(config)}


def methods_of(config: RunConfig) -> list[str]:
    """What a run works through, in order. Scores of a foreign matcher cannot be taught anything."""
    needless = () if matcher_class(config.matcher.kind).trainable else ("transfer", "supervised", "self-training")
    asked = {"tradition", *config.methods} - set(needless)
    return [method for method in METHODS if method in asked]


class _Run:
    """What the methods share: evidence, the trained matcher's weights, where to keep what is done."""

    evidence: Evidence

    def __init__(
        self,
        workload: Workload,
        config: RunConfig,
        listeners: Sequence[Listener],
        folder: Path | None,
        should_stop: ShouldStop,
    ) -> None:
        self.workload, self.config, self.listeners = workload, config, listeners
        self.folder, self.should_stop = folder, should_stop
        self.made_from = config.to_json() + workload.fingerprint
        self.trained: Arrays = {}

    def phase(self, name: str, work: Callable[[], Any]) -> Any:
        """Do a part of the run, telling when it begins and how long it took."""
        started = time.perf_counter()
        notify(self.listeners, "on_phase_start", {"phase": name})
        result = work()
        notify(self.listeners, "on_phase_end", {"phase": name, "seconds": time.perf_counter() - started})
        return result

    def method(self, name: str) -> MethodResult:
        """A method's answer: read back if it was finished before, worked out otherwise."""
        done = self._checkpoint(f"{name}-done")
        progress = done.read(self.made_from) if done else None
        if progress is None:
            result, learned = self.phase(name, getattr(self, "_" + name.replace("+", "_plus").replace("-", "_")))
            if done:
                done.write(Progress({"answer": _arrays(result), "learned": learned}, _facts(result)), self.made_from)
        else:
            result, learned = _result(name, progress), dict(progress.groups["learned"])
        if name == "tradition":
            self.trained = learned
        notify(self.listeners, "on_method_end", result)
        return result

    def _tradition(self) -> tuple[MethodResult, Arrays]:
        if self.trained:
            return self._answer("tradition", self._start(), self._labels_to_choose, {}), self.trained
        matcher, config = create(self.config.matcher, self.workload.attributes), self.config
        history = train_on_labels(
            matcher,
            self.evidence.source.examples,
            self.evidence.validation.examples,
            config.tune,
            seed=config.seed,
            listeners=self.listeners,
            checkpoint=self._checkpoint("tradition"),
            should_stop=self.should_stop,
        )
        facts = {"best_epoch": history.best_epoch}
        return self._answer("tradition", matcher, self._labels_to_choose, facts), matcher.snapshot()

    def _risk(self) -> tuple[MethodResult, Arrays]:
        matcher = self._start()
        adapted = adapt(matcher, self.evidence, self.config, self.listeners, self._checkpoint("risk"), self.should_stop)
        if matcher.trainable:
            notify(self.listeners, "on_adapted", matcher)
        return self._answer("risk", matcher, self._labels_to_choose, _kept(adapted)), {}

    def _risk_plus(self) -> tuple[MethodResult, Arrays]:
        kept = self._checkpoint("risk+"), self._checkpoint("risk+-witnesses")
        beyond = go_beyond(self._start(), self.evidence, self.config, self.listeners, *kept, self.should_stop)
        return beyond, {}

    def _supervised(self) -> tuple[MethodResult, Arrays]:
        matcher = self._start()
        fine_tune_on_validation(matcher, self.evidence, self.config, self.listeners, self.should_stop)
        used = self._labels_to_learn if self.config.adapt.iterations else self._labels_to_choose
        return self._answer("supervised", matcher, used, {}), {}

    def _self_training(self) -> tuple[MethodResult, Arrays]:
        matcher = self._start()
        taught = train_on_own_labels(
            matcher,
            self.evidence,
            self.config,
            self.listeners,
            self._checkpoint("self-training"),
            self.should_stop,
        )
        return self._answer("self-training", matcher, self._labels_to_choose, _kept(taught)), {}

    def _transfer(self) -> tuple[MethodResult, Arrays]:
        from riskcore.training.transfer import train_transfer

        matcher = create(self.config.matcher, self.workload.attributes)
        train_transfer(matcher, self.evidence, self.config, self.listeners, self.should_stop)
        return self._answer("transfer", matcher, self._labels_to_choose, {}), {}

    def _forest(self) -> tuple[MethodResult, Arrays]:
        source, validation = self.evidence.source, self.evidence.validation
        metrics = np.vstack([source.metrics.values, validation.metrics.values])
        labels = np.concatenate([source.labels, validation.labels])
        forest = train_forest(metrics, labels, self.config.seed)
        unseen = self.evidence.unseen
        answer = MethodResult(
            "forest",
            forest_proba(forest, self.evidence.target.metrics.values),
            None if unseen is None else forest_proba(forest, unseen.metrics.values),
            self._labels_to_learn,
            {},
        )
        return answer, {}

    @property
    def _labels_to_choose(self) -> tuple[str, ...]:
        """Of methods that train on the source and choose an epoch or an iteration by the validation pairs."""
        return ("source", "validation") if self.evidence.validation.has_both_classes else ("source",)

    @property
    def _labels_to_learn(self) -> tuple[str, ...]:
        """Of methods that train on the validation pairs themselves, whatever their classes."""
        return ("source", "validation") if len(self.evidence.validation) else ("source",)

    def _start(self) -> Matcher:
        """The traditionally trained matcher, afresh."""
        matcher = create(self.config.matcher, self.workload.attributes)
        matcher.begin(self.evidence.source.examples, self.config.seed)
        matcher.restore(self.trained)
        return matcher

    def _answer(self, method: str, matcher: Matcher, labels: tuple[str, ...], facts: dict[str, Any]) -> MethodResult:
        evidence = self.evidence
        validated = matcher.predict_proba(evidence.validation.examples)
        f1, _ = validation_scores(evidence.validation.labels, validated)
        unseen = None if evidence.unseen is None else matcher.predict_proba(evidence.unseen.examples)
        answers = matcher.predict_proba(evidence.target.examples)
        used = labels if matcher.trainable else ()  # foreign scores learned from nothing that is known here
        return MethodResult(method, answers, unseen, used, {**facts, "validation_f1": f1})

    def _checkpoint(self, name: str) -> Checkpoint | None:
        return None if self.folder is None else Checkpoint(self.folder / f"{name}.safetensors")


def _kept(adapted: Adapted) -> dict[str, Any]:
    return {"best_iteration": adapted.best, "rows": list(adapted.rows), "lacked": adapted.lacked}


def _arrays(result: MethodResult) -> Arrays:
    unseen = {} if result.unseen is None else {"unseen": result.unseen}
    return {"probability": result.probability, **unseen}


def _facts(result: MethodResult) -> dict[str, Any]:
    return {"labels_used": list(result.labels_used), "record": result.record}


def _result(method: str, progress: Progress) -> MethodResult:
    answer, facts = progress.groups["answer"], progress.facts
    labels = tuple(facts["labels_used"])
    return MethodResult(method, answer["probability"], answer.get("unseen"), labels, facts["record"])
