"""How long the parts of a run take, roughly: pairs seen by the matcher over its speed. No result depends on it."""

from __future__ import annotations

import dataclasses

from riskcore.config import RunConfig
from riskcore.registry import MATCHERS, METHODS, load_attribute

_PREDICT = 0.3  # a prediction costs this much of a training step


@dataclasses.dataclass(frozen=True)
class RunSizes:
    """Pairs that a run will see."""

    source: int
    validation: int
    target: int

    @property
    def all(self) -> int:
        return self.source + self.validation + self.target


def method_seconds(method: str, config: RunConfig, sizes: RunSizes, speed: float | None = None) -> float:
    """The seconds that a method may take; a method without an estimate of its own trains, as most do. `speed` is the
    matcher's in pairs a second, where it was measured."""
    speed = speed or MATCHERS[config.matcher.kind].speed(config.matcher.max_tokens)
    estimate = METHODS[method].seconds
    return float(load_attribute(estimate)(config, sizes, speed)) if estimate else transfer(config, sizes, speed)


def tradition(config: RunConfig, sizes: RunSizes, speed: float) -> float:
    if config.start:  # trained in another run
        return _predictions(sizes, speed)
    epochs = MATCHERS[config.matcher.kind].epochs(sizes.source, config.tune.epochs)
    seen = epochs * (sizes.source + _PREDICT * sizes.validation)
    return seen / speed + _predictions(sizes, speed)


def risk(config: RunConfig, sizes: RunSizes, speed: float) -> float:
    return config.adapt.iterations * (_pass(sizes, speed) + _refit(sizes)) + _predictions(sizes, speed)


def base_learners(config: RunConfig, sizes: RunSizes, speed: float | None = None) -> float:
    """Forests are grown for every fold, and the matcher is fine-tuned on the validation labels in each."""
    adapt, matcher = config.adapt, MATCHERS[config.matcher.kind]
    speed = speed or matcher.speed(config.matcher.max_tokens)
    folds = adapt.stacking_folds if sizes.validation < adapt.few_validation_pairs else adapt.fine_tuning_folds
    passes = matcher.epochs(sizes.validation, adapt.iterations)
    tuned = passes * sizes.validation * folds / speed if matcher.trainable else 0.0
    forests = (adapt.stacking_folds + 1) * (1.0 + (sizes.source + sizes.validation) / 2500)
    return _predictions(sizes, speed) + forests + tuned


def risk_plus(config: RunConfig, sizes: RunSizes, speed: float) -> float:
    passes = config.adapt.stacking_iterations * (_pass(sizes, speed) + _refit(sizes))
    return passes + _predictions(sizes, speed)


def transfer(config: RunConfig, sizes: RunSizes, speed: float) -> float:
    return config.tune.epochs * (sizes.source + sizes.target) / speed + _predictions(sizes, speed)


def supervised(config: RunConfig, sizes: RunSizes, speed: float) -> float:
    return config.tune.epochs * sizes.validation / speed + _predictions(sizes, speed)


def self_training(config: RunConfig, sizes: RunSizes, speed: float) -> float:
    return config.adapt.iterations * _pass(sizes, speed) + _predictions(sizes, speed)


def forest(config: RunConfig, sizes: RunSizes, speed: float) -> float:
    return 2.0 + sizes.all / 6000


def _pass(sizes: RunSizes, speed: float) -> float:
    """One pass over target and validation pairs, and their predictions."""
    return (1 + _PREDICT) * (sizes.target + sizes.validation) / speed


def _refit(sizes: RunSizes) -> float:
    """Fitting the risk model once for every fold."""
    return 0.3 + sizes.validation / 4800


def _predictions(sizes: RunSizes, speed: float) -> float:
    return _PREDICT * (sizes.validation + sizes.target) / speed
