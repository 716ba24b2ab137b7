"""Starting, cancelling and resuming workers. A worker outlives the process that started it."""

from __future__ import annotations

import subprocess
import sys

from riskcore.errors import BusyError
from riskcore.paths import child_environment
from riskcore.runs.folder import RunFolder
from riskcore.runs.store.run_record import RunRecord, RunState, RunStateError
from riskcore.runs.store.run_store import URL_VARIABLE, RunStore
from riskcore.storage.files import writing
from riskcore.storage.lock import FolderLock

PATIENCE = 3.0  # seconds to wait until the system releases a killed worker's lock
_children: list[subprocess.Popen[bytes]] = []


def start(store: RunStore, run_id: str) -> None:
    """Start a worker for a run that waits for one."""
    record = store.get(run_id)
    if record.state is not RunState.WAITING:
        raise RunStateError(f"Run {record.id} is {record.state}: only a waiting run can be started. Resume it instead.")
    _spawn(store, record)


def resume(store: RunStore, run_id: str) -> None:
    """Start a worker for a run that stopped early; it continues from the last checkpoint."""
    _spawn(store, requeued(store, run_id))


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
    """Let the run wait for a worker again; an error says why it cannot be resumed."""
    record = store.get(run_id)
    if record.state is RunState.RUNNING:
        raise BusyError(f"Run {record.id} is being worked on (process {record.pid} on {record.host}).")
    if not record.state.resumable:
        raise RunStateError(f"Run {record.id} is {record.state}: there is nothing to resume.")
    with FolderLock(record.folder, PATIENCE):  # a worker that is alive after a long silence still holds it
        store.requeue(record.id)
    return record


def _spawn(store: RunStore, record: RunRecord) -> None:
    """A process in a session of its own, writing to the run's log: no pipe that could fill up or break."""
    command = [sys.executable, "-m", "riskcore.runs.worker", record.id, "--root", str(store.root)]
    environment = {**child_environment(), "PYTHONUNBUFFERED": "1"}
    if store.url:
        environment[URL_VARIABLE] = store.url
    with writing(record.folder), RunFolder(record.folder).log_file.open("ab") as log:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=environment,
            cwd=store.root,
            start_new_session=True,
        )
    _reap_children()
    _children.append(child)
    store.spawned(record.id, child.pid)


def _reap_children() -> None:
    """Read the exit codes of finished workers: until then each stays a zombie process."""
    _children[:] = [child for child in _children if child.poll() is None]
