"""The risk model as a person can read it: per rule a mean, a relative deviation and a weight; for the
matcher a deviation per slice of its output and the shape of its weight. Frozen, bounded, JSON both ways.

Rules are known by their text only, in the order of the firing matrix's columns. What a person decides about a rule
(mute, pin, another weight) overrides what was learned and can be undone.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Self

import numpy as np
from scipy import sparse

from riskcore.config import RiskConfig
from riskcore.risk import scoring
from riskcore.risk.scoring import RiskModelError, RiskScores

A_BOUNDS = (1e-3, 100.0)  # above zero, so that every pair has some weight even where no rule fires
C_BOUNDS = (1e-2, 100.0)
FORMAT = 1

__all__ = ["A_BOUNDS", "C_BOUNDS", "RiskModel", "RiskModelError", "RiskScores", "prior_model"]


@dataclasses.dataclass(frozen=True, eq=False)
class RiskModel:
    """All parameters that turn fired rules and a matcher's output into a risk."""

    rules: tuple[str, ...]
    mean: np.ndarray  # match rate of the training pairs each rule fires on; never learned
    support: np.ndarray  # how many those are
    rsd: np.ndarray  # learned: a rule's deviation is rsd * max(mean, mean_floor)
    weight: np.ndarray  # learned
    decided: np.ndarray  # a person's weight for the rule, NaN where none: 0 is muted
    pinned: np.ndarray  # bool: a person vouches for the rule
    matcher_rsd: np.ndarray  # learned, one per equal slice of the matcher's output
    a: float  # learned: the matcher's weight where it is undecided
    c: float  # learned: how wide that dip around 0.5 is
    confidence: float = 0.9
    mean_floor: float = 0.1
    rsd_bounds: tuple[float, float] = (0.1, 0.9)

    def __post_init__(self) -> None:
        for name, kind in _ARRAYS.items():
            values = np.array(getattr(self, name), dtype=kind)
            values.flags.writeable = False
            object.__setattr__(self, name, values)
        problems = list(_problems(self))
        if problems:
            raise RiskModelError("This is not a usable risk model:\n" + "\n".join(problems))

    def score(
        self,
        probabilities: np.ndarray,
        fired: sparse.sparray,
        labels: np.ndarray | None = None,
        config: RiskConfig | None = None,
    ) -> RiskScores:
        """Risk of every pair; `fired` has a row per pair and a column per rule of this model."""
        return scoring.score(self, probabilities, fired, labels, config or RiskConfig())

    @property
    def deviation(self) -> np.ndarray:
        """Each rule's standard deviation; a pinned rule has the lowest that is allowed."""
        rsd = np.where(self.pinned, self.rsd_bounds[0], self.rsd)
        return rsd * np.maximum(self.mean, self.mean_floor)

    @property
    def effective_weight(self) -> np.ndarray:
        """Each rule's weight: a person's where there is one, else the learned."""
        return np.where(np.isnan(self.decided), self.weight, self.decided)

    @property
    def states(self) -> tuple[str, ...]:
        """Per rule `learned`, `muted`, `pinned` or `weighted`."""
        kinds = np.select([np.isnan(self.decided), self.pinned, self.decided == 0], ["learned", "pinned", "muted"], "")
        return tuple(kind or "weighted" for kind in kinds.tolist())

    def bucket(self, probability: np.ndarray) -> np.ndarray:
        """Which slice of the matcher's output a probability lies in."""
        count = len(self.matcher_rsd)
        return np.minimum((np.asarray(probability) * count).astype(np.int64), count - 1)

    def matcher_weight(self, probability: np.ndarray) -> np.ndarray:
        """The matcher's weight by its output: an uncertain matcher counts less."""
        return 1 + self.a - np.exp(-np.square(probability - 0.5) / (2 * self.c**2))

    def matcher_deviation(self, probability: np.ndarray) -> np.ndarray:
        return self.matcher_rsd[self.bucket(probability)] * np.maximum(probability, self.mean_floor)

    def with_rules(
        self,
        *,
        muted: Collection[str] = (),
        pinned: Collection[str] = (),
        weights: Mapping[str, float] | None = None,
        released: Collection[str] = (),
        config: RiskConfig | None = None,
    ) -> RiskModel:
        """The same model after a person's decisions; `released` rules go back to what was learned.

        Muted rules have no weight. Pinned rules have a weight above all others and the smallest deviation.
        Scoring again with the result is the what-if; a later fit leaves decided rules alone.
        """
        weights = dict(weights or {})
        pin_weight = (config or RiskConfig()).pin_weight
        wanted: dict[str, float] = {}
        for group in (dict.fromkeys(muted, 0.0), dict.fromkeys(pinned, pin_weight), weights, dict.fromkeys(released)):
            twice = sorted(set(group) & set(wanted))
            if twice:
                raise RiskModelError(f"Give one decision per rule; there are two about: {'; '.join(twice)}.")
            wanted |= {rule: np.nan if weight is None else float(weight) for rule, weight in group.items()}
        columns = self.columns(list(wanted))
        decided, is_pinned = self.decided.copy(), self.pinned.copy()
        decided[columns] = list(wanted.values())
        is_pinned[columns] = [rule in set(pinned) for rule in wanted]
        return dataclasses.replace(self, decided=decided, pinned=is_pinned)

    def columns(self, rules: Sequence[str]) -> np.ndarray:
        """Column numbers of these rules."""
        place = {rule: column for column, rule in enumerate(self.rules)}
        unknown = [rule for rule in rules if rule not in place]
        if unknown:
            raise RiskModelError(f"This model has no rule named: {'; '.join(unknown)}.")
        return np.array([place[rule] for rule in rules], dtype=np.int64)

    def to_json(self) -> str:
        """Readable text with a name and bounds for every parameter."""
        return json.dumps(_as_dict(self), indent=1, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The model that `to_json` wrote, to the last bit; refused by name where it is out of bounds."""
        try:
            return cls(**_from_dict(json.loads(text)))
        except (KeyError, TypeError, ValueError) as error:
            raise RiskModelError(f"This is not a saved risk model ({type(error).__name__}: {error}).") from error


_ARRAYS: dict[str, Any] = {
    "mean": np.float64,
    "support": np.int64,
    "rsd": np.float64,
    "weight": np.float64,
    "decided": np.float64,
    "pinned": np.bool_,
    "matcher_rsd": np.float64,
}


def prior_model(
    rules: Sequence[str], mean: np.ndarray, support: np.ndarray, config: RiskConfig | None = None
) -> RiskModel:
    """The model before any fit: every rule weighs the same. Also the ranking called static rules."""
    config = config or RiskConfig()
    count = len(rules)
    return RiskModel(
        rules=tuple(rules),
        mean=mean,
        support=support,
        rsd=np.full(count, config.prior_rsd),
        weight=np.full(count, config.prior_weight),
        decided=np.full(count, np.nan),
        pinned=np.zeros(count, dtype=bool),
        matcher_rsd=np.full(config.buckets, config.prior_rsd),
        a=config.prior_a,
        c=config.prior_c,
        confidence=config.confidence,
        mean_floor=config.mean_floor,
        rsd_bounds=(config.lowest_rsd, config.highest_rsd),
    )


def _problems(model: RiskModel) -> list[str]:
    """Everything wrong with the parameters, each by name."""
    count = len(model.rules)
    found = [
        f"- {name} has {len(getattr(model, name))} values for {count} rules."
        for name in ("mean", "support", "rsd", "weight", "decided", "pinned")
        if getattr(model, name).shape != (count,)
    ]
    if len(set(model.rules)) < count:
        found.append("- the same rule occurs twice.")
    if model.matcher_rsd.ndim != 1 or not len(model.matcher_rsd):
        found.append("- the matcher needs at least one slice.")
    for name, (low, high) in _bounds(model).items():
        values = np.atleast_1d(np.asarray(getattr(model, name), dtype=np.float64))
        values = values[~np.isnan(values)] if name == "decided" else values
        wrong = values[~((values >= low) & (values <= high) & np.isfinite(values))]
        if len(wrong):
            found.append(f"- {name} is {wrong[0]}; it must lie between {low} and {high}.")
    return found


def _bounds(model: RiskModel) -> dict[str, tuple[float, float]]:
    return {
        "mean": (0.0, 1.0),
        "support": (0.0, np.inf),
        "rsd": model.rsd_bounds,
        "weight": (0.0, np.inf),
        "decided": (0.0, np.inf),
        "matcher_rsd": model.rsd_bounds,
        "a": A_BOUNDS,
        "c": C_BOUNDS,
        "confidence": (0.5, 0.999),
        "mean_floor": (1e-6, 1.0),
    }


def _as_dict(model: RiskModel) -> dict[str, Any]:
    slices = len(model.matcher_rsd)
    bounds = {name: [low, high if np.isfinite(high) else None] for name, (low, high) in _bounds(model).items()}
    rules = [
        {
            "rule": rule,
            "mean": float(model.mean[i]),
            "support": int(model.support[i]),
            "rsd": float(model.rsd[i]),
            "weight": float(model.weight[i]),
            "state": state,
            "decided": None if np.isnan(model.decided[i]) else float(model.decided[i]),
        }
        for i, (rule, state) in enumerate(zip(model.rules, model.states, strict=True))
    ]
    matcher = {
        "a": model.a,
        "c": model.c,
        "slices": [
            {"from": i / slices, "to": (i + 1) / slices, "rsd": float(rsd)} for i, rsd in enumerate(model.matcher_rsd)
        ],
    }
    return {
        "format": FORMAT,
        "confidence": model.confidence,
        "mean_floor": model.mean_floor,
        "bounds": bounds,
        "matcher": matcher,
        "rules": rules,
    }


def _from_dict(saved: dict[str, Any]) -> dict[str, Any]:
    if saved["format"] != FORMAT:
        raise ValueError(f"format {saved['format']} is not {FORMAT}, the one this version reads")
    rules, matcher = saved["rules"], saved["matcher"]
    return {
        "rules": tuple(rule["rule"] for rule in rules),
        **{name: np.array([rule[name] for rule in rules]) for name in ("mean", "support", "rsd", "weight")},
        "decided": np.array([np.nan if rule["decided"] is None else rule["decided"] for rule in rules]),
        "pinned": np.array([rule["state"] == "pinned" for rule in rules], dtype=bool),
        "matcher_rsd": np.array([part["rsd"] for part in matcher["slices"]]),
        "a": matcher["a"],
        "c": matcher["c"],
        "confidence": saved["confidence"],
        "mean_floor": saved["mean_floor"],
        "rsd_bounds": tuple(saved["bounds"]["rsd"]),
    }
