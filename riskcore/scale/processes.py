"""The processes that score parts: this one and others. Each opens the bundle once, then takes part after part. The
tables are prepared once, into a file that all of them map.

The others are started anew, not forked: torch and Arrow keep threads that a fork would break. On Linux, the system ends
them with the thread that started them, however that ends.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import os
import queue
import resource
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import Literal, Protocol

import numpy as np
import pyarrow as pa
from threadpoolctl import threadpool_limits

from riskcore.config import ScaleConfig
from riskcore.errors import StorageError
from riskcore.runs.bundle.read import Bundle
from riskcore.scale.folder import ScoredFolder
from riskcore.scale.mapped import Mapped
from riskcore.scale.parts import PartScorer
from riskcore.scale.scorer import PreparedTables
from riskcore.storage.files import remove_file
from riskcore.storage.memory import give_back_memory

_PR_SET_PDEATHSIG = 1
_Work = Literal["gather", "finish"]
_AHEAD = 2  # parts handed out beyond those that are worked on, so that no process waits
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclasses.dataclass(frozen=True)
class Done:
    """A part that was worked on."""

    pairs: int
    peak_mb: float  # of the process that did it, so far
    cpu_seconds: float  # of that process, so far
    process: int


class Pool(Protocol):
    """What works on parts."""

    ahead: int  # parts that may be handed out at a time

    def gather(self, part: int, left: np.ndarray, right: np.ndarray) -> Future[Done]: ...
    def finish(self, part: int, competitors: np.ndarray) -> Future[Done]: ...
    def scorer(self) -> PartScorer: ...  # of this process


class InThisProcess:
    """One part after the other, here."""

    ahead = 1

    def __init__(self, scorer: PartScorer) -> None:
        self._scorer = scorer

    def gather(self, part: int, left: np.ndarray, right: np.ndarray) -> Future[Done]:
        return _done(told(self._scorer.gather(part, left, right)))

    def finish(self, part: int, competitors: np.ndarray) -> Future[Done]:
        return _done(told(self._scorer.finish(part, competitors)))

    def scorer(self) -> PartScorer:
        return self._scorer


class InProcesses:
    """Several parts at a time: one in a thread of this process, each other one in a process of its own."""

    def __init__(self, here: PartScorer, others: Sequence[ProcessPoolExecutor]) -> None:
        self._here, self.ahead = here, 1 + len(others) + _AHEAD
        self._free: queue.SimpleQueue[ProcessPoolExecutor | None] = queue.SimpleQueue()
        for one in (*others, None):  # None: this process
            self._free.put(one)
        self._own = threading.local()
        self._threads = ThreadPoolExecutor(1 + len(others), "scoring", self._begin)

    def gather(self, part: int, left: np.ndarray, right: np.ndarray) -> Future[Done]:
        return self._threads.submit(self._work, "gather", part, left, right)

    def finish(self, part: int, competitors: np.ndarray) -> Future[Done]:
        return self._threads.submit(self._work, "finish", part, competitors)

    def scorer(self) -> PartScorer:
        return self._here

    def end(self) -> None:
        self._threads.shutdown(wait=True, cancel_futures=True)

    def _begin(self) -> None:
        """A thread keeps to one process. If any of them could score here, memory would be held back for each."""
        self._own.process = self._free.get()

    def _work(self, what: _Work, part: int, *arrays: np.ndarray) -> Done:
        process: ProcessPoolExecutor | None = self._own.process
        if process is None:
            return _do(self._here, what, part, *arrays)
        return process.submit(_do_there, what, part, *arrays).result()


@dataclasses.dataclass(frozen=True)
class _Opening:
    """What a process opens."""

    folder: Path
    method: str
    config: ScaleConfig
    tables: Mapped

    def open(self) -> PartScorer:
        return PartScorer(self.folder, self.method, self.config, self.tables.open())


@contextlib.contextmanager
def pool(folder: Path, method: str, config: ScaleConfig, processes: int) -> Iterator[Pool]:
    """What scores the parts of a folder; with one process, this one."""
    if processes <= 1:
        yield InThisProcess(PartScorer(folder, method, config))
        return
    with contextlib.ExitStack() as stack:
        stack.enter_context(_one_thread_each())
        opening = _Opening(folder, method, config, stack.enter_context(_shared_tables(folder)))
        others = [
            ProcessPoolExecutor(1, get_context("spawn"), _open, (os.getpid(), opening)) for _ in range(processes - 1)
        ]
        for one in others:
            stack.callback(one.shutdown, wait=True, cancel_futures=True)
            one.submit(os.getpid)  # starts the process, from this thread
        try:
            workers = InProcesses(opening.open(), others)
            stack.callback(workers.end)
            yield workers
        except BrokenProcessPool as error:
            raise StorageError(
                "A process that scored pairs was ended from outside, perhaps for lack of memory. Finished parts are "
                "kept: start again, with fewer --processes if memory is short."
            ) from error


@contextlib.contextmanager
def _shared_tables(folder: Path) -> Iterator[Mapped]:
    """The tables of a folder, prepared, in a file that lies there meanwhile."""
    scored = ScoredFolder(folder)
    try:
        tables = Mapped.write(PreparedTables.of(Bundle(scored.bundle), *scored.tables()), scored.shared_tables)
        give_back_memory()
        yield tables
    finally:
        remove_file(scored.shared_tables)


def peak_mb() -> float:
    """The most memory that this process has had. Pages that several processes share, such as libraries, count in parts
    where the system tells them."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        lines = Path("/proc/self/smaps_rollup").read_text(encoding="ascii").splitlines()
    except OSError:
        return most / 1024 if sys.platform != "darwin" else most / 1024**2
    now = {line.split(":")[0]: int(line.split()[1]) for line in lines if line.endswith("kB")}
    return (most - now["Rss"] + now["Pss"]) / 1024


_scorer: PartScorer | None = None  # of a scoring process


def _open(parent: int, opening: _Opening) -> None:
    global _scorer
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it ended before the call above
            os._exit(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started this one decides
    pa.set_cpu_count(1)
    _scorer = opening.open()


def _do_there(what: _Work, part: int, *arrays: np.ndarray) -> Done:
    assert _scorer is not None
    return _do(_scorer, what, part, *arrays)


def _do(scorer: PartScorer, what: _Work, part: int, *arrays: np.ndarray) -> Done:
    work = scorer.gather if what == "gather" else scorer.finish
    return told(work(part, *arrays))


def _done(done: Done) -> Future[Done]:
    future: Future[Done] = Future()
    future.set_result(done)
    return future


def told(pairs: int) -> Done:
    """A part of so many pairs, worked on in this process."""
    return Done(pairs, peak_mb(), time.process_time(), os.getpid())


@contextlib.contextmanager
def _one_thread_each() -> Iterator[None]:
    """Each process uses one thread, those that are started here too: there is one for each core."""
    before, arrow = {name: os.environ.get(name) for name in _THREADS}, pa.cpu_count()
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    pa.set_cpu_count(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        pa.set_cpu_count(arrow)
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
