"""Settings: JSON both ways, ranges kept, unknown names refused, every one of them documented."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from riskcore import config as module
from riskcore.config import RENAMED_0_1, Config, DataConfig, MatcherConfig, RuleConfig, RunConfig, TuneConfig
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


def test_every_setting_of_a_stored_0_1_run_is_read() -> None:
    (file,) = Path("tests/fixtures/store_0_1/runs").glob("*/run.json")
    stored = json.loads(file.read_text(encoding="utf-8"))["config"]
    config = RunConfig.from_stored(json.dumps(stored))
    assert config.adapt.stacking_iterations == stored["adapt"]["beyond_iterations"] == 1  # not the default
    for old, new in RENAMED_0_1.items():
        (group, old_name), (_, new_name) = old.split("."), new.split(".")
        assert getattr(getattr(config, group), new_name) == stored[group][old_name]
    assert RunConfig.from_stored(config.to_json()) == config
    with pytest.raises(ConfigError, match="no setting named"):  # a person is told the new names
        RunConfig.from_dict(stored)


def test_a_new_name_wins_over_an_old_one() -> None:
    assert RunConfig.from_stored({"adapt": {"memory": 0.1, "var_momentum": 0.2}}).adapt.var_momentum == 0.2
    assert RunConfig.from_stored({"adapt": {"memory": 0.1}}).adapt.var_momentum == 0.1


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
