"""Stores of every version open, none is half upgraded, and one from the future is refused."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from riskcore.config import RunConfig
from riskcore.errors import StorageError
from riskcore.runs import RunStore
from riskcore.runs.store import migrations
from riskcore.runs.store.database import metadata

STORED = Path(__file__).parent.parent / "fixtures" / "store_0_1" / "runs"
RUNS = 3


@pytest.fixture
def old(tmp_path):
    """The folder of a store that version 0.1 wrote."""
    root = tmp_path / "old"
    root.mkdir()
    shutil.copy(STORED / "riskcore.sqlite", root)
    return root


def tables_of(root):
    with sqlite3.connect(root / "riskcore.sqlite") as connection:
        return {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}


def revision_of(root):
    with sqlite3.connect(root / "riskcore.sqlite") as connection:
        return connection.execute("SELECT version_num FROM alembic_version").fetchall()


@pytest.mark.parametrize("kind", ["old", "new"])
def test_the_steps_lead_to_the_tables_of_the_code(old, tmp_path, kind):
    store = RunStore(old if kind == "old" else tmp_path / "new")
    if kind == "new":
        store.create(RunConfig(source="data"))
    assert len(store.list()) == (RUNS if kind == "old" else 1)
    assert revision_of(store.root) == [(migrations.REVISIONS[-1],)]
    with store.database.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []


def test_the_revisions_are_those_of_the_steps():
    steps = ScriptDirectory(str(Path(migrations.__file__).parent)).walk_revisions()
    assert tuple(step.revision for step in steps) == migrations.REVISIONS[::-1]


def test_a_store_of_a_newer_version_is_refused_and_left_alone(old):
    RunStore(old).list()
    with sqlite3.connect(old / "riskcore.sqlite") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '99'")
    for ask in (RunStore(old).list, lambda: RunStore(old).create(RunConfig(source="data"))):
        with pytest.raises(StorageError, match=r"newer version of Riskcore \(revision 99; .*\): update Riskcore"):
            ask()
    assert revision_of(old) == [("99",)]


def test_a_step_that_fails_leaves_the_store_as_it_was(old):
    with sqlite3.connect(old / "riskcore.sqlite") as connection:
        connection.execute("CREATE INDEX runs_by_age ON runs (name)")  # in the way of the second step
    before = tables_of(old)
    with pytest.raises(StorageError, match="runs_by_age"):
        RunStore(old).list()
    assert tables_of(old) == before
    with sqlite3.connect(old / "riskcore.sqlite") as connection:
        connection.execute("DROP INDEX runs_by_age")
    assert len(RunStore(old).list()) == RUNS


def test_threads_and_processes_that_open_it_at_once(old):
    command = "import sys; from riskcore.runs import RunStore; print(len(RunStore(sys.argv[1]).list()))"
    others = [subprocess.Popen([sys.executable, "-c", command, old], stdout=subprocess.PIPE) for _ in range(3)]
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: len(RunStore(old).list()), range(8)))
    assert found == [RUNS] * 8
    assert [int(other.communicate(timeout=100)[0]) for other in others] == [RUNS] * 3
    assert revision_of(old) == [(migrations.REVISIONS[-1],)]


def test_a_url_is_upgraded_like_a_file(old, tmp_path):
    url = str(sa.URL.create("sqlite", database=str(old / "riskcore.sqlite")))
    assert len(RunStore(tmp_path / "elsewhere", url).list()) == RUNS
    assert revision_of(old) == [(migrations.REVISIONS[-1],)]
