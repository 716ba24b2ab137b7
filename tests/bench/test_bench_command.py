"""The command as a person uses it: it runs, is killed and resumes, reports what failed, and answers in JSON."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from riskcore.cli import app
from tests.bench.tiny import data_root, documents, settings_file, write_data

ROOT = Path(__file__).parents[2]


def arguments(tmp_path: Path, *more: str) -> list[str]:
    data = tmp_path / "data"
    if not data.exists():
        data_root(data)
    shared = ["--data", str(data), "--config", str(settings_file(tmp_path)), "--out", str(tmp_path / "out")]
    return ["bench", "shift", "--workload", "DA2DS", "--methods", "risk", *shared, *more]


def start(*command: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "riskcore", *command],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_killed_benchmark_resumes(tmp_path: Path) -> None:
    command = arguments(tmp_path, "--seeds", "2", "--jobs", "1", "--json")
    first = start(*command)
    until = time.monotonic() + 120
    while not documents(tmp_path / "out") and time.monotonic() < until:
        time.sleep(0.05)
    os.kill(first.pid, signal.SIGKILL)
    first.communicate()
    done = documents(tmp_path / "out")
    assert list(done) == ["DA2DS.toy.seed0"]
    second = start(*command)
    answer, messages = second.communicate(timeout=120)
    assert second.returncode == 0, messages
    assert "1 already done" in messages
    again = documents(tmp_path / "out")
    assert again["DA2DS.toy.seed0"] == done["DA2DS.toy.seed0"]
    assert list(again) == ["DA2DS.toy.seed0", "DA2DS.toy.seed1"]
    found = json.loads(answer)
    assert [(row["method"], row["seeds"]) for row in found["summary"]] == [("tradition", 2), ("risk", 2)]
    assert found["failed"] == []


def test_a_cell_that_fails_stops_no_other(tmp_path: Path) -> None:
    command = arguments(tmp_path, "--seeds", "1", "--workload", "DA2XX", "--jobs", "1", "--json")
    write_data(tmp_path / "data" / "XX", seed=2)
    (tmp_path / "data" / "DS" / "train.csv").write_text("ltable_id,rtable_id,label\n0,0,maybe\n")
    found = CliRunner().invoke(app, command)
    assert found.exit_code == 3
    assert "maybe" in found.stderr
    assert [one["cell"] for one in json.loads(found.stdout)["failed"]] == ["DA2DS, toy, seed 0"]
    assert list(documents(tmp_path / "out")) == ["DA2XX.toy.seed0"]


def test_other_settings_are_not_averaged_with_these(tmp_path: Path) -> None:
    command = arguments(tmp_path, "--jobs", "1", "--json", "--methods", "tradition")
    assert CliRunner().invoke(app, [*command, "--seeds", "2"]).exit_code == 0
    settings = json.loads((tmp_path / "quick.json").read_text())
    settings["tune"]["epochs"] = 1
    (tmp_path / "quick.json").write_text(json.dumps(settings))
    second = CliRunner().invoke(app, [*command, "--seeds", "1"])
    assert second.exit_code == 0, second.stderr
    found = json.loads(second.stdout)
    assert [(row["method"], row["seeds"]) for row in found["summary"]] == [("tradition", 1)]
    assert "seed 1 left out" in found["left_out"][0]
    assert "seed 1 left out" in second.stderr
    page = CliRunner().invoke(app, ["bench", "report", "--out", str(tmp_path / "out"), "--no-images"])
    assert "seed 1 left out" in page.stderr
    assert "## Left out" in (tmp_path / "out" / "report.md").read_text()


def test_the_table_is_of_what_was_asked_for(tmp_path: Path) -> None:
    """Not of other seeds and methods in the folder."""
    command = arguments(tmp_path, "--jobs", "1", "--methods", "forest", "--json")
    assert CliRunner().invoke(app, [*command, "--seeds", "2"]).exit_code == 0
    file = tmp_path / "out" / "cells" / "shift" / "DA2DS.toy.seed1.json"
    older = json.loads(file.read_text())
    for result in older["results"]:
        result |= {"code": "older", "f1": 0.1}
    file.write_text(json.dumps(older))
    found = json.loads(CliRunner().invoke(app, [*command, "--seeds", "1"]).stdout)
    assert [(row["method"], row["seeds"], row["current"]) for row in found["summary"]] == [
        ("tradition", 1, True), ("forest", 1, True),
    ]  # fmt: skip
    kept = CliRunner().invoke(app, [*command, "--seeds", "2", "--keep"])
    assert [(row["seeds"], row["current"]) for row in json.loads(kept.stdout)["summary"]] == [(2, False)] * 2
    assert "2 of these results come from other code" in kept.stderr


def test_a_table_in_another_encoding_fails_its_own_cell_only(tmp_path: Path) -> None:
    command = arguments(tmp_path, "--jobs", "1", "--methods", "forest", "--seeds", "1", "--workload", "DA2XX", "--json")
    write_data(tmp_path / "data" / "XX", seed=2)
    table = tmp_path / "data" / "XX" / "tableA.csv"
    table.write_bytes(table.read_text().replace("smith", "müller").encode("latin-1"))
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 3
    assert [one["cell"] for one in json.loads(result.stdout)["failed"]] == ["DA2XX, toy, seed 0"]
    assert "tableA.csv" in json.loads(result.stdout)["failed"][0]["error"]


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--methods", "magic"], "magic"),
        (["--matcher", "magic"], "magic"),
        (["--workload", "XX2DS"], "XX2DS"),
        (["--config", "nowhere.json"], "nowhere.json"),
    ],
)
def test_bad_requests_stop_before_anything_runs(tmp_path: Path, options: list[str], named: str) -> None:
    result = CliRunner().invoke(app, arguments(tmp_path, *options))
    assert result.exit_code == 2
    assert named in result.stderr
    assert not (tmp_path / "out").exists()


def test_a_bad_size_is_named(tmp_path: Path) -> None:
    data = data_root(tmp_path / "data")
    result = CliRunner().invoke(app, ["bench", "validation-size", "--data", str(data), "--size", "none"])
    assert result.exit_code == 2
    assert "'none'" in result.stderr


def test_every_command_has_help() -> None:
    for name in ("shift", "same-source", "validation-size"):
        assert CliRunner().invoke(app, ["bench", name, "--help"]).exit_code == 0
