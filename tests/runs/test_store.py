import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from riskcore.config import RunConfig
from riskcore.errors import StorageError
from riskcore.runs import RunNotFoundError, RunState, RunStateError, RunStore
from riskcore.runs.store.database import metadata, runs
from riskcore.runs.store.liveness import STALE_SECONDS, observed_state, process_exists, this_host
from tests.runs.conftest import small_config

GONE = 2**22 + 1  # above the largest process number of this system


def set_row(store, run, **values):
    with store.database.write() as tx:
        tx.execute(sa.update(runs).where(runs.c.id == run).values(**values))


def test_nothing_is_made_by_looking(tmp_path):
    store = RunStore(tmp_path / "runs")
    assert store.list() == []
    with pytest.raises(RunNotFoundError, match="nowhere"):
        store.get("nowhere")
    assert not (tmp_path / "runs").exists()


def test_a_new_run_waits(store, data):
    made = store.create(small_config(data), "first")
    assert (made.state, made.name, made.phase, made.started) == (RunState.WAITING, "first", None, None)
    assert made.folder.is_dir()
    assert made.config == small_config(data)
    assert store.get(made.id) == store.get(str(made.folder)) == made
    assert [event.record["state"] for event in store.events(made.id)] == ["waiting"]


def test_runs_are_listed_newest_first(store):
    names = ["a", "b", "c"]
    for name in names:
        store.create(RunConfig(source="x"), name)
    assert [record.name for record in store.list()] == names[::-1]


def test_paths_are_kept_absolute(store, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    made = store.create(RunConfig(source="here", target="there"))
    assert (made.config.source, made.config.target) == (str(tmp_path / "here"), str(tmp_path / "there"))
    assert made.name == "here to there"


def test_events_are_numbered_without_gaps_and_kept_once(store, waiting):
    for number in (1, 2, 2, 1, 3):
        store.record(waiting.id, "epoch_end", f"epoch_end/tradition/{number}", {"epoch": number})
    events = store.events(waiting.id, after=1)
    assert [event.sequence for event in events] == [2, 3, 4]
    assert [event.record["epoch"] for event in events] == [1, 2, 3]
    assert [event.sequence for event in store.events(waiting.id, limit=2)] == [1, 2]


def test_writers_side_by_side_share_the_numbers(store, waiting):
    def write(worker):
        for number in range(20):
            store.record(waiting.id, "progress", f"{worker}/{number}", {})

    threads = [threading.Thread(target=write, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [event.sequence for event in store.events(waiting.id)] == list(range(1, 82))


def test_two_processes_may_make_the_store_at_once(tmp_path):
    code = "from riskcore.runs import RunStore; from riskcore.config import RunConfig; import sys\n"
    code += "RunStore(sys.argv[1]).create(RunConfig(source='x'))"
    command = [sys.executable, "-c", code, str(tmp_path / "runs")]
    both = [subprocess.Popen(command, cwd=Path(__file__).parents[2]) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    assert len(RunStore(tmp_path / "runs").list()) == 2


def test_states(store, waiting):
    assert store.claim(waiting.id) == 1
    assert store.get(waiting.id).state is RunState.RUNNING
    store.beat(waiting.id, 12.5)
    store.progress(waiting.id, "risk", 3, 10)
    record = store.get(waiting.id)
    assert (record.seconds, record.phase, record.done, record.total, record.pid) == (12.5, "risk", 3, 10, os.getpid())
    store.finish(waiting.id, RunState.FAILED, "no more", 13.0)
    record = store.get(waiting.id)
    assert (record.state, record.error, record.seconds) == (RunState.FAILED, "no more", 13.0)
    with pytest.raises(RunStateError, match="failed"):
        store.claim(waiting.id)
    store.requeue(waiting.id)
    assert store.claim(waiting.id) == 2
    states = [event.record["state"] for event in store.events(waiting.id)]
    assert states == ["waiting", "running", "failed", "running"]


def test_a_run_whose_process_is_gone_is_lost(store, waiting):
    store.claim(waiting.id)
    set_row(store, waiting.id, pid=GONE)
    assert store.get(waiting.id).state is RunState.LOST
    assert store.list()[0].state is RunState.LOST


def test_a_run_that_was_started_and_died_before_it_spoke_is_lost(store, waiting):
    store.spawned(waiting.id, os.getpid())
    assert store.get(waiting.id).state is RunState.WAITING
    set_row(store, waiting.id, pid=GONE)
    assert store.get(waiting.id).state is RunState.LOST


def test_a_heart_that_stopped_is_lost_even_on_another_machine(store, waiting):
    store.claim(waiting.id)
    set_row(store, waiting.id, host="elsewhere", pid=GONE)
    assert store.get(waiting.id).state is RunState.RUNNING
    set_row(store, waiting.id, beat=time.time() - STALE_SECONDS - 1)
    assert store.get(waiting.id).state is RunState.LOST
    store.beat(waiting.id, 1.0)
    assert store.get(waiting.id).state is RunState.RUNNING


def test_a_zombie_does_not_live():
    child = subprocess.Popen([sys.executable, "-c", ""])
    while process_exists(child.pid):
        time.sleep(0.01)
    child.wait()
    assert not process_exists(child.pid)


def test_ended_runs_stay_as_they_ended():
    class Row:
        state, pid, host, beat = "done", GONE, this_host(), 0.0

    assert observed_state(Row) is RunState.DONE


def test_delete_removes_everything(store, waiting):
    store.delete(waiting.id)
    assert store.list() == []
    assert not waiting.folder.exists()
    assert store.events(waiting.id) == []
    assert not list(store.root.glob(".deleted*"))


def test_a_running_run_is_not_deleted(store, waiting):
    store.claim(waiting.id)
    with pytest.raises(RunStateError, match="Cancel it first"):
        store.delete(waiting.id)
    assert waiting.folder.exists()


def test_a_run_of_another_version_is_still_listed(store, waiting):
    written = json.loads(waiting.config.to_json()) | {"from_the_future": 1}
    set_row(store, waiting.id, config=json.dumps(written))
    assert store.list()[0].config.source == waiting.config.source
    with pytest.raises(Exception, match="from_the_future"):
        store.config(waiting.id)


def test_a_store_that_cannot_be_opened_is_one_clear_error(tmp_path):
    (tmp_path / "riskcore.sqlite").write_text("this is no database" * 100)
    with pytest.raises(StorageError, match=r"riskcore\.sqlite cannot be used: file is not a database"):
        RunStore(tmp_path).list()


def test_a_full_store_is_one_clear_error(store, waiting):
    with store.database.write() as tx:
        pages = tx.exec_driver_sql("PRAGMA page_count").scalar()

    def cap(connection, _):
        connection.execute(f"PRAGMA max_page_count={pages}")

    small = RunStore(store.root)
    sa.event.listen(small.database.engine, "connect", cap)

    def fill():
        for number in range(1000):
            small.record(waiting.id, "progress", str(number), {"text": "x" * 1000})

    with pytest.raises(StorageError, match="full"):
        fill()
    assert RunStore(store.root).get(waiting.id).id == waiting.id


def test_the_url_chooses_the_database(tmp_path, monkeypatch):
    with pytest.raises(StorageError, match="URL"):
        RunStore(tmp_path, "nonsense://x")
    monkeypatch.setenv("RISKCORE_STORE_URL", f"sqlite:///{tmp_path / 'team.sqlite'}")
    store = RunStore(tmp_path / "runs")
    made = store.create(RunConfig(source="x"))
    assert (tmp_path / "team.sqlite").exists()
    assert RunStore(tmp_path / "runs").get(made.id) == made


def test_a_relative_file_is_the_same_for_a_worker_elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = RunStore("runs", "sqlite:///team.sqlite")
    assert store.url == f"sqlite:///{tmp_path / 'team.sqlite'}"


def test_a_store_that_refuses_leaves_no_folder(tmp_path, monkeypatch):
    store = RunStore(tmp_path / "runs")
    store.create(RunConfig(source="x"))
    monkeypatch.setattr("riskcore.runs.store.run_store._add_event", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        store.create(RunConfig(source="y"))
    assert [path.name for path in (tmp_path / "runs").iterdir() if path.is_dir()] == [store.list()[0].id]


def test_a_wish_to_stop_what_has_ended_is_forgotten(store, waiting):
    store.claim(waiting.id)
    store.finish(waiting.id, RunState.DONE)
    store.request_cancel(waiting.id)
    assert not store.get(waiting.id).cancelling


def test_tables_are_plain_sql_that_postgresql_takes():
    for table in metadata.sorted_tables:
        text = str(sa.schema.CreateTable(table).compile(dialect=postgresql.dialect()))
        assert "DOUBLE PRECISION" in text
        assert "SERIAL" not in text
