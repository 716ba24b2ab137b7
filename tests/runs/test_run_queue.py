"""The queue in the store: order, slots, reservations of processes that died, and many who take at once."""

import os
import threading
import time

import pytest
import sqlalchemy as sa

from riskcore.config import RunConfig
from riskcore.runs import RunNotFoundError, RunState, RunStateError, RunStore, cancel
from riskcore.runs.store.database import runs
from riskcore.runs.store.liveness import STARTING_SECONDS
from tests.runs.test_store import GONE


def set_row(store, run, **values):
    with store.database.write() as tx:
        tx.execute(sa.update(runs).where(runs.c.id == run).values(**values))


def queued(store, count):
    """Runs that were started in this order."""
    made = [store.create(RunConfig(source="x"), f"run {number}").id for number in range(count)]
    for run in made:
        store.enqueue(run)
    return made


def test_runs_are_taken_in_the_order_of_their_start(store):
    made = [store.create(RunConfig(source="x")).id for _ in range(4)]
    order = [made[2], made[0], made[3], made[1]]
    for run in order:
        store.enqueue(run)
    assert [store.reserve(9) for _ in range(5)] == [*order, None]


def test_a_run_that_nobody_started_is_not_taken(store, waiting):
    assert store.reserve(1) is None
    assert not store.get(waiting.id).queued
    store.enqueue(waiting.id)
    assert store.get(waiting.id).queued
    assert store.reserve(1) == waiting.id


def test_a_clock_that_is_set_back_changes_no_order(store, monkeypatch):
    first = queued(store, 2)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now - 10_000)
    last = queued(store, 1)
    monkeypatch.undo()
    assert [store.reserve(9) for _ in range(3)] == [*first, *last]


def test_no_more_than_the_slots_are_taken(store):
    first, second, third = queued(store, 3)
    assert store.reserve(0) is None
    assert [store.reserve(2) for _ in range(3)] == [first, second, None]
    store.spawned(first, os.getpid())
    assert store.reserve(2) is None  # its worker is starting
    store.claim(first)
    assert store.reserve(2) is None  # and working
    store.finish(first, RunState.FAILED, "no more")
    assert store.reserve(2) == third
    assert store.get(second).queued
    store.spawned(second, os.getpid())
    assert not store.get(second).queued
    assert store.get(second).starting


def test_work_on_other_machines_takes_no_slot_here(store):
    first, second = queued(store, 2)
    assert store.reserve(1) == first
    set_row(store, first, host="elsewhere")
    assert store.reserve(1) == second


@pytest.mark.parametrize("death", [{"pid": GONE}, {"host": "elsewhere", "beat": time.time() - STARTING_SECONDS - 1}])
def test_a_run_whose_starter_died_waits_on_and_is_taken_again(store, death):
    first, second = queued(store, 2)
    assert store.reserve(1) == first
    set_row(store, first, **death)
    assert store.get(first).queued  # not lost: nothing of it was begun
    assert store.reserve(1) == first
    assert store.reserve(1) is None
    assert store.get(second).queued


def test_a_worker_that_died_frees_its_slot(store):
    first, second = queued(store, 2)
    store.claim(store.reserve(1))
    set_row(store, first, pid=GONE)
    assert store.get(first).state is RunState.LOST
    assert store.reserve(1) == second


def test_a_number_that_another_process_has_by_now_holds_no_slot(store):
    """After a restart of the machine the numbers of processes begin anew."""
    first, second = queued(store, 2)
    store.claim(store.reserve(1))
    set_row(store, first, beat=time.time() - STARTING_SECONDS - 1)
    assert store.reserve(1) == second


def test_starting_twice_keeps_the_place(store):
    first, second = queued(store, 2)
    store.enqueue(first)
    store.enqueue(first, again=True)
    assert [store.get(run).ticket for run in (first, second)] == [1, 2]


def test_what_cannot_wait(store, waiting):
    store.claim(waiting.id)
    store.finish(waiting.id, RunState.DONE)
    with pytest.raises(RunStateError, match="only a waiting run"):
        store.enqueue(waiting.id)
    with pytest.raises(RunNotFoundError):
        store.enqueue("nowhere")
    assert store.reserve(1) is None


def test_a_cancelled_run_leaves_the_queue(store):
    first, second, third = queued(store, 3)
    cancel(store, first)
    store.delete(second)
    assert store.get(first).state is RunState.CANCELLED
    assert store.get(first).ticket is None
    assert [store.reserve(9) for _ in range(2)] == [third, None]


def test_a_run_that_goes_on_waits_behind_the_others(store):
    first, second = queued(store, 2)
    store.claim(store.reserve(1))
    store.finish(first, RunState.FAILED, "no more")
    store.enqueue(first, again=True)
    assert store.get(first).error is None
    assert [store.reserve(9) for _ in range(2)] == [second, first]


def test_no_store_yet(tmp_path):
    assert RunStore(tmp_path / "none").reserve(1) is None
    assert not (tmp_path / "none").exists()


def test_many_threads_take_every_run_once(store):
    made, taken = queued(store, 12), []

    def take():
        own = RunStore(store.root)
        while (run := own.reserve(99)) is not None:
            taken.append(run)

    several = [threading.Thread(target=take) for _ in range(6)]
    for one in several:
        one.start()
    for one in several:
        one.join()
    assert sorted(taken) == sorted(made)
