"""The worker as a process of the operating system: its priority, and the signals that ask it to stop."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NICENESS = 5  # a third of the usual share while other processes need the processor; all of it otherwise
AUTOGROUP = Path("/proc/self/autogroup")
signalled = threading.Event()  # set once this process was asked to stop by a signal


def lower_priority(autogroup: Path = AUTOGROUP) -> None:
    """Let other processes go first: training for minutes must not slow down the screens.

    Linux shares a desktop's processor by session, and within a session by niceness. The worker has a session of its
    own, so that session has to be made nicer too. Where neither is allowed, the priority stays as it is.
    """
    with contextlib.suppress(OSError):
        os.nice(max(0, NICENESS - os.nice(0)))  # it may have been started by a worker, whose niceness it has
    if os.getsid(0) == os.getpid():  # else the session is someone's terminal
        with contextlib.suppress(OSError):
            autogroup.write_text(str(NICENESS), encoding="ascii")


@contextlib.contextmanager
def stopping_on_signals(stopping: threading.Event) -> Iterator[None]:
    """Ctrl-C and SIGTERM ask the run to stop at its next step; a second one stops it at once."""

    def stop(number: int, _: Any) -> None:
        signalled.set()
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
