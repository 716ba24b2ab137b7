"""A small workload with a shift between source and target, from the bundled sample, and settings that take seconds."""

from __future__ import annotations

import dataclasses

import pytest

from riskcore.config import AdaptConfig, MatcherConfig, RiskConfig, RunConfig, TuneConfig
from riskcore.data import TargetTruth, Workload, build_workload, find_sample, open_data


@pytest.fixture(scope="session")
def shifted() -> tuple[Workload, TargetTruth]:
    """Clean bibliography to scraped one: 300 training pairs, 120 validation pairs."""
    source = open_data(find_sample("bibliography_clean").path)
    target = open_data(find_sample("bibliography_scraped").path)
    return build_workload(source, target, train_fraction=0.1, validation_size=120)


@pytest.fixture(scope="session")
def quick() -> RunConfig:
    return RunConfig(
        matcher=MatcherConfig(kind="toy"),
        tune=TuneConfig(epochs=3),
        risk=RiskConfig(steps=20),
        adapt=AdaptConfig(iterations=3, stacking_iterations=2, base_learner_trees=10),
    )


def with_methods(config: RunConfig, *methods: str) -> RunConfig:
    return dataclasses.replace(config, methods=methods)
