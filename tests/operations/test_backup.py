"""A backup restores the same project, into either kind of store, and an altered one restores nothing."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import sqlalchemy as sa
from typer.testing import CliRunner

from riskcore import cli
from riskcore.audit import VerdictLog
from riskcore.audit.estimate import estimate_run
from riskcore.audit.log_check import check_log
from riskcore.audit.sign_off import check, sign_offs
from riskcore.errors import ConfigError
from riskcore.operations import archive as archives
from riskcore.operations.archive import BackupError, new_archive
from riskcore.operations.backup import INTERRUPTED, write_backup
from riskcore.operations.places import BESIDE_RUNS
from riskcore.operations.restore import restore_backup
from riskcore.paths import SEAL_VARIABLE
from riskcore.runs import RunFolder, RunState, RunStore
from riskcore.runs.store.database import metadata, runs
from riskcore.runs.worker import jobs
from riskcore.runs.worker.execute import execute
from riskcore.storage.checksums import check_folder, file_hash
from riskcore.storage.files import remove_file
from riskcore.storage.snapshot import PREFIX, snapshots, take_snapshot
from tests.runs.conftest import small_config
from tests.runs.fake_engine import fake_engine
from tests.runs.postgres_server import server

__all__ = ["server"]
ROOT = Path(__file__).parents[2]


@pytest.fixture
def kept(home, seal, tmp_path):
    """A copy of the backup."""
    return Path(shutil.copyfile(home / "kept.zip", tmp_path / "kept.zip"))


def rows(store: RunStore) -> dict[str, list]:
    with store.database.read() as tx:
        tables = {t.name: [tuple(row) for row in tx.execute(sa.select(t))] for t in metadata.sorted_tables}
    return {name: sorted(found, key=repr) for name, found in tables.items()}


def hashes(folder: Path) -> dict[str, str]:
    return {
        str(file.relative_to(folder)): file_hash(file)
        for file in sorted(folder.rglob("*"))
        if file.is_file() and not file.name.startswith(".") and file.suffix != ".lock"
    }


def test_a_restored_project_is_the_same(project, run, kept, tmp_path):
    finished = RunFolder(project.root / run)
    before = estimate_run(finished)
    found = restore_backup(kept, tmp_path / "new" / "runs", tmp_path / "new" / "data")
    again = RunStore(tmp_path / "new" / "runs")
    folder = RunFolder(again.root / run)
    assert [one.id for one in again.list()] == [one.id for one in project.list()]
    assert hashes(folder.path) == hashes(finished.path)
    assert check_folder(folder.path).sound
    assert found.damaged == ()
    assert estimate_run(folder) == before
    old, new = (rows(one) for one in (project, again))
    assert {name: found for name, found in old.items() if name != "runs"} == {
        name: found for name, found in new.items() if name != "runs"
    }
    (signed,) = sign_offs(folder)
    assert check(folder, again, signed) == []
    checked = check_log(again, run)
    assert checked.problems == ()
    assert any("seal in the run's row" in one for one in checked.proven)
    assert again.config(run).source == str(tmp_path / "new" / "data" / "set")
    assert again.get(found.unfinished[0]).state is RunState.FAILED
    assert again.get(found.unfinished[0]).error == INTERRUPTED


def test_what_is_restored_is_for_its_owner_alone(home, kept, tmp_path):
    restore_backup(kept, tmp_path / "new", tmp_path / "new-data")
    for place in (tmp_path / "new", tmp_path / "new-data"):
        found = [place, *place.rglob("*")]
        assert len(found) > 5
        assert not [path for path in found if path.stat().st_mode & 0o077]
    assert (home / "kept.zip").stat().st_mode & 0o777 == 0o600


def test_an_unfinished_run_can_be_resumed_where_it_was_restored(copy, home, run, tmp_path):
    remove_file(copy.root / run / "results.json")
    with copy.database.write() as tx:
        tx.execute(sa.update(runs).where(runs.c.id == run).values(state="running", pid=1, host="elsewhere", beat=0.0))
    made = write_backup(copy, tmp_path / "kept.zip", home / "data", [run])
    assert made.unfinished == (run,)
    assert "results.json" not in "".join(zipfile.ZipFile(tmp_path / "kept.zip").namelist())
    restore_backup(tmp_path / "kept.zip", tmp_path / "new", tmp_path / "new-data")
    again = RunStore(tmp_path / "new")
    execute(again, jobs.requeued(again, run).id, engine=fake_engine)
    assert again.get(run).state is RunState.DONE
    assert (again.root / run / "results.json").is_file()


@pytest.mark.parametrize("place", [0, 10, 5_000, -3_000, -70, -64, -1])
def test_an_altered_byte_is_refused_and_nothing_is_written(kept, tmp_path, place):
    content = bytearray(kept.read_bytes())
    content[place] ^= 1
    kept.write_bytes(content)
    with pytest.raises(BackupError, match="Nothing was restored"):
        restore_backup(kept, tmp_path / "new", tmp_path / "new-data")
    assert not list(tmp_path.glob("*new*"))


def test_a_truncated_file_and_no_backup_at_all_are_refused(kept, tmp_path):
    kept.write_bytes(kept.read_bytes()[:-100])
    (tmp_path / "note.zip").write_text("hello")
    for file in (kept, tmp_path / "note.zip", tmp_path / "absent.zip"):
        with pytest.raises(BackupError):
            restore_backup(file, tmp_path / "new", tmp_path / "new-data")
    assert not list(tmp_path.glob("*new*"))


def forged(file: Path, entries: dict[str, bytes], about: dict, stated: dict | None = None) -> Path:
    """An archive with a right digest, whose content someone chose."""
    with new_archive(file) as archive:
        for name, content in entries.items():
            archive.add(name, [content])
        archive.files.update(stated or {})
        archive.finish(about)
    return file


ABOUT = {
    "format": 1, "version": "0", "made": "", "revision": "3", "runs": [], "unfinished": [], "verdicts": 0,
    "places": {"runs": "/r", "data": "/d", "app": "/a"},
}  # fmt: skip


@pytest.mark.parametrize(
    "name", ["../out.txt", "runs/../../out.txt", "/out.txt", "runs/a\\..\\b", "runs//b", "runs/x/"]
)
def test_names_that_lead_out_are_refused(tmp_path, name):
    file = forged(tmp_path / "bad.zip", {name: b"x"}, ABOUT)
    with pytest.raises(BackupError, match="Nothing was restored"):
        restore_backup(file, tmp_path / "new", tmp_path / "new-data")
    assert not list(tmp_path.rglob("*out.txt"))


def test_links_other_sizes_and_bombs_are_refused(tmp_path, monkeypatch):
    small = {"bytes": 1, "sha256": "0" * 64}
    bad = [
        forged(tmp_path / "size.zip", {"runs/a": b"xx"}, ABOUT, {"runs/a": small}),
        forged(tmp_path / "listed.zip", {}, ABOUT, {"runs/b": small}),
        forged(tmp_path / "format.zip", {}, {**ABOUT, "format": 2}),
        forged(tmp_path / "later.zip", {}, {**ABOUT, "revision": "99"}),
        forged(tmp_path / "lacking.zip", {}, {"format": 1}),
        forged(tmp_path / "hash.zip", {"runs/a": b"xx"}, ABOUT, {"runs/a": {"bytes": 2, "sha256": "0" * 64}}),
    ]
    with monkeypatch.context() as patch:
        patch.setattr(archives.stat, "S_IFREG", 0o120000)  # a symbolic link
        bad.append(forged(tmp_path / "link.zip", {"runs/a": b"/etc/passwd"}, ABOUT))
    bomb = forged(tmp_path / "bomb.zip", {"runs/a": bytes(3_000_000)}, ABOUT)
    assert bomb.stat().st_size < 30_000
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**9, 0, 102 << 20))
    for file in (*bad, bomb):
        with pytest.raises(BackupError, match=r"[Nn]othing was restored"):
            restore_backup(file, tmp_path / "new", tmp_path / "new-data")
    assert not list(tmp_path.glob("*new*"))


@pytest.mark.parametrize("which", ["new", "new-data"])
def test_a_target_that_is_not_empty_is_refused(kept, tmp_path, which):
    (tmp_path / which).mkdir()
    (tmp_path / which / "mine.txt").write_text("mine")
    with pytest.raises(BackupError, match="not empty"):
        restore_backup(kept, tmp_path / "new", tmp_path / "new-data")
    assert [file.name for file in (tmp_path / which).iterdir()] == ["mine.txt"]


def test_places_where_a_backup_cannot_be_written(project, tmp_path):
    (tmp_path / "there.zip").write_text("mine")
    wrong = (
        (tmp_path / "there.zip", "never overwritten"),
        (tmp_path / "none" / "x.zip", "no folder"),
        (project.root / "x.zip", "lies among"),
    )
    for file, words in wrong:
        with pytest.raises(BackupError, match=words):
            write_backup(project, file, tmp_path / "data")
    with pytest.raises(ConfigError, match=r"\.zip"):
        write_backup(project, tmp_path / "x.rar", tmp_path / "data")
    assert (tmp_path / "there.zip").read_text() == "mine"


def test_the_key_only_travels_when_asked(project, run, home, kept, tmp_path, monkeypatch):
    key = (home / "seal" / "key").read_text()
    assert key.encode() not in b"".join(zipfile.ZipFile(kept).read(one) for one in zipfile.ZipFile(kept).namelist())
    write_backup(project, tmp_path / "whole.zip", home / "data", with_keys=True)
    monkeypatch.setenv(SEAL_VARIABLE, str(tmp_path / "elsewhere"))
    lacking = restore_backup(kept, tmp_path / "a", tmp_path / "a-data")
    assert "no seal key" in lacking.keys
    assert "cannot be checked" in " ".join(check_log(RunStore(tmp_path / "a"), run).unproven)
    restore_backup(tmp_path / "whole.zip", tmp_path / "b", tmp_path / "b-data")
    assert (tmp_path / "elsewhere" / "key").read_text() == key
    checked = check_log(RunStore(tmp_path / "b"), run)
    assert checked.problems == checked.unproven == ()
    assert any("noted the same head" in one for one in checked.proven)


def test_one_run_with_what_it_is_made_from(copy, home, run, tmp_path):
    data = Path(shutil.copytree(home / "data", tmp_path / "data"))
    (data / "unrelated").mkdir()
    (data / "unrelated" / "tableA.csv").write_text("id,name\n1,a\n")
    (data / "registered.json").write_text(json.dumps({str(home / "data" / "set"): {"title": "T"}, "/x": {}}))
    other = copy.create(small_config(tmp_path / "elsewhere"), "other")
    made = write_backup(copy, tmp_path / "one.zip", home / "data", [run])
    assert (made.runs, made.outside) == ((run,), ())
    restore_backup(tmp_path / "one.zip", tmp_path / "n", tmp_path / "n-data")
    assert [one.id for one in RunStore(tmp_path / "n").list()] == [run]
    assert (tmp_path / "n-data" / "set" / "tableA.csv").is_file()
    made = write_backup(copy, tmp_path / "two.zip", data, [other.id])
    assert made.outside == (str(tmp_path / "elsewhere"),)
    assert not [one for one in zipfile.ZipFile(made.file).namelist() if "unrelated" in one]


def test_what_was_entered_about_data_sets_follows_them(copy, home, tmp_path):
    data = Path(shutil.copytree(home / "data", tmp_path / "data"))
    (data / "registered.json").write_text(json.dumps({str(data / "set"): {"maps": {str(data / "b"): {"x": "y"}}}}))
    (data / ".scores").mkdir()
    (data / ".scores" / "s.csv").write_text("a")
    (data / ".uploads").mkdir()
    (data / ".uploads" / "passing.csv").write_text("a")
    write_backup(copy, tmp_path / "x.zip", data)
    new = tmp_path / "n-data"
    restore_backup(tmp_path / "x.zip", tmp_path / "n", new)
    assert json.loads((new / "registered.json").read_text()) == {
        str(new / "set"): {"maps": {str(new / "b"): {"x": "y"}}}
    }
    assert (new / ".scores" / "s.csv").is_file()
    assert not (new / ".uploads").exists()


def test_a_kill_in_the_middle_leaves_nothing_under_the_name(copy, home, kept, tmp_path):
    """Backup and restoration, killed where half of the files are written."""
    scripts = {
        "made.zip": "from riskcore.operations.archive import ArchiveWriter as X; name = 'add_file'",
        "new": "from riskcore.operations.archive import ArchiveReader as X; name = 'extract'",
    }
    calls = {
        "made.zip": f"write_backup(RunStore({str(copy.root)!r}), Path({str(tmp_path / 'made.zip')!r}), Path('.'))",
        "new": f"restore_backup(*map(Path, ({str(kept)!r}, {str(tmp_path / 'new')!r}, {str(tmp_path / 'nd')!r})))",
    }
    for wanted, script in scripts.items():
        code = (
            "import os, signal\nfrom pathlib import Path\nfrom riskcore.runs import RunStore\n"
            "from riskcore.operations.backup import write_backup\n"
            "from riskcore.operations.restore import restore_backup\n"
            f"{script}\nreal, count = getattr(X, name), []\n"
            "def stopping(self, *more):\n"
            "    real(self, *more)\n    count.append(1)\n"
            "    if len(count) == 2: os.kill(os.getpid(), signal.SIGKILL)\n"
            f"setattr(X, name, stopping)\n{calls[wanted]}\n"
        )
        ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False)
        assert ended.returncode == -signal.SIGKILL
        assert not (tmp_path / wanted).exists()
    assert list(copy.root.glob(f"{PREFIX}*"))
    write_backup(copy, tmp_path / "made.zip", home / "data")
    assert not list(copy.root.glob(f"{PREFIX}*"))
    shutil.rmtree(tmp_path / "nd", ignore_errors=True)  # its data set had its name already
    restore_backup(kept, tmp_path / "new", tmp_path / "nd")
    assert len(RunStore(tmp_path / "new").list()) == 2


def test_a_snapshot_stays_as_it_was(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    for name in ("a.json", "log.jsonl", "worker.lock", ".hidden"):
        (folder / name).write_text("old\n")
    with snapshots(tmp_path) as home:
        take_snapshot(folder, home / "run")
        (folder / "new").write_text("new")
        os.replace(folder / "new", folder / "a.json")
        with (folder / "log.jsonl").open("a") as log:
            log.write("new\n")
        assert {one.name: one.read_text() for one in (home / "run").iterdir()} == {
            "a.json": "old\n",
            "log.jsonl": "old\n",
        }
    assert not list(tmp_path.glob(f"{PREFIX}*"))


def test_backup_while_verdicts_are_given(copy, home, run, tmp_path):
    """The log of the backup is one that there was, and its sign-off covers entries that it has."""
    code = (
        "from riskcore.runs import RunStore\nfrom riskcore.audit import VerdictLog\n"
        f"log = VerdictLog(RunStore({str(copy.root)!r}))\n"
        "for n in range(40): log.add(%r, f'x:{n}', 'match', '', 'Bob')\n" % run
    )
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT) as judging:
        held = []
        for turn in range(2):
            write_backup(copy, tmp_path / f"{turn}.zip", home / "data")
            restore_backup(tmp_path / f"{turn}.zip", tmp_path / f"r{turn}", tmp_path / f"d{turn}")
            again = RunStore(tmp_path / f"r{turn}")
            assert check_log(again, run).problems == ()
            held.append(VerdictLog(again).size(run))
            journal = (again.root / run / "verdicts.jsonl").read_text().splitlines()
            assert len(journal) <= held[-1]
        assert judging.wait(60) == 0
    assert held == sorted(held)


def test_from_sqlite_to_postgresql_and_back(project, run, server, kept, tmp_path):
    url = server.new_database()
    restore_backup(kept, tmp_path / "pg", tmp_path / "pg-data", url)
    shared = RunStore(tmp_path / "pg", url)
    assert check_log(shared, run).problems == ()
    with pytest.raises(BackupError, match="has runs already"):
        restore_backup(kept, tmp_path / "pg2", tmp_path / "pg2-data", url)
    assert not list(tmp_path.glob("pg2*"))
    write_backup(shared, tmp_path / "second.zip", tmp_path / "pg-data")
    restore_backup(tmp_path / "second.zip", tmp_path / "back", tmp_path / "back-data")
    again = RunStore(tmp_path / "back")
    assert rows(again)["verdicts"] == rows(project)["verdicts"]
    assert rows(again)["events"] == rows(project)["events"]
    assert hashes(again.root / run) == hashes(project.root / run)


def test_the_commands(project, home, tmp_path):
    def run_cli(*arguments):
        return CliRunner().invoke(cli.app, arguments)

    made = run_cli(
        "backup", str(tmp_path / "x.zip"), "--runs", str(project.root), "--data", str(home / "data"), "--json"
    )
    assert json.loads(made.stdout)["runs"] == sorted(one.id for one in project.list())
    told = run_cli("restore", str(tmp_path / "x.zip"), "--runs", str(tmp_path / "n"), "--data", str(tmp_path / "d"))
    assert "2 runs" in told.stdout
    again = run_cli("restore", str(tmp_path / "x.zip"), "--runs", str(tmp_path / "n"), "--data", str(tmp_path / "d"))
    assert again.exit_code == 2


def test_folders_beside_the_runs_are_in_it(copy, home, tmp_path):
    for name in BESIDE_RUNS:
        (copy.root / name).mkdir()
        (copy.root / name / "file").write_text(name)
    write_backup(copy, tmp_path / "x.zip", home / "data")
    restore_backup(tmp_path / "x.zip", tmp_path / "n", tmp_path / "n-data")
    assert [(tmp_path / "n" / name / "file").read_text() for name in BESIDE_RUNS] == list(BESIDE_RUNS)
