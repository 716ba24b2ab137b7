"""Settings: JSON both ways, ranges kept, unknown names refused, every one of them documented."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from riskcore import config as module
from riskcore.config import Config, DataConfig, MatcherConfig, RuleConfig, RunConfig, TuneConfig
from riskcore.errors import ConfigError

CONFIGS = [kind for kind in vars(module).values() if isinstance(kind, type) and issubclass(kind, Config)]
DOCS = "\n".join(path.read_text(encoding="utf-8") for path in sorted(Path("docs").glob("*.md")))


@pytest.mark.parametrize("kind", CONFIGS)
def test_json_round_trip(kind: type[Config]) -> None:
    assert kind.from_json(kind().to_json()) == kind()


def test_nested_settings_round_trip() -> None:
    config = RunConfig(source="a", methods=("tradition", "forest"), matcher=MatcherConfig(kind="toy"), seed=3)
    again = RunConfig.from_json(config.to_json())
    assert again == config
    assert isinstance(again.methods, tuple)


def test_settings_of_version_0_1_are_read_under_their_names_of_today() -> None:
    assert RunConfig.from_dict({"metric": {"rival_records": 7}}).metric.candidate_records == 7


@pytest.mark.parametrize(
    ("kind", "values", "named"),
    [
        (RuleConfig, {"depth": 9}, "depth"),
        (RuleConfig, {"depht": 2}, "depht"),
        (RuleConfig, {"min_support": "many"}, "min_support"),
        (TuneConfig, {"epochs": -1}, "epochs"),
        (RunConfig, {"methods": ["magic"]}, "magic"),
        (RunConfig, {"risk": {"confidence": 2}}, "confidence"),
        (RunConfig, {"matcher": "hybrid"}, "matcher must be a group of settings"),
        (RunConfig, {"matcher": None}, "matcher must be a group of settings"),
        (RunConfig, {"split": 226}, "split must be text"),
        (RunConfig, {"seed": 1.5}, "seed must be a whole number"),
        (RunConfig, {"seed": None}, "seed must be a whole number"),
        (RunConfig, {"seed": True}, "seed must be a whole number"),
        (RunConfig, {"methods": "risk"}, "methods must be a list of texts"),
        (RunConfig, {"attribute_map": [1]}, "attribute_map must be a list of texts"),
        (RunConfig, {"tune": {"epochs": 1.5}}, "epochs must be a whole number"),
        (RunConfig, {"adapt": {"refit": 1}}, "refit must be true or false"),
        (RuleConfig, {"class_weight": "much"}, "class_weight must be a number"),
    ],
)
def test_wrong_settings_are_named(kind: type[Config], values: dict, named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        kind.from_dict(values)


def test_every_setting_says_why_and_is_documented() -> None:
    for kind in CONFIGS:
        for field in dataclasses.fields(kind):
            assert field.metadata["why"], f"{kind.__name__}.{field.name}"
            assert f"`{field.name}`" in DOCS, f"{kind.__name__}.{field.name} is in no page of docs/"


def test_settings_cannot_change() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        DataConfig().max_rows = 1  # type: ignore[misc]
