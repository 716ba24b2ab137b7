"""`riskcore block`: tables, folders, known matches, and every error in one message."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from riskcore import cli
from tests.data.folders import write_file, write_folder

HEADER = ["id", "name", "city"]
LEFT = [HEADER, ["1", "anna lee", "paris"], ["2", "bob stone", "rome"], ["3", "", ""]]
RIGHT = [HEADER, ["7", "ana lee", "paris"], ["8", "stone bob", "oslo"]]


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_file(tmp_path / "a.csv", LEFT)
    write_file(tmp_path / "b.csv", RIGHT)
    return lambda *arguments: CliRunner().invoke(cli.app, ["block", *map(str, arguments)])


def rows(path):
    table = pq.read_table(path)
    return set(zip(table["ltable_id"].to_pylist(), table["rtable_id"].to_pylist(), strict=True))


def test_two_tables(run, tmp_path):
    result = run("a.csv", "b.csv", "--out", "pairs.parquet")
    assert result.exit_code == 0, result.stderr
    assert rows("pairs.parquet") == {("1", "7"), ("2", "8")}
    assert "Not known" in result.stdout
    assert "2 of 6 possible pairs" in result.stdout


def test_json_is_one_document(run, tmp_path):
    write_file(tmp_path / "known.csv", [["ltable_id", "rtable_id"], ["1", "7"], ["3", "8"]])
    result = run("a.csv", "b.csv", "--out", "pairs.parquet", "--known", "known.csv", "--json", "--threads", 1)
    document = json.loads(result.stdout)
    assert document["pairs"] == 2
    assert document["recall"] == {"matches": 2, "found": 1, "share": 0.5}
    assert document["left"]["without"] == pytest.approx(1 / 3)
    assert document["estimate"] is None


def test_one_table_is_joined_with_itself(run, tmp_path):
    write_file(tmp_path / "one.csv", [HEADER, ["1", "anna lee", ""], ["2", "anna lee", ""], ["3", "bob", ""]])
    assert run("one.csv", "--out", "pairs.parquet", "--top", 1).exit_code == 0
    assert rows("pairs.parquet") == {("1", "2")}


def test_options_reach_the_search(run):
    run("a.csv", "b.csv", "--out", "pairs.parquet", "--attribute", "city", "--key", "city")
    assert pq.read_table("pairs.parquet")["blocked_by"].to_pylist() == ["ngrams+words+key:city"]


def test_other_id_columns(run, tmp_path):
    write_file(tmp_path / "c.csv", [["code", "id", "name"], ["x9", "5", "anna lee"]])
    result = run("a.csv", "c.csv", "--out", "pairs.parquet", "--right-id", "code")
    assert result.exit_code == 0, result.stderr
    assert rows("pairs.parquet") == {("1", "x9")}


def test_a_folder_brings_its_known_matches(run, tmp_path):
    result = run(write_folder(tmp_path / "set"), "--out", "pairs.parquet", "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["recall"]["matches"] > 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("a.csv", "b.csv"), "--out is missing"),
        (("a.csv", "b.csv", "--out", "pairs.csv"), "ends in .parquet"),
        (("a.csv", "none.csv", "--out", "pairs.parquet"), "none.csv"),
        (("a.txt", "b.csv", "--out", "pairs.parquet"), "a.txt"),
        (("a.csv", "b.csv", "--out", "pairs.parquet", "--left-id", "key"), "a.csv has no column 'key'"),
        (("a.csv", "b.csv", "--out", "pairs.parquet", "--attribute", "nam"), "no attribute 'nam'"),
        (("a.csv", "b.csv", "--out", "pairs.parquet", "--key", "isbn"), "no attribute 'isbn'"),
        (("a.csv", "b.csv", "--out", "pairs.parquet", "--known", "b.csv"), "There is no column 'ltable_id'"),
        (("a.csv", "b.csv", "--out", "pairs.parquet", "--top", "0"), "top"),
        (("empty", "--out", "pairs.parquet"), "no tableA"),
        (("double.csv", "--out", "pairs.parquet"), "double.csv, row 3"),
    ],
)
def test_errors_name_the_file_and_the_cure(run, tmp_path, arguments, said):
    (tmp_path / "empty").mkdir()
    (tmp_path / "a.txt").write_text("id\n1\n")
    write_file(tmp_path / "double.csv", [HEADER, ["1", "x", "y"], ["1", "z", "y"]])
    result = run(*arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert "Traceback" not in result.stderr
    assert not list(tmp_path.glob("*.parquet"))
