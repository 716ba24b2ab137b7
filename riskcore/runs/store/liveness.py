"""Whether a run's worker is alive: its process exists, and its heartbeat is recent."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path
from typing import Any

from riskcore.runs.store.run_record import RunState

BEAT_SECONDS = 2.0
STALE_SECONDS = 30.0  # long compiled steps may delay a beat or two, but never this long
STARTING_SECONDS = 300.0  # a worker that is starting does not beat; after this long its number is another process's


def this_host() -> str:
    return socket.gethostname()


def process_exists(pid: int) -> bool:
    """Whether the process exists on this machine. A zombie, which has ended, does not count."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:  # not Linux, or gone this instant
        return True
    return status.rpartition(")")[2].split()[0] not in ("Z", "X")


def observed_state(row: Any, now: float | None = None) -> RunState:
    """The state that a stored run is really in: one whose worker has died is lost, whatever the store says.

    Nothing is written: after a machine wakes from sleep, the next beat shows its run as running again.
    """
    state = RunState(row.state)
    if state.over or row.pid is None or row.ticket is not None:
        return state  # a ticket: it is in the queue, whatever has become of the process that was about to start it
    if row.host == this_host() and not process_exists(row.pid):
        return RunState.LOST
    bound = STARTING_SECONDS if state is RunState.WAITING else STALE_SECONDS
    return RunState.LOST if _silence(row, now) > bound else state


def is_reserved(row: Any, now: float | None = None) -> bool:
    """Whether a process is about to start a worker for this run of the queue."""
    return row.pid is not None and holds_slot(row, now)


def holds_slot(row: Any, now: float | None = None) -> bool:
    """Whether the process of an unfinished run counts: one that is working, starting, or about to start a worker.

    A worker that has been silent for a while may still be at work, after a sleep of the machine or while the store
    could not be reached.
    """
    if row.host == this_host() and not process_exists(row.pid):
        return False
    return _silence(row, now) <= STARTING_SECONDS


def _silence(row: Any, now: float | None) -> float:
    return (time.time() if now is None else now) - (row.beat or 0.0)
