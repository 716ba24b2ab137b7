"""What a group of settings is: a frozen dataclass whose fields carry their reason and range, as JSON both ways."""

from __future__ import annotations

import dataclasses
import json
import numbers
from typing import Any, Self

from riskcore.errors import ConfigError


def setting(default: Any, why: str, low: float | None = None, high: float | None = None) -> Any:
    """A config field with its reason and, for numbers, the closed range it must lie in."""
    return dataclasses.field(default=default, metadata={"why": why, "low": low, "high": high})


@dataclasses.dataclass(frozen=True)
class Config:
    """Base of all configs: range checks on creation, JSON both ways."""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value, low, high = getattr(self, field.name), field.metadata.get("low"), field.metadata.get("high")
            wanted = _wanted(field, value)
            if wanted:
                raise ConfigError(f"{type(self).__name__}.{field.name} must be {wanted}, not {value!r}.")
            if value is None or isinstance(value, bool) or (low is None and high is None):
                continue
            if not (low is None or value >= low) or not (high is None or value <= high):
                raise ConfigError(
                    f"{type(self).__name__}.{field.name} is {value}; it must lie between "
                    f"{'-inf' if low is None else low} and {'inf' if high is None else high}."
                )

    def to_json(self) -> str:
        return json.dumps(dataclasses.asdict(self), sort_keys=True)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        known = {field.name: field for field in dataclasses.fields(cls)}
        unknown = sorted(set(values) - set(known))
        if unknown:
            raise ConfigError(f"{cls.__name__} has no setting named {', '.join(unknown)}. Known: {', '.join(known)}.")
        return cls(**{name: _like(known[name].default, value) for name, value in values.items()})

    @classmethod
    def from_json(cls, text: str) -> Self:
        return cls.from_dict(json.loads(text))


def _wanted(field: dataclasses.Field[Any], value: Any) -> str | None:
    """What a field's value must be, in words, if it is something else."""
    kind, optional = str(field.type).removesuffix(" | None"), str(field.type).endswith(" | None")
    if isinstance(field.default, Config):
        return None if isinstance(value, type(field.default)) else "a group of settings"
    words, types = _KINDS[kind]
    if value is None:
        return None if optional else words
    is_one = isinstance(value, types) and (kind == "bool" or not isinstance(value, bool))
    if kind.startswith("tuple"):
        is_one = is_one and all(isinstance(one, str) for one in value)
    return None if is_one else words


# What a field's annotation asks for.
_KINDS: dict[str, tuple[str, type | tuple[type, ...]]] = {
    "int": ("a whole number", numbers.Integral),
    "float": ("a number", numbers.Real),
    "bool": ("true or false", bool),
    "str": ("text", str),
    "tuple[str, ...]": ("a list of texts", tuple),
}


def _like(default: Any, value: Any) -> Any:
    """JSON has only lists and objects; fields that default to a tuple or a config become one again."""
    if isinstance(default, Config) and isinstance(value, dict):
        return type(default).from_dict(value)
    return tuple(value) if isinstance(default, tuple) and isinstance(value, list) else value
