"""Helper processes: work that waits for no other work is done in them, where a core is free.

A task is a function of this project and its arguments. The same code on the same inputs gives the same bits in every
process, so only the time depends on who does it. What helpers have been given once (`share`) is not sent again.

A helper ends with the process that started it, however that one ends: it reads a socket that then closes. It holds no
lock, and writes nothing but whole checkpoint files and reports, so that it may be ended at any moment.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from multiprocessing.connection import Connection
from typing import Any, Self, TypeVar

from riskcore.errors import CancelledError, RiskcoreError
from riskcore.matchers.base import ShouldStop, never
from riskcore.paths import child_environment
from riskcore.training.helper import Answer, Question
from riskcore.training.shared_objects import SharedObjects

T = TypeVar("T")
POLL_SECONDS = 0.2  # how often whoever waits for a task looks whether the run was cancelled
_ONE_THREAD = {"LOKY_MAX_CPU_COUNT": "1"}  # a forest grows in one thread; BLAS keeps its own: same threads, same bits


class HelperError(RiskcoreError):
    """A helper process ended, or could not be started."""


class Helpers:
    """Some helper processes, as a context. Tasks are begun in the order in which they are submitted."""

    def __init__(self, count: int, should_stop: ShouldStop = never) -> None:
        self.count, self.should_stop = count, should_stop
        self._shared = SharedObjects()
        self._given: dict[str, bytes] = {}
        self._free: queue.SimpleQueue[_Helper] = queue.SimpleQueue()
        self._all: list[_Helper] = []
        self._threads = ThreadPoolExecutor(count, "helper")

    def __enter__(self) -> Self:
        try:
            for _ in range(self.count):
                self._all.append(_Helper())
                self._free.put(self._all[-1])
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all helpers at once, whatever they do."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for helper in self._all:
            helper.end()
        self._threads.shutdown()

    @property
    def peak_rss_mb(self) -> float:
        """The most memory that each of the helpers has had, added up."""
        return sum(helper.peak for helper in self._all)

    def share(self, name: str, one: Any) -> None:
        """Let tasks mention this object: each helper is given it once, as it is now."""
        self._given[name] = self._shared.dumps(one)
        self._shared.add(name, one)

    def submit(self, function: Callable[..., T], *arguments: Any) -> Future[T]:
        """A task for the next helper that is free. What an argument stands for that is a task itself is its result."""
        return self._threads.submit(self._ask, function, arguments)

    def result(self, task: Future[T], meanwhile: Callable[[], None] = lambda: None) -> T:
        """What a task gave, or its error; `meanwhile` is called now and then until it is there."""
        while not task.done():
            self.check_stop()
            wait([task], POLL_SECONDS)
            meanwhile()
        if task.exception() is not None:
            self.check_stop()  # whoever cancels a run may end its helpers first
        return task.result()

    def check_stop(self) -> None:
        """Give up where the run was cancelled."""
        if self.should_stop():
            raise CancelledError("Training was cancelled; the last checkpoint holds what was reached.")

    def _ask(self, function: Callable[..., T], arguments: tuple[Any, ...]) -> T:
        known = tuple(one.result() if isinstance(one, Future) else one for one in arguments)
        task = self._shared.dumps((function, known))
        helper = self._free.get()
        try:
            answer = helper.ask(task, self._given)
        finally:
            self._free.put(helper)  # also one that has died: what follows must fail, too, not wait
        found: Answer = self._shared.loads(answer)
        helper.peak = max(helper.peak, found.peak_rss_mb)
        if found.error is not None:
            raise found.error
        result: T = found.result
        return result


class _Helper:
    """One process, and the socket to it."""

    def __init__(self) -> None:
        self._process, self._talk = _started()
        self._given: set[str] = set()
        self._lock = threading.Lock()
        self.peak = 0.0
        with contextlib.suppress(OSError):  # it ended at once: the first task tells
            self._send(Question(pickle.dumps(sys.path)))

    def ask(self, task: bytes, shared: dict[str, bytes]) -> bytes:
        """The answer to a task; what it may mention is sent first."""
        with self._lock:
            try:
                for name in [name for name in list(shared) if name not in self._given]:
                    self._send(Question(shared[name], name))
                    self._given.add(name)
                self._send(Question(task))
                return self._talk.recv_bytes()
            except (EOFError, OSError) as error:
                raise HelperError(self._words()) from error

    def end(self) -> None:
        """Kill the process, and wait until it is gone."""
        self._process.kill()
        self._process.wait()
        with self._lock:  # whoever waits for an answer has seen by now that there is none
            self._talk.close()

    def _send(self, question: Question) -> None:
        self._talk.send_bytes(pickle.dumps(question, pickle.HIGHEST_PROTOCOL))

    def _words(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=5)
        code = self._process.returncode
        how = "it still runs" if code is None else f"exit code {code}" if code >= 0 else signal.Signals(-code).name
        return (
            f"A helper process of the run does not answer any more ({how}). Where memory is short, the system ends the "
            "largest processes. Resume the run; a new one with engine.processes=1 needs less memory."
        )


def _started() -> tuple[subprocess.Popen[bytes], Connection]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        try:
            process = subprocess.Popen(
                [sys.executable, "-m", "riskcore.training.helper", str(theirs.fileno()), str(os.getpid())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env={**child_environment(), **_ONE_THREAD},
                pass_fds=[theirs.fileno()],
            )
        except OSError as error:
            raise HelperError(f"A helper process does not start: {error}. engine.processes=1 does without.") from error
        return process, Connection(ours.detach())
