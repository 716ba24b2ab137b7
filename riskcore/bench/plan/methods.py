"""The methods of a benchmark, from the registry: which ones run by default, and in which order they are shown."""

from __future__ import annotations

from collections.abc import Iterable

from riskcore.registry import METHODS, NEUTRAL_COLOUR, MethodSpec


def default_methods(is_shift: bool) -> tuple[str, ...]:
    """All methods, in the order in which they are shown; without a shift, those that need one are left out."""
    return tuple(spec.name for spec in _ordered() if is_shift or not spec.needs_shift)


def in_order(methods: Iterable[str]) -> list[str]:
    """The methods as they are shown: methods without iterations, then those with, then unregistered ones.

    Results may come from a package that is not installed here: they are shown under their own name.
    """
    found = dict.fromkeys(methods)
    known = [spec.name for spec in _ordered() if spec.name in found]
    return [*known, *(method for method in found if method not in METHODS)]


def words_of(method: str) -> str:
    """What the method is, in one line."""
    return METHODS[method].words if method in METHODS else "not registered here: from a package that is not installed"


def colour_of(method: str) -> str:
    return METHODS[method].colour if method in METHODS else NEUTRAL_COLOUR


def _ordered() -> list[MethodSpec]:
    return sorted(METHODS, key=lambda spec: spec.iterates)
