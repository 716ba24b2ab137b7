"""Worker processes that need milliseconds: forked, with the real worker's `main` around work that only waits.

They lock, claim, beat, see a cancel and finish as real ones do, and start the next waiting run at their end.
"""

from __future__ import annotations

import os
import threading
import traceback

from riskcore.errors import CancelledError
from riskcore.runs import RunState, RunStore
from riskcore.runs.worker import __main__ as worker
from riskcore.runs.worker import jobs
from riskcore.runs.worker.heartbeat import Heartbeat
from riskcore.storage.lock import FolderLock


def wait_instead_of_work(store: RunStore, run: str, engine: object = None) -> None:
    """As long as the run's name says, in seconds."""
    record, stopping = store.get(run), threading.Event()
    with FolderLock(record.folder, 1.0):
        store.claim(run)
        with Heartbeat(store, run, 0.0, stopping):
            stopping.wait(float(record.name))
        store.finish(run, RunState.CANCELLED if stopping.is_set() else RunState.DONE)
    if stopping.is_set():
        raise CancelledError("stopped")


class QuickWorker:
    """Stands in for `subprocess.Popen`."""

    def __init__(self, command: list[str], **options: object) -> None:
        assert command[1:3] == ["-m", "riskcore.runs.worker"]
        assert options["start_new_session"]
        self._code: int | None = None
        self.pid = os.fork()
        if self.pid == 0:
            code = 70
            try:
                os.setsid()
                code = worker.main(command[3:])
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)

    def poll(self) -> int | None:
        if self._code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self._code = os.waitstatus_to_exitcode(status) if pid else None
        return self._code

    def kill(self) -> None:
        os.kill(self.pid, 9)


def use_quick_workers(monkeypatch) -> None:
    """Let all jobs of this process and of its children start quick workers; other processes start as ever."""
    real = jobs.subprocess.Popen

    def popen(command, **options):
        return (QuickWorker if "riskcore.runs.worker" in command else real)(command, **options)

    monkeypatch.setattr(worker, "execute", wait_instead_of_work)
    monkeypatch.setattr(jobs.subprocess, "Popen", popen)
