"""`riskcore scored`: listing, registering, printing and exporting scored sets."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from typer.testing import CliRunner

from riskcore import cli
from tests.scale.made_up import all_pairs, write_scored


@pytest.fixture
def call(tmp_path):
    """Call `riskcore scored ...` on runs of its own."""

    def called(*words: object, code: int = 0) -> str:
        done = CliRunner().invoke(cli.app, ["scored", *map(str, words), "--runs", str(tmp_path / "runs")])
        assert done.exit_code == code, done.output
        return done.output

    return called


def test_sets_are_listed_registered_and_forgotten(call, tmp_path):
    assert "There are no scored sets" in call("list")
    elsewhere = write_scored(tmp_path / "far", 80, 2)
    assert "as far" in call("add", elsewhere.path)
    assert json.loads(call("list", "--json"))["sets"][0]["facts"]["pairs"] == 80
    assert "80" in call("list")
    assert "still in" in call("forget", "far")
    assert "There are no scored sets" in call("list")
    assert "no scored set" in call("top", "far", code=2)


def test_top_and_export(call, tmp_path):
    folder = write_scored(tmp_path / "runs" / "scored" / "set", 200, 2)
    pairs = all_pairs(folder, 2)
    found = json.loads(call("top", "set", "--n", 7, "--label", "match", "--json"))
    matches = pairs[pairs["label"] == 1]
    assert found["total"] == len(matches)
    assert [one["risk"] for one in found["pairs"]] == sorted(matches["risk"], reverse=True)[:7]
    assert "200 pairs in all" in call("top", folder.path)
    out = tmp_path / "some.csv"
    told = json.loads(call("export", "set", "--out", out, "--matches-only", "--risk-min", 0.2, "--json"))
    assert told["pairs"] == len(pd.read_csv(out)) == ((pairs["label"] == 1) & (pairs["risk"] >= 0.2)).sum()
    assert "known ending" in call("export", "set", "--out", tmp_path / "some.txt", code=2)
