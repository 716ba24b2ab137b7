"""A worker pool: a process that lives long and takes waiting runs in order, with a worker process for each.

Several pools, on one machine or on many, can share a store. A pool that is killed leaves its workers at work; what
waits is taken by another pool or by whoever looks at the runs.
"""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Callable

from riskcore.errors import StorageError
from riskcore.runs.store.run_record import RunError, RunNotFoundError
from riskcore.runs.store.run_store import RunStore
from riskcore.runs.worker.jobs import cancel, spawn

POLL_SECONDS = 1.0  # between two looks at the queue
PAUSE_SECONDS = 0.2  # between two looks at this pool's workers


class WorkerPool:
    """Takes waiting runs while this machine has fewer than `slots` of them at work, whoever started them.

    `stop` ends the pool once its runs are done; `stop` again cancels them first. `tell` is given one line for each
    thing that happens.
    """

    def __init__(self, store: RunStore, slots: int, tell: Callable[[str], None]) -> None:
        self.store, self.slots, self.tell = store, slots, tell
        self.cancelled: set[str] = set()
        self._stops = 0  # a number, since a lock could be held by what a signal handler interrupts
        self._workers: dict[str, subprocess.Popen[bytes]] = {}  # of this pool; the store decides who has a run
        self._problem = ""

    def stop(self) -> None:
        """Take no more runs; the second time, cancel those at work. Safe in a signal handler."""
        self._stops += 1

    def work(self, once: bool = False) -> None:
        """Until it is stopped; `once`: until no run waits and those of this pool have ended."""
        looked = -POLL_SECONDS
        while True:
            self._reap()
            if not self._stops and time.monotonic() - looked >= POLL_SECONDS:
                self._take()
                looked = time.monotonic()
                if once and not self._workers and not self._waits():
                    return
            if self._stops > 1:
                self._cancel()
            if self._stops and not self._workers:
                return
            time.sleep(PAUSE_SECONDS)

    def _take(self) -> None:
        """Start what can be started."""
        try:
            while (run := self.store.reserve(self.slots)) is not None:
                worker = spawn(self.store, run)
                if worker is not None:
                    self._workers[run] = worker
                    self.tell(f"Run {run} is started.")
            self._problem = ""
        except StorageError as error:  # a server may be away for longer than anyone waits: the pool outlives it
            if str(error) != self._problem:
                self.tell(f"{error} Trying again.")
            self._problem = str(error)

    def _waits(self) -> bool:
        """Whether a run still waits; also while the store cannot tell."""
        with contextlib.suppress(StorageError):
            return any(record.queued for record in self.store.list())
        return True

    def _reap(self) -> None:
        """Notice workers that have ended."""
        for run, worker in list(self._workers.items()):
            if worker.poll() is not None:
                del self._workers[run]
                self.tell(f"Run {run} is {self._state(run)}.")

    def _state(self, run: str) -> str:
        try:
            return self.store.get(run).state.value
        except RunNotFoundError:
            return "deleted"
        except StorageError:  # the next look says so
            return "no longer worked on"

    def _cancel(self) -> None:
        """Cancel the runs at work; each stops at its next step and can be resumed."""
        for run in self._workers.keys() - self.cancelled:
            with contextlib.suppress(StorageError):  # the next look repeats it
                try:
                    cancel(self.store, run)
                    self.tell(f"Run {run} is asked to stop.")
                except RunError:
                    pass  # it has just ended
                self.cancelled.add(run)
