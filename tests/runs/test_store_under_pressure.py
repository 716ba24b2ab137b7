"""The store when others hold it, when the disk is full, when a commit is in doubt, and when the clock is set back."""

import contextlib
import sqlite3
import subprocess
import sys
import time

import pytest
import sqlalchemy as sa

from riskcore.audit.agreement import agreed, conflicts, consensus
from riskcore.audit.journal import journal_problems, read_journal
from riskcore.audit.log_check import check_log
from riskcore.audit.log_entries import current_entries, recorded_entries
from riskcore.audit.verdicts import VerdictLog
from riskcore.config import RunConfig
from riskcore.errors import StorageError
from riskcore.runs import RunState, RunStore
from riskcore.runs.store import database
from riskcore.runs.store.database import Database
from riskcore.runs.store.deletion import DOOMED

HOLD = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
connection.execute("UPDATE runs SET done = done + 1")
print("held", flush=True)
sys.stdin.read()
"""


@contextlib.contextmanager
def held(store):
    """Another process holds a write transaction of the store."""
    command = [sys.executable, "-c", HOLD, str(store.root / "riskcore.sqlite")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "held\n"
        try:
            yield
        finally:
            holder.stdin.close()


@pytest.fixture
def run(store):
    return store.create(RunConfig(source="x")).id


def test_runs_are_listed_while_another_process_writes(store, run):
    (store.root / f"{DOOMED}20200101-000000-abcd").mkdir()  # a deletion that would have to be finished
    for reader in (store, RunStore(store.root)):  # one has used the store before, the other has not
        with held(store):
            started = time.monotonic()
            assert [one.id for one in reader.list()] == [run]
            assert reader.get(run).id == run
            assert VerdictLog(reader).entries(run) == []
            assert time.monotonic() - started < 1
    store.list()
    assert not list(store.root.glob(f"{DOOMED}*"))


def test_a_store_that_stays_locked_is_one_clear_error(store, run, monkeypatch):
    monkeypatch.setattr(database, "BUSY_MILLISECONDS", 200)
    log = VerdictLog(store)
    with held(store), pytest.raises(StorageError, match=r"another process has been writing.* Nothing was recorded"):
        log.add(run, "a:b", "match")
    assert log.entries(run) == []
    assert log.add(run, "a:b", "match").number == 1


def test_a_full_disk_records_a_verdict_whole_or_not_at_all(store, run):
    """SQLite refuses another page as it does on a full disk."""
    log = VerdictLog(store)
    log.add(run, "a:b", "match", "before", "ann")
    full = [True]

    def limit(connection):
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.exec_driver_sql(f"PRAGMA max_page_count={pages if full[0] else 1_000_000}")

    sa.event.listen(store.database.engine, "begin", limit)
    for _ in range(2):
        with pytest.raises(StorageError, match=r"the disk is full\. Nothing of this was recorded: free some space"):
            log.add(run, "a:c", "match", "x" * 9_000, "ann")
    assert [one.note for one in log.entries(run)] == ["before"]
    assert check_log(store, run).problems == ()
    full[0] = False
    assert log.add(run, "a:c", "match", "x" * 9_000, "ann").number == 2
    assert check_log(store, run).problems == ()
    assert journal_problems(store, run) == []


def test_a_second_copy_that_finds_the_disk_full_is_made_later(store, run, monkeypatch):
    def full(*_):
        raise StorageError("the disk is full")

    log = VerdictLog(store)
    with monkeypatch.context() as patch:
        patch.setattr("riskcore.audit.verdicts.update_journal", full)
        log.add(run, "a:b", "match")
    assert journal_problems(store, run) == [
        f"{store.root / run / 'verdicts.jsonl'} lacks 1 entries. The next verdict adds them."
    ]
    log.add(run, "a:c", "match")
    assert len(read_journal(store.root / run)) == 2


def test_work_whose_commit_was_in_doubt_is_recorded_once(store, monkeypatch):
    """When a connection breaks at a commit, the work is done again though it may be recorded already."""

    def twice(_, attempt):
        attempt()
        return attempt()

    monkeypatch.setattr(Database, "_patiently", twice)
    run = store.create(RunConfig(source="x"), "made once").id
    assert store.claim(run) == 1
    store.record(run, "progress", "progress/1", {"done": 1})
    store.beat(run, 1.0)
    log = VerdictLog(store)
    assert log.add(run, "a:b", "match", "n", "ann").number == 1
    assert len(log.add_many(run, ["a:b", "a:c", "a:d"], "non-match", "", "bob")) == 2
    assert log.undo(run, "a:b", "ann").number == 4
    store.finish(run, RunState.DONE)
    monkeypatch.undo()
    assert [one.pair_id for one in log.entries(run)] == ["a:b", "a:c", "a:d", "a:b"]
    assert check_log(store, run).problems == ()
    told = [(one.kind, one.record.get("state")) for one in store.events(run)]
    assert told == [("state", "waiting"), ("state", "running"), ("progress", None), ("state", "done")]
    assert (store.get(run).attempts, len(store.list())) == (1, 1)


def test_the_latest_verdict_is_the_last_one_whatever_the_clock_says(store, run, monkeypatch):
    log, clock = VerdictLog(store), [2_000_000_000.0]
    monkeypatch.setattr("riskcore.audit.verdicts.time.time", lambda: clock[0])
    for verdict, who in (
        ("match", "ann"),
        ("non-match", "bob"),
        ("non-match", "ann"),
        ("match", "cas"),
        ("match", "ann"),
    ):
        log.add(run, "a:b", verdict, "", who)
        clock[0] -= 86_400  # a day back each time
    log.add(run, "a:c", "match", "", "ann")
    clock[0] -= 86_400
    log.undo(run, "a:c", "ann")
    entries = log.entries(run)
    assert [one.number for one in entries] == list(range(1, 8))
    assert [one.at for one in entries] == sorted((one.at for one in entries), reverse=True)
    assert log.current(run, "ann") == {"a:b": entries[4]}
    assert log.current(run)["a:b"].number == 5
    assert consensus(entries) == {"a:b": "match"}
    assert agreed(entries)["a:b"].number == 5
    assert conflicts(entries)[0].match == ("cas", "ann")
    assert {pair for pair, _ in current_entries(recorded_entries(store, run))} == {"a:b"}
    assert [one.number for one in log.history(run, "a:b")] == [1, 2, 3, 4, 5]
    assert check_log(store, run).problems == ()
    assert [entry["number"] for entry in read_journal(store.root / run)] == list(range(1, 8))


def test_sqlite_is_read_while_it_is_written(store, run):
    """The mode that lets readers go on while another process writes."""
    with sqlite3.connect(store.root / "riskcore.sqlite") as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
