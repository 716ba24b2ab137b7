"""What a run knows before any matcher is trained: metrics of all pairs, rules, and where they fire.

Rules come from the source. Where the target has attributes that the source lacks, the validation pairs teach rules on
these too; the method `risk`, as published, does without them.
"""

from __future__ import annotations

import dataclasses
from functools import cached_property

import numpy as np
from scipy import sparse

from riskcore.config import RunConfig
from riskcore.matchers.base import Examples
from riskcore.metrics.matrix import SpaceFacts
from riskcore.metrics.values import MetricMatrix
from riskcore.risk import RiskModel
from riskcore.rules.firing import fire
from riskcore.rules.rule_set import RuleSet
from riskcore.training.domain_similarity import domain_similarity


@dataclasses.dataclass(frozen=True, eq=False)
class EvidencePart:
    """Some pairs with their metrics and the rules that fire on them."""

    examples: Examples
    metrics: MetricMatrix  # of the attributes that source and target share
    rules: RuleSet
    target_only: MetricMatrix | None = None  # of attributes that only the target has; all missing in the source

    def __len__(self) -> int:
        return len(self.examples)

    @cached_property
    def all_metrics(self) -> MetricMatrix:
        """The metrics of all attributes."""
        return self.metrics if self.target_only is None else self.metrics.beside(self.target_only)

    @cached_property
    def fired(self) -> sparse.csr_array:
        return fire(self.rules.rules, self.all_metrics)

    @cached_property
    def source_fired(self) -> sparse.csr_array:
        """The same without the rules that were learned from validation pairs: their columns are empty."""
        if not self.rules.from_validation.any():
            return self.fired
        fired = self.fired.copy()
        fired.data = fired.data & ~self.rules.from_validation[fired.indices]
        fired.eliminate_zeros()
        return fired

    def take(self, rows: np.ndarray) -> EvidencePart:
        """Some of these pairs."""
        target_only = None if self.target_only is None else self.target_only.take(rows)
        return EvidencePart(self.examples.take(rows), self.metrics.take(rows), self.rules, target_only)

    @property
    def labels(self) -> np.ndarray:
        return self.examples.labels

    @property
    def weights(self) -> np.ndarray:
        """How many pairs each labelled one stands for: a design draws some pairs more often than others."""
        return self.examples.weights

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
    spaces: tuple[SpaceFacts, ...] = ()  # of the shared attributes, and of those that only the target has, if any
    similarity: float | None = None  # domain similarity of the whole target, where the target part is a sample of it

    def domain_similarity(self, config: RunConfig) -> float:
        """Of source and target; of all target pairs, also where the target part is drawn by risk."""
        if self.similarity is not None:
            return self.similarity
        source, target = self.source.metrics.values, self.target.metrics.values
        return domain_similarity(source, target, config.seed, config.similarity)
