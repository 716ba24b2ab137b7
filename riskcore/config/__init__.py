"""All settings, as frozen dataclasses split by concern. Each field carries its why.

A config goes to the code it concerns and to nothing else: rule search never sees a matcher's
learning rate. `to_json` / `from_json` round-trip; unknown or out-of-range values are refused by name.
"""

from __future__ import annotations

from riskcore.config.base import Config, setting
from riskcore.config.blocking import BlockConfig
from riskcore.config.engine import DataConfig, MatcherConfig, MetricConfig, RiskConfig, RuleConfig
from riskcore.config.run import RENAMED_0_1, RunConfig
from riskcore.config.scale import ScaleConfig
from riskcore.config.training import (
    AdaptConfig,
    CompetitionConfig,
    EngineConfig,
    RankConfig,
    SimilarityConfig,
    StackConfig,
    TransferConfig,
    TuneConfig,
)

__all__ = [
    "RENAMED_0_1",
    "AdaptConfig",
    "BlockConfig",
    "CompetitionConfig",
    "Config",
    "DataConfig",
    "EngineConfig",
    "MatcherConfig",
    "MetricConfig",
    "RankConfig",
    "RiskConfig",
    "RuleConfig",
    "RunConfig",
    "ScaleConfig",
    "SimilarityConfig",
    "StackConfig",
    "TransferConfig",
    "TuneConfig",
    "setting",
]
