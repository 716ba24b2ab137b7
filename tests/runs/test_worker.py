"""Worker processes: started, killed, resumed, cancelled, and two at once."""

import random
import signal
import subprocess
import sys
import time

import pytest
import sqlalchemy as sa

from benchmarks.kill_resume import PROJECT, kill_and_resume, worker
from riskcore.config import AdaptConfig
from riskcore.errors import BusyError
from riskcore.runs import RunFolder, RunState, RunStateError, cancel, resume, start
from riskcore.runs.store.database import runs
from riskcore.runs.worker import jobs
from riskcore.storage.lock import FolderLock
from tests.runs.conftest import small_config

FAKE = (sys.executable, "-m", "tests.runs.fake_worker")


def wait_for(store, run, *states, seconds=40):
    until = time.monotonic() + seconds
    while store.get(run).state not in states:
        assert time.monotonic() < until, store.get(run)
        time.sleep(0.05)
    return store.get(run)


def test_killed_at_random_moments_and_resumed(store, data, monkeypatch):
    monkeypatch.setenv("FAKE_PAUSE", "0.05")
    config = small_config(data, adapt=AdaptConfig(iterations=8), methods=("tradition", "risk", "risk+"))
    found = kill_and_resume(store, config, kills=6, chance=random.Random(0), command=FAKE, longest=0.9)
    assert found["differences"] == []
    assert found["kills"] == 6


def test_two_workers_on_one_run(store, waiting, monkeypatch):
    monkeypatch.setenv("FAKE_PAUSE", "0.2")
    both = [worker(store, waiting, FAKE) for _ in range(2)]
    codes = sorted(process.wait() for process in both)
    assert codes == [0, 2]
    assert "is being worked on by another worker" in RunFolder(waiting.folder).log_file.read_text()
    assert store.get(waiting.id).state is RunState.DONE
    assert store.get(waiting.id).attempts == 1


def test_a_polite_kill_cancels(store, waiting, monkeypatch):
    monkeypatch.setenv("FAKE_PAUSE", "0.3")
    process = worker(store, waiting, FAKE)
    wait_for(store, waiting.id, RunState.RUNNING)
    time.sleep(0.3)
    process.send_signal(signal.SIGTERM)
    assert process.wait() == 3
    assert store.get(waiting.id).state is RunState.CANCELLED
    assert "was cancelled" in RunFolder(waiting.folder).log_file.read_text()


@pytest.fixture
def fake_jobs(monkeypatch):
    """Jobs that start workers with the fake engine."""
    real = subprocess.Popen

    def swap(command, **options):
        assert command[1:3] == ["-m", "riskcore.runs.worker"]
        assert options["start_new_session"]
        assert subprocess.PIPE not in (options["stdout"], options["stderr"], options["stdin"])
        return real([*FAKE, *command[3:]], **options)

    monkeypatch.setattr(jobs.subprocess, "Popen", swap)
    monkeypatch.setenv("PYTHONPATH", str(PROJECT))


def test_start_cancel_resume(store, waiting, fake_jobs, monkeypatch):
    monkeypatch.setenv("FAKE_PAUSE", "0.3")
    start(store, waiting.id)
    wait_for(store, waiting.id, RunState.RUNNING)
    with pytest.raises(RunStateError, match="running"):
        start(store, waiting.id)
    with pytest.raises(BusyError, match="being worked on"):
        resume(store, waiting.id)
    cancel(store, waiting.id)
    wait_for(store, waiting.id, RunState.CANCELLED)
    with pytest.raises(RunStateError, match="nothing to cancel"):
        cancel(store, waiting.id)
    monkeypatch.setenv("FAKE_PAUSE", "0")
    resume(store, waiting.id)
    record = wait_for(store, waiting.id, RunState.DONE)
    assert record.attempts == 2
    with pytest.raises(RunStateError, match="nothing to resume"):
        resume(store, waiting.id)


def test_a_lost_run_is_seen_at_once_and_resumed(store, waiting, fake_jobs, monkeypatch):
    monkeypatch.setenv("FAKE_PAUSE", "0.3")
    start(store, waiting.id)
    record = wait_for(store, waiting.id, RunState.RUNNING)
    jobs._children[-1].kill()
    wait_for(store, record.id, RunState.LOST, seconds=5)
    monkeypatch.setenv("FAKE_PAUSE", "0")
    resume(store, waiting.id)
    wait_for(store, waiting.id, RunState.DONE)
    assert store.get(waiting.id).error is None


def test_a_worker_that_was_silent_and_lives_keeps_its_run(store, waiting):
    store.claim(waiting.id)
    with store.database.write() as tx:
        tx.execute(sa.update(runs).values(beat=0.0))
    assert store.get(waiting.id).state is RunState.LOST
    with FolderLock(waiting.folder), pytest.raises(BusyError, match="another worker"):
        resume(store, waiting.id)


def test_a_run_that_waits_is_cancelled_at_once(store, waiting):
    cancel(store, waiting.id)
    assert store.get(waiting.id).state is RunState.CANCELLED


def test_cancelling_while_a_worker_takes_up_the_run_leaves_it_the_wish(store, waiting):
    with FolderLock(waiting.folder):
        cancel(store, waiting.id)
    assert store.get(waiting.id).cancelling
    assert worker(store, waiting, FAKE).wait() == 3
    assert store.get(waiting.id).state is RunState.CANCELLED
