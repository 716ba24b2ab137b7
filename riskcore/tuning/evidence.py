"""Everything a run knows before any matcher is trained: metrics of all pairs, rules of the source, who fires where."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from scipy import sparse

from riskcore.config import RunConfig
from riskcore.data.pairs import LabelledPairs, Pairs
from riskcore.data.workload import Workload
from riskcore.matchers.base import Examples
from riskcore.metrics.matrix import MetricSpace, comparable_rivals
from riskcore.metrics.values import MetricMatrix
from riskcore.risk import RiskModel, prior_model
from riskcore.rules.firing import fire
from riskcore.rules.generation import generate
from riskcore.rules.rule_set import RuleSet
from riskcore.tuning.listeners import Listener, notify


@dataclasses.dataclass(frozen=True, eq=False)
class Part:
    """Some pairs with their metrics and the rules that fire on them."""

    examples: Examples
    metrics: MetricMatrix
    rules: RuleSet

    def __len__(self) -> int:
        return len(self.examples)

    @cached_property
    def fired(self) -> sparse.csr_array:
        return fire(self.rules.rules, self.metrics)

    @property
    def labels(self) -> np.ndarray:
        return self.examples.labels

    @property
    def has_both_classes(self) -> bool:
        """Whether the labels can choose between models: those of one class would choose whatever says it most."""
        return len(np.unique(self.labels)) == 2


@dataclasses.dataclass(frozen=True, eq=False)
class Evidence:
    """Source (Ds) and validation (Dv) with labels, target (Dt) and unseen pairs without."""

    source: Part
    validation: Part
    target: Part
    unseen: Part | None
    rules: RuleSet
    prior: RiskModel
    fingerprint: str = ""  # of the workload: a checkpoint of other data is not continued


def gather(
    workload: Workload, config: RunConfig, listeners: Sequence[Listener] = (), unseen: Pairs | None = None
) -> Evidence:
    """Metrics for every part; rules from the source's labels alone. Word statistics come from all tables."""
    parts = {"source": workload.source, "validation": workload.validation, "target": workload.target}
    if unseen is not None:
        parts["unseen"] = unseen.without_labels() if isinstance(unseen, LabelledPairs) else unseen
    tables = [table for pairs in parts.values() for table in (pairs.left, pairs.right)]
    space = MetricSpace.fit(workload.attributes, tables, config.metric, comparable_rivals(list(parts.values())))
    metrics = _all_metrics(space, parts, listeners)
    rules = generate(metrics["source"], workload.source.labels, config.rule, _teller("rules", listeners))
    known = {name: Part(Examples(pairs, metrics[name].values), metrics[name], rules) for name, pairs in parts.items()}
    prior = prior_model([rule.key for rule in rules.rules], rules.match_rate, rules.support, config.risk)
    return Evidence(
        known["source"], known["validation"], known["target"], known.get("unseen"), rules, prior, workload.fingerprint
    )


def _all_metrics(space: MetricSpace, parts: dict[str, Pairs], listeners: Sequence[Listener]) -> dict[str, MetricMatrix]:
    total, done, metrics = sum(map(len, parts.values())), 0, {}
    tell = _teller("metrics", listeners)
    for name, pairs in parts.items():
        metrics[name] = space.transform(pairs)
        done += len(pairs)
        tell(done, total)
    return metrics


def _teller(phase: str, listeners: Sequence[Listener]) -> Callable[[int, int], None]:
    def tell(done: int, total: int) -> None:
        notify(listeners, "on_progress", {"phase": phase, "done": done, "total": total})

    return tell
