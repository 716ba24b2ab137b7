"""Ablations: `risk` with one part removed, each by settings that any run can use."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from riskcore.config import RunConfig
from riskcore.errors import ConfigError

_NO_DEVIATION = 1e-6  # relative: every quantile of so narrow a normal distribution is its mean


def ablated(config: RunConfig, ablation: str) -> RunConfig:
    """The same run with one part of `risk` removed, and with no other method."""
    if ablation not in ABLATIONS:
        raise ConfigError(f"There is no ablation named {ablation!r}. Known: {', '.join(ABLATIONS)}.")
    return dataclasses.replace(ABLATIONS[ablation](config), methods=("tradition", "risk"))


def _no_rules(config: RunConfig) -> RunConfig:
    return dataclasses.replace(config, adapt=dataclasses.replace(config.adapt, use_rules=False))


def _no_weights(config: RunConfig) -> RunConfig:
    """No fitting: rules and matcher keep their prior weights and deviations."""
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
    """Without the two additions to the paper's schedule: validation pairs in the passes, and momentum of VaR."""
    return dataclasses.replace(config, adapt=dataclasses.replace(config.adapt, folds=0, var_momentum=0.0))


ABLATIONS: dict[str, Callable[[RunConfig], RunConfig]] = {
    "no rules": _no_rules,
    "no learned weights": _no_weights,
    "no difference metrics": _no_differences,
    "no VaR": _no_var,
    "no re-fit": _no_refit,
    "the paper's schedule": _paper_schedule,
}
