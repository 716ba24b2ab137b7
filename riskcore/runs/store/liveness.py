"""Whether a run's worker still lives: its process is there, and its heart beats."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path
from typing import Any

from riskcore.runs.store.run_record import RunState

BEAT_SECONDS = 2.0
STALE_SECONDS = 30.0  # long compiled steps may hold up a beat or two; a minute of silence is death


def this_host() -> str:
    return socket.gethostname()


def process_lives(pid: int) -> bool:
    """Whether this machine has the process; one that waits to be buried does not count."""
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
    """The state a stored run is really in: a run whose worker has died is lost, whatever the store says.

    Nothing is written: a machine that wakes from sleep finds its run alive at the next beat.
    """
    state = RunState(row.state)
    if state.over or row.pid is None:
        return state
    here = row.host == this_host()
    if here and not process_lives(row.pid):
        return RunState.LOST
    if here and state is RunState.WAITING:
        return state  # its process is still importing what it needs, and has no heart yet
    silent = (time.time() if now is None else now) - (row.beat or 0.0)
    return RunState.LOST if silent > STALE_SECONDS else state
