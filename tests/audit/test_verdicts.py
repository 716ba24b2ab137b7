import sqlite3
import threading

import pytest
import sqlalchemy as sa

from riskcore.audit import VerdictError, VerdictLog
from riskcore.audit.verdicts import MAX_AT_ONCE, bulk_note, is_bulk, is_sampled
from riskcore.config import RunConfig
from riskcore.errors import StorageError
from riskcore.runs import RunNotFoundError, RunStore
from riskcore.runs.store import database as tables
from riskcore.runs.store.database import verdicts


@pytest.fixture
def log(tmp_path):
    store = RunStore(tmp_path / "runs")
    store.create(RunConfig(source="x"))
    return VerdictLog(store)


@pytest.fixture
def run(log):
    return log.store.list()[0].id


def test_the_latest_verdict_stands(log, run):
    log.add(run, "a:b", "match", "looks right", "ann")
    log.add(run, "a:c", "unsure", who="ann")
    log.add(run, "a:b", "non-match", who="ann")
    assert {pair: verdict.verdict for pair, verdict in log.current(run).items()} == {
        "a:c": "unsure",
        "a:b": "non-match",
    }
    assert [(entry.verdict, entry.note) for entry in log.history(run, "a:b")] == [
        ("match", "looks right"),
        ("non-match", ""),
    ]


def test_taking_back_is_one_more_entry(log, run):
    log.add(run, "a:b", "match", who="ann")
    log.undo(run, "a:b", "ann")
    assert log.current(run) == {}
    assert [entry.verdict for entry in log.history(run, "a:b")] == ["match", "withdrawn"]
    with pytest.raises(VerdictError, match="ann has no verdict on 'a:b'"):
        log.undo(run, "a:b", "ann")


def test_every_entry_counts_also_a_withdrawal(log, run):
    assert log.size(run) == 0
    log.add(run, "a:b", "match", who="ann")
    log.undo(run, "a:b", "ann")
    assert log.size(run) == len(log.entries(run)) == 2


def test_people_judge_apart(log, run):
    log.add(run, "a:b", "match", who="ann")
    log.add(run, "a:b", "non-match", who="bob")
    assert log.current(run, "ann")["a:b"].verdict == "match"
    assert log.current(run, "bob")["a:b"].verdict == "non-match"
    assert log.current(run)["a:b"].who == "bob"
    log.undo(run, "a:b", "bob")
    assert log.current(run)["a:b"].who == "ann"


def test_what_is_no_verdict_is_refused(log, run):
    with pytest.raises(VerdictError, match="'perhaps' is not a verdict"):
        log.add(run, "a:b", "perhaps")
    with pytest.raises(VerdictError, match="at most"):
        log.add(run, "a:b", "match", note="x" * 100_000)
    with pytest.raises(RunNotFoundError):
        log.add("nowhere", "a:b", "match")
    assert log.entries(run) == []


def test_verdicts_are_kept_by_the_store_and_go_with_the_run(log, run):
    log.add(run, "ä:'; DROP TABLE verdicts; --", "match", "☃", "ann")
    again = VerdictLog(RunStore(log.store.root))
    assert again.entries(run) == log.entries(run)
    log.store.delete(run)
    assert again.entries(run) == []


def test_changes_behind_its_back_show(log, run):
    for pair in "abc":
        log.add(run, pair, "match", who="ann")
    assert log.problems(run) == []
    with log.store.database.write() as tx:
        tx.execute(sa.update(verdicts).where(verdicts.c.number == 2).values(verdict="non-match"))
    assert log.problems(run) == ["Entry 2 of the verdict log ('b') was altered after it was recorded."]
    with log.store.database.write() as tx:
        tx.execute(sa.delete(verdicts).where(verdicts.c.number == 1))
    assert log.problems(run) == ["Entry 1 of the verdict log is missing."]


@pytest.fixture
def waits_for_disk(log):
    """Per written table, what the connection's `synchronous` was: 1 is NORMAL, 2 is FULL."""
    seen: dict[str, set[int]] = {}

    def look(connection, cursor, statement, *_):
        if statement.startswith("INSERT INTO"):
            table = statement.split()[2]
            seen.setdefault(table, set()).add(connection.connection.execute("PRAGMA synchronous").fetchone()[0])

    sa.event.listen(log.store.database.engine, "before_cursor_execute", look)
    return seen


def test_a_verdict_is_on_disk_before_the_next(log, run, waits_for_disk):
    """Everything else may be lost with the power: it is made again. A person's decision is not."""
    log.add(run, "a:b", "match", who="ann")
    log.store.record(run, "phase_start", "phase_start/1/data", {})
    log.undo(run, "a:b", "ann")
    assert waits_for_disk == {"verdicts": {2}, "events": {1}}


def test_a_verdict_that_cannot_be_saved_is_an_error_and_leaves_nothing(log, run, monkeypatch):
    log.add(run, "a:b", "match", who="ann")
    monkeypatch.setattr(tables, "BUSY_MILLISECONDS", 50)
    hurried = VerdictLog(RunStore(log.store.root))
    with sqlite3.connect(log.store.root / "riskcore.sqlite") as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageError, match="locked"):
            hurried.add(run, "a:c", "match", who="ann")
    assert [entry.pair_id for entry in log.entries(run)] == ["a:b"]


def test_reviewers_side_by_side_keep_the_chain(log, run):
    def judge(who):
        for number in range(15):
            log.add(run, f"pair{number}", "match", who=who)

    threads = [threading.Thread(target=judge, args=(who,)) for who in ("ann", "bob", "cas")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [entry.number for entry in log.entries(run)] == list(range(1, 46))
    assert log.problems(run) == []


def test_many_at_once_are_the_same_entries_as_one_by_one(log, run):
    log.add(run, "first", "unsure", who="ann")
    added = log.add_many(run, ["a", "b", "c"], "match", bulk_note(10, "match"), "ann")
    assert added == log.entries(run)[1:]
    assert [entry.number for entry in added] == [2, 3, 4]
    assert {entry.note for entry in added} == {"bulk: sample of 10, all match"}
    assert all(map(is_bulk, added))
    assert not any(map(is_sampled, added))
    assert log.problems(run) == []
    log.add(run, "a", "non-match", who="ann")  # the chain goes on behind them
    assert log.problems(run) == []


def test_many_at_once_touch_only_pairs_that_nobody_has_judged(log, run):
    log.add(run, "a", "non-match", who="bob")
    log.add(run, "b", "match", who="ann")
    log.undo(run, "b", "ann")
    added = log.add_many(run, ["a", "b", "b", "c"], "match", who="ann")
    assert [entry.pair_id for entry in added] == ["b", "c"]
    assert {pair: entry.who for pair, entry in log.current(run).items()} == {"a": "bob", "b": "ann", "c": "ann"}
    assert log.add_many(run, ["a", "b"], "match", who="ann") == []
    assert log.size(run) == 5


def test_many_are_withdrawn_together_but_for_what_was_judged_anew(log, run):
    numbers = {entry.pair_id: entry.number for entry in log.add_many(run, ["a", "b", "c"], "match", who="ann")}
    log.add(run, "b", "non-match", who="ann")
    log.undo(run, "c", "ann")
    withdrawn = log.undo_many(run, numbers, "ann")
    assert [entry.pair_id for entry in withdrawn] == ["a"]
    assert {pair: entry.verdict for pair, entry in log.current(run).items()} == {"b": "non-match"}
    assert log.undo_many(run, numbers, "bob") == []
    assert log.problems(run) == []


def test_many_are_all_recorded_or_none(log, run):
    with pytest.raises(VerdictError, match="'withdrawn' is not a verdict"):
        log.add_many(run, ["a"], "withdrawn")
    with pytest.raises(VerdictError, match="10,001 pairs are too many at once"):
        log.add_many(run, [str(number) for number in range(MAX_AT_ONCE + 1)], "match")
    with pytest.raises(StorageError):  # the second text is none: the first must not stay
        log.add_many(run, ["a", None], "match")
    assert log.entries(run) == []


def test_the_most_at_once_are_recorded(log, run):
    pairs = [f"pair{number}" for number in range(MAX_AT_ONCE)]
    assert len(log.add_many(run, pairs, "match", who="ann")) == MAX_AT_ONCE
    assert log.problems(run) == []


def test_many_at_once_by_several_people_keep_the_chain_and_judge_a_pair_once(log, run):
    pairs = [f"pair{number}" for number in range(60)]

    def judge(who, begin):
        for at in range(begin, 60, 4):
            log.add_many(run, pairs[at : at + 8], "match", who=who)

    threads = [threading.Thread(target=judge, args=one) for one in (("ann", 0), ("bob", 2), ("cas", 1))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    entries = log.entries(run)
    assert sorted(entry.pair_id for entry in entries) == sorted(pairs)
    assert [entry.number for entry in entries] == list(range(1, 61))
    assert log.problems(run) == []
