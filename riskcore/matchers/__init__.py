"""Matchers: pairs in, match probabilities out. The door imports no torch until a matcher needs it."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path

from riskcore.config import MatcherConfig
from riskcore.data.schema import Attribute
from riskcore.errors import ConfigError
from riskcore.matchers.base import Examples, Matcher, Rates, TuningSet

__all__ = ["KINDS", "Examples", "Matcher", "Rates", "TuningSet", "create", "load", "matcher_class"]

KINDS = {
    "sif": "riskcore.matchers.deepmatcher:SifMatcher",
    "rnn": "riskcore.matchers.deepmatcher:RnnMatcher",
    "attention": "riskcore.matchers.deepmatcher:AttentionMatcher",
    "hybrid": "riskcore.matchers.deepmatcher:HybridMatcher",
    "ditto": "riskcore.matchers.ditto:DittoMatcher",
    "external": "riskcore.matchers.external:ExternalMatcher",
    "toy": "riskcore.matchers.toy:ToyMatcher",
}


def matcher_class(kind: str) -> type[Matcher]:
    """The class behind a kind; its module is imported only now."""
    if kind not in KINDS:
        raise ConfigError(f"There is no matcher named {kind!r}. Known: {', '.join(KINDS)}.")
    module, name = KINDS[kind].split(":")
    found: type[Matcher] = getattr(importlib.import_module(module), name)
    return found


def create(config: MatcherConfig, attributes: Sequence[Attribute]) -> Matcher:
    """An untrained matcher of the configured kind."""
    return matcher_class(config.kind)(config, attributes)


def load(folder: Path) -> Matcher:
    """The matcher saved in a folder."""
    return Matcher.load(folder)
