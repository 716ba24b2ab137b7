"""Starting, cancelling and resuming runs, and the worker processes of those that wait for a free slot.

A worker outlives the process that started it. Nothing that decides anything is kept in memory: any process that looks
at the store can start the next waiting run, and several that look at once never start one twice.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Sequence

from riskcore.errors import BusyError, RiskcoreError, StorageError
from riskcore.paths import child_environment
from riskcore.runs.folder import RunFolder
from riskcore.runs.retention import refuse_forgotten
from riskcore.runs.store.run_record import RunNotFoundError, RunRecord, RunState, RunStateError
from riskcore.runs.store.run_store import URL_VARIABLE, RunStore
from riskcore.runs.worker.slots import machine_slots
from riskcore.storage.files import writing
from riskcore.storage.lock import FolderLock

PATIENCE = 3.0  # seconds to wait until the system releases a killed worker's lock
_children: list[subprocess.Popen[bytes]] = []


def start(store: RunStore, run_id: str) -> None:
    """Put a run into the queue, and start its worker if a slot is free and no other run was first."""
    slots, record = machine_slots(), store.get(run_id)
    if record.state is not RunState.WAITING:
        raise RunStateError(f"Run {record.id} is {record.state}: only a waiting run can be started. Resume it instead.")
    store.enqueue(record.id)
    start_waiting(store, slots)


def resume(store: RunStore, run_id: str) -> None:
    """Put a run that stopped early into the queue; its worker continues from the last checkpoint."""
    slots, record = machine_slots(), _resumable(store, run_id)
    with FolderLock(record.folder, PATIENCE):  # a worker that is alive after a long silence still holds it
        store.enqueue(record.id, again=True)
    start_waiting(store, slots)


def start_waiting(store: RunStore, slots: int) -> list[str]:
    """Start workers of waiting runs, in order, until all slots of this machine are in use; the runs started."""
    started = []
    while (run := store.reserve(slots)) is not None:
        if spawn(store, run, "--next") is not None:
            started.append(run)
    return started


def look(store: RunStore) -> None:
    """Start what waits, if it can be started from here: done by whoever looks at the runs, and by a worker at its end.

    So a waiting run does not wait for ever when a process was killed. People who look at someone else's runs start
    nothing: the files would belong to them. An error is left to those who start or resume a run.
    """
    with contextlib.suppress(RiskcoreError, OSError):
        if store.root.stat().st_uid == os.geteuid():
            start_waiting(store, machine_slots())


def cancel(store: RunStore, run_id: str) -> None:
    """Ask the run's worker to stop; a run that has no worker is cancelled at once."""
    record = store.get(run_id)
    if record.state.over and record.state is not RunState.LOST:
        raise RunStateError(f"Run {record.id} is {record.state} already: there is nothing to cancel.")
    store.request_cancel(record.id)
    if record.state is RunState.RUNNING:
        return
    try:
        with FolderLock(record.folder):
            store.finish(record.id, RunState.CANCELLED)
    except BusyError:
        pass  # a worker has just claimed it, and will see the request


def requeued(store: RunStore, run_id: str) -> RunRecord:
    """Let the run wait for this process as its worker, whatever the queue; an error says why it cannot be resumed."""
    record = _resumable(store, run_id)
    with FolderLock(record.folder, PATIENCE):
        store.requeue(record.id)
    return record


def _resumable(store: RunStore, run_id: str) -> RunRecord:
    record = store.get(run_id)
    if record.state is RunState.RUNNING or record.starting:
        raise BusyError(f"Run {record.id} is being worked on (process {record.pid} on {record.host}).")
    if not record.state.resumable:
        raise RunStateError(f"Run {record.id} is {record.state}: there is nothing to resume.")
    refuse_forgotten(record.folder)
    return record


def spawn(store: RunStore, run: str, *options: str) -> subprocess.Popen[bytes] | None:
    """Start the worker process of a reserved run. Where that is impossible, the run fails with the reason: waiting
    longer would keep all others from their turn."""
    try:
        record = store.get(run)
    except RunNotFoundError:
        return None  # it was deleted this instant
    try:
        child = _process(store, record, options)
    except StorageError as error:
        store.finish(run, RunState.FAILED, f"Its worker could not be started. {error}")
        return None
    _reap_children()
    _children.append(child)
    store.spawned(run, child.pid)
    return child


def _process(store: RunStore, record: RunRecord, options: Sequence[str]) -> subprocess.Popen[bytes]:
    """A process in a session of its own, writing to the run's log: no pipe that could fill up or break."""
    command = [sys.executable, "-m", "riskcore.runs.worker", record.id, "--root", str(store.root), *options]
    environment = {**child_environment(), "PYTHONUNBUFFERED": "1"}
    if store.url:
        environment[URL_VARIABLE] = store.url
    with writing(record.folder), RunFolder(record.folder).log_file.open("ab") as log:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=environment,
            cwd=store.root,
            start_new_session=True,
        )


def _reap_children() -> None:
    """Read the exit codes of finished workers: until then each stays a zombie process."""
    _children[:] = [child for child in _children if child.poll() is None]
