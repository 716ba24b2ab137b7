"""A run as the store records it: its state, its events, and the errors it can meet."""

from __future__ import annotations

import dataclasses
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from riskcore.config import RunConfig
from riskcore.errors import RiskcoreError

if TYPE_CHECKING:
    from riskcore.training.listeners import PairsProgress


class RunState(StrEnum):
    """The state of a run."""

    WAITING = "waiting"  # no worker has claimed it yet: not started, in the queue, or its worker is starting
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    LOST = "lost"  # its worker is gone, or has not beaten for a while; it can be resumed

    @property
    def resumable(self) -> bool:
        return self in (RunState.WAITING, RunState.FAILED, RunState.CANCELLED, RunState.LOST)

    @property
    def over(self) -> bool:
        """Whether the run has ended, so that nothing more happens unless someone resumes it."""
        return self not in (RunState.WAITING, RunState.RUNNING)


@dataclasses.dataclass(frozen=True)
class RunRecord:
    """One run, as the store knows it. `done` of `total` steps are those of the current phase."""

    id: str
    name: str
    state: RunState
    phase: str | None
    done: int
    total: int
    created: datetime
    started: datetime | None
    ended: datetime | None
    error: str | None
    config: RunConfig
    folder: Path
    cancelling: bool = False  # someone cancelled it, and the worker has not stopped yet
    pid: int | None = None
    host: str | None = None
    attempts: int = 0  # how often a worker claimed it
    seconds: float = 0.0  # of work so far, over all attempts
    passes: tuple[PairsProgress, ...] = ()  # those under way that last, one of each task
    ticket: int | None = None  # while it was started and waits for a free slot: lower ones go first

    @property
    def queued(self) -> bool:
        """Whether the run was started and waits for a free slot."""
        return self.state is RunState.WAITING and self.ticket is not None

    @property
    def starting(self) -> bool:
        """Whether the run has a worker process that is still loading its libraries."""
        return self.state is RunState.WAITING and self.ticket is None and self.pid is not None


@dataclasses.dataclass(frozen=True)
class Event:
    """Something that happened in a run. Sequence numbers of a run are 1, 2, 3 ... without gaps."""

    sequence: int
    at: datetime
    kind: str  # phase_start, progress, phase_end, epoch_end, iteration_end, method_end, speed, state
    record: dict[str, Any]


class RunError(RiskcoreError):
    """The requested action is not possible on this run."""


class RunNotFoundError(RunError):
    """No run has that id or path."""


class RunStateError(RunError):
    """The run is not in a state that allows this."""


class RunFailedError(RunError):
    """The run stopped before its end. Its progress is kept."""
