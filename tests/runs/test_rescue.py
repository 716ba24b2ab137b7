"""A store that was lost is made again from the run folders; a row that cannot be read hides no other."""

from __future__ import annotations

import shutil

import pytest
import sqlalchemy as sa

from riskcore.runs import RunState, RunStore
from riskcore.runs.rescue import rescue_runs
from riskcore.runs.store.run_store import STORE_FILE


@pytest.fixture
def done(store, finished):
    """The store's record of a run that is done."""
    return store.get(finished.path.name)


def lose(store):
    for file in store.root.glob(f"{STORE_FILE}*"):
        file.unlink()
    return RunStore(store.root)


def test_a_lost_store_is_made_again(store, done):
    again = lose(store)
    assert again.list() == []
    (rescued,) = rescue_runs(again)
    assert (rescued.run, rescued.problem) == (done.id, None)
    found = again.get(done.id)
    assert (found.name, found.state, found.created) == ("small", RunState.DONE, done.created)
    assert found.config == done.config
    assert rescue_runs(again) == []


def test_a_run_that_was_not_done_can_be_resumed(store, done):
    (done.folder / "results.json").unlink()
    again = lose(store)
    rescue_runs(again)
    found = again.get(done.id)
    assert found.state is RunState.FAILED
    assert found.state.resumable
    assert "Resume it" in found.error


def test_folders_that_are_no_runs_are_named_or_left_alone(store, done):
    (store.root / "notes").mkdir()
    broken = store.root / "20260101-000000-aaaa"
    shutil.copytree(done.folder, broken)
    other = store.root / "20260101-000000-bbbb"
    other.mkdir()
    (other / "run.json").write_text("{")
    found = {one.run: one.problem for one in rescue_runs(store)}
    assert set(found) == {broken.name, other.name}
    assert f"of run {done.id}" in found[broken.name]
    assert "cannot be read" in found[other.name]


@pytest.mark.parametrize("damage", ["config = '{'", "state = 'dreaming'", "created = 'yesterday'"])
def test_one_unreadable_row_hides_no_other(store, done, damage):
    good = store.create(done.config, "good")
    with store.database.write() as tx:
        tx.execute(sa.text(f"UPDATE runs SET {damage} WHERE id = :run"), {"run": done.id})
    found = {record.id: record for record in store.list()}
    assert set(found) == {good.id, done.id}
    assert found[good.id].state is RunState.WAITING
    assert found[done.id].state is RunState.FAILED
    assert "cannot be read" in found[done.id].error
