"""The log that is kept in memory says what the store says, whoever writes, and reads each entry once."""

import threading

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from riskcore.audit import log_cache
from riskcore.audit.log_cache import CachedLog
from riskcore.audit.tags import pairs_by_tag
from riskcore.audit.verdicts import VERDICTS, Brought, VerdictError, VerdictLog
from riskcore.config import RunConfig
from riskcore.runs import RunStore
from riskcore.runs.store.database import verdicts

PEOPLE = ("ann", "bob", "")
STEPS = st.lists(
    st.tuples(
        st.sampled_from(("a:b", "c:d", "e:f")),
        st.sampled_from((*VERDICTS, "undo")),
        st.sampled_from(PEOPLE),
        st.sampled_from(("", "#year", "#year #title", "other")),
        st.booleans(),  # whether someone reads afterwards
    ),
    max_size=12,
)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return RunStore(tmp_path_factory.mktemp("cache") / "runs")


def same(cached, store, run):
    """All that the cache says, against the whole log read from a store that knows of no cache."""
    plain = VerdictLog(RunStore(store.root))
    entries = plain.entries(run)
    assert cached.entries(run) == entries
    assert cached.entries(run, 2) == plain.entries(run, 2)
    assert cached.size(run) == plain.size(run) == cached.judged(run).head.size
    assert cached.head(run) == plain.head(run) == cached.judged(run).head
    assert cached.judged(run).head.digest == (entries[-1].digest if entries else "")
    assert cached.current(run) == plain.current(run)
    for who in (*PEOPLE, "nobody"):
        assert list(cached.current(run, who).items()) == list(plain.current(run, who).items())
    expected = pairs_by_tag(entries)
    found = cached.tagged(run)
    assert list(found) == list(expected)
    assert {tag: set(pairs) for tag, pairs in found.items()} == {tag: set(pairs) for tag, pairs in expected.items()}


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_the_cache_says_what_the_store_says(store, steps):
    run, cached, writer = store.create(RunConfig(source="x")).id, CachedLog(store), VerdictLog(RunStore(store.root))
    for pair, word, who, note, reads in steps:
        if word == "undo":
            try:
                writer.undo(run, pair, who)
            except VerdictError:
                continue
        else:
            writer.add(run, pair, word, note, who)
        if reads:
            assert cached.current(run) == writer.current(run)
    same(cached, store, run)


def test_each_entry_is_read_once(store, monkeypatch):
    run, cached = store.create(RunConfig(source="x")).id, CachedLog(store)
    cached.bring(run, [Brought(f"a:{number}", "match", who="ann") for number in range(500)])
    assert len(cached.current(run)) == 500
    read, fetch = [], VerdictLog._rows

    def counted(self, *conditions):
        rows = fetch(self, *conditions)
        read.append(len(rows))
        return rows

    monkeypatch.setattr(VerdictLog, "_rows", counted)
    assert len(cached.entries(run)) == 500
    VerdictLog(RunStore(store.root)).add(run, "b:1", "unsure", who="bob")  # as another process would
    assert "b:1" in cached.current(run)
    assert len(cached.judged(run, "ann").verdicts) == 500
    assert read == [1, 2, 1]  # the last entry seen, to know that the log is the same, and what came after it


@pytest.mark.parametrize("change", ["the last entries removed", "all removed", "another log", "longer, and another"])
def test_a_log_that_is_another_one_is_read_again(store, change):
    run, other = (store.create(RunConfig(source="x")).id for _ in range(2))
    cached, of_run = CachedLog(store), verdicts.c.run == run
    for number in range(4):
        cached.add(run, f"a:{number}", "match", "#one", "ann")
    for number in range(6):
        cached.add(other, f"b:{number}", "non-match", "#two", "bob")
    assert len(cached.current(run)) == 4
    with store.database.write() as tx:
        if change == "the last entries removed":
            tx.execute(sa.delete(verdicts).where(of_run, verdicts.c.number > 2))
        else:
            tx.execute(sa.delete(verdicts).where(of_run))
        if "another" in change:
            most = 6 if "longer" in change else 4
            tx.execute(sa.update(verdicts).where(verdicts.c.run == other, verdicts.c.number <= most).values(run=run))
    same(cached, store, run)


def test_what_a_reader_does_with_its_copy_changes_nothing(store):
    run, cached = store.create(RunConfig(source="x")).id, CachedLog(store)
    cached.add(run, "a:b", "match", who="ann")
    cached.current(run).clear()
    cached.current(run, "ann").clear()
    cached.entries(run).clear()
    same(cached, store, run)


def test_readers_beside_writers_see_whole_logs(store):
    run, cached = store.create(RunConfig(source="x")).id, CachedLog(store)
    problems, done = [], threading.Event()

    def read():
        while not done.is_set():
            entries = cached.entries(run)
            if [one.number for one in entries] != list(range(1, len(entries) + 1)):
                problems.append(entries)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for one in readers:
        one.start()
    writers = [
        threading.Thread(target=lambda who=who: [cached.add(run, f"{who}:{n}", "match", who=who) for n in range(10)])
        for who in ("ann", "bob")
    ]
    for one in writers:
        one.start()
    for one in writers:
        one.join()
    done.set()
    for one in readers:
        one.join()
    assert not problems
    same(cached, store, run)
    assert cached.size(run) == 20
    assert cached.people(run) == ["ann", "bob"]


def test_only_a_few_logs_are_kept(store):
    cached = CachedLog(store)
    for _ in range(log_cache.MOST_RUNS + 3):
        run = store.create(RunConfig(source="x")).id
        cached.add(run, "a:b", "match", who="ann")
        assert list(cached.current(run)) == ["a:b"]
    assert len(log_cache._logs) == log_cache.MOST_RUNS
