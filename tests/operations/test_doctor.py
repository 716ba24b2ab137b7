"""The doctor finds what is wrong, says what to do, changes nothing, and is fast on many runs."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import time
from collections import namedtuple
from pathlib import Path

import pytest
import sqlalchemy as sa
from typer.testing import CliRunner

from riskcore import cli
from riskcore.audit import VerdictLog
from riskcore.operations import doctor_machine
from riskcore.operations.doctor import CHECKS, examine
from riskcore.operations.finding import Level
from riskcore.paths import SEAL_VARIABLE
from riskcore.runs import RunStore
from riskcore.runs.store.database import runs
from riskcore.runs.store.run_store import STORE_FILE
from tests.audit.example_runs import store, unpacked
from tests.runs.postgres_server import server

__all__ = ["server", "store", "unpacked"]
DOCS = (Path(__file__).parents[2] / "docs" / "operations.md").read_text(encoding="utf-8")
RUN = "example"


@pytest.fixture(autouse=True)
def _places(tmp_path, monkeypatch):
    """An account and a working folder without secrets, and a seal folder of its own."""
    for folder in ("home", "work"):
        (tmp_path / folder).mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv(SEAL_VARIABLE, str(tmp_path / "seal"))
    monkeypatch.delenv("STREAMLIT_SERVER_ADDRESS", raising=False)


def looked(store: RunStore) -> dict[str, tuple[Level, str]]:
    """By check, the level and what was said, of the worst line; every line that is not ok has a cure."""
    found = examine(store.root, store.root.parent / "data")
    assert all(one.cure for one in found if one.level is not Level.OK)
    order = list(Level)
    return {one.check: (one.level, one.said) for one in sorted(found, key=lambda one: order.index(one.level))}


def test_a_sound_project_is_ok(store):
    before = {file: file.stat().st_mtime_ns for file in store.root.rglob("*.json")}
    found = looked(store)
    assert set(found) == set(CHECKS)
    assert {one for one, (level, _) in found.items() if level is not Level.OK} == set()
    assert {file: file.stat().st_mtime_ns for file in store.root.rglob("*.json")} == before


def test_nothing_is_made_where_nothing_is(tmp_path):
    found = looked(RunStore(tmp_path / "none" / "runs"))
    assert {level for level, _ in found.values()} == {Level.OK}
    assert not (tmp_path / "none").exists()


def _change_row(store, **values):
    with store.database.write() as tx:
        tx.execute(sa.update(runs).where(runs.c.id == RUN).values(**values))


def _newer(store):
    with sqlite3.connect(store.root / STORE_FILE) as link:
        link.execute("UPDATE alembic_version SET version_num = '99'")


def _break_store(store):
    file = store.root / STORE_FILE
    with sqlite3.connect(file) as link:
        link.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    link.close()
    content = bytearray(file.read_bytes())
    content[4096:] = bytes(len(content) - 4096)
    file.write_bytes(content)


def _secrets(text):
    def write(store):
        file = Path.home() / ".streamlit" / "secrets.toml"
        file.parent.mkdir()
        file.write_text(text)
        file.chmod(0o600)

    return write


AUTH = """[auth]
redirect_uri = "https://r.example.org/oauth2callback"
cookie_secret = "s"
client_id = "i"
client_secret = "s"
server_metadata_url = "https://l.example.org"
"""
FAULTS = {
    "newer store": (_newer, "store", Level.ERROR, "newer version"),
    "broken store": (_break_store, "store", Level.ERROR, ""),
    "lost run": (
        lambda s: _change_row(s, state="running", pid=1, host="elsewhere", beat=time.time() - 100),
        "workers", Level.WARNING, "lost: example",
    ),
    "waiting for long": (
        lambda s: _change_row(s, state="waiting", created=1.7e9, pid=None), "workers", Level.WARNING, "an hour",
    ),
    "a clock behind": (lambda s: _change_row(s, created=time.time() + 9e5), "clock", Level.WARNING, "behind the store"),
    "no folder": (lambda s: shutil.rmtree(s.root / RUN), "run folders", Level.ERROR, "Without a folder: example"),
    "a missing file": (
        lambda s: (s.root / RUN / "rules.json").unlink(), "run folders", Level.ERROR, "Damaged: example",
    ),
    "an unknown folder": (
        lambda s: shutil.copytree(s.root / RUN, s.root / "copy"), "run folders", Level.WARNING, "in the store: copy",
    ),
    "a killed deletion": (
        lambda s: (s.root / ".deleted-x").mkdir(), "leftovers", Level.WARNING, "Deletions that a kill left",
    ),
    "a killed retention": (
        lambda s: (s.root / ".forgotten-x").mkdir(), "leftovers", Level.WARNING, "Deletions that a kill left",
    ),
    "a killed writer": (
        lambda s: ((s.root / ".x-abc").mkdir(), os.utime(s.root / ".x-abc", (1e9, 1e9))),
        "leftovers", Level.WARNING, ".x-abc",
    ),
    "others may read": (lambda s: s.root.chmod(0o755), "permissions", Level.WARNING, "can read"),
    "a lost key": (
        lambda s: (VerdictLog(s).add(RUN, "a:b", "match"), shutil.rmtree(os.environ[SEAL_VARIABLE])),
        "seal", Level.WARNING, "no key",
    ),
    "unreadable secrets": (_secrets('[auth]\nclient_secret = "hunter2'), "sign-in", Level.ERROR, "cannot be read"),
    "half a sign-in": (_secrets("[auth]\nclient_id = 'x'"), "sign-in", Level.ERROR, "[auth] lacks redirect_uri"),
    "no allow-list": (_secrets(AUTH), "sign-in", Level.ERROR, "[access]"),
    "everyone": (_secrets(f"{AUTH}[access]\neveryone = true"), "sign-in", Level.WARNING, "Everyone"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_found(store, fault):
    break_it, check, level, said = FAULTS[fault]
    break_it(store)
    found = looked(store)
    assert found[check][0] is level
    assert said in found[check][1]
    assert "hunter2" not in str(found)


def test_a_usable_sign_in_whose_secrets_others_can_read(store):
    _secrets(f'{AUTH}[access]\nemails = ["a@example.org"]')(store)
    (Path.home() / ".streamlit" / "secrets.toml").chmod(0o644)
    found = looked(store)
    assert found["sign-in"][0] is Level.OK
    assert found["secrets"][0] is Level.WARNING


def test_a_server_that_everyone_reaches_without_a_sign_in(store, monkeypatch):
    monkeypatch.setenv("STREAMLIT_SERVER_ADDRESS", "0.0.0.0")
    assert looked(store)["sign-in"][0] is Level.ERROR


def test_a_full_disk_and_other_libraries(store, monkeypatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(doctor_machine.shutil, "disk_usage", lambda _: usage(10**12, 0, 10**9))
    monkeypatch.setattr(doctor_machine, "pins", lambda: {"numpy": "0.1", "no-such-package": "1"})
    found = looked(store)
    assert found["disk"][0] is Level.WARNING
    assert found["libraries"] == (Level.ERROR, "Not installed: no-such-package")


def test_the_pins_are_those_of_the_project():
    found = doctor_machine.pins()
    assert len(found) > 20
    assert {"torch", "streamlit", "sqlalchemy"} <= set(found)


def test_many_runs_are_looked_at_within_a_bound(store):
    config = store.config(RUN).to_json()
    with store.database.write() as tx:
        tx.execute(
            sa.insert(runs),
            [{"id": f"r{n:05d}", "name": "x", "state": "failed", "config": config, "created": n} for n in range(2000)],
        )
    for n in range(2000):
        (store.root / f"r{n:05d}").mkdir(mode=0o700)
    began = time.process_time()
    assert looked(store)["run folders"][0] is Level.OK
    assert time.process_time() - began < 2


def test_a_shared_store(server, tmp_path, monkeypatch):
    passfile = tmp_path / "passfile"  # as compose.yaml names it
    passfile.write_text("127.0.0.1:*:*:*:secret\n")
    passfile.chmod(0o600)
    monkeypatch.setenv("RISKCORE_STORE_URL", f"{server.new_database()}?passfile={passfile}")
    shared = RunStore(tmp_path / "runs")
    assert "empty" in looked(shared)["store"][1]
    shared.root.mkdir(mode=0o700)
    shared.list()
    found = looked(shared)
    assert found["store"][0] is Level.OK
    assert found["store writable"] == (Level.ERROR, "What is committed can be lost: fsync = off")  # as tests want it
    server.do("stop")
    assert looked(shared)["store"][0] is Level.ERROR


def test_the_command(store):
    def call(*more):
        return CliRunner().invoke(cli.app, ["doctor", "--runs", str(store.root), *more])

    told = call()
    assert told.exit_code == 0
    assert [line.split()[0] for line in told.stdout.splitlines()] == ["ok"] * len(CHECKS)
    shutil.rmtree(store.root / RUN)
    told = call("--json")
    assert told.exit_code == 1
    document = json.loads(told.stdout)
    assert document["worst"] == "error"
    assert {one["check"] for one in document["findings"]} == set(CHECKS)


@pytest.mark.parametrize("check", CHECKS)
def test_the_documentation_names_every_check(check):
    assert f"| {check} |" in DOCS
