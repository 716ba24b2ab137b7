"""What a server says: one JSON document in a line for each event, and never the words of a record."""

from __future__ import annotations

import json
import logging
import re
import subprocess
import sys
from pathlib import Path

import pytest

from riskcore import logs
from riskcore.errors import RiskcoreError

ROOT = Path(__file__).parents[1]
SECRET = "Ann Berger, 4711 Elm Street"


@pytest.fixture
def lines(monkeypatch, capsys):
    """Everything that is said as JSON from now on."""
    monkeypatch.setenv(logs.VARIABLE, "json")
    logs.set_up()
    logs.set_up(server=True)  # a second time changes nothing
    return lambda: [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_an_event_is_one_line_with_its_fields(lines):
    logs.event("backup", who="ann\nroot", outcome="done", count=2, seconds=0.5, run=None)
    (said,) = lines()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", said.pop("time"))
    assert said == {
        "level": "info",
        "event": "backup",
        "who": "ann root",
        "outcome": "done",
        "count": 2,
        "seconds": 0.5,
    }


def test_a_field_that_is_not_documented_is_a_defect():
    with pytest.raises(ValueError, match="note: not a field"):
        logs.event("action", note=SECRET)


def test_errors_are_named_by_their_class_and_place(lines):
    log = logging.getLogger("pages.somewhere")
    try:
        try:
            raise ValueError(SECRET)
        except ValueError as inner:
            raise RiskcoreError(f"It was {SECRET}") from inner
    except RiskcoreError as error:
        log.exception("The callback %s failed: %s", "judge", error)
    (said,) = lines()
    assert said["message"] == "The callback judge failed: RiskcoreError from ValueError"
    assert said["error"] == "RiskcoreError from ValueError"
    assert any("test_logs.py" in place for place in said["places"])
    assert SECRET not in json.dumps(said)


def test_text_for_people_unless_json_is_asked_for(tmp_path):
    code = "from riskcore import logs; logs.set_up(server=%s); logs.event('worker', 30, run='r1', outcome='failed')"

    def said(server: bool, mode: str) -> str:
        command = [sys.executable, "-c", code % server]
        environment = {"PYTHONPATH": str(ROOT), logs.VARIABLE: mode}
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stderr

    assert said(False, "") == ""
    assert re.fullmatch(r'\S+ warning worker run="r1" outcome="failed"\n', said(True, ""))
    assert json.loads(said(False, "json"))["run"] == "r1"


def test_a_command_that_fails_says_so(lines, tmp_path):
    from typer.testing import CliRunner

    from riskcore import cli

    ended = CliRunner().invoke(cli.app, ["backup", str(tmp_path / "x.rar"), "--runs", str(tmp_path)])
    assert ended.exit_code == 2
    said = json.loads(ended.stderr.splitlines()[-1])
    assert (said["event"], said["action"], said["outcome"]) == ("command", "backup", "failed")
    assert said["error"] == "ConfigError"


def test_a_worker_tells_its_beginning_and_end(lines, tmp_path):
    from riskcore.runs import RunStore
    from riskcore.runs.worker.execute import execute
    from tests.runs.conftest import small_config, small_data
    from tests.runs.fake_engine import fake_engine

    store = RunStore(tmp_path / "runs")
    run = store.create(small_config(small_data(tmp_path / "data"), methods=("tradition",)), SECRET).id
    execute(store, run, engine=fake_engine)
    said = lines()
    assert [(one["event"], one["run"], one["outcome"]) for one in said] == [
        ("worker", run, "started"),
        ("worker", run, "done"),
    ]
    assert said[1]["seconds"] >= 0
    assert SECRET not in json.dumps(said)


def test_the_documentation_names_every_field():
    text = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    assert f"{logs.VARIABLE}=json" in text
    assert [name for name in (*logs.FIELDS, "time", "level", "event") if f"`{name}`" not in text] == []
