"""`run --scores`: the answers of another matcher go in, are ranked, and come out with every column."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from riskcore import cli
from riskcore.data import open_data
from tests.runs.conftest import small_data

QUICK = ("--methods", "tradition,risk", "--set", "rule.min_support=2")


@pytest.fixture
def call(tmp_path):
    def invoke(*arguments):
        return CliRunner().invoke(cli.app, [*map(str, arguments), "--runs", str(tmp_path / "runs")])

    return invoke


@pytest.fixture
def target(tmp_path):
    return small_data(tmp_path / "target", words="other ")


def predictions(folder) -> pd.DataFrame:
    """A frame of Splink's columns for the pairs of a data set."""
    data, rng = open_data(folder), np.random.default_rng(0)
    parts = [data.splits[name] for name in ("valid", "test")]
    frame = pd.DataFrame(
        {
            "unique_id_l": np.concatenate([part.left.ids[part.left_rows] for part in parts]),
            "unique_id_r": np.concatenate([part.right.ids[part.right_rows] for part in parts]),
        }
    )
    frame.insert(0, "match_weight", rng.normal(size=len(frame)))
    frame.insert(1, "match_probability", 2 ** frame["match_weight"] / (1 + 2 ** frame["match_weight"]))
    return frame.assign(gamma_title=1, title_l="<b>x</b>", probability="kept too", source_dataset_l="left")


def test_every_column_goes_in_and_comes_out(call, target, tmp_path):
    frame = predictions(target)
    frame.to_parquet(tmp_path / "splink.parquet")
    source = small_data(tmp_path / "source")
    result = call(
        "run", "--source", source, "--target", target, "--scores", tmp_path / "splink.parquet", *QUICK, "--json"
    )
    assert result.exit_code == 0, result.stderr
    run = json.loads(result.stdout)["run"]
    exported = call("export", run, "--method", "tradition", "--out", tmp_path / "out.parquet")
    assert exported.exit_code == 0, exported.stderr
    found = pd.read_parquet(tmp_path / "out.parquet")
    assert len(found) >= len(frame)
    names = {name: name for name in frame} | {"probability": "scores_probability"}
    assert set(names.values()) <= set(found)
    both = frame.merge(found, left_on=["unique_id_l", "unique_id_r"], right_on=["ltable_id", "rtable_id"])
    assert len(both) == len(frame)
    for name, kept in names.items():
        left = f"{name}_x" if f"{name}_x" in both else name
        right = f"{kept}_y" if f"{kept}_y" in both else kept
        assert both[left].astype(str).tolist() == both[right].astype(str).tolist(), name
    tested = both[both["part"] == "target"]
    np.testing.assert_allclose(tested["probability_y"].astype(float), tested["match_probability_x"], atol=1e-6)


def test_what_the_scores_lack_is_told_before_anything_is_written(call, target, tmp_path):
    predictions(target)[3:].to_csv(tmp_path / "scores.csv", index=False, sep=";")
    arguments = (
        "run",
        "--source",
        small_data(tmp_path / "source"),
        "--target",
        target,
        "--scores",
        tmp_path / "scores.csv",
    )
    result = call(*arguments)
    assert result.exit_code == 2
    assert "have no probability" in result.stderr
    assert "missing=0" in result.stderr
    assert not (tmp_path / "runs").exists()
    result = call(*arguments, *QUICK, "--score-columns", "missing=0")
    assert result.exit_code == 0, result.stderr
    assert "not scored: their probability is 0" in result.stderr


def test_scores_alone_are_enough(call, target, tmp_path):
    """Two tables without pairs, labels or a source: the scored pairs are the candidates, and their answers stay."""
    bare = tmp_path / "bare"
    bare.mkdir()
    for stem in ("tableA", "tableB"):
        (bare / f"{stem}.csv").write_bytes((target / f"{stem}.csv").read_bytes())
    frame = predictions(target)
    frame.to_csv(tmp_path / "scores.csv", index=False)
    result = call("run", "--target", bare, "--scores", tmp_path / "scores.csv", "--json")
    assert result.exit_code == 0, result.stderr
    run = json.loads(result.stdout)["run"]
    assert call("export", run, "--out", tmp_path / "out.csv").exit_code == 0
    found = pd.read_csv(tmp_path / "out.csv", dtype={"ltable_id": str, "rtable_id": str})
    both = frame.merge(found, left_on=["unique_id_l", "unique_id_r"], right_on=["ltable_id", "rtable_id"])
    assert len(both) == len(found) == len(frame)
    assert ((both["match_probability_x"] >= 0.5) == (both["decision"] == "match")).all()
