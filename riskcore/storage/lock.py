"""One process at a time: an operating-system lock on a file.

The system releases the lock when the process ends, however it ends, so a killed process blocks no other.
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


class FileLock:
    """Holds a lock file as a context manager; raises `BusyError` if another process does.

    `patience` is how many seconds to wait for it. The file stays behind: removing it would let two processes hold
    locks on two files of one name.
    """

    def __init__(self, path: Path, patience: float = 0.0) -> None:
        self.path, self.patience = path, patience
        self._descriptor: int | None = None

    def __enter__(self) -> Self:
        try:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise storage_error(self.path, error) from error
        if not self._acquire(descriptor):
            holder = os.pread(descriptor, 200, 0).decode("utf-8", "replace").strip()
            os.close(descriptor)
            raise BusyError(self._busy(f" ({holder})" if holder else ""))
        self._descriptor = descriptor
        with contextlib.suppress(OSError):  # a full disk must not keep anyone from holding the lock
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"process {os.getpid()} on {os.uname().nodename}\n".encode(), 0)
        return self

    def _acquire(self, descriptor: int) -> bool:
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

    def _busy(self, holder: str) -> str:
        return f"Another process{holder} holds {self.path}. Wait until it is done and try again."

    def __exit__(self, *_: object) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


class FolderLock(FileLock):
    """The lock of a folder that one worker at a time writes to, such as a run's."""

    def __init__(self, folder: Path, patience: float = 0.0) -> None:
        super().__init__(folder / LOCK_FILE, patience)

    def _busy(self, holder: str) -> str:
        return (
            f"Run {self.path.parent.name} is being worked on by another worker{holder}. Watch it, or cancel it first."
        )
