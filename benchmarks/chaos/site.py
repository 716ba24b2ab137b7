"""Where attacks take place, how large they are, and what they report."""

from __future__ import annotations

import dataclasses
import os
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from riskcore.audit import VerdictLog
from riskcore.audit.estimate.runs import draw_audit
from riskcore.config import AdaptConfig, MatcherConfig, RunConfig, TuneConfig
from riskcore.runs import PairQuery, RunFolder, RunStore, query_pairs
from riskcore.runs.store.run_record import RunState
from tests.runs.conftest import small_data

PROJECT = Path(__file__).resolve().parents[2]
WORKER = (sys.executable, "-m", "riskcore.runs.worker")
METHODS = ("tradition", "risk", "forest")


@dataclasses.dataclass(frozen=True)
class Figure:
    """A line of the table. `met` is None where the attack could not be made, and `found` says why."""

    attack: str
    tried: str
    found: str
    bar: str
    met: bool | None
    details: tuple[str, ...] = ()  # what went wrong, for whoever repairs it


@dataclasses.dataclass(frozen=True)
class Sizes:
    """How much of each attack."""

    inputs: int = 10_400
    flips: int = 300
    spoilt: int = 120  # files cut, exchanged, removed
    writer_kills: int = 80
    worker_kills: int = 14
    server_kills: int = 6
    concurrent: int = 200  # verdicts of each of four writers
    workers: int = 2  # child processes at once


class Site:
    """A folder of its own that disappears afterwards, with a seed and a moment by which everything is over."""

    def __init__(
        self,
        place: Path,
        seed: int = 0,
        sizes: Sizes | None = None,
        minutes: float = 14.0,
        worker: Sequence[str] = WORKER,
    ) -> None:
        self.place, self.seed, self.sizes, self.worker = place, seed, sizes or Sizes(), tuple(worker)
        self._end = time.monotonic() + 60 * minutes

    def chance(self, *what: object) -> random.Random:
        """A generator of its own for each thing that is drawn, so that attacks do not depend on each other."""
        return random.Random("/".join(map(str, (self.seed, *what))))

    @property
    def over(self) -> bool:
        return time.monotonic() > self._end

    def folder(self, name: str) -> Path:
        """A new folder."""
        found = self.place / name
        found.mkdir(parents=True)
        return found

    @cached_property
    def data(self) -> Path:
        return small_data(self.place / "data")

    @property
    def config(self) -> RunConfig:
        """A run that takes seconds."""
        fast = MatcherConfig(kind="toy")
        return RunConfig(
            str(self.data), methods=METHODS, matcher=fast, tune=TuneConfig(epochs=3), adapt=AdaptConfig(iterations=3)
        )

    @cached_property
    def finished(self) -> RunFolder:
        """A finished run with verdicts and an audit. Attacks work on copies of its store."""
        store = RunStore(self.place / "finished")
        run = store.create(self.config, "finished")
        command = [*self.worker, run.id, "--root", str(store.root)]
        done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, env=environment())
        if store.get(run.id).state is not RunState.DONE:
            raise RuntimeError(f"The run to attack failed: {store.get(run.id).error or done.stderr[-2000:]}")
        folder = RunFolder(run.folder)
        draw_audit(folder, 10)
        log = VerdictLog(store)
        for number, pair in enumerate(query_pairs(folder, PairQuery(page_size=8)).rows["pair_id"]):
            log.add(run.id, str(pair), "non-match" if number % 3 else "match", f"note {number}", "Ann")
        return folder


def environment(**more: str) -> dict[str, str]:
    """For child processes: this checkout, and one thread each."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    return {**os.environ, **threads, "PYTHONPATH": str(PROJECT), **more}


def share(part: int, whole: int) -> str:
    """Such as "12 of 12 (100 %)"; never rounded up to 100."""
    percent = int(1000 * part / whole) / 10 if whole else 0.0
    return f"{part:,} of {whole:,} ({percent:g} %)"
