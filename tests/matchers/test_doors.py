"""What the web process may import stays free of torch; every setting and matcher is documented."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from riskcore.config import MatcherConfig, TuneConfig
from riskcore.errors import ConfigError
from riskcore.matchers import create, matcher_class
from riskcore.registry import MATCHERS
from tests.imports import brought_in
from tests.matchers.people import ATTRIBUTES

DOCS = Path(__file__).parents[2] / "docs" / "matchers.md"
HEAVY = ("torch", "transformers", "tokenizers")
LIGHT = ("riskcore.matchers", "riskcore.matchers.external", "riskcore.matchers.toy", "riskcore.training.supervised")


def test_what_the_web_process_may_import_needs_no_torch() -> None:
    assert brought_in(LIGHT, HEAVY) == []


@pytest.mark.parametrize("config", [MatcherConfig, TuneConfig])
def test_every_setting_is_documented_with_its_default(config: type) -> None:
    text = DOCS.read_text(encoding="utf-8")
    for field in dataclasses.fields(config):
        assert f"| `{field.name}` | {field.default} |" in text, f"{config.__name__}.{field.name} ({field.default})"


@pytest.mark.parametrize("kind", MATCHERS.names())
def test_every_matcher_is_documented_and_named_alike(kind: str) -> None:
    assert f"`{kind}`" in DOCS.read_text(encoding="utf-8")
    assert matcher_class(kind).kind == kind


def test_unknown_matchers_are_refused_by_name() -> None:
    with pytest.raises(ConfigError, match="no matcher named 'magic'"):
        create(MatcherConfig(kind="magic"), ATTRIBUTES)
