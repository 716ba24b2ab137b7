"""Ablations: `risk` with one of its parts taken away, each a change of settings that any run can make."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from riskcore.config import RunConfig
from riskcore.errors import ConfigError

_NO_DEVIATION = 1e-6  # relative: of a bell this narrow every quantile is its mean


def ablated(config: RunConfig, ablation: str) -> RunConfig:
    """The same run without one part, and with no method but `risk`."""
    if ablation not in ABLATIONS:
        raise ConfigError(f"There is no ablation called {ablation!r}. There are: {', '.join(ABLATIONS)}.")
    return dataclasses.replace(ABLATIONS[ablation](config), methods=("tradition", "risk"))


def _no_rules(config: RunConfig) -> RunConfig:
    return dataclasses.replace(config, adapt=dataclasses.replace(config.adapt, hear_rules=False))


def _no_weights(config: RunConfig) -> RunConfig:
    """No step of learning: every rule keeps its prior weight and deviation, and so does the matcher."""
    return dataclasses.replace(config, risk=dataclasses.replace(config.risk, steps=0))


def _no_differences(config: RunConfig) -> RunConfig:
    return dataclasses.replace(config, metric=dataclasses.replace(config.metric, differences=False))


def _no_var(config: RunConfig) -> RunConfig:
    """No deviation, neither learned nor prior: VaR+ is 1 - mu and VaR- is mu, in the fit and in the loss."""
    risk = dataclasses.replace(
        config.risk, prior_rsd=_NO_DEVIATION, lowest_rsd=_NO_DEVIATION, highest_rsd=_NO_DEVIATION
    )
    return dataclasses.replace(config, risk=risk)


def _no_refit(config: RunConfig) -> RunConfig:
    return dataclasses.replace(config, adapt=dataclasses.replace(config.adapt, refit=False))


def _paper_schedule(config: RunConfig) -> RunConfig:
    """What `risk` has beyond the paper's passes: validation pairs that join them, and a memory of the last one."""
    return dataclasses.replace(config, adapt=dataclasses.replace(config.adapt, folds=0, memory=0.0))


ABLATIONS: dict[str, Callable[[RunConfig], RunConfig]] = {
    "no rules": _no_rules,
    "no learned weights": _no_weights,
    "no difference metrics": _no_differences,
    "no VaR": _no_var,
    "no re-fit": _no_refit,
    "the paper's schedule": _paper_schedule,
}
