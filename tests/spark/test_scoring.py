"""Spark writes the bytes that this machine writes: after failures, after a kill, with and without competition."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from riskcore.config import ScaleConfig
from riskcore.errors import StorageError
from riskcore.provenance import versions
from riskcore.runs.folder import RunFolder
from riskcore.scale import spark as engine
from riskcore.scale.folder import ScoredFolder
from riskcore.scale.score import Scored, score
from riskcore.scale.spark import score_with_spark
from tests.spark import failing

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.timeout(600)

SMALL = ScaleConfig(part_pairs=1_000, reasons=500)
PARTS = 6
DIFFERENT = ("measured.json", "score.lock")  # each time


def digests(folder: Path) -> dict[str, str]:
    """The files of a folder of scored pairs that depend on what was scored only."""
    files = (one for one in sorted(folder.rglob("*")) if one.is_file() and one.name not in DIFFERENT)
    return {one.relative_to(folder).as_posix(): hashlib.sha256(one.read_bytes()).hexdigest() for one in files}


@pytest.fixture(scope="module")
def expected(alone: RunFolder, pairs: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What this machine alone writes."""
    out = tmp_path_factory.mktemp("local") / "out"
    score(alone, out, pairs, config=SMALL)
    found = digests(out)
    assert sum(name.startswith("pairs/") for name in found) == PARTS
    assert {"riskiest.parquet", "scored.json", "plan.json"} <= set(found)
    return found


@dataclasses.dataclass(frozen=True)
class OnSpark:
    """What Spark wrote, and how many bytes went from task to task."""

    scored: Scored
    shuffled: int


@pytest.fixture(scope="module")
def on_spark(spark: SparkSession, alone: RunFolder, pairs: Path, tmp_path_factory: pytest.TempPathFactory) -> OnSpark:
    before = shuffled(spark)
    done = score_with_spark(spark, alone, tmp_path_factory.mktemp("spark") / "out", pairs, config=SMALL)
    return OnSpark(done, shuffled(spark) - before)


def test_the_same_bytes(on_spark: OnSpark, expected: dict[str, str]) -> None:
    done = on_spark.scored
    assert digests(done.folder.path) == expected
    assert done.facts["parts"] == PARTS
    assert done.measured["processes"] == 2
    assert done.measured["scored_pairs"] == done.facts["pairs"]


def test_the_same_bytes_where_candidates_compete(
    spark: SparkSession, competing: RunFolder, pairs: Path, expected: dict[str, str], tmp_path: Path
) -> None:
    score(competing, tmp_path / "local", pairs, config=SMALL)
    done = score_with_spark(spark, competing, tmp_path / "out", pairs, config=SMALL)
    assert digests(tmp_path / "out") == digests(tmp_path / "local")
    assert done.measured["finishing"] > 0
    with_competition = digests(tmp_path / "out")
    changed = [name for name in expected if name.startswith("pairs/") and with_competition[name] != expected[name]]
    assert len(changed) == PARTS  # else the test would not see competition


def test_nothing_is_shuffled(spark: SparkSession, on_spark: OnSpark) -> None:
    assert on_spark.shuffled == 0
    before = shuffled(spark)
    spark.range(10).repartition(3).count()
    assert shuffled(spark) > before  # what would be counted


def shuffled(spark: SparkSession) -> int:
    """Bytes that the stages of this session wrote for others."""
    context = spark.sparkContext
    java = context._jvm.java.util.ArrayList()  # type: ignore[union-attr]
    quantiles = context._gateway.new_array(context._jvm.double, 0)  # type: ignore[union-attr]
    stages = context._jsc.sc().statusStore().stageList(java, False, False, quantiles, java)
    return sum(stages.apply(place).shuffleWriteBytes() for place in range(stages.size()))


def test_a_task_that_fails_is_tried_again(
    spark: SparkSession,
    alone: RunFolder,
    pairs: Path,
    expected: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(engine, "score_parts", failing.fail_once)
    score_with_spark(spark, alone, tmp_path / "out", pairs, config=SMALL)
    assert digests(tmp_path / "out") == expected


def test_a_task_that_always_fails(
    spark: SparkSession, alone: RunFolder, pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "score_parts", failing.fail_always)
    with pytest.raises(StorageError, match=r"gave up a part of the pairs: MemoryError: no attempt is of use"):
        score_with_spark(spark, alone, tmp_path / "out", pairs, config=SMALL)
    assert not ScoredFolder(tmp_path / "out").is_complete


def test_a_worker_with_other_libraries(
    spark: SparkSession, alone: RunFolder, pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = {**versions(), "numpy": "1.0"}
    monkeypatch.setattr(engine, "versions", lambda: other)
    with pytest.raises(StorageError, match=r"other libraries than the driver: numpy \S+ instead of 1\.0\. "):
        score_with_spark(spark, alone, tmp_path / "out", pairs, config=SMALL)


def test_a_killed_driver_goes_on_where_it_was(
    spark: SparkSession, alone: RunFolder, pairs: Path, expected: dict[str, str], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    first = ScoredFolder(out).pairs_file(0)
    sizes = ["--part-pairs", str(SMALL.part_pairs), "--reasons", str(SMALL.reasons)]
    where = ["--runs", str(alone.path.parent), "--out", str(out)]
    command = [sys.executable, "-m", "riskcore", "score", alone.path.name, str(pairs), *where, *sizes]
    driver = subprocess.Popen(
        [*command, "--engine", "spark", "--master", "local[1]"], stderr=subprocess.PIPE, start_new_session=True
    )
    try:
        while not first.exists():
            assert driver.poll() is None, driver.stderr.read().decode()  # type: ignore[union-attr]
            time.sleep(0.005)
        driver.kill()
        driver.wait()
    finally:
        os.killpg(driver.pid, signal.SIGKILL)  # what is left of Java
        driver.communicate()
    assert not ScoredFolder(out).is_complete
    written = first.stat().st_mtime_ns
    done = score_with_spark(spark, alone, out, pairs, config=SMALL)
    assert digests(out) == expected
    assert first.stat().st_mtime_ns == written
    assert done.measured["scored_pairs"] <= done.facts["pairs"] - SMALL.part_pairs


def test_the_bundle_is_unpacked_once(spark: SparkSession, on_spark: OnSpark) -> None:
    """All workers of an executor share it, however often it is used, and no part is left beside it."""
    from pyspark import SparkFiles

    place, written = Path(SparkFiles.getRootDirectory()), digests(on_spark.scored.folder.path)
    assert list(place.glob("tmp*")) == []
    holding = [one for one in place.glob("riskcore-*") if digests(one).items() <= written.items()]
    assert len(holding) == 1
