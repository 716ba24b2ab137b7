"""Parts that several processes score at a time."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Executor, Future
from typing import Any

import numpy as np
import pytest

from riskcore.scale.processes import Done, InProcesses

ROWS = np.arange(3)


class Here:
    """Scores in this process, and notes which thread asked."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def gather(self, part: int, left: np.ndarray, right: np.ndarray) -> int:
        self.asked.append(threading.get_ident())
        time.sleep(0.01)
        return len(left)


class There(Executor):
    """Stands for another process."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def submit(self, *_: Any, **__: Any) -> Future[Any]:
        self.asked.append(threading.get_ident())
        time.sleep(0.01)
        done: Future[Done] = Future()
        done.set_result(Done(len(ROWS), 0.0, 0.0, 1))
        return done


def test_each_thread_keeps_to_one_process() -> None:
    here, others = Here(), [There(), There()]
    workers = InProcesses(here, others)  # type: ignore[arg-type]
    results = [workers.gather(part, ROWS, ROWS) for part in range(30)]
    assert [one.result().pairs for one in results] == [3] * 30
    workers.end()
    threads = [set(one.asked) for one in (here, *others)]
    assert [len(one) for one in threads] == [1, 1, 1]
    assert len(set.union(*threads)) == 3


def test_what_fails_is_told_to_whoever_asked() -> None:
    class Broken(Here):
        def gather(self, part: int, left: np.ndarray, right: np.ndarray) -> int:
            raise ValueError("no")

    workers = InProcesses(Broken(), [])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no"):
        workers.gather(0, ROWS, ROWS).result()
    workers.end()
