"""What machines do to a store: no space left, locked by another writer, a clock that goes back. And tampering.

Noticed means: one error in words for what cannot be done, and afterwards everything that was confirmed is there.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

from benchmarks.chaos.site import PROJECT, Figure, Site, environment, share
from riskcore.audit import VerdictLog
from riskcore.audit.log_check import check_log
from riskcore.audit.log_entries import recorded_entries
from riskcore.audit.result import export_result
from riskcore.config import RunConfig
from riskcore.data.bring.arrange import arrange
from riskcore.data.bring.files import read_brought
from riskcore.data.bring.plan import suggest
from riskcore.errors import RiskcoreError
from riskcore.paths import SEAL_VARIABLE
from riskcore.runs import RunFolder, RunStore
from riskcore.runs.store import database
from riskcore.runs.store.run_store import STORE_FILE
from tests.audit.test_log_check import COUNT, TAMPERINGS, move_to_another_run, row_of

SMALL = 6_000_000  # bytes of the small disk
ROOM = 200_000  # that writers find on it
PATIENCE = 500  # milliseconds that a writer waits for the lock here, instead of 15 s
YEAR = 365 * 86_400


def disk_full(site: Site) -> list[Figure]:
    """In a child process: on a small disk of its own where this user may mount one, else with a limit for files."""
    place = site.folder("full disk")
    shutil.copytree(site.finished.path.parent, place / "runs")
    here = [sys.executable, "-m", "benchmarks.chaos.adversity", site.finished.path.name, str(site.data)]
    mount = f'mount -t tmpfs -o size={SMALL} tmpfs "$0" && exec "$@"'
    disk = site.folder("disk")
    own = ["unshare", "--mount", "sh", "-c", mount, str(disk), *here, str(place / "runs"), str(disk)]
    found = (
        subprocess.run(own, capture_output=True, text=True, cwd=PROJECT, env=environment()) if _may_mount() else None
    )
    how = "a disk of 6 MB"
    if found is None or found.returncode:
        how = "files limited in size"
        limited = [*here, str(place / "runs"), str(site.folder("files"))]
        found = subprocess.run(
            [*limited, "limited"], capture_output=True, text=True, cwd=PROJECT, env=environment(), check=True
        )
    faults: dict[str, list[str]] = json.loads(found.stdout.splitlines()[-1])
    return [_noticed("No space left", f"{len(faults)} ways of writing, {how}", faults)]


def _may_mount() -> bool:
    return os.geteuid() == 0 and shutil.which("unshare") is not None


def _fill(folder: Path) -> Iterator[None]:
    """Take nearly all space; give it back."""
    free = shutil.disk_usage(folder).free
    (folder / "filler").write_bytes(b"\0" * max(0, free - ROOM))
    yield
    (folder / "filler").unlink()


def _limit() -> Iterator[None]:
    """No file may grow beyond what the largest one has; a signal says so unless it is ignored."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))


def _on_a_full_disk(run: str, data: str, runs: str, disk: str, limited: bool) -> dict[str, list[str]]:
    """What goes wrong with each way of writing: not refused in words, something half written, or something lost."""
    place = Path(disk)
    os.environ[SEAL_VARIABLE] = str(place / "seal")
    store = RunStore(Path(shutil.copytree(runs, place / "runs")))
    folder, log = RunFolder(store.root / run), VerdictLog(store)
    brought = read_brought([Path(data) / "tableA.csv", Path(data) / "tableB.csv"])
    before = log.size(run)
    given = 0

    def judge() -> None:
        nonlocal given
        for number in range(5_000):
            log.add(run, f"x{number}:y{number}", "match", "n" * 2_000, "Bob")
            given += 1

    def create() -> None:
        for _ in range(5_000):
            store.create(RunConfig(source="x" * 3_000), "y" * 200)

    ways: dict[str, Callable[[], object]] = {
        "verdicts": judge,
        "new runs": create,
        "an export": lambda: [export_result(folder, place / f"{n}.csv", all_columns=True) for n in range(50)],
        "a data set": lambda: [arrange(brought, suggest(brought), place / f"set {n}") for n in range(200)],
    }
    found: dict[str, list[str]] = {}
    for name, way in ways.items():
        with contextlib.contextmanager(_limit if limited else lambda: _fill(place))():
            found[name] = _refused(way)
        partial = [file.name for file in place.rglob("*") if file.name.startswith(".") and "part" in file.name]
        found[name] += [f"left {partial}"] if partial else []
        _tidy(place, folder)
    if log.size(run) - before not in (given, given + 1):
        found["verdicts"].append(f"{given} were confirmed, {log.size(run) - before} are recorded")
    log.add(run, "last:pair", "match", "", "Bob")
    found["verdicts"] += check_log(store, run).problems
    return found


def _tidy(place: Path, folder: RunFolder) -> None:
    for file in [*place.glob("*.csv"), *place.glob("*.json")]:
        file.unlink()
    for made in place.glob("set *"):
        shutil.rmtree(made)


def _refused(way: Callable[[], object]) -> list[str]:
    """What is wrong with how it was refused; empty if one error said so."""
    try:
        way()
    except RiskcoreError:
        return []
    except Exception as error:
        return [f"{type(error).__name__}: {error}"]
    return ["was not refused"]


def store_locked(site: Site) -> list[Figure]:
    """Another process holds the store's lock and does not let go."""
    store = RunStore(site.place / "locked")
    run = store.create(RunConfig(source="x"), "judged").id
    log = VerdictLog(store)
    log.add(run, "a:b", "match", "", "Ann")
    holder = sqlite3.connect(store.root / STORE_FILE, isolation_level=None)
    with mock.patch.object(database, "BUSY_MILLISECONDS", PATIENCE):
        waiting = RunStore(store.root)
        holder.execute("BEGIN IMMEDIATE")
        faults = {
            "a verdict": _refused(lambda: VerdictLog(waiting).add(run, "c:d", "match", "", "Ann")),
            "a new run": _refused(lambda: waiting.create(RunConfig(source="x"), "another")),
            "listing runs": [] if [one.id for one in waiting.list()] == [run] else ["does not list the run"],
            "reading verdicts": [] if VerdictLog(waiting).size(run) == 1 else ["does not read the verdict"],
        }
        holder.execute("ROLLBACK")
        holder.close()
    log.add(run, "e:f", "match", "", "Ann")
    pairs = [entry.pair_id for entry in log.entries(run)]
    faults["afterwards"] = [] if pairs == ["a:b", "e:f"] and not check_log(store, run).problems else [str(pairs)]
    return [_noticed("Store locked by another writer", f"{len(faults)} checks", faults)]


def clock_back(site: Site) -> list[Figure]:
    """The clock goes back by a year between two verdicts: order, current verdicts and seals stay as they were given."""
    store = RunStore(site.place / "clock")
    run = store.create(RunConfig(source="x"), "judged").id
    log, now = VerdictLog(store), time.time
    log.add(run, "a:b", "match", "", "Ann")
    with mock.patch.object(time, "time", side_effect=lambda: now() - YEAR):
        log.add(run, "a:b", "non-match", "", "Ann")
        log.add(run, "c:d", "match", "", "Ann")
        newer = store.create(RunConfig(source="x"), "newer").id
        listed = {one.id for one in store.list()}
    entries, current = log.entries(run), log.current(run, "Ann")
    faults = {
        "order": [] if [entry.number for entry in entries] == [1, 2, 3] else ["entries changed places"],
        "current verdict": [] if current["a:b"].verdict == "non-match" else ["the later verdict does not count"],
        "seals": list(check_log(store, run).problems),
        "runs": [] if listed == {run, newer} else ["a run is not listed"],
    }
    return [_noticed("Clock set back by a year", f"{len(faults)} checks", faults)]


def tampering(site: Site) -> list[Figure]:
    """The eight ways of the tests to alter a log in the store, each on a log of its own."""
    faults: dict[str, list[str]] = {}
    for tamper in TAMPERINGS:
        with tempfile.TemporaryDirectory(dir=site.place) as place:
            store = RunStore(Path(place) / "runs")
            run, other = (store.create(RunConfig(source="x"), name).id for name in ("judged", "other"))
            log = VerdictLog(store)
            log.add(run, "a0:b0", "match", "", "Ann")
            first = row_of(store, run)
            for number in range(1, COUNT):
                log.add(run, f"a{number}:b{number}", "match", "", "Ann")
            log.add(other, "a:b", "match", "", "Ann")
            if check_log(store, run).problems:
                raise RuntimeError("A log that was left alone is said to be altered.")
            tamper(store, run, other, recorded_entries(store, run), first)
            places = [run, other] if tamper is move_to_another_run else [run]
            missed = [one for one in places if not check_log(store, one).problems]
            faults[tamper.__name__] = ["was not noticed"] if missed else []
    return [_noticed("Tampering with the log", f"{len(faults)} ways", faults)]


def _noticed(name: str, tried: str, faults: dict[str, list[str]]) -> Figure:
    bad = [f"{what}: {fault}" for what, found in faults.items() for fault in found]
    fine = sum(not found for found in faults.values())
    return Figure(name, tried, f"{share(fine, len(faults))} as promised", "100 %", not bad, tuple(bad))


if __name__ == "__main__":
    asked, small, stored, target, *more = sys.argv[1:]
    print(json.dumps(_on_a_full_disk(asked, small, stored, target, bool(more))))
