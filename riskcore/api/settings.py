"""A run's settings from the arguments of a call."""

from __future__ import annotations

import dataclasses
import numbers
from collections.abc import Mapping, Sequence
from typing import Any

from riskcore.config import Config, MatcherConfig, RunConfig
from riskcore.errors import ConfigError

_BY_ARGUMENT = ("source", "target")  # given by the data sets themselves


def run_config(
    base: RunConfig | None,
    *,
    attribute_map: Mapping[str, str] | None,
    types: Mapping[str, str] | None,
    matcher: str | MatcherConfig | Mapping[str, Any] | None,
    methods: Sequence[str] | None,
    seed: int | None,
    epochs: int | None,
    iterations: int | None,
    settings: Mapping[str, Any],
) -> RunConfig:
    """The settings of a run, except its data: those of `base`, overridden by the given ones."""
    base = base or RunConfig()
    _check_names(settings)
    given: dict[str, Any] = {name: _merged(getattr(base, name), value) for name, value in settings.items()}
    kind = {"kind": matcher} if isinstance(matcher, str) else matcher
    if kind is not None:
        given["matcher"] = _merged(given.get("matcher", base.matcher), kind)
    for group, field, value in (("tune", "epochs", epochs), ("adapt", "iterations", iterations)):
        if value is not None:
            given[group] = dataclasses.replace(given.get(group, getattr(base, group)), **{field: value})
    for name, mapping in (("attribute_map", attribute_map), ("types", types)):
        if mapping is not None:
            if not isinstance(mapping, Mapping):
                raise ConfigError(
                    f"{name} is a {type(mapping).__name__}. Give a dict, such as {{'author': 'authors'}}."
                )
            given[name] = tuple(f"{key}={value}" for key, value in mapping.items())
    if methods is not None:
        if not isinstance(methods, Sequence):
            raise ConfigError(f"methods is a {type(methods).__name__}. Give a list, such as ['tradition', 'risk'].")
        given["methods"] = (methods,) if isinstance(methods, str) else tuple(methods)
    if seed is not None:
        given["seed"] = int(seed) if isinstance(seed, numbers.Integral) else seed  # JSON cannot hold numpy's numbers
    return dataclasses.replace(base, **given)


def _check_names(settings: Mapping[str, Any]) -> None:
    known = [field.name for field in dataclasses.fields(RunConfig) if field.name not in _BY_ARGUMENT]
    unknown = [name for name in settings if name not in known]
    if unknown:
        raise ConfigError(f"There is no setting named {', '.join(unknown)}. Known: {', '.join(known)}.")


def _merged(base: Any, given: Any) -> Any:
    """A group of settings with some of them replaced; any other setting as it is given."""
    if isinstance(base, Config) and isinstance(given, Mapping):
        known = [field.name for field in dataclasses.fields(base)]
        unknown = [name for name in given if name not in known]
        if unknown:
            named = type(base).__name__
            raise ConfigError(f"{named} has no setting named {', '.join(unknown)}. Known: {', '.join(known)}.")
        return dataclasses.replace(base, **given)
    if isinstance(base, Config) and not isinstance(given, type(base)):
        raise ConfigError(f"A {type(base).__name__} or a dict is needed, not {given!r}.")
    return given
