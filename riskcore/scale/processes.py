"""The processes that score parts: each opens bundle and tables once, then takes part after part.

They are started anew, not forked: torch and Arrow keep threads that a fork would break. On Linux, the system ends them
with the process that started them, however that ends.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import os
import resource
import signal
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import Protocol

import numpy as np
import pyarrow as pa

from riskcore.config import ScaleConfig
from riskcore.errors import StorageError
from riskcore.scale.parts import PartScorer

_PR_SET_PDEATHSIG = 1
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


class InThisProcess:
    """One part after the other, here."""

    ahead = 1

    def __init__(self, scorer: PartScorer) -> None:
        self._scorer = scorer

    def gather(self, part: int, left: np.ndarray, right: np.ndarray) -> Future[Done]:
        return _done(self._scorer.gather(part, left, right))

    def finish(self, part: int, competitors: np.ndarray) -> Future[Done]:
        return _done(self._scorer.finish(part, competitors))


class InProcesses:
    """Several parts at a time, in processes of their own."""

    def __init__(self, executor: ProcessPoolExecutor, processes: int) -> None:
        self._executor, self.ahead = executor, processes + _AHEAD

    def gather(self, part: int, left: np.ndarray, right: np.ndarray) -> Future[Done]:
        return self._executor.submit(_gather, part, left, right)

    def finish(self, part: int, competitors: np.ndarray) -> Future[Done]:
        return self._executor.submit(_finish, part, competitors)


@contextlib.contextmanager
def pool(folder: Path, method: str, config: ScaleConfig, processes: int) -> Iterator[Pool]:
    """What scores the parts of a folder; with one process, this one."""
    if processes <= 1:
        yield InThisProcess(PartScorer(folder, method, config))
        return
    with _one_thread_each():
        executor = ProcessPoolExecutor(processes, get_context("spawn"), _open, (os.getpid(), folder, method, config))
        try:
            yield InProcesses(executor, processes)
        except BrokenProcessPool as error:
            raise StorageError(
                "A process that scored pairs was ended from outside, perhaps for lack of memory. Finished parts are "
                "kept: start again, with fewer --processes if memory is short."
            ) from error
        finally:
            executor.shutdown(wait=True, cancel_futures=True)


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


def _open(parent: int, folder: Path, method: str, config: ScaleConfig) -> None:
    global _scorer
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it ended before the call above
            os._exit(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started this one decides
    pa.set_cpu_count(1)
    _scorer = PartScorer(folder, method, config)


def _gather(part: int, left: np.ndarray, right: np.ndarray) -> Done:
    assert _scorer is not None
    return told(_scorer.gather(part, left, right))


def _finish(part: int, competitors: np.ndarray) -> Done:
    assert _scorer is not None
    return told(_scorer.finish(part, competitors))


def _done(pairs: int) -> Future[Done]:
    future: Future[Done] = Future()
    future.set_result(told(pairs))
    return future


def told(pairs: int) -> Done:
    """A part of so many pairs, worked on in this process."""
    return Done(pairs, peak_mb(), time.process_time(), os.getpid())


@contextlib.contextmanager
def _one_thread_each() -> Iterator[None]:
    """Processes that are started here use one thread: there is one for each core."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
