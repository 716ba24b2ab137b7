"""A Spark of two cores on this machine. Only `make test-spark` (`pytest tests/spark`) runs these tests: they need
Java."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from riskcore.config import MatcherConfig, TuneConfig
from riskcore.runs.bundle.read import Bundle
from riskcore.runs.folder import RunFolder
from tests.apply.finished import finished, shifted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAIRS = 5_500
HEARD = [3.5, 1.0, -0.5, -0.5]  # weights of a competition, about as a run on real products learned them


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    return None if any("tests/spark" in argument for argument in config.args) else True


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A session in which a task may fail once; skipped without Java, which fails in continuous integration."""
    missing = _missing()
    if missing and os.environ.get("CI") == "true":
        pytest.fail(f"{missing} `make test-spark` installs both where it may.")
    if missing:
        pytest.skip(missing)
    from riskcore.scale.spark import open_session

    with open_session("local[2,2]") as session:
        yield session


def _missing() -> str:
    try:
        import pyspark  # noqa: F401
    except ImportError:
        return "pyspark is not installed."
    return "" if os.environ.get("JAVA_HOME") or shutil.which("java") else "Java is not installed."


@pytest.fixture(scope="session")
def alone(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """A run with a neural matcher, whose pairs do not compete."""
    config = shifted(matcher=MatcherConfig(), methods=("tradition", "risk+"), tune=TuneConfig(epochs=1))
    return finished(tmp_path_factory.mktemp("runs"), config)


@pytest.fixture(scope="session")
def competing(alone: RunFolder, tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """The same run, in whose bundle candidates of a record compete."""
    folder = tmp_path_factory.mktemp("competing") / "run"
    shutil.copytree(alone.path, folder, ignore=shutil.ignore_patterns("riskcore-checksums.txt"))
    file = RunFolder(folder).bundle / "bundle.json"
    facts = json.loads(file.read_text(encoding="utf-8"))
    facts["methods"]["risk+"]["ranking"]["competition"] = HEARD
    file.write_text(json.dumps(facts), encoding="utf-8")
    return RunFolder(folder)


@pytest.fixture(scope="session")
def pairs(alone: RunFolder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pairs of the run's records: each left one with its likeliest counterpart and with some at random."""
    left, right = Bundle(alone.bundle).tables
    rng = np.random.default_rng(0)
    rows = np.arange(PAIRS) % len(left)
    others = np.where(rng.random(PAIRS) < 0.3, rows % len(right), rng.integers(0, len(right), PAIRS))
    file = tmp_path_factory.mktemp("pairs") / "pairs.parquet"
    pd.DataFrame({"ltable_id": left.ids[rows], "rtable_id": right.ids[others]}).to_parquet(file, index=False)
    return file
