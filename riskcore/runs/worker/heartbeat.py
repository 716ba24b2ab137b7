"""The worker's heartbeat: a thread that records every two seconds that the worker lives, and watches for a cancel."""

from __future__ import annotations

import contextlib
import threading
import time
from typing import Self

from riskcore.errors import StorageError
from riskcore.runs.store.liveness import BEAT_SECONDS
from riskcore.runs.store.run_record import RunError
from riskcore.runs.store.run_store import RunStore

POLL_SECONDS = 0.5  # a cancel takes effect within this


class Heartbeat:
    """Beats while the context lasts. `stopping` is set once someone cancels the run."""

    def __init__(self, store: RunStore, run: str, spent: float, stopping: threading.Event) -> None:
        self.store, self.run, self.stopping = store, run, stopping
        self._started, self._spent = time.monotonic(), spent
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)

    @property
    def seconds(self) -> float:
        """Time worked on the run so far, earlier attempts included."""
        return self._spent + time.monotonic() - self._started

    def __enter__(self) -> Self:
        with contextlib.suppress(RunError, StorageError):
            self._check_cancel()  # someone may have cancelled before the worker started
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(timeout=10)

    def _beat(self) -> None:
        last = time.monotonic()  # claiming the run counted as a beat
        while not self._over.wait(POLL_SECONDS):
            # The work itself reports a full disk; here the next beat may get through.
            with contextlib.suppress(RunError, StorageError):
                self._check_cancel()
                if time.monotonic() - last >= BEAT_SECONDS:
                    self.store.beat(self.run, self.seconds)
                    last = time.monotonic()

    def _check_cancel(self) -> None:
        if self.store.cancel_requested(self.run):
            self.stopping.set()
