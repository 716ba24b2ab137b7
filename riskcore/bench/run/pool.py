"""Working cells off, several at once, each in a process of its own with one thread.

A cell that fails is noted and the others go on. A benchmark that ends early takes its processes with it; what they
had reached is on disk.
"""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

from riskcore.bench.plan.cells import Cell
from riskcore.storage.files import writing

# Beside a busy process, two threads wait for each other up to ten times as long as one takes alone.
_ONE_THREAD = (
    "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "NUMEXPR_NUM_THREADS",
    "RAYON_NUM_THREADS", "LOKY_MAX_CPU_COUNT",
)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Told:
    """What happened to a cell: `started`, `step`, `done`, `failed`, or `stopped` with the benchmark."""

    cell: Cell
    kind: str
    step: str = ""
    share: float = 0.0
    seconds: float = 0.0
    error: str = ""
    resumed: bool = False  # then its seconds are not those of a whole cell


Hear = Callable[[Told], None]


def work_off(cells: Sequence[Cell], out: Path, jobs: int, hear: Hear) -> list[Told]:
    """Work out all cells; the ones that failed. `hear` is called from several threads, one at a time."""
    floor = _Floor(out, hear)
    waiting, running, failed = list(cells), set[Future[Told]](), []
    with ThreadPoolExecutor(max(1, jobs)) as threads:
        try:
            while waiting or running:
                while waiting and len(running) < max(1, jobs):
                    running.add(threads.submit(floor.work, waiting.pop(0)))
                over, running = wait(running, return_when=FIRST_COMPLETED)
                failed += [told for told in (one.result() for one in over) if told.kind == "failed"]
        except BaseException:
            floor.stop()
            raise
    return failed


class _Floor:
    """The processes at work."""

    def __init__(self, out: Path, hear: Hear) -> None:
        self.out, self._hear = out, hear
        self._lock = threading.Lock()
        self._processes: set[subprocess.Popen[str]] = set()
        self._stopped = False

    def work(self, cell: Cell) -> Told:
        """One cell from start to end."""
        started = time.monotonic()
        self._tell(Told(cell, "started"))
        log, error, resumed = cell.log(self.out), "", False
        with writing(log):
            log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("w", encoding="utf-8") as notes, self._start(cell, notes) as process:
            self._processes.add(process)
            if self._stopped:
                process.kill()  # it started while the others were being stopped
            for record in _records(process):
                error, resumed = record.get("error", error), record.get("resumed", resumed)
                if "step" in record:
                    seconds = time.monotonic() - started
                    self._tell(Told(cell, "step", record["step"], record["share"], seconds, resumed=resumed))
        self._processes.discard(process)
        if process.returncode and not error:
            error = f"its process ended with code {process.returncode}. {log} may have the details."
        kind = "stopped" if self._stopped else "failed" if error else "done"
        told = Told(cell, kind, seconds=time.monotonic() - started, error=error, resumed=resumed)
        self._tell(told)
        return told

    def _start(self, cell: Cell, notes: Any) -> subprocess.Popen[str]:
        environment = {**os.environ, **dict.fromkeys(_ONE_THREAD, "1"), "TOKENIZERS_PARALLELISM": "false"}
        process = subprocess.Popen(
            [sys.executable, "-m", "riskcore.bench.run.worker", str(self.out)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=notes, text=True, encoding="utf-8", env=environment,
        )  # fmt: skip
        assert process.stdin is not None
        process.stdin.write(cell.to_json() + "\n")
        process.stdin.flush()  # and left open: its end is the worker's end
        return process

    def stop(self) -> None:
        self._stopped = True
        for process in list(self._processes):
            process.kill()

    def _tell(self, told: Told) -> None:
        with self._lock:
            self._hear(told)


def _records(process: subprocess.Popen[str]) -> Any:
    """The lines of JSON that a worker writes; what a library prints beside them is passed over."""
    assert process.stdout is not None
    for line in process.stdout:
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict):
            yield record
