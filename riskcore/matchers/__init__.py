"""Matchers: pairs in, match probabilities out. Importing this package imports no torch."""

from __future__ import annotations

from collections.abc import Sequence

from riskcore.config import MatcherConfig
from riskcore.data.schema import Attribute
from riskcore.matchers.base import Examples, Matcher, Rates, TuningSet
from riskcore.matchers.store import load, matcher_class, save

__all__ = ["Examples", "Matcher", "Rates", "TuningSet", "create", "load", "matcher_class", "save"]


def create(config: MatcherConfig, attributes: Sequence[Attribute]) -> Matcher:
    """An untrained matcher of the configured kind."""
    return matcher_class(config.kind)(config, attributes)
