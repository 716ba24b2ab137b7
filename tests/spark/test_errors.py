"""What is missing for Spark is told in one sentence with its cure."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from riskcore.cli import app
from riskcore.errors import ConfigError
from riskcore.runs.folder import RunFolder
from riskcore.scale.spark import open_session


@pytest.fixture
def no_session(monkeypatch: pytest.MonkeyPatch) -> None:
    pyspark = pytest.importorskip("pyspark.sql")
    monkeypatch.setattr(pyspark.SparkSession, "getActiveSession", lambda: None)
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)


def test_without_pyspark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(ConfigError, match=r"needs pyspark.*pip install 'riskcore\[spark\]'"), open_session():
        pass


@pytest.mark.usefixtures("no_session")
@pytest.mark.parametrize("home", ["JAVA_HOME", None])
def test_without_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, home: str | None) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    if home:
        monkeypatch.setenv(home, str(tmp_path))
    with pytest.raises(ConfigError, match=r"needs Java 17.*openjdk-17-jre-headless"), open_session():
        pass


class Connected:
    """A session of Spark Connect has no context."""

    @property
    def sparkContext(self) -> None:  # noqa: N802 - Spark's name
        raise RuntimeError("not supported")


def test_spark_connect(monkeypatch: pytest.MonkeyPatch) -> None:
    from riskcore.scale.spark import spark_engine

    with pytest.raises(ConfigError, match="Spark Connect"):
        spark_engine(Connected(), 2)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--engine", "flink"], "There is no engine 'flink'"),
        (["--master", "local[2]"], "--master belongs to --engine spark"),
    ],
)
def test_options(options: list[str], words: str, alone: RunFolder, pairs: Path, tmp_path: Path) -> None:
    where = ["--runs", str(alone.path.parent), "--out", str(tmp_path / "out")]
    found = CliRunner().invoke(app, ["score", alone.path.name, str(pairs), *where, *options])
    assert found.exit_code == 2
    assert not (tmp_path / "out").exists()
    assert words in found.output
