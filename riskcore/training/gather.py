"""From a workload to evidence: metrics for every part, and the rules of the source and, where it has attributes of its
own, of the target's validation pairs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from riskcore.config import RunConfig
from riskcore.data.pairs import LabelledPairs, Pairs, Table
from riskcore.data.workload import Workload
from riskcore.matchers.base import Examples
from riskcore.metrics.matrix import MetricSpace, leads_are_comparable
from riskcore.metrics.values import MetricMatrix
from riskcore.risk import RiskModel, prior_model
from riskcore.rules.generation import generate, target_rules
from riskcore.rules.rule_set import RuleSet
from riskcore.training.decided_rules import with_decided_rules
from riskcore.training.evidence import Evidence, EvidencePart
from riskcore.training.listeners import Listener, notify

Metrics = dict[str, MetricMatrix]


def gather(
    workload: Workload, config: RunConfig, listeners: Sequence[Listener] = (), unseen: Pairs | None = None
) -> Evidence:
    """Metrics and rules. Word statistics come from all tables; no label of the target is involved."""
    parts: dict[str, Pairs] = {
        "source": workload.source,
        "validation": workload.validation,
        "target": workload.target,
    }
    if unseen is not None:
        parts["unseen"] = unseen.without_labels() if isinstance(unseen, LabelledPairs) else unseen
    shared_space, target_space = fit_spaces(workload, config, unseen)
    metrics, target_only = _shared_metrics(shared_space, parts, listeners), _target_metrics(target_space, parts)
    rules = generate(metrics["source"], workload.source.labels, config.rule, _teller("rules", listeners))
    if workload.target_only:
        both = metrics["validation"].beside(target_only["validation"])
        shared = len(metrics["source"].metrics)
        rules = rules.followed_by(target_rules(both, workload.validation.labels, shared, config.rule))
    known = {
        name: EvidencePart(Examples(pairs, metrics[name].values), metrics[name], rules, target_only.get(name))
        for name, pairs in parts.items()
    }
    return Evidence(
        known["source"],
        known["validation"],
        known["target"],
        known.get("unseen"),
        rules,
        _prior(rules, config),
        workload.fingerprint,
        tuple(space.facts for space in (shared_space, target_space) if space is not None),
        None if workload.sample is None else workload.sample.similarity,
    )


def _prior(rules: RuleSet, config: RunConfig) -> RiskModel:
    """The risk model before any fit, as published: rules that validation pairs taught have no weight in it. A rule that
    stands for several similar ones weighs as much as they would."""
    prior = prior_model([rule.key for rule in rules.rules], rules.match_rate, rules.support, config.risk)
    prior = dataclasses.replace(prior, weight=np.where(rules.from_validation, 0.0, prior.weight * rules.stands_for))
    return with_decided_rules(prior, config)


def fit_spaces(
    workload: Workload, config: RunConfig, unseen: Pairs | None = None
) -> tuple[MetricSpace, MetricSpace | None]:
    """The metrics of the shared attributes, and of those that only the target has, its whole records included; None
    where it has nothing of its own. Fitted to all tables."""
    parts = [workload.source, workload.validation, workload.target, *([] if unseen is None else [unseen])]
    comparable = leads_are_comparable(parts)
    shared = MetricSpace.fit(workload.attributes, _tables(parts), config.metric, comparable)
    if not workload.target_only:
        return shared, None
    theirs = _tables(parts[1:])
    return shared, MetricSpace.fit(workload.target_only, theirs, config.metric, beside=workload.attributes)


def _shared_metrics(space: MetricSpace, parts: dict[str, Pairs], listeners: Sequence[Listener]) -> Metrics:
    total, done, metrics = sum(map(len, parts.values())), 0, {}
    tell = _teller("metrics", listeners)
    for name, pairs in parts.items():
        metrics[name] = space.transform(pairs)
        done += len(pairs)
        tell(done, total)
    return metrics


def _target_metrics(space: MetricSpace | None, parts: dict[str, Pairs]) -> Metrics:
    """Metrics of what only the target has; empty where it has nothing of its own."""
    if space is None:
        return {}
    found = {name: space.transform(pairs) for name, pairs in parts.items() if name != "source"}
    columns = found["target"].metrics
    missing = np.full((len(parts["source"]), len(columns)), np.nan, dtype=np.float32)
    return {"source": MetricMatrix(missing, columns), **found}


def _tables(parts: Iterable[Pairs]) -> list[Table]:
    return [table for pairs in parts for table in (pairs.left, pairs.right)]


def _teller(phase: str, listeners: Sequence[Listener]) -> Callable[[int, int], None]:
    def tell(done: int, total: int) -> None:
        notify(listeners, "on_progress", {"phase": phase, "done": done, "total": total})

    return tell
