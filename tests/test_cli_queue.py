"""The queue on the command line: detached runs wait for their turn and say their place; `worker` takes them."""

import json
import os

import pytest
from typer.testing import CliRunner

from riskcore import cli
from riskcore.runs import RunState, RunStore
from riskcore.runs.worker import execute, jobs
from riskcore.runs.worker.slots import SLOTS_VARIABLE
from tests.runs.conftest import small_data
from tests.runs.fake_engine import fake_engine
from tests.runs.quick_workers import use_quick_workers
from tests.runs.test_pool import made, until_all


@pytest.fixture
def runs(tmp_path):
    return tmp_path / "runs"


@pytest.fixture
def store(runs):
    return RunStore(runs)


@pytest.fixture
def call(runs, monkeypatch):
    """Call a command; workers are quick ones, and one run at a time is worked on."""
    use_quick_workers(monkeypatch)
    monkeypatch.setenv(SLOTS_VARIABLE, "1")

    def invoke(*arguments):
        return CliRunner().invoke(cli.app, [*(str(argument) for argument in arguments), "--runs", str(runs)])

    return invoke


def document(result):
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


class Standing:
    """A worker process that has been started and has not begun."""

    def __init__(self, *_, **__):
        self.pid = os.getpid()

    def poll(self):
        return None


def test_detached_runs_wait_for_their_turn(call, store, tmp_path, monkeypatch):
    monkeypatch.setattr(jobs.subprocess, "Popen", Standing)
    command = ("run", "--source", small_data(tmp_path / "data"), "--matcher", "toy", "--detach")
    first = document(call(*command, "--name", "60", "--json"))
    assert first["queue"] is None
    second = document(call(*command, "--name", "0.1", "--json"))
    assert second["queue"] == {"place": 1, "starts_in_seconds": None}
    third = call(*command, "--name", "0.1")
    assert "waits: place 2 in the queue, start not known yet" in third.stdout
    listed = document(call("runs", "list", "--json"))["runs"]
    assert [one["queue"] and one["queue"]["place"] for one in listed] == [2, 1, None]
    assert "waiting, place 2 in the queue" in call("runs", "list").stdout
    assert document(call("runs", "show", second["run"], "--json"))["queue"]["place"] == 1
    assert "waiting (place 1 in the queue, start not known yet)" in call("runs", "show", second["run"]).stdout
    assert store.get(first["run"]).starting


@pytest.mark.parametrize("command", [("list",), ("show", "RUN")])
def test_looking_starts_what_a_killed_process_left(call, store, command):
    (run,) = made(store, 1)
    store.enqueue(run)
    assert call("runs", *(run if word == "RUN" else word for word in command)).exit_code == 0
    until_all(store, [run])


def test_a_run_of_the_terminal_goes_first_and_then_starts_what_waits(call, store, tmp_path, monkeypatch):
    monkeypatch.setattr(execute, "_engine", lambda *_: fake_engine)
    (busy,) = made(store, 1)
    store.claim(busy)  # the only slot is taken
    (waiting,) = made(store, 1)
    store.enqueue(waiting)
    settings = ("--matcher", "toy", "--methods", "tradition", "--epochs", "1")
    done = document(call("run", "--source", small_data(tmp_path / "data"), *settings, "--json"))
    assert store.get(done["run"]).state is RunState.DONE
    assert store.get(waiting).queued  # its slot is another's
    store.finish(busy, RunState.DONE)
    call("run", "--source", tmp_path / "data", *settings)
    until_all(store, [waiting])


def test_worker_takes_what_waits_and_ends(call, store):
    wanted = made(store, 2)
    for run in wanted:
        store.enqueue(run)
    result = call("worker", "--once", "--slots", 2)
    assert result.exit_code == 0
    assert "2 runs at a time" in result.stderr
    assert all(f"Run {run} is done." in result.stderr for run in wanted)


def test_worker_without_slots(call, monkeypatch):
    monkeypatch.setenv(SLOTS_VARIABLE, "0")
    result = call("worker", "--once")
    assert result.exit_code == 2
    assert "RISKCORE_SLOTS is 0" in result.stderr


def test_a_run_whose_worker_is_starting(call, store):
    (run,) = made(store, 1)
    store.spawned(run, os.getpid())
    assert "waiting, its worker is starting" in call("runs", "list").stdout
