"""`--set group.field=value`: any setting of a run from the command line, typed by its config field."""

from __future__ import annotations

import dataclasses
import difflib
import json
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any

from riskcore.errors import ConfigError

if TYPE_CHECKING:
    from riskcore.config import Config, RunConfig

NONE = "none"  # the value of a setting that may be left open
_BOOLEANS = {"true": True, "false": False}
_PARSERS: dict[str, Callable[[str], Any]] = {
    "int": int,
    "float": float,
    "bool": lambda text: _BOOLEANS[text.lower()],
    "str": str,
    "tuple[str, ...]": lambda text: _texts(text),
}
_WANTED = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "tuple[str, ...]": "texts separated by commas, or a JSON list of texts",
}


def with_settings(config: RunConfig, entries: Sequence[str]) -> RunConfig:
    """The config with entries such as 'risk.confidence=0.95' on top; a later entry wins over an earlier one."""
    changed: dict[str, dict[str, Any]] = {}
    for entry in entries:
        path, equals, text = entry.partition("=")
        group, dot, field = (part.strip() for part in path.partition("."))
        if not (equals and group and dot and field):
            raise ConfigError(f"--set {entry!r} is not GROUP.FIELD=VALUE, such as risk.confidence=0.95.")
        settings = _group(config, group)
        changed.setdefault(group, {})[field] = _parsed(settings, group, field, text.strip())
    return dataclasses.replace(
        config, **{group: dataclasses.replace(getattr(config, group), **fields) for group, fields in changed.items()}
    )


def _texts(text: str) -> tuple[str, ...]:
    """Texts separated by commas or, where they contain commas themselves, a JSON list of texts."""
    if not text.startswith("["):
        return tuple(part.strip() for part in text.split(",") if part.strip())
    found = json.loads(text)
    if not all(isinstance(one, str) for one in found):
        raise ValueError("not all are texts")
    return tuple(found)


def _group(config: RunConfig, name: str) -> Config:
    from riskcore.config import Config

    groups = [field.name for field in dataclasses.fields(config) if isinstance(getattr(config, field.name), Config)]
    if name not in groups:
        raise ConfigError(f"There is no group of settings called {name!r}.{_hint(name, groups)}")
    found: Config = getattr(config, name)
    return found


def _parsed(settings: Config, group: str, name: str, text: str) -> Any:
    fields = {field.name: field for field in dataclasses.fields(settings)}
    if name not in fields:
        raise ConfigError(f"The group {group} has no setting called {name!r}.{_hint(name, fields)}")
    kind = str(fields[name].type)
    optional, kind = kind.endswith(" | None"), kind.removesuffix(" | None")
    if optional and text.lower() == NONE:
        return None
    try:
        return _PARSERS[kind](text)
    except (ValueError, KeyError):
        wanted = _WANTED[kind] + (f", or {NONE}" if optional else "")
        raise ConfigError(f"--set {group}.{name} must be {wanted}, not {text!r}.") from None


def _hint(name: str, known: Collection[str]) -> str:
    close = difflib.get_close_matches(name, list(known), n=1)
    return f" Did you mean {close[0]}?" if close else f" Known: {', '.join(known)}."
