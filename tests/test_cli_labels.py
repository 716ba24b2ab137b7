"""`run --labels`: which matcher a run with a file of labels has, and what is a file."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from riskcore import cli
from riskcore.config import RunConfig


@pytest.fixture
def begun(tmp_path, monkeypatch):
    """The settings that a command would start a run with."""
    found: list[RunConfig] = []
    monkeypatch.setattr(cli.run, "_start", lambda config, *others: found.append(config))

    def invoke(*arguments) -> RunConfig:
        result = CliRunner().invoke(cli.app, ["run", *map(str, arguments), "--runs", str(tmp_path / "runs")])
        assert result.exit_code == 0, result.output
        return found.pop()

    return invoke


@pytest.fixture
def labels(tmp_path):
    file = tmp_path / "labels.csv"
    file.write_text("ltable_id,rtable_id,label\n", encoding="utf-8")
    return file


def test_a_file_of_labels_alone_trains_no_network(begun, labels, tmp_path):
    alone = ("--target", "t", "--labels", labels)
    assert begun(*alone).matcher.kind == "similarity"
    assert begun(*alone, "--matcher", "sif").matcher.kind == "sif"
    assert begun(*alone, "--set", "matcher.kind=sif").matcher.kind == "sif"
    assert begun(*alone, "--source", "s").matcher.kind == "hybrid"
    assert begun("--target", "t").matcher.kind == "hybrid"
    (tmp_path / "settings.json").write_text(json.dumps({"matcher": {"kind": "sif"}}))
    assert begun(*alone, "--config", tmp_path / "settings.json").matcher.kind == "sif"


@pytest.mark.parametrize("name", ["labels.xlsm", "labels.pq", "labels.CSV", "labels", "labels.old"])
def test_whatever_is_a_file_is_taken_for_one(begun, tmp_path, name):
    file = tmp_path / name
    file.write_bytes(b"")
    assert begun("--target", "t", "--labels", file).labels == str(file)


def test_the_help_names_every_matcher():
    from riskcore.registry import MATCHERS

    shown = CliRunner().invoke(cli.app, ["run", "--help"], env={"COLUMNS": "200"}).output
    assert all(spec.name in shown for spec in MATCHERS)


def test_settings_that_are_nested_too_deeply_are_refused(tmp_path):
    (tmp_path / "deep.json").write_text('{"a":' * 50_000 + "1" + "}" * 50_000)
    result = CliRunner().invoke(cli.app, ["run", "--source", "x", "--config", str(tmp_path / "deep.json")])
    assert (result.exit_code, "is not a file of settings" in result.stderr) == (2, True)
