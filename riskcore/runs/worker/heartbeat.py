"""The worker's heartbeat: a thread that says every two seconds that it lives, and hears whether it should stop."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any, Self

from riskcore.errors import StorageError
from riskcore.runs.store.liveness import BEAT_SECONDS
from riskcore.runs.store.run_record import RunError
from riskcore.runs.store.run_store import RunStore

LISTEN_SECONDS = 0.5  # a cancel is heard within this


class Heartbeat:
    """Beats while the context lasts. `stopping` is set once someone cancels the run."""

    def __init__(self, store: RunStore, run: str, spent: float, stopping: threading.Event) -> None:
        self.store, self.run, self.stopping = store, run, stopping
        self._started, self._spent = time.monotonic(), spent
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)

    @property
    def seconds(self) -> float:
        """Worked on the run so far, earlier attempts included."""
        return self._spent + time.monotonic() - self._started

    def __enter__(self) -> Self:
        with contextlib.suppress(RunError, StorageError):
            self._listen()  # the wish may be older than the worker
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(timeout=10)

    def _beat(self) -> None:
        last = time.monotonic()  # to take up the run was a beat
        while not self._over.wait(LISTEN_SECONDS):
            # A full disk is for the work to report; the next beat may get through.
            with contextlib.suppress(RunError, StorageError):
                self._listen()
                if time.monotonic() - last >= BEAT_SECONDS:
                    self.store.beat(self.run, self.seconds)
                    last = time.monotonic()

    def _listen(self) -> None:
        if self.store.cancel_requested(self.run):
            self.stopping.set()


@contextlib.contextmanager
def stopping_on_signals(stopping: threading.Event) -> Iterator[None]:
    """Ctrl-C and a polite kill ask the run to stop; asked a second time, it stops where it stands."""

    def stop(number: int, _: Any) -> None:
        if stopping.is_set():
            raise KeyboardInterrupt
        stopping.set()

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
