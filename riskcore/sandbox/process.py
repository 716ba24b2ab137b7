"""The web process's end of the process apart: starts it, asks it, and says in one sentence what went wrong there."""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from riskcore import errors
from riskcore.audit.verdicts import VerdictError
from riskcore.data.problems import DataFormatError
from riskcore.errors import RiskcoreError, StorageError
from riskcore.paths import child_environment
from riskcore.sandbox import frames
from riskcore.sandbox.errors import CrowdedError, ended, out_of_memory, out_of_time, too_much_to_show, unexpected
from riskcore.sandbox.limits import Limits, read_limits
from riskcore.sandbox.wire import decoded, encoded

GRACE = 10.0  # seconds beyond the limit that the process has to start and to answer
_OWN = "RISKCORE_"  # environment variables that a task needs as they are now
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "ARROW_IO_THREADS")
_KNOWN = {one.__name__: one for one in vars(errors).values() if isinstance(one, type)} | {"VerdictError": VerdictError}


class _LostError(Exception):
    """The process that forks has gone without a word about its child."""


class Sandbox:
    """Reads files in limited processes, each of its own. Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._door: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._places = threading.BoundedSemaphore(Limits().at_once)

    def run(self, task: str, *arguments: Any, limits: Limits | None = None) -> Any:
        """What the task answers. Raises its error, or `ReadingError` if it broke its process or its limits."""
        limits = limits or read_limits()
        if not self._places.acquire(timeout=limits.seconds):
            raise CrowdedError("The server is reading as many files as it may at once. Try again in a minute.")
        try:
            try:
                return self._ask(task, arguments, limits)
            except _LostError:  # not the file's fault: the process that forks was ended
                return self._ask(task, arguments, limits)
        except _LostError as error:
            raise StorageError("The process that reads files was ended. Try again.") from error
        finally:
            self._places.release()

    def get_ready(self) -> None:
        """Start the process that waits, without waiting for it."""
        with self._lock:
            self._started()

    def close(self) -> None:
        """End the process that waits; a later task starts another."""
        with self._lock:
            self._close()

    def _ask(self, task: str, arguments: tuple[Any, ...], limits: Limits) -> Any:
        question = {
            "task": task,
            "arguments": list(arguments),
            "limits": dataclasses.asdict(limits),
            "environment": {name: value for name, value in os.environ.items() if name.startswith(_OWN)},
            "folder": str(Path.cwd()),
        }
        talk, ending = self._open()
        with talk, ending:
            deadline = time.monotonic() + limits.seconds + GRACE
            _until(talk, deadline)
            with contextlib.suppress(BrokenPipeError):  # it ended early: why is told below
                frames.send(talk, encoded(question))
            return _heard(talk, ending, limits, deadline)

    def _open(self) -> tuple[socket.socket, socket.socket]:
        """Sockets to a new process: for the task, and for how it ends."""
        ours, theirs = zip(socket.socketpair(), socket.socketpair(), strict=True)
        with self._lock:
            for attempt in (1, 2):
                try:
                    socket.send_fds(self._started(), [b"?"], [one.fileno() for one in theirs])
                    break
                except OSError as error:  # the process has ended since
                    self._close()
                    if attempt == 2:
                        raise StorageError(f"The process that reads files does not start: {error}.") from error
        for one in theirs:
            one.close()
        return ours[0], ours[1]

    def _started(self) -> socket.socket:
        if self._door is not None:
            return self._door
        door, theirs = socket.socketpair()
        # The system's allocator: others reserve gigabytes of addresses, which count against the limit.
        own = {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "2", **dict.fromkeys(_ONE_THREAD, "1")}
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "riskcore.sandbox", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env={**child_environment(), **own},
                pass_fds=[theirs.fileno()],
            )
        self._door = door
        return door

    def _close(self) -> None:
        if self._door is not None:
            self._door.close()
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=5)
            if self._process.poll() is None:
                self._process.kill()
                self._process.wait()
        self._door = self._process = None


def _heard(talk: socket.socket, ending: socket.socket, limits: Limits, deadline: float) -> Any:
    """The answer, or what became of the process that owes it."""
    file: Path | None = None
    try:
        while (content := frames.receive(talk, limits.answer_bytes)) is not None:
            heard = decoded(content)
            if "at" in heard:
                file = heard["at"]
                continue
            return _said(heard, file, limits)
        _until(ending, deadline)
        status = frames.receive(ending, 1_000)
    except TimeoutError as error:
        raise out_of_time(file, limits) from error
    except frames.TooLongError as error:
        raise too_much_to_show(file, limits) from error
    except ConnectionError:
        status = None
    if status is None:
        raise _LostError
    raise ended(int(decoded(status)), file, limits)


def _said(heard: dict[str, Any], file: Path | None, limits: Limits) -> Any:
    if "answer" in heard:
        return heard["answer"]
    if "memory" in heard:
        raise out_of_memory(file, limits)
    if "too long" in heard:
        raise too_much_to_show(file, limits)
    if "unexpected" in heard:
        raise unexpected(file, heard["unexpected"])
    if heard["error"] == DataFormatError.__name__:
        raise DataFormatError(heard["problems"])
    raise _KNOWN.get(heard["error"], RiskcoreError)(heard["words"])


def _until(connection: socket.socket, deadline: float) -> None:
    connection.settimeout(max(deadline - time.monotonic(), 0.1))


SANDBOX = Sandbox()
atexit.register(SANDBOX.close)
