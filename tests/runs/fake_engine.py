"""An engine with the real one's signature that needs milliseconds: synthetic scores, checkpoints, and stopping.

Like the real one it tells first and saves afterwards, so that a kill in between makes it tell again.
"""

from __future__ import annotations

import json
import os
import time

import numpy as np
from scipy import sparse

from riskcore.errors import CancelledError
from riskcore.matchers.base import Examples
from riskcore.metrics.kinds import Metric
from riskcore.metrics.values import MetricMatrix
from riskcore.risk import prior_model
from riskcore.rules.rule import Condition, Rule
from riskcore.rules.rule_set import RuleSet
from riskcore.training.evidence import Evidence, EvidencePart
from riskcore.training.listeners import notify
from riskcore.training.results import IterationScores, MethodResult

METRICS = (Metric("title", "jaccard"), Metric("year", "closeness"))
RULES = (
    Rule((Condition("title", "jaccard", ">", 0.5),), "match"),
    Rule((Condition("title", "jaccard", "<=", 0.3),), "non-match"),
    Rule((Condition("title", "jaccard", "<=", 0.6), Condition("year", "closeness", "<=", 0.5)), "non-match"),
)


def fake_part(pairs, rules, seed):
    values = np.random.default_rng([seed, len(pairs)]).random((len(pairs), len(METRICS))).astype(np.float32).round(4)
    values[::7, 1] = np.nan
    matrix = MetricMatrix(values, METRICS)
    return EvidencePart(Examples(pairs, values), matrix, rules)


def fake_evidence(workload, seed=0):
    rules = RuleSet(RULES, np.array([40, 50, 20]), np.array([38, 1, 2]))
    prior = prior_model([rule.key for rule in RULES], rules.match_rate, rules.support)
    parts = [fake_part(pairs, rules, seed) for pairs in (workload.source, workload.validation, workload.target)]
    return Evidence(*parts, None, rules, prior)


def fake_engine(workload, config, listeners=(), *, checkpoints=None, unseen=None, should_stop=lambda: False):
    run = _FakeRun(workload, config, listeners, checkpoints, should_stop)
    evidence = run.phase("evidence", lambda: run.gather())
    notify(listeners, "on_evidence", evidence)
    results = {}
    for method in config.methods:
        steps = run.risk if method.startswith("risk") else run.train
        run.phase(method, lambda steps=steps, method=method: steps(method, evidence))
        unseen_probability = None if unseen is None else run.probability(method, 99, len(unseen))
        answer = run.probability(method, config.adapt.iterations, len(workload.target))
        results[method] = MethodResult(method, answer, unseen_probability, ("source",), {"kept": np.int64(3)})
        notify(listeners, "on_method_end", results[method])
    return results


class _FakeRun:
    def __init__(self, workload, config, listeners, checkpoints, should_stop):
        self.workload, self.config, self.listeners, self.should_stop = workload, config, listeners, should_stop
        self.file = checkpoints / "fake.json"
        self.done = json.loads(self.file.read_text()) if self.file.exists() else {}
        self.pause = float(os.environ.get("FAKE_PAUSE", "0"))

    def phase(self, name, work):
        notify(self.listeners, "on_phase_start", {"phase": name, "steps": self.config.adapt.iterations})
        result = work()
        notify(self.listeners, "on_phase_end", {"phase": name, "seconds": 0.25})
        return result

    def gather(self):
        for done in (1, 2):
            notify(self.listeners, "on_progress", {"phase": "metrics", "done": done, "total": 2})
        return fake_evidence(self.workload, self.config.seed)

    def train(self, method, evidence):
        notify(self.listeners, "on_start", {"task": method, "epochs": self.config.tune.epochs, "done": 0})
        for epoch in range(self.done.get(method, 0) + 1, self.config.tune.epochs + 1):
            self.step()
            notify(self.listeners, "on_epoch_end", {"epoch": epoch, "loss": 1 / epoch, "seconds": 0.0})
            self.save(method, epoch)

    def risk(self, method, evidence):
        for iteration in range(self.done.get(method, -1) + 1, self.config.adapt.iterations + 1):
            self.step()
            p = self.probability(method, iteration, len(self.workload.target))
            scores = evidence.prior.score(p, evidence.target.fired)
            record = {"iteration": iteration, "validation_f1": 0.5, "flips": iteration, "seconds": 0.1}
            record |= {"mean_risk": float(scores.risk.mean()), "nothing": float("nan")}
            notify(
                self.listeners, "on_iteration_end", IterationScores(method, iteration, scores, evidence.prior, record)
            )
            total = self.config.adapt.iterations
            notify(self.listeners, "on_progress", {"phase": method, "done": iteration, "total": total})
            self.save(method, iteration)

    def probability(self, method, iteration, count):
        chance = np.random.default_rng([self.config.seed, len(method)])
        start, drift = chance.random(count), chance.random(count) - 0.5
        return np.clip(start + drift * iteration / 5, 0, 1)

    def step(self):
        time.sleep(self.pause)
        if self.should_stop():
            raise CancelledError("stopped")

    def save(self, method, number):
        self.done[method] = number
        self.file.parent.mkdir(parents=True, exist_ok=True)
        part = self.file.with_suffix(".part")
        part.write_text(json.dumps(self.done))
        os.replace(part, self.file)


def fired_by_hand(metrics):
    """What the rules above say of a metric matrix, spelled out."""
    with np.errstate(invalid="ignore"):
        title, year = metrics[:, 0], metrics[:, 1]
        return sparse.csr_array(np.column_stack([title > 0.5, title <= 0.3, (title <= 0.6) & (year <= 0.5)]))
