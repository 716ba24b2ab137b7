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
    if state.over or row.pid is None:
        return state
    here = row.host == this_host()
    if here and not process_exists(row.pid):
        return RunState.LOST
    if here and state is RunState.WAITING:
        return state  # its process is still importing modules and does not beat yet
    silent = (time.time() if now is None else now) - (row.beat or 0.0)
    return RunState.LOST if silent > STALE_SECONDS else state
