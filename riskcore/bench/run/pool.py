"""Runs cells, several at once, each in a process of its own with one thread.

A cell that fails is noted and the others go on. A benchmark that ends early stops its processes; their progress is on
disk.
"""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import IO

from riskcore.bench.plan.cells import Cell
from riskcore.bench.run.schema import WorkerMessage
from riskcore.storage.files import writing

# Beside a busy process, two threads wait for each other up to ten times as long as one takes alone.
_ONE_THREAD = (
    "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "NUMEXPR_NUM_THREADS",
    "RAYON_NUM_THREADS", "LOKY_MAX_CPU_COUNT",
)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class CellEvent:
    """What happened to a cell: `started`, `step`, `done`, `failed`, or `stopped` with the benchmark."""

    cell: Cell
    kind: str
    step: str = ""
    share: float = 0.0
    seconds: float = 0.0
    error: str = ""
    resumed: bool = False  # then its seconds are not those of a whole cell


OnEvent = Callable[[CellEvent], None]


def run_cells(cells: Sequence[Cell], out: Path, jobs: int, on_event: OnEvent) -> list[CellEvent]:
    """Run all cells and return the failures. `on_event` is called from several threads, one at a time."""
    pool = _WorkerPool(out, on_event)
    waiting, running, failed = list(cells), set[Future[CellEvent]](), []
    with ThreadPoolExecutor(max(1, jobs)) as threads:
        try:
            while waiting or running:
                while waiting and len(running) < max(1, jobs):
                    running.add(threads.submit(pool.run, waiting.pop(0)))
                ended, running = wait(running, return_when=FIRST_COMPLETED)
                failed += [event for event in (one.result() for one in ended) if event.kind == "failed"]
        except BaseException:
            pool.stop()
            raise
    return failed


class _WorkerPool:
    """The worker processes that are running."""

    def __init__(self, out: Path, on_event: OnEvent) -> None:
        self.out, self._on_event = out, on_event
        self._lock = threading.Lock()
        self._processes: set[subprocess.Popen[str]] = set()
        self._stopped = False

    def run(self, cell: Cell) -> CellEvent:
        """One cell from start to end."""
        started = time.monotonic()
        self._notify(CellEvent(cell, "started"))
        log, error, resumed = cell.log(self.out), "", False
        with writing(log):
            log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("w", encoding="utf-8") as lines, self._start(cell, lines) as process:
            self._processes.add(process)
            if self._stopped:
                process.kill()  # it started while the others were being stopped
            for message in _messages(process):
                error, resumed = message.get("error", error), message.get("resumed", resumed)
                if "step" in message:
                    seconds = time.monotonic() - started
                    step, share = message["step"], message.get("share", 0.0)
                    self._notify(CellEvent(cell, "step", step, share, seconds, resumed=resumed))
        self._processes.discard(process)
        if process.returncode and not error:
            error = f"its process ended with code {process.returncode}. See {log}."
        kind = "stopped" if self._stopped else "failed" if error else "done"
        event = CellEvent(cell, kind, seconds=time.monotonic() - started, error=error, resumed=resumed)
        self._notify(event)
        return event

    def _start(self, cell: Cell, log: IO[str]) -> subprocess.Popen[str]:
        environment = {**os.environ, **dict.fromkeys(_ONE_THREAD, "1"), "TOKENIZERS_PARALLELISM": "false"}
        process = subprocess.Popen(
            [sys.executable, "-m", "riskcore.bench.run.worker", str(self.out)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, encoding="utf-8", env=environment,
        )  # fmt: skip
        assert process.stdin is not None
        process.stdin.write(cell.to_json() + "\n")
        process.stdin.flush()  # stays open: the worker ends when it is closed
        return process

    def stop(self) -> None:
        self._stopped = True
        for process in list(self._processes):
            process.kill()

    def _notify(self, event: CellEvent) -> None:
        with self._lock:
            self._on_event(event)


def _messages(process: subprocess.Popen[str]) -> Iterator[WorkerMessage]:
    """The lines of JSON that a worker writes; anything that a library prints between them is ignored."""
    assert process.stdout is not None
    for line in process.stdout:
        try:
            message = json.loads(line)
        except ValueError:
            continue
        if isinstance(message, dict):
            yield WorkerMessage(**message)
