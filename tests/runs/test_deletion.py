"""Deleted is deleted, also where a kill came in between; who did it stays."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from riskcore.audit import VerdictLog
from riskcore.config import RunConfig
from riskcore.runs import RunNotFoundError, RunStore
from riskcore.runs.store import deletion
from riskcore.runs.store.run_store import STORE_FILE

SECRET = "the note of a reviewer, 4711"


@pytest.fixture
def judged(tmp_path):
    """A store with a run that has three verdicts."""
    store = RunStore(tmp_path / "runs")
    record = store.create(RunConfig(source="x"), "judged")
    (record.folder / "scores").mkdir()
    (record.folder / "scores" / "pairs.txt").write_text(SECRET)
    for pair in ("a:b", "c:d", "e:f"):
        VerdictLog(store).add(record.id, pair, "match", SECRET, "Ann")
    return store, record


def remains(root: Path) -> list[Path]:
    """Files of the store's folder that still hold the secret."""
    return [file for file in root.rglob("*") if file.is_file() and SECRET.encode() in file.read_bytes()]


def test_nothing_of_a_deleted_run_is_left_but_a_tombstone(judged):
    store, record = judged
    assert remains(store.root)
    store.delete(record.id, "Bob")
    assert remains(store.root) == []
    assert not [path for path in store.root.iterdir() if path.is_dir()]
    (stone,) = store.deleted()
    assert (stone.run, stone.name, stone.who, stone.verdicts) == (record.id, "judged", "Bob", 3)
    assert len(stone.head) == 64
    with pytest.raises(RunNotFoundError):
        store.get(record.id)


@pytest.mark.parametrize("step", ["rows", "files", "wiping"])
def test_a_killed_deletion_is_finished_by_the_next_look(judged, monkeypatch, step):
    store, record = judged
    place = {
        "rows": (deletion, "_finish"),
        "files": (deletion.shutil, "rmtree"),
        "wiping": (type(store.database), "forget_deleted"),
    }
    killed = KeyboardInterrupt("killed")

    def die(*args, **kwargs):
        raise killed

    with monkeypatch.context() as patch:
        patch.setattr(*place[step], die)
        with pytest.raises(KeyboardInterrupt):
            store.delete(record.id, "Bob")
    assert list(store.root.glob(".deleted-*"))
    assert RunStore(store.root).list() == []
    assert remains(store.root) == []
    assert not list(store.root.glob(".deleted-*"))
    assert [stone.who for stone in store.deleted()] == ["Bob"]


def test_a_real_kill_in_the_middle_loses_nothing_of_the_deletion(judged):
    store, record = judged
    script = (
        "import os, signal, sys\n"
        "from riskcore.runs import RunStore\n"
        "from riskcore.runs.store import deletion\n"
        "deletion._finish = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"RunStore({str(store.root)!r}).delete({record.id!r}, 'Bob')\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], cwd=Path(__file__).parents[2], check=False)
    assert ended.returncode == -9
    assert store.list() == []
    assert remains(store.root) == []


def test_only_the_owner_can_read_a_store(judged):
    store, record = judged
    modes = {path: oct(os.stat(path).st_mode & 0o777) for path in (store.root, record.folder, store.root / STORE_FILE)}
    assert modes == {store.root: "0o700", record.folder: "0o700", store.root / STORE_FILE: "0o600"}
    assert all(os.stat(file).st_mode & 0o077 == 0 for file in store.root.glob(f"{STORE_FILE}*"))
