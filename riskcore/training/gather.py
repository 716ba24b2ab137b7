"""From a workload to evidence: metrics for every part, and the rules of the source."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from riskcore.config import RunConfig
from riskcore.data.pairs import LabelledPairs, Pairs
from riskcore.data.workload import Workload
from riskcore.matchers.base import Examples
from riskcore.metrics.matrix import MetricSpace, leads_are_comparable
from riskcore.metrics.values import MetricMatrix
from riskcore.risk import prior_model
from riskcore.rules.generation import generate
from riskcore.training.evidence import Evidence, EvidencePart
from riskcore.training.listeners import Listener, notify


def gather(
    workload: Workload, config: RunConfig, listeners: Sequence[Listener] = (), unseen: Pairs | None = None
) -> Evidence:
    """Metrics for every part; rules from the source's labels alone. Word statistics come from all tables."""
    parts = {"source": workload.source, "validation": workload.validation, "target": workload.target}
    if unseen is not None:
        parts["unseen"] = unseen.without_labels() if isinstance(unseen, LabelledPairs) else unseen
    tables = [table for pairs in parts.values() for table in (pairs.left, pairs.right)]
    space = MetricSpace.fit(workload.attributes, tables, config.metric, leads_are_comparable(list(parts.values())))
    metrics = _all_metrics(space, parts, listeners)
    rules = generate(metrics["source"], workload.source.labels, config.rule, _teller("rules", listeners))
    known = {
        name: EvidencePart(Examples(pairs, metrics[name].values), metrics[name], rules) for name, pairs in parts.items()
    }
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
