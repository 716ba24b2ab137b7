"""A small project with everything that a backup has and retention deletes."""

from __future__ import annotations

import shutil

import pytest

from riskcore.audit import VerdictLog
from riskcore.audit.estimate import draw_audit, estimate_run
from riskcore.audit.sign_off import sign
from riskcore.columns import PAIR_ID
from riskcore.operations.backup import write_backup
from riskcore.paths import SEAL_VARIABLE
from riskcore.runs import RunFolder, RunState, RunStore
from riskcore.runs.formats import read_pair_ids
from riskcore.runs.worker.execute import execute
from tests.runs.conftest import small_config, small_data
from tests.runs.fake_engine import fake_engine

SECRET = "call her on 555 4711"


@pytest.fixture(scope="session")
def home(tmp_path_factory):
    """A finished run with a draw, verdicts and a sign-off, a run that waits, their data set, and a backup of it all."""
    home = tmp_path_factory.mktemp("project")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(SEAL_VARIABLE, str(home / "seal"))
        store = RunStore(home / "runs")
        record = store.create(small_config(small_data(home / "data" / "set")), "small")
        execute(store, record.id, engine=fake_engine)
        folder, log = RunFolder(record.folder), VerdictLog(store)
        draw_audit(folder, n=10)
        ids = read_pair_ids(folder.pairs_file).column(PAIR_ID).to_pylist()
        log.add_many(record.id, ids[::3], "match", "a note", "Ann Berger")
        log.add_many(record.id, ids, "non-match", SECRET, "Bob Berger")
        for pair in ids[:9:3]:
            log.add(record.id, pair, "match", "", "Bob Berger")
        sign(folder, store, "Ann Berger", f"I accept it. {SECRET}", estimate_run(folder))
        store.create(record.config, "second")
        write_backup(store, home / "kept.zip", home / "data")
    return home


@pytest.fixture
def seal(home, monkeypatch):
    """The seal folder of the project is the one in use."""
    monkeypatch.setenv(SEAL_VARIABLE, str(home / "seal"))


@pytest.fixture
def project(home, seal):
    """Its store, which no test changes."""
    return RunStore(home / "runs")


@pytest.fixture
def run(project):
    """The finished run's id."""
    return next(one.id for one in project.list() if one.state is RunState.DONE)


@pytest.fixture
def copy(home, seal, tmp_path):
    """A copy of the store, for tests that change it."""
    return RunStore(shutil.copytree(home / "runs", tmp_path / "runs"))
