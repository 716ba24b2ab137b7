"""Any number of pairs scored with a run's bundle, into a folder of Parquet files."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

from riskcore.config import ScaleConfig
from riskcore.errors import ConfigError
from riskcore.matchers.external import ExternalMatcher
from riskcore.runs.bundle.read import open_bundle
from riskcore.runs.folder import RunFolder
from riskcore.scale.folder import ScoredFacts, ScoredFolder
from riskcore.scale.inputs import open_input
from riskcore.scale.job import READING, Job, OnShare
from riskcore.scale.processes import Pool, peak_mb, pool
from riskcore.storage.files import private_folder, read_json, write_json
from riskcore.storage.lock import FileLock

Engine = Callable[[Path, str, ScaleConfig], AbstractContextManager[Pool]]  # what scores the parts of a folder


@dataclasses.dataclass(frozen=True)
class Scored:
    """What was scored, and what it took."""

    folder: ScoredFolder
    facts: ScoredFacts
    measured: dict[str, Any]


def score(
    run: RunFolder,
    out: Path,
    pairs: Path | None = None,
    left: Path | None = None,
    right: Path | None = None,
    *,
    method: str | None = None,
    top: int | None = None,
    processes: int = 1,
    config: ScaleConfig | None = None,
    on_progress: OnShare | None = None,
    engine: Engine | None = None,
) -> Scored:
    """Score the pairs (see `open_input`) into the folder `out`. Started again, it goes on where it stopped. An
    `engine` other than the processes of this machine scores as many parts at a time."""
    config, tell = config or ScaleConfig(), on_progress or _silent
    started, folder = time.monotonic(), ScoredFolder(out)
    bundle = open_bundle(run)
    name, _ = bundle.method(method)
    if bundle.config.matcher.kind == ExternalMatcher.kind:
        raise ConfigError(
            f"The matcher of run {bundle.facts['run']} is a file of scores. Use `riskcore apply` with --scores."
        )
    private_folder(folder.path)
    with FileLock(folder.lock_file):
        tell("reading", 0.0)
        given = open_input(
            bundle, pairs, left, right, top=top, workspace=folder.path / "pairs-of-records",
            on_progress=lambda what, share: tell(what, READING * share),
        )  # fmt: skip
        job = Job(folder, bundle, name, config, given.pairs)
        if job.begin(given.left, given.right):
            return Scored(folder, folder.facts(), read_json(folder.measured_file))
        del given
        reading = time.monotonic() - started
        local = partial(pool, processes=processes)
        with (engine or local)(folder.path, name, config) as workers:
            measured = job.work(workers, tell)
            tell("finding the riskiest pairs", 0.98)
            facts = job.end(workers)
    measured |= {
        "reading": round(reading, 2),
        "total": round(time.monotonic() - started, 2),
        "processes": processes,
        "cpu_seconds": round(measured.pop("others_cpu_seconds") + time.process_time(), 2),
        "peak_mb": round(measured.pop("others_peak_mb") + peak_mb(), 1),
    }
    write_json(folder.measured_file, measured)
    return Scored(folder, facts, measured)


def default_processes() -> int:
    """One for each core that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _silent(what: str, share: float) -> None:
    """No progress is shown."""
