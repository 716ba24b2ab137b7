"""The queue of a store: runs that were started and wait for a free slot, taken in the order of their start.

A started run has a ticket until its worker process exists. Whoever wants to start a worker reserves the first run in
one transaction: its row then names the process that does so. If that process dies before the worker exists, the run
keeps its ticket, and the next one who looks reserves it. Two who look at once never get the same run.
"""

from __future__ import annotations

import os
import time
from typing import Any

import sqlalchemy as sa

from riskcore.runs.store.database import Database, runs
from riskcore.runs.store.liveness import holds_slot, is_reserved, this_host
from riskcore.runs.store.run_record import RunNotFoundError, RunState, RunStateError

_LOCK_NUMBER = 0x71756575  # "queu": the number under which PostgreSQL knows the lock
_UNFINISHED = runs.c.state.in_((RunState.WAITING.value, RunState.RUNNING.value))
_QUEUED = sa.and_(runs.c.state == RunState.WAITING.value, runs.c.ticket.is_not(None))
WAITING_AGAIN = {"state": RunState.WAITING.value, "cancel": False, "error": None, "ended": None, "pid": None}


def enqueue(database: Database, run: str, again: bool = False) -> None:
    """Put the run at the end of the queue. One that is in it keeps its place, and one whose worker is starting is
    left alone. `again` is for a run that ended early and is to go on."""

    def put(tx: sa.Connection) -> None:
        _one_at_a_time(tx)
        row = tx.execute(sa.select(runs).where(runs.c.id == run).with_for_update()).first()
        if row is None:
            raise RunNotFoundError(f"Run {run!r} no longer exists: it was deleted.")
        if row.state == RunState.WAITING.value and row.ticket is not None:
            return
        if not again and row.state != RunState.WAITING.value:
            raise RunStateError(f"Run {run} is {row.state}: only a waiting run can be started. Resume it instead.")
        if not again and row.pid is not None:
            return
        last = tx.scalar(sa.select(sa.func.max(runs.c.ticket))) or 0
        tx.execute(sa.update(runs).where(runs.c.id == run).values(**WAITING_AGAIN, ticket=last + 1))

    database.transact(put)


def reserve(database: Database, slots: int) -> str | None:
    """The first run of the queue, now reserved for this process; None where none waits or no slot is free here.

    `slots` is how many runs may be worked on at a time on this machine, whoever started them.
    """
    now, host = time.time(), this_host()
    mine = {"pid": os.getpid(), "host": host, "beat": now}

    def first(tx: sa.Connection) -> Any:
        """The run that may be reserved. Rows of this machine show how many slots are in use."""
        here = tx.execute(sa.select(runs).where(_UNFINISHED, runs.c.host == host, runs.c.pid.is_not(None))).all()
        if sum(holds_slot(row, now) for row in here) >= slots:
            return None
        waiting = tx.execute(sa.select(runs).where(_QUEUED).order_by(runs.c.ticket)).all()
        return next((row for row in waiting if not is_reserved(row, now)), None)

    def take(tx: sa.Connection) -> str | None:
        _one_at_a_time(tx)
        already = sa.and_(_QUEUED, *(runs.c[name] == value for name, value in mine.items()))
        found = tx.execute(sa.select(runs.c.id).where(already)).first()
        if found is not None:
            return str(found.id)  # the connection broke just after this was committed
        row = first(tx)
        if row is None:
            return None
        same = (runs.c[name].is_not_distinct_from(getattr(row, name)) for name in mine)
        changed = tx.execute(sa.update(runs).where(_QUEUED, runs.c.id == row.id, *same).values(**mine))
        return str(row.id) if changed.rowcount else None  # else it was cancelled or deleted this instant

    if slots <= 0 or database.fetch(first) is None:  # looking blocks no writer
        return None
    return database.transact(take)


def _one_at_a_time(tx: sa.Connection) -> None:
    """Let one process after the other change the queue, so that nobody counts slots that another is about to take.
    SQLite lets one writing transaction in at a time anyway."""
    if tx.dialect.name == "postgresql":
        tx.execute(sa.text("SELECT pg_advisory_xact_lock(:number)"), {"number": _LOCK_NUMBER})
