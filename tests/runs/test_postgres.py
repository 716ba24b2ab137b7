"""The store on a real PostgreSQL server: opened by many at once, and restarted while runs and reviewers work."""

import multiprocessing
import os
import signal
import sys
import threading
import time

import pytest
import sqlalchemy as sa

from benchmarks.kill_resume import worker
from riskcore.audit.log_check import check_log
from riskcore.audit.verdicts import VerdictLog
from riskcore.config import RunConfig
from riskcore.errors import StorageError
from riskcore.runs import RunFolder, RunState, RunStore, start
from riskcore.runs.store import liveness, run_queue
from riskcore.runs.store.database import events
from riskcore.runs.store.run_store import URL_VARIABLE
from riskcore.runs.worker.execute import execute
from riskcore.runs.worker.pool import WorkerPool
from riskcore.runs.worker.slots import SLOTS_VARIABLE
from tests.runs.conftest import small_config
from tests.runs.fake_engine import fake_engine
from tests.runs.postgres_server import server  # noqa: F401 - a fixture
from tests.runs.quick_workers import use_quick_workers
from tests.runs.test_pool import forked, made, most_at_once, until_all

FAKE = (sys.executable, "-m", "tests.runs.fake_worker")
AT_ONCE = 24


@pytest.fixture
def shared(server, tmp_path, monkeypatch):  # noqa: F811
    """A store in an empty database."""
    url = server.new_database()
    monkeypatch.setenv(URL_VARIABLE, url)
    return RunStore(tmp_path / "runs", url)


def _first_start(root, url, gate, told):
    gate.wait()
    try:
        told.put(RunStore(root, url).create(RunConfig(source="x")).id)
    except Exception as error:
        told.put(repr(error))


def test_many_first_starts_at_once(shared):
    make = multiprocessing.get_context("fork")
    gate, told = make.Barrier(AT_ONCE), make.Queue()
    several = [
        make.Process(target=_first_start, args=(shared.root, shared.url, gate, told), daemon=True)
        for _ in range(AT_ONCE)
    ]
    for one in several:
        one.start()
    found = sorted(told.get(timeout=60) for _ in several)
    for one in several:
        one.join()
    assert found == sorted(record.id for record in shared.list())
    assert len(found) == AT_ONCE


def test_a_run_outlives_a_restart_of_the_server(server, shared, data, monkeypatch, tmp_path):  # noqa: F811
    monkeypatch.setenv("FAKE_PAUSE", "0.05")
    record = shared.create(small_config(data))
    process = worker(shared, record, FAKE)
    until = time.monotonic() + 30
    while not RunFolder(record.folder).iterations("risk"):
        assert time.monotonic() < until
        time.sleep(0.02)
    server.do("stop")
    time.sleep(3)
    server.do("restart")
    assert process.wait(timeout=60) == 0
    after = shared.get(record.id)
    assert (after.state, after.attempts, after.error) == (RunState.DONE, 1, None)
    with shared.database.read() as tx:
        numbers = tx.scalars(sa.select(events.c.sequence).where(events.c.run == record.id).order_by("sequence")).all()
    assert numbers == list(range(1, len(numbers) + 1))
    local = RunStore(tmp_path / "local", f"sqlite:///{tmp_path / 'local.sqlite'}")
    alone = local.create(small_config(data))
    execute(local, alone.id, engine=fake_engine)
    kinds = [[one.kind for one in place.events(run)] for place, run in ((shared, record.id), (local, alone.id))]
    assert kinds[0] == kinds[1]


def _take_all(root, url, host, slots, gate, told):
    """A pool's part in a race for runs, from a machine of that name; its process stays as long as it holds runs."""
    run_queue.this_host = liveness.this_host = lambda: host
    store, taken = RunStore(root, url), []
    gate.wait()
    while (run := store.reserve(slots)) is not None:
        taken.append(run)
    told.put((host, taken))
    gate.wait()


def test_many_take_from_one_queue_at_once(shared):
    """Every run is taken once, and machines keep to their slots though several processes of each take at once."""
    slots = {"one": 2, "two": 5, "three": 99}
    wanted = [shared.create(RunConfig(source="x")).id for _ in range(30)]
    for run in wanted:
        shared.enqueue(run)
    make = multiprocessing.get_context("fork")
    several = [(host, many) for host, many in slots.items() for _ in range(4)]
    gate, told = make.Barrier(len(several) + 1), make.Queue()
    takers = [
        make.Process(target=_take_all, args=(shared.root, shared.url, host, many, gate, told), daemon=True)
        for host, many in several
    ]
    for one in takers:
        one.start()
    gate.wait(60)
    found = [told.get(timeout=60) for _ in takers]
    by_host = {host: [run for at, taken in found if at == host for run in taken] for host in slots}
    assert sorted(run for taken in by_host.values() for run in taken) == sorted(wanted)
    assert len(by_host["one"]) <= 2
    assert len(by_host["two"]) <= 5
    assert all(one.queued for one in shared.list())  # reserved: no worker is there yet
    gate.wait(60)
    for one in takers:
        one.join()
    assert shared.reserve(1) is None  # as far as this machine knows, those elsewhere start them


def test_ten_runs_on_two_slots(shared, monkeypatch):
    """Two pools and a web server's starts share a machine, as with SQLite."""
    use_quick_workers(monkeypatch)
    monkeypatch.setenv(SLOTS_VARIABLE, "2")
    wanted = made(shared, 10, 0.2)
    pools = [forked(lambda: WorkerPool(RunStore(shared.root, shared.url), 2, str).work()) for _ in range(2)]
    for run in wanted:
        start(shared, run)
    until_all(shared, wanted)
    for pool in pools:
        os.kill(pool, signal.SIGKILL)
        os.waitpid(pool, 0)
    assert most_at_once(shared, wanted) == 2
    assert all(shared.get(run).attempts == 1 for run in wanted)


def test_verdicts_while_connections_break(server, shared):  # noqa: F811
    run = shared.create(RunConfig(source="x")).id
    over = threading.Event()

    def break_them():
        while not over.wait(0.05):
            server.end_connections()

    breaker = threading.Thread(target=break_them)
    breaker.start()
    try:
        wanted = [f"{who}{number}:b" for who in "mn" for number in range(25)]

        def judge(who):
            log = VerdictLog(RunStore(shared.root, shared.url))
            for number in range(25):
                log.add(run, f"{who}{number}:b", "match", "", who)

        people = [threading.Thread(target=judge, args=(who,)) for who in "mn"]
        for one in people:
            one.start()
        for one in people:
            one.join()
    finally:
        over.set()
        breaker.join()
    entries = VerdictLog(shared).entries(run)
    assert sorted(one.pair_id for one in entries) == sorted(wanted)
    assert [one.number for one in entries] == list(range(1, 51))
    assert check_log(shared, run).problems == ()


def test_a_wrong_password_or_database_is_said_at_once(server, shared):  # noqa: F811
    started = time.monotonic()
    wrong = RunStore(shared.root, shared.url.rsplit("/", 1)[0] + "/there_is_none")
    with pytest.raises(StorageError, match="does not exist"):
        wrong.list()
    assert time.monotonic() - started < 2


def test_a_server_that_stays_away_is_one_clear_error(shared):
    away = RunStore(shared.root, "postgresql+psycopg://riskcore@127.0.0.1:1/none")
    away.database.patience = 0.5
    with pytest.raises(StorageError, match=r"cannot be used: .*refused.* Check that it can be reached"):
        away.list()
