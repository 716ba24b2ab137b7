"""`data bring` on the command line."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from riskcore import cli
from riskcore.data import open_data
from tests.data.bring.brought import LEFT, PAIRS, RIGHT, write


@pytest.fixture
def files(tmp_path):
    return [write(tmp_path / "ours.csv", LEFT, ";", "latin-1"), write(tmp_path / "shop.csv", RIGHT, "\t", "utf-16")]


def run(*arguments):
    return CliRunner().invoke(cli.app, ["data", "bring", *map(str, arguments)])


def test_two_tables_become_a_data_set(files, tmp_path):
    result = run(*files, "--out", tmp_path / "set")
    assert result.exit_code == 0, result.stderr
    assert "ours.csv (csv, semicolon, Windows-1252 (Latin-1), 12 rows): left table" in result.stdout
    assert "attribute City: City = Town" in result.stdout
    assert "Find candidates first" in result.stdout
    assert len(open_data(tmp_path / "set").right) == 12
    again = run(*files, "--out", tmp_path / "set")
    assert (again.exit_code, "exists already" in again.stderr) == (2, True)
    assert run(*files, "--out", tmp_path / "set", "--replace").exit_code == 0


def test_what_is_given_wins(files, tmp_path):
    pairs = write(tmp_path / "blocked.csv", PAIRS)
    given = ("--role", "ours.csv=right table", "--role", "shop.csv=left table", "--map", "Town=Product")
    given += ("--leave-out", "Item name", "--role", "blocked.csv=not used", "--left-id", "none", "--json")
    result = run(*files, pairs, "--out", tmp_path / "set", *given)
    assert result.exit_code == 0, result.stderr
    document = json.loads(result.stdout)
    assert [one["name"] for one in document["plan"]["attributes"]] == ["Town"]
    data = open_data(tmp_path / "set")
    assert (data.attributes, data.left.ids[0], data.right.ids[0]) == (("Town",), "1", "p0")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("--role", "ours.csv=king"), "left table"),
        (("--left-id", "nothing"), "ours.csv has no column 'nothing'"),
        (("--map", "City=Planet"), "shop.csv has no column 'Planet'"),
        (("--encoding", "no-such"), "cannot be read"),
    ],
)
def test_bad_choices_are_told_and_leave_nothing(files, tmp_path, given, told):
    result = run(*files, "--out", tmp_path / "set", *given)
    assert result.exit_code == 2
    assert told in result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "set").exists()


def test_a_dry_run_writes_nothing(files, tmp_path):
    assert "Nothing was written." in run(*files, "--out", tmp_path / "set", "--dry-run").stdout
    assert not (tmp_path / "set").exists()
    assert "Nothing was written." in run(tmp_path, "--out", tmp_path / "set", "--dry-run").stdout  # a whole folder
    (tmp_path / "empty").mkdir()
    assert "has no csv" in run(tmp_path / "empty", "--out", tmp_path / "set").stderr
    assert "There is no file" in run(tmp_path / "nowhere.csv", "--out", tmp_path / "set").stderr
