"""`riskcore apply`: what it prints, and bad input. Its answers are tested in tests/apply."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from riskcore import cli
from tests.apply.test_new_records import first_titles, new_frame, run

__all__ = ["run"]


@pytest.fixture
def call(run, tmp_path, monkeypatch):
    new_frame(first_titles(run, "left")).to_csv(tmp_path / "new.csv", index=False)
    new_frame(["x"], "colour").to_csv(tmp_path / "bad.csv", index=False)
    monkeypatch.chdir(tmp_path)
    options = ("--runs", str(run.path.parent))
    return lambda *arguments: CliRunner().invoke(cli.app, ["apply", run.path.name, *arguments, *options])


def test_the_answers_are_counted(call, run, tmp_path):
    result = call("new.csv", "--out", "out.csv", "--top", "1")
    assert result.exit_code == 0, result.output
    rows = len((tmp_path / "out.csv").read_text().splitlines()) - 1
    words = " ".join(result.stdout.split())
    assert f"{rows} pairs in out.csv, decided by risk, iteration 0 of run {run.path.name}." in words
    assert "New records: 2." in words


def test_json_is_one_document(call):
    document = json.loads(call("new.csv", "--out", "out.parquet", "--json", "--matches-only").stdout)
    assert (document["method"], document["kept_iteration"], document["matches_only"]) == ("risk", 0, True)
    assert document["counts"]["rows"] == document["counts"]["matches"]
    assert document["labels_used"] == ["source", "validation"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("new.csv",), "--out is missing"),
        (("bad.csv", "--out", "out.csv"), "that the run's records have: 'name'. There are: 'colour', 'year'."),
        (("new.csv", "--out", "out.docx"), "Use one of .csv, .parquet, .xlsx"),
        (("new.csv", "--out", "out.csv", "--side", "top"), "on the left or on the right"),
        (("new.csv", "--out", "out.csv", "--method", "forest"), "It can apply: tradition, risk"),
    ],
)  # fmt: skip
def test_bad_input_is_one_message_and_no_file(call, tmp_path, arguments, words):
    result = call(*arguments)
    assert result.exit_code == 2
    assert words in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr
    assert not list(tmp_path.glob("out.*"))
