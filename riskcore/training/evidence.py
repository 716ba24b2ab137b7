"""What a run knows before any matcher is trained: metrics of all pairs, rules of the source, and where they fire."""

from __future__ import annotations

import dataclasses
from functools import cached_property

import numpy as np
from scipy import sparse

from riskcore.matchers.base import Examples
from riskcore.metrics.values import MetricMatrix
from riskcore.risk import RiskModel
from riskcore.rules.firing import fire
from riskcore.rules.rule_set import RuleSet


@dataclasses.dataclass(frozen=True, eq=False)
class EvidencePart:
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
        """Whether the labels can choose between models: those of one class would favour models that predict it most."""
        return len(np.unique(self.labels)) == 2


@dataclasses.dataclass(frozen=True, eq=False)
class Evidence:
    """Source (Ds) and validation (Dv) with labels, target (Dt) and unseen pairs without."""

    source: EvidencePart
    validation: EvidencePart
    target: EvidencePart
    unseen: EvidencePart | None
    rules: RuleSet
    prior: RiskModel
    fingerprint: str = ""  # of the workload: a checkpoint of other data is not continued
