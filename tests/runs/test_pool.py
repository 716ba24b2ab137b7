"""Waiting runs get their turn: by the worker that ends, by whoever looks, and by pools, of which some are killed."""

import os
import signal
import subprocess
import sys
import time

import pytest

from riskcore.config import RunConfig
from riskcore.errors import ConfigError, StorageError
from riskcore.runs import RunState, RunStore, cancel, look, resume, start
from riskcore.runs.worker import jobs
from riskcore.runs.worker.pool import WorkerPool
from riskcore.runs.worker.slots import SLOTS_VARIABLE
from tests.runs.quick_workers import QuickWorker, use_quick_workers
from tests.runs.test_worker import wait_for

PATIENCE = 60


@pytest.fixture
def quick(monkeypatch):
    use_quick_workers(monkeypatch)
    monkeypatch.setenv(SLOTS_VARIABLE, "1")


def made(store, count, seconds=0.1):
    """Runs that take that long."""
    return [store.create(RunConfig(source="x"), str(seconds)).id for _ in range(count)]


def until_all(store, wanted, state=RunState.DONE):
    until = time.monotonic() + PATIENCE
    while {store.get(run).state for run in wanted} != {state}:
        assert time.monotonic() < until, [(one.id, one.state) for one in store.list()]
        time.sleep(0.05)


def most_at_once(store, wanted):
    """How many of the runs were at work at one moment, from what happened and when."""
    told = [event for run in wanted for event in store.events(run) if event.kind == "state"]
    told = [(event.at, event.record["state"]) for event in told if event.record["state"] != "waiting"]
    steps = [(at, 1 if state == "running" else -1) for at, state in told]
    at_work = [sum(step for _, step in sorted(steps)[:count]) for count in range(1, len(steps) + 1)]
    assert at_work[-1] == 0
    return max(at_work)


def test_ten_runs_started_at_once(store, quick, monkeypatch):
    """They share two slots, one ends and starts the next, nobody looks, and each gets its turn in order."""
    monkeypatch.setenv(SLOTS_VARIABLE, "2")
    wanted, overtaken = made(store, 10, 0.2), store.root / "overtaken"

    def spawn(command, **options):
        mine = store.get(command[3])
        before = [one for one in store.list() if one.queued and one.ticket < mine.ticket and one.pid is None]
        with overtaken.open("a") as lines:  # also written by the workers that start others
            lines.writelines(f"{mine.id} before {one.id}\n" for one in before)
        return QuickWorker(command, **options)

    monkeypatch.setattr(jobs.subprocess, "Popen", spawn)
    for run in wanted:
        start(store, run)
    until_all(store, wanted)
    assert most_at_once(store, wanted) == 2
    assert overtaken.read_text() == ""
    assert all(store.get(run).attempts == 1 for run in wanted)


def test_a_pool_takes_runs_in_order_and_ends(store, quick):
    wanted, told = made(store, 5, 0.3), []
    for run in wanted:
        store.enqueue(run)
    WorkerPool(store, 2, told.append).work(once=True)
    until_all(store, wanted)
    assert [line.split()[1] for line in told if line.endswith("is started.")] == wanted
    assert sorted(line.split()[1] for line in told if line.endswith("is done.")) == sorted(wanted)
    assert most_at_once(store, wanted) == 2


def test_several_pools_and_starts_on_one_store(store, quick, monkeypatch):
    """Pools in processes of their own and a web server, all on one machine: together they keep to its slots."""
    monkeypatch.setenv(SLOTS_VARIABLE, "3")
    wanted = made(store, 9)
    pools = [forked(lambda: WorkerPool(RunStore(store.root), 3, lambda line: None).work()) for _ in range(2)]
    for run in wanted:
        start(store, run)
    until_all(store, wanted)
    for pool in pools:
        os.kill(pool, signal.SIGKILL)
        os.waitpid(pool, 0)
    assert most_at_once(store, wanted) <= 3
    assert all(store.get(run).attempts == 1 for run in wanted)


def forked(work):
    pid = os.fork()
    if pid == 0:
        try:
            work()
        finally:
            os._exit(0)
    return pid


def test_a_killed_pool_loses_nothing(store, quick):
    first, second = *made(store, 1, 60), *made(store, 1)
    for run in (first, second):
        store.enqueue(run)
    pool = forked(lambda: WorkerPool(RunStore(store.root), 1, lambda line: None).work())
    wait_for(store, first, RunState.RUNNING)
    os.kill(pool, signal.SIGKILL)
    os.waitpid(pool, 0)
    assert store.get(second).queued
    assert store.get(first).state is RunState.RUNNING  # its worker is a process of its own
    cancel(store, first)
    wait_for(store, first, RunState.CANCELLED)
    assert store.get(second).queued  # a pool's worker starts nothing: the pool would not know of it
    look(store)
    until_all(store, [second])


def test_a_killed_worker_does_not_hold_up_the_others(store, quick):
    first, second = made(store, 2, 20.0)
    for run in (first, second):
        start(store, run)
    os.kill(wait_for(store, first, RunState.RUNNING).pid, signal.SIGKILL)
    wait_for(store, first, RunState.LOST)
    assert store.get(second).queued
    look(store)
    wait_for(store, second, RunState.RUNNING)
    resume(store, first)
    assert store.get(first).queued
    cancel(store, first)
    assert store.get(first).state is RunState.CANCELLED
    cancel(store, second)
    wait_for(store, second, RunState.CANCELLED)


def test_a_cancelled_run_makes_room(store, quick):
    first, second, third = *made(store, 1, 60), *made(store, 2)
    for run in (first, second, third):
        start(store, run)
    cancel(store, second)
    wait_for(store, first, RunState.RUNNING)
    cancel(store, first)
    until_all(store, [third])
    assert store.get(second).state is RunState.CANCELLED
    assert store.get(second).attempts == 0


def test_a_worker_that_was_stopped_by_a_signal_starts_no_other(store, waiting, quick, monkeypatch):
    """The machine or the service is being stopped. The next who looks starts what waits."""
    from riskcore.runs.worker import __main__ as worker

    looked = []
    monkeypatch.setattr(worker, "look", looked.append)
    monkeypatch.setattr(worker, "execute", lambda *_, **__: None)
    command = [waiting.id, "--root", str(store.root)]
    assert worker.main(command) == 0
    assert looked == []  # a pool's
    assert worker.main([*command, "--next"]) == 0
    assert len(looked) == 1
    monkeypatch.setattr(worker.signalled, "is_set", lambda: True)
    worker.main([*command, "--next"])
    assert len(looked) == 1


def test_a_worker_that_cannot_be_started_lets_the_next_go(store, quick, monkeypatch):
    first, second = made(store, 2)
    store.enqueue(first)

    def none_left(command, **options):
        if command[3] == first:
            raise OSError(11, "Resource temporarily unavailable")
        return QuickWorker(command, **options)

    monkeypatch.setattr(jobs.subprocess, "Popen", none_left)
    start(store, second)
    record = store.get(first)
    assert record.state is RunState.FAILED
    assert "Its worker could not be started." in record.error
    until_all(store, [second])


def test_an_unusable_number_of_slots_is_said_before_anything_happens(store, waiting, monkeypatch):
    monkeypatch.setenv(SLOTS_VARIABLE, "many")
    with pytest.raises(ConfigError, match="RISKCORE_SLOTS"):
        start(store, waiting.id)
    assert not store.get(waiting.id).queued
    look(store)  # who only looks is not bothered


def test_other_peoples_runs_are_only_looked_at(store, waiting, quick, monkeypatch):
    store.enqueue(waiting.id)
    monkeypatch.setattr(jobs.os, "geteuid", lambda: os.getuid() + 1)
    look(store)
    assert store.get(waiting.id).queued


@pytest.mark.parametrize("stops", [1, 2])
def test_stopping_a_pool(store, quick, stops):
    """Asked once, it lets its run end; asked twice, it cancels it. Either way what waits is left waiting."""
    first, second = made(store, 2, 0.8 if stops == 1 else 30.0)
    for run in (first, second):
        store.enqueue(run)
    told = []
    pool = WorkerPool(store, 1, told.append)

    def tell(line):
        told.append(line)
        for _ in range(stops):
            pool.stop()

    pool.tell = tell
    pool.work()
    assert store.get(first).state is (RunState.DONE if stops == 1 else RunState.CANCELLED)
    assert store.get(second).queued
    assert pool.cancelled == (set() if stops == 1 else {first})


def test_a_pool_outlives_the_store(store, quick, monkeypatch):
    """A store that cannot be reached is said once, and the pool goes on when it is back."""
    (run,), told, reserve = made(store, 1), [], store.reserve
    store.enqueue(run)
    pool = WorkerPool(store, 1, told.append)

    def away(slots):
        pool.looks += 1
        if pool.looks <= 3:
            raise StorageError("The store is away.")
        return reserve(slots)

    pool.looks = 0
    monkeypatch.setattr("riskcore.runs.worker.pool.POLL_SECONDS", 0.0)
    monkeypatch.setattr(store, "reserve", away)
    pool.work(once=True)
    assert told == ["The store is away. Trying again.", f"Run {run} is started.", f"Run {run} is done."]


def test_the_command_ends_when_it_is_asked_to(store, waiting):
    command = [sys.executable, "-m", "riskcore", "worker", "--runs", str(store.root), "--slots", "2"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert "2 runs at a time" in process.stderr.readline()
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=PATIENCE) == 0
    assert store.get(waiting.id).state is RunState.WAITING  # nobody started it
