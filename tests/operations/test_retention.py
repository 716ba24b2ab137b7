"""After `runs forget` no value, id, note or name is left anywhere, and the figures are the same."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import riskcore
from riskcore import cli
from riskcore.audit import VerdictLog
from riskcore.audit.agreement import agreement
from riskcore.audit.estimate import estimate_run
from riskcore.audit.sign_off import as_figures, sign_offs
from riskcore.audit.verify import NOT_ANY_MORE, verify_run
from riskcore.columns import PAIR_ID
from riskcore.errors import ConfigError
from riskcore.operations.retention import forget, plan_forgetting, runs_to_forget
from riskcore.runs import RunFolder, RunState, RunStateError, RunStore
from riskcore.runs.retention import FILE, ForgottenError, read_retained
from riskcore.runs.store.run_store import STORE_FILE
from riskcore.runs.worker.execute import execute
from riskcore.runs.worker.jobs import requeued
from riskcore.runs.worker.repair import repair_run
from riskcore.storage.checksums import check_folder
from tests.operations.conftest import SECRET
from tests.runs.conftest import small_config

ROOT = Path(__file__).parents[2]


@pytest.fixture
def data(home, tmp_path):
    return Path(shutil.copytree(home / "data", tmp_path / "data"))


@pytest.fixture
def only(copy, data, run):
    """A store whose one run was made from a data set in the data folder, with labels and uploads."""
    for record in copy.list():
        if record.id != run:
            copy.delete(record.id)
    (copy.root / "labels").mkdir()
    (copy.root / "labels" / "l.parquet").write_bytes(b"labels")
    config = small_config(data / "set", labels=str(copy.root / "labels" / "l.parquet"))
    with sqlite3.connect(copy.root / STORE_FILE) as link:
        link.execute("UPDATE runs SET config = ?, error = ? WHERE id = ?", (config.to_json(), SECRET, run))
    upload = data / ".brought" / "one"
    upload.mkdir(parents=True)
    (upload / "mine.csv").write_text(SECRET)
    (upload / ".belongs.json").write_text(json.dumps({"set": str(data / "set")}))
    (data / "registered.json").write_text(json.dumps({str(data / "set"): {"title": "T"}, "/x": {}}))
    (copy.root / run / "guideline.json").write_text(json.dumps({"text": SECRET}))
    return copy


def forgotten(store: RunStore, run: str, data: Path, **more: bool):
    (plan,) = plan_forgetting(store, [store.get(run)], data, **more)
    return forget(store, plan, data, "Olga")


def remains(folder: Path, words: set[str]) -> list[str]:
    """Files below the folder that hold one of the words: in their bytes, or in a column of theirs."""
    found = []
    for file in (one for one in folder.rglob("*") if one.is_file()):
        content = file.read_bytes()
        if file.suffix == ".parquet" and content[:4] == b"PAR1":
            table = pq.read_table(file)
            held = {str(value) for name in table.column_names for value in table.column(name).to_pylist()}
            found += [f"{file.name}: {word}" for word in words & held]
            content = str(table.schema.metadata).encode()
        found += [f"{file.name}: {word}" for word in words if len(word) > 4 and word.encode() in content]
    return found


def personal(folder: RunFolder) -> set[str]:
    """Every value, record id and pair id of the run, notes and names."""
    pairs = pd.read_parquet(folder.pairs_file)
    values = {str(one) for name in pairs if name.startswith(("left_", "right_")) for one in pairs[name].dropna()}
    ids = {str(one) for name in ("ltable_id", "rtable_id", PAIR_ID) for one in pairs[name]}
    return {one for one in values | ids if not one.isdigit()} | {SECRET, "a note", "Ann Berger", "Bob Berger"}


def test_nothing_personal_is_left_and_the_figures_are_the_same(only, run, data):
    folder = RunFolder(only.root / run)
    words, before = personal(folder), estimate_run(folder)
    agreed, signed = agreement(VerdictLog(only).entries(run)), sign_offs(folder)
    methods = folder.results()["methods"]
    assert len(words) > 80
    assert len(remains(only.root, words)) > 20
    note = forgotten(only, run, data)
    assert remains(only.root, words) == []
    assert remains(data, {SECRET}) == []
    assert note.estimate == as_figures(before)
    assert note.agreement["pooled"] == as_figures(agreed)["pooled"]
    assert note.agreement["between"][0]["people"] == ["reviewer 1", "reviewer 2"]
    assert sorted(note.people) == ["reviewer 1", "reviewer 2"]
    assert (note.sign_offs[0]["labels"], note.sign_offs[0]["head"]) == (signed[0].labels, note.head)
    assert folder.results()["methods"] == methods
    assert note.removed["verdicts"] == len(pd.read_parquet(folder.path / "verdicts.parquet"))
    assert (note.who, read_retained(folder.path)) == ("Olga", note)
    assert check_folder(folder.path).sound
    assert [path for path in only.root.iterdir() if path.name.startswith(".")] == []
    assert VerdictLog(only).entries(run) == []
    assert only.get(run).state is RunState.DONE


def test_what_the_run_was_made_from(only, run, data):
    note = forgotten(only, run, data)
    assert not (data / "set").exists()
    assert not (data / ".brought" / "one").exists()
    assert not list((only.root / "labels").iterdir())
    assert json.loads((data / "registered.json").read_text()) == {"/x": {}}
    assert len(note.data_deleted) == 3


@pytest.mark.parametrize("case", ["another run needs it", "--keep-data", "lies outside"])
def test_data_that_stays(only, run, data, tmp_path, case):
    if case.startswith("another"):
        only.create(small_config(data / "set"), "other")
    place = tmp_path / "elsewhere" if case == "lies outside" else data
    note = forgotten(only, run, place, keep_data=case == "--keep-data")
    assert (data / "set" / "tableA.csv").is_file()
    assert any(case in one for one in note.data_kept)


def test_what_can_still_be_verified(only, run, data):
    head = forgotten(only, run, data).head
    folder = RunFolder(only.root / run)
    found = verify_run(folder, only, head)
    assert found.intact
    said = " ".join(found.checked)
    assert NOT_ANY_MORE in said
    assert "as it was sealed" in said
    assert "The expected head is that of the last entry" in said
    assert not verify_run(folder, only, "0" * 64).intact
    altered = json.loads((folder.path / FILE).read_text())
    altered["estimate"]["f1"]["value"] = 1.0
    (folder.path / FILE).write_text(json.dumps(altered))
    assert any("was altered" in one for one in verify_run(folder, only).problems)
    with sqlite3.connect(only.root / STORE_FILE) as link:
        link.execute("UPDATE runs SET log_head = 'x'")
    assert any("run's row" in one for one in verify_run(folder, only).problems)


def test_what_needs_records_says_that_they_were_deleted(only, run, data):
    forgotten(only, run, data)
    folder = RunFolder(only.root / run)
    refused = [
        lambda: VerdictLog(only).add(run, "a:b", "match"),
        lambda: execute(only, run),
        lambda: repair_run(only, run),
        lambda: riskcore.load(only.root / run),
    ]
    for call in refused:
        with pytest.raises(ForgottenError, match=r"deleted under retention on .* by Olga"):
            call()
    for words in (("top", run), ("explain", run, "a:b"), ("export", run, "--out", "x.csv"), ("audit", "sign", run)):
        more = ["--who", "x", "--statement", "y"] if "sign" in words else []
        ended = CliRunner().invoke(cli.app, [*words, *more, "--runs", str(only.root)])
        assert ended.exit_code == 2, words
    assert "deleted under retention" in CliRunner().invoke(cli.app, ["top", run, "--runs", str(only.root)]).stderr
    assert folder.results() is not None


def test_a_run_that_was_not_done_cannot_be_resumed(copy, data):
    (waiting,) = [one for one in copy.list() if one.state is RunState.WAITING]
    with pytest.raises(RunStateError, match="Cancel it first"):
        forgotten(copy, waiting.id, data)
    copy.finish(waiting.id, RunState.FAILED, SECRET)
    forgotten(copy, waiting.id, data)
    assert copy.get(waiting.id).error is None
    assert all(one.record.get("error") is None for one in copy.events(waiting.id))
    with pytest.raises(ForgottenError):
        requeued(copy, waiting.id)


@pytest.mark.parametrize("step", ["names", "files"])
def test_a_kill_is_finished_by_the_next_look(only, run, data, step):
    words = personal(RunFolder(only.root / run))
    places = {
        "names": "count = []; real = os.rename; forgetting.os.rename = lambda a, b: die() if count else "
        "(count.append(1), real(a, b))",
        "files": "forgetting._remove = die",
    }
    code = (
        "import os, signal\nfrom pathlib import Path\nfrom riskcore.runs import RunStore\n"
        "from riskcore.runs.store import forgetting\nfrom riskcore.operations.retention import *\n"
        "def die(*_, **more): os.kill(os.getpid(), signal.SIGKILL)\n"
        f"store, data = RunStore({str(only.root)!r}), Path({str(data)!r})\n"
        f"(plan,) = plan_forgetting(store, [store.get({run!r})], data)\n{places[step]}\n"
        "forget(store, plan, data, 'Olga')\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False)
    assert ended.returncode == -signal.SIGKILL
    again = RunStore(only.root)
    assert [one.id for one in again.list()] == [run]
    assert remains(again.root, words) == []
    assert read_retained(again.root / run).estimate["f1"]["value"] > 0
    assert verify_run(RunFolder(again.root / run), again).intact
    assert not [one for one in os.listdir(again.root) if one.startswith(".")]
    assert not (data / "set").exists()


def test_which_runs(copy, run):
    with sqlite3.connect(copy.root / STORE_FILE) as link:
        link.execute("UPDATE runs SET ended = ended - 10 * 86400 WHERE id = ?", (run,))
    assert [one.id for one in runs_to_forget(copy, (), 9)] == [run]
    assert runs_to_forget(copy, (), 11) == []
    assert [one.id for one in runs_to_forget(copy, (run,), None)] == [run]
    with pytest.raises(ConfigError, match="--older-than"):
        runs_to_forget(copy, (), None)


def test_the_commands(only, run, data, tmp_path):
    def call(*words):
        return CliRunner().invoke(cli.app, [*words, "--runs", str(only.root)])

    tried = call("runs", "forget", run, "--dry-run", "--data", str(data))
    assert tried.exit_code == 0
    assert f"would delete {data / 'set'}" in tried.stdout
    assert read_retained(only.root / run) is None
    assert (data / "set").is_dir()
    before = json.loads(call("audit", "estimate", run, "--json").stdout)
    done = call("runs", "forget", run, "--data", str(data), "--who", "Olga", "--json")
    assert json.loads(done.stdout)["deleted"] is True
    assert "There is no such run" in call("runs", "forget", run, "--data", str(data)).stdout
    shown = call("runs", "show", run)
    assert "deleted under retention" in shown.stdout
    assert "F1 is about" in shown.stdout
    assert json.loads(call("runs", "show", run, "--json").stdout)["retained"]["who"] == "Olga"
    kept = json.loads(call("audit", "estimate", run, "--json").stdout)
    assert kept["estimate"]["f1"] == before["f1"]
    assert call("audit", "verify", run).exit_code == 0
    assert call("compare", run).exit_code == 0
    assert call("runs", "check", run).exit_code == 0
    assert call("runs", "delete", run).exit_code == 0
