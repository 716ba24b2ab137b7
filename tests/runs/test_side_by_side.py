"""Runs with helper processes: the same files and events as without, also after a kill, and nobody is left behind."""

from __future__ import annotations

import dataclasses
import os
import signal
import time
from pathlib import Path

import pytest

from benchmarks.kill_resume import WORKER, compare, worker
from riskcore.config import AdaptConfig, EngineConfig, MatcherConfig, RiskConfig, RunConfig, TuneConfig
from riskcore.runs import RunFolder, RunState, RunStore
from riskcore.runs.store.run_record import RunRecord
from riskcore.runs.worker import execute as module
from riskcore.runs.worker.execute import execute
from riskcore.training.processes import CoreWatch
from tests.runs.conftest import small_data
from tests.training.test_helpers import wait_until_gone

SETTINGS = RunConfig(
    methods=("tradition", "risk", "risk+", "supervised", "self-training", "forest", "target forest"),
    matcher=MatcherConfig(kind="toy"),
    tune=TuneConfig(epochs=3),
    risk=RiskConfig(steps=20),
    adapt=AdaptConfig(iterations=3, stacking_iterations=2, base_learner_trees=10, forest_trees=30),
)


def with_processes(runs: RunStore, count: int) -> RunConfig:
    engine = EngineConfig(processes=count, least_seconds=0.0)
    return dataclasses.replace(SETTINGS, source=str(runs.root.parent / "data"), engine=engine)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> RunStore:
    folder = tmp_path_factory.mktemp("side by side")
    small_data(folder / "data")
    return RunStore(folder / "runs")


@pytest.fixture(scope="module")
def alone(runs: RunStore) -> RunRecord:
    """A run of one process."""
    run = runs.create(with_processes(runs, 1), "alone")
    execute(runs, run.id)
    return run


def told(store: RunStore, run: RunRecord) -> list[object]:
    """The events in their order, without times, memory and states."""
    events = store.events(run.id, limit=1_000_000)
    assert [event.sequence for event in events] == list(range(1, len(events) + 1))
    left_out = ("seconds", "peak_rss_mb", "labels_used")
    return [
        (event.kind, {name: value for name, value in event.record.items() if name not in left_out})
        for event in events
        if event.kind not in ("state", "measured")
    ]


def children(pid: int) -> list[int]:
    """Processes that a process has started."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parent = entry.joinpath("stat").read_text().rpartition(")")[2].split()[1]
        except OSError:
            continue
        found += [int(entry.name)] if int(parent) == pid else []
    return found


def test_two_processes_leave_the_files_and_events_of_one(runs: RunStore, alone: RunRecord) -> None:
    run = runs.create(with_processes(runs, 2), "helped")
    before = set(children(os.getpid()))  # of earlier tests in this process
    results = execute(runs, run.id)
    assert compare(runs, alone, runs.get(run.id)) == []
    assert told(runs, run) == told(runs, alone)
    folder, other = RunFolder(run.folder), RunFolder(alone.folder)
    assert folder.summary_file.read_text().count("iteration") == other.summary_file.read_text().count("iteration")
    assert not list(folder.checkpoints.glob("*-told"))
    reference = other.results()
    assert reference is not None
    assert results["peak_rss_mb"] > reference["peak_rss_mb"] * 0.5 + 100  # that of the helper counts
    assert set(children(os.getpid())) <= before


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes in /proc")
def test_killed_in_the_middle_helpers_end_and_a_run_of_one_process_goes_on(runs: RunStore, alone: RunRecord) -> None:
    run = runs.create(with_processes(runs, 2), "killed")
    process = worker(runs, run, WORKER)
    folder = RunFolder(run.folder)
    until = time.monotonic() + 240
    while not list(folder.checkpoints.glob("risk-told/00000[3-9]*")):  # some iterations were put aside
        assert process.poll() is None, folder.log_file.read_text()
        assert time.monotonic() < until
        time.sleep(0.01)
    helpers = children(process.pid)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert len(helpers) == 1
    wait_until_gone(helpers[0])
    assert runs.get(run.id).state is RunState.LOST
    runs.requeue(run.id)
    execute(runs, run.id, engine=_alone)
    assert compare(runs, alone, runs.get(run.id)) == []
    assert not list(folder.checkpoints.glob("*-told"))


def _alone(*arguments: object, **options: object) -> object:
    from riskcore.training.experiment import run_experiment

    return run_experiment(*arguments, **options, processes=1)  # type: ignore[arg-type]


def test_as_many_processes_as_cores_are_free_and_one_beside_another_run(
    runs: RunStore, alone: RunRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = CoreWatch()
    monkeypatch.setattr(watch, "free_cores", lambda: 2)
    free = runs.create(dataclasses.replace(with_processes(runs, 1), engine=EngineConfig()), "free")
    assert module._processes(runs, free, watch) == 2
    assert module._processes(runs, alone, watch) == 1  # as it was asked for
    other = runs.create(with_processes(runs, 1), "other")
    runs.claim(other.id)
    assert module._processes(runs, free, watch) == 1
