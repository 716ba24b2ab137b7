"""One process at a time: an operating-system lock on a file in a folder, such as a run's.

The system lets go of it when the process ends, however it ends, so a killed worker blocks nobody.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from pathlib import Path
from typing import Self

from riskcore.errors import BusyError
from riskcore.storage.files import storage_error

LOCK_FILE = "worker.lock"


class FolderLock:
    """Holds a folder as a context manager; raises `BusyError` if another process does.

    `patience` is how many seconds to wait for it: a killed process takes a moment to let go.
    """

    def __init__(self, folder: Path, patience: float = 0.0) -> None:
        self.path, self.patience = folder / LOCK_FILE, patience
        self._descriptor: int | None = None

    def __enter__(self) -> Self:
        try:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise storage_error(self.path, error) from error
        if not self._taken(descriptor):
            holder = os.pread(descriptor, 200, 0).decode("utf-8", "replace").strip()
            os.close(descriptor)
            raise BusyError(_message(self.path.parent.name, holder))
        self._descriptor = descriptor
        with contextlib.suppress(OSError):  # a full disk keeps no one from holding the lock
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"process {os.getpid()} on {os.uname().nodename}\n".encode(), 0)
        return self

    def _taken(self, descriptor: int) -> bool:
        until = time.monotonic() + self.patience
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                if time.monotonic() >= until:
                    return False
                time.sleep(0.05)
            else:
                return True

    def __exit__(self, *_: object) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _message(run: str, holder: str) -> str:
    who = f" ({holder})" if holder else ""
    return f"Run {run} is being worked on by another worker{who}. Watch it, or cancel it first."
