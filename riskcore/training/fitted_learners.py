"""Base learners once they are fitted: what each says of pairs, and all of them as arrays and JSON.

Training predicts with them, a checkpoint keeps them, and a run's bundle hands them on: the same code answers for
tomorrow's pairs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.pipeline import Pipeline

from riskcore.config import RiskConfig, RunConfig
from riskcore.matchers.base import Arrays
from riskcore.risk import RiskModel
from riskcore.risk.log_odds import log_odds
from riskcore.rules.firing import fire
from riskcore.rules.rule_set import RuleSet
from riskcore.training.evidence import EvidencePart
from riskcore.training.stored_forest import StoredForest


@dataclasses.dataclass(frozen=True, eq=False)
class ScoredPart:
    """Some pairs, and the starting matcher's probabilities for them."""

    part: EvidencePart
    probability: np.ndarray

    def take(self, rows: np.ndarray) -> ScoredPart:
        return ScoredPart(self.part.take(rows), self.probability[rows])

    def metrics(self, shared_only: bool) -> np.ndarray:
        """The metrics of the shared attributes, or of all."""
        return self.part.metrics.values if shared_only else self.part.all_metrics.values


class FittedLearner(Protocol):
    """A fitted base learner, in memory and stored."""

    @property
    def kind(self) -> str: ...
    def predict_proba(self, some: ScoredPart) -> np.ndarray: ...
    def arrays(self) -> Arrays: ...
    def facts(self) -> dict[str, Any]: ...


@dataclasses.dataclass(frozen=True, eq=False)
class RulesLearner:
    """The rules: a risk model's expected probability."""

    model: RiskModel
    config: RiskConfig
    kind: str = "rules"

    def predict_proba(self, some: ScoredPart) -> np.ndarray:
        mu: np.ndarray = self.model.score(some.probability, some.part.source_fired, config=self.config).mu
        return mu

    def arrays(self) -> Arrays:
        return {}

    def facts(self) -> dict[str, Any]:
        return {"model": self.model.to_json()}

    @classmethod
    def stored(cls, arrays: Arrays, facts: Mapping[str, Any], config: RunConfig) -> RulesLearner:
        return cls(RiskModel.from_json(facts["model"]), config.risk)


@dataclasses.dataclass(frozen=True, eq=False)
class TargetRulesLearner:
    """Rules on attributes that only the target has."""

    rules: RuleSet
    model: RiskModel
    config: RiskConfig
    kind: str = "target rules"

    def predict_proba(self, some: ScoredPart) -> np.ndarray:
        mu: np.ndarray = self.model.score(some.probability, self.fired(some.part), config=self.config).mu
        return mu

    def fired(self, part: EvidencePart) -> sparse.csr_array:
        """Where these rules fire."""
        return fire(self.rules.rules, part.all_metrics)

    def arrays(self) -> Arrays:
        return {}

    def facts(self) -> dict[str, Any]:
        return {"rules": self.rules.to_json(), "model": self.model.to_json()}

    @classmethod
    def stored(cls, arrays: Arrays, facts: Mapping[str, Any], config: RunConfig) -> TargetRulesLearner:
        return cls(RuleSet.from_json(facts["rules"]), RiskModel.from_json(facts["model"]), config.risk)


@dataclasses.dataclass(frozen=True, eq=False)
class ForestLearner:
    """A forest on the metrics."""

    forest: StoredForest
    shared_only: bool  # whether it sees the metrics of shared attributes alone
    kind: str = "forest"

    def predict_proba(self, some: ScoredPart) -> np.ndarray:
        return self.forest.predict_proba(some.metrics(self.shared_only))

    def arrays(self) -> Arrays:
        return self.forest.arrays()

    def facts(self) -> dict[str, Any]:
        return {"shared_only": self.shared_only}

    @classmethod
    def stored(cls, arrays: Arrays, facts: Mapping[str, Any], config: RunConfig) -> ForestLearner:
        return cls(StoredForest(**arrays), facts["shared_only"])


@dataclasses.dataclass(frozen=True, eq=False)
class LinearLearner:
    """Logistic regression on standardised metrics and missing flags; where there was one class only, that class.

    All in float32, as scikit-learn computes it from metrics in float32.
    """

    coefficients: Arrays  # fill, flags, mean, scale, weights, offset; empty where there was one class only
    clip: float
    only: float | None
    shared_only: bool
    kind: str = "linear"

    @classmethod
    def of(cls, model: Pipeline, clip: float, shared_only: bool) -> LinearLearner:
        """A fitted pipeline of imputer, scaler, clipping and regression."""
        imputer, scaler, _, regression = (step for _, step in model.steps)
        known = {
            "fill": imputer.statistics_,
            "mean": scaler.mean_,
            "scale": scaler.scale_,
            "weights": regression.coef_[0],
            "offset": regression.intercept_,
        }
        arrays = {name: np.asarray(values, dtype=np.float32) for name, values in known.items()}
        flags = imputer.indicator_.features_.astype(np.int64)
        return cls({**arrays, "flags": flags}, clip, None, shared_only)

    def predict_proba(self, some: ScoredPart) -> np.ndarray:
        metrics = some.metrics(self.shared_only)
        if self.only is not None or not len(metrics):
            return np.full(len(metrics), self.only or 0.0)
        known, missing = self.coefficients, np.isnan(metrics)
        inputs = np.empty((len(metrics), len(known["mean"])), dtype=np.float32)
        inputs[:, : metrics.shape[1]] = np.where(missing, known["fill"], metrics)
        inputs[:, metrics.shape[1] :] = missing[:, known["flags"]]
        inputs -= known["mean"]  # in place: the inputs of many pairs are among the largest arrays of scoring
        inputs /= known["scale"]
        np.clip(inputs, -self.clip, self.clip, out=inputs)
        probability: np.ndarray = expit(inputs @ known["weights"] + known["offset"])
        return probability

    def contributions(self, metrics: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Log-odds before any metric is looked at, and what each metric adds, pairs x metrics. In float64: they differ
        from what is predicted by less than what float32 rounds."""
        if self.only is not None or not len(metrics):
            certain = 40.0 if self.only else -40.0  # log-odds beyond those of any float64 probability
            return np.full(len(metrics), certain), np.zeros(metrics.shape)
        known = {name: values.astype(np.float64) for name, values in self.coefficients.items() if name != "flags"}
        flags, missing, count = self.coefficients["flags"], np.isnan(metrics), metrics.shape[1]
        filled = np.where(missing, known["fill"], metrics.astype(np.float64))
        inputs = np.hstack([filled, missing[:, flags]])
        inputs = np.clip((inputs - known["mean"]) / known["scale"], -self.clip, self.clip)
        added = inputs * known["weights"]
        moved = added[:, :count]
        moved[:, flags] += added[:, count:]
        return np.full(len(metrics), known["offset"][0]), moved

    def arrays(self) -> Arrays:
        return self.coefficients

    def facts(self) -> dict[str, Any]:
        return {"clip": self.clip, "only": self.only, "shared_only": self.shared_only}

    @classmethod
    def stored(cls, arrays: Arrays, facts: Mapping[str, Any], config: RunConfig) -> LinearLearner:
        return cls(dict(arrays), facts["clip"], facts["only"], facts["shared_only"])


_KINDS: dict[str, Any] = {
    "rules": RulesLearner,
    "target rules": TargetRulesLearner,
    "forest": ForestLearner,
    "linear": LinearLearner,
}


@dataclasses.dataclass(frozen=True, eq=False)
class FittedLearners:
    """Fitted base learners in the order of the stacker's inputs; of the fine-tuned matcher, the last, its weights."""

    learners: tuple[FittedLearner, ...]
    fine_tuned: Arrays = dataclasses.field(default_factory=dict)  # empty where the matcher is no base learner

    def log_odds(self, some: ScoredPart, floor: float) -> np.ndarray:
        """Pairs x learners, without the fine-tuned matcher."""
        if not self.learners:
            return np.empty((len(some.part), 0))
        return log_odds(np.column_stack([one.predict_proba(some) for one in self.learners]), floor)

    def arrays(self) -> Arrays:
        """All arrays by name; those of the fine-tuned matcher are kept apart."""
        several = enumerate(self.learners)
        return {f"{number}.{name}": array for number, one in several for name, array in one.arrays().items()}

    def facts(self) -> list[dict[str, Any]]:
        """What is no array, as JSON values."""
        return [{"kind": one.kind, **one.facts()} for one in self.learners]

    @classmethod
    def stored(
        cls, arrays: Arrays, fine_tuned: Arrays, facts: Sequence[Mapping[str, Any]], config: RunConfig
    ) -> FittedLearners:
        """The learners that `arrays` and `facts` were taken from."""
        found: list[FittedLearner] = []
        for number, row in enumerate(facts):
            own = {name.partition(".")[2]: array for name, array in arrays.items() if name.startswith(f"{number}.")}
            found.append(_KINDS[row["kind"]].stored(own, row, config))
        return cls(tuple(found), dict(fine_tuned))
