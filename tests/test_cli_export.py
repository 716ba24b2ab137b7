"""`riskcore export`: options, exit codes and what is printed."""

import csv
import json

import pytest
from typer.testing import CliRunner

from riskcore import cli
from riskcore.runs.worker.execute import execute
from tests.runs.conftest import data, small_config, store, waiting
from tests.runs.fake_engine import fake_engine

__all__ = ["data", "small_config", "store", "waiting"]


@pytest.fixture
def call(store, waiting, tmp_path, monkeypatch):
    """Export a small finished run, from a folder of its own."""
    execute(store, waiting.id, engine=fake_engine)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")

    def invoke(*options):
        return CliRunner().invoke(cli.app, ["export", waiting.id, *options, "--runs", str(tmp_path / "runs")])

    return invoke


def test_a_file_in_the_current_folder(call, tmp_path):
    result = call("--matches-only")
    assert result.exit_code == 0, result.output
    (file,) = (tmp_path / "here").iterdir()
    assert file.name.startswith("matches-small-")
    assert file.name.endswith("-risk-free.csv")
    with file.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert {row["decision"] for row in rows} == {"match"}
    words = " ".join(result.stdout.split())
    assert f"{len(rows)} rows of pairs are in {file.name}." in words
    assert "risk used labels of: source. No label of the target was used." in words


def test_json_is_one_document(call, tmp_path):
    options = (
        "--clusters",
        "--merged",
        "--constraint",
        "one-to-one",
        "--format",
        "parquet",
        "--all-columns",
        "--truth",
    )
    result = call(*options, "--method", "forest", "--out", str(tmp_path / "here"), "--json")
    document = json.loads(result.stdout)
    assert (document["method"], document["constraint"], document["kept_iteration"]) == ("forest", "one-to-one", None)
    assert list(document["files"]) == ["pairs", "entities", "merged"]
    assert document["labels_used"] == ["source"]
    assert document["truth_included"] is True
    assert document["counts"]["pairs"] == 96
    assert all(path.endswith(".parquet") for path in document["files"].values())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--constraint", "two-to-two"), "is not a constraint. Possible: auto, free, one-to-one"),
        (("--format", "pdf"), "Possible: csv, parquet, xlsx"),
        (("--method", "nothing"), "It has: tradition, risk, forest"),
        (("--out", "none/here.csv"), "Create it first"),
    ],
)
def test_bad_input_is_one_message_and_no_file(call, tmp_path, options, words):
    result = call(*options)
    assert result.exit_code == 2
    assert words in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr
    assert list((tmp_path / "here").iterdir()) == []
