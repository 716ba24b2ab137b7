"""The transactional store: the runs, their states, and what happened in them.

A run's row is written only by the process that holds the run's lock, except for the request to cancel. Every event has
an identity (its kind, phase and number): one that is reported again after a kill and a resume is recorded once.
"""

from __future__ import annotations

import builtins
import contextlib
import dataclasses
import json
import os
import secrets
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from riskcore.config import RunConfig
from riskcore.data.origin import is_from_frames
from riskcore.errors import ConfigError
from riskcore.runs.store.database import Database, events, runs, sqlite_url
from riskcore.runs.store.deletion import Tombstone, delete_run, finish_deletions, tombstones
from riskcore.runs.store.forgetting import finish_forgetting
from riskcore.runs.store.liveness import observed_state, this_host
from riskcore.runs.store.run_queue import WAITING_AGAIN, enqueue, reserve
from riskcore.runs.store.run_record import Event, RunNotFoundError, RunRecord, RunState, RunStateError
from riskcore.storage.files import private_folder, writing

if TYPE_CHECKING:
    from riskcore.training.listeners import PairsProgress

STORE_FILE = "riskcore.sqlite"
URL_VARIABLE = "RISKCORE_STORE_URL"  # not an argument: it may hold a password


class RunStore:
    """All runs under one root. Without a URL (given, or in the environment), SQLite inside that root."""

    def __init__(self, root: Path | str = "runs", url: str | None = None) -> None:
        self.root = Path(root).absolute()
        self.url = _with_absolute_file(url or os.environ.get(URL_VARIABLE) or None)
        file = self.root / STORE_FILE
        self._file = None if self.url else file
        self.database = Database(self.url or sqlite_url(file), str(file) if self._file else "at the given URL")

    def create(self, config: RunConfig, name: str | None = None) -> RunRecord:
        """A new run that waits for a worker. Paths are stored as absolute: the worker may start in another folder."""
        config = _with_absolute_paths(config)
        with writing(self.root):
            self._prepare()
            run = _new_folder(self.root)
        values: dict[str, Any] = {"id": run, "name": name or _usual_name(config), "state": RunState.WAITING.value}
        values |= {"created": time.time(), "config": config.to_json()}

        def insert(tx: sa.Connection) -> None:
            if tx.execute(sa.select(runs.c.id).where(runs.c.id == run)).first() is None:
                tx.execute(sa.insert(runs).values(**values))
            _add_event(tx, run, "state", "state/0/waiting", {"state": RunState.WAITING.value})

        try:
            self.database.transact(insert)
        except BaseException:
            with contextlib.suppress(OSError):
                (self.root / run).rmdir()  # no store knows of the folder, so nothing else would remove it
            raise
        return self.get(run)

    def adopt(
        self, run: str, config: RunConfig, name: str, seconds: float, told: Sequence[Mapping[str, Any]]
    ) -> RunRecord:
        """A finished run whose folder is there already, under its id; `told` are its events (`kind`, `record`)."""
        now, done = time.time(), RunState.DONE.value
        values = {"id": run, "name": name, "state": done, "config": config.to_json(), "seconds": seconds}
        moments = {"created": now, "started": now, "ended": now}

        def insert(tx: sa.Connection) -> None:
            if tx.execute(sa.select(runs.c.id).where(runs.c.id == run)).first() is None:
                tx.execute(sa.insert(runs).values(**values, **moments, attempts=1))
                for number, event in enumerate(told):
                    _add_event(tx, run, event["kind"], f"adopted/{number}", event["record"])

        with writing(self.root):
            self._prepare()
        self.database.transact(insert)
        return self.get(run)

    def list(self) -> builtins.list[RunRecord]:
        """All runs, the newest first."""
        if not self._exists():
            return []
        finish_deletions(self.database, self.root)
        finish_forgetting(self.database, self.root)
        wanted = sa.select(runs).order_by(runs.c.created.desc(), runs.c.id)
        return [self._record(row) for row in self.database.fetch(lambda tx: tx.execute(wanted).all())]

    def get(self, run: str) -> RunRecord:
        """The run of that id, or whose folder that path is."""
        row = self._row(run) or self._row(self._id_of_path(run))
        if row is None:
            raise RunNotFoundError(f"There is no run {run!r} in {self.root}. `runs list` lists the runs there.")
        return self._record(row)

    def config(self, run: str) -> RunConfig:
        """The run's settings; a `ConfigError` if one of them is unknown to this version."""
        wanted = sa.select(runs.c.config).where(runs.c.id == run)
        return RunConfig.from_stored(self.database.fetch(lambda tx: tx.scalar(wanted)) or "{}")

    def events(self, run: str, after: int = 0, limit: int = 1000, kind: str | None = None) -> builtins.list[Event]:
        """Events of the run whose sequence number is above `after`, in order; of one kind, if it is given."""
        wanted = sa.select(events).where(events.c.run == run, events.c.sequence > after)
        wanted = wanted if kind is None else wanted.where(events.c.kind == kind)
        rows = self.database.fetch(lambda tx: tx.execute(wanted.order_by(events.c.sequence).limit(limit)).all())
        return [Event(row.sequence, _moment(row.at), row.kind, json.loads(row.record)) for row in rows]

    def delete(self, run: str, who: str = "") -> None:
        """Remove the run, its files, events and verdicts; who did it, when, and how many verdicts there were is kept.
        A run that is being worked on is refused."""
        record = self.get(run)
        if record.state is RunState.RUNNING:
            raise RunStateError(f"Run {record.id} is running. Cancel it first.")
        delete_run(self.database, self.root, record.id, who)

    def deleted(self) -> builtins.list[Tombstone]:
        """What is left of deleted runs, the newest first."""
        return tombstones(self.database) if self._exists() else []

    def exists(self) -> bool:
        """Whether there is a store already; one at a URL is taken to be there."""
        return self._exists()

    # What workers and jobs write.

    def record(self, run: str, kind: str, identity: str, record: dict[str, Any]) -> bool:
        """Add an event; False if one of that identity is there already."""
        return self.database.transact(lambda tx: _add_event(tx, run, kind, identity, record))

    def spawned(self, run: str, pid: int) -> None:
        """A worker process was started for the run and has not claimed it yet."""
        waiting = sa.and_(runs.c.id == run, runs.c.state == RunState.WAITING.value)
        values = {"pid": pid, "host": this_host(), "beat": time.time(), "ticket": None}
        self._update(sa.update(runs).where(waiting).values(**values))

    def claim(self, run: str) -> int:
        """Mark this process as the one that works on the run. Returns the number of the attempt."""
        now = time.time()
        values = {"state": RunState.RUNNING.value, "pid": os.getpid(), "host": this_host(), "beat": now}
        fresh = {"error": None, "ended": None, "phase": None, "done": 0, "total": 0, "ticket": None}
        fresh["passes"] = None

        def take(tx: sa.Connection) -> int:
            row = _locked(tx, run)
            if RunState(row.state).over:
                raise RunStateError(f"Run {run} is {row.state}. `runs resume` continues a run that is not done.")
            if all(getattr(row, name) == value for name, value in values.items()):
                return int(row.attempts)  # the connection broke just after this was committed
            attempt = int(row.attempts) + 1
            tx.execute(_of(run).values(**values, **fresh, started=row.started or now, attempts=attempt))
            state = {"state": RunState.RUNNING.value, "attempt": attempt}
            _add_event(tx, run, "state", f"state/{attempt}/running", state)
            return attempt

        return self.database.transact(take)

    def beat(self, run: str, seconds: float) -> None:
        """Record that the worker is alive and has worked `seconds` in all."""
        self._update(_of(run).values(beat=time.time(), seconds=seconds))

    def progress(self, run: str, phase: str | None, done: int, total: int) -> None:
        self._update(_of(run).values(phase=phase, done=done, total=total))

    def passing(self, run: str, passes: Sequence[PairsProgress]) -> None:
        """How far the passes under way are: in the place of what was said before."""
        self._update(_of(run).values(passes=json.dumps(passes) if passes else None))

    def finish(self, run: str, state: RunState, error: str | None = None, seconds: float | None = None) -> None:
        """Record how the run ended. A run that is not done can be resumed later."""
        values: dict[str, Any] = {"state": state.value, "error": error, "ended": time.time()}
        values |= {"cancel": False, "ticket": None}
        if seconds is not None:
            values["seconds"] = seconds

        def end(tx: sa.Connection) -> None:
            attempt = _locked(tx, run).attempts
            tx.execute(_of(run).values(**values))
            ended = {"state": state.value, "attempt": attempt, "error": error}
            _add_event(tx, run, "state", f"state/{attempt}/{state.value}", ended)

        self.database.transact(end)

    def enqueue(self, run: str, again: bool = False) -> None:
        """Let the run wait in the queue for a free slot; `again` if it ended early and is to go on."""
        enqueue(self.database, run, again)

    def reserve(self, slots: int) -> str | None:
        """The first run of the queue, for this process to start its worker; None if there is none or no free slot."""
        return reserve(self.database, slots) if self._exists() else None

    def requeue(self, run: str) -> None:
        """Let the run wait for the worker that its caller is, outside the queue."""
        self._update(_of(run).values(**WAITING_AGAIN, ticket=None))

    def request_cancel(self, run: str) -> None:
        """Ask the run's worker to stop. A run that has just ended is left alone."""
        unfinished = runs.c.state.in_((RunState.WAITING.value, RunState.RUNNING.value))
        self._update(_of(run).where(unfinished).values(cancel=True))

    def cancel_requested(self, run: str) -> bool:
        wanted = sa.select(runs.c.cancel).where(runs.c.id == run)
        return bool(self.database.fetch(lambda tx: tx.scalar(wanted)))

    def _update(self, change: sa.Update) -> None:
        self.database.transact(lambda tx: tx.execute(change))

    def _prepare(self) -> None:
        """Make the root and SQLite's file such that only their owner can read them."""
        private_folder(self.root)
        if self._file is not None and not self._file.exists():
            os.close(os.open(self._file, os.O_CREAT | os.O_RDWR, 0o600))

    def _exists(self) -> bool:
        return self._file is None or self._file.exists()

    def _row(self, run: str | None) -> Any:
        if run is None or not self._exists():
            return None
        wanted = sa.select(runs).where(runs.c.id == run)
        return self.database.fetch(lambda tx: tx.execute(wanted).first())

    def _id_of_path(self, run: str) -> str | None:
        path = Path(run).absolute()
        return path.name if path.parent == self.root or path.resolve().parent == self.root.resolve() else None

    def _record(self, row: Any) -> RunRecord:
        """The run in a row. One that cannot be read, of another version or damaged, is shown as such: it must not hide
        the others."""
        try:
            return self._read(row)
        except (ValueError, TypeError, AttributeError, OverflowError) as error:
            moment = _moment(0.0)
            problem = f"The store's row of this run cannot be read: {error}. Restore the store, or delete the run."
            name, folder = str(row.name), self.root / str(row.id)
            return RunRecord(
                str(row.id), name, RunState.FAILED, None, 0, 0, moment, None, None, problem, RunConfig(), folder
            )

    def _read(self, row: Any) -> RunRecord:
        return RunRecord(
            id=row.id,
            name=row.name,
            state=observed_state(row),
            phase=row.phase,
            done=row.done,
            total=row.total,
            created=_moment(row.created),
            started=None if row.started is None else _moment(row.started),
            ended=None if row.ended is None else _moment(row.ended),
            error=row.error,
            config=_config(row.config),
            folder=self.root / row.id,
            cancelling=bool(row.cancel),
            pid=row.pid,
            host=row.host,
            attempts=row.attempts,
            seconds=row.seconds,
            passes=tuple(json.loads(row.passes or "[]")),
            ticket=row.ticket,
        )


def _add_event(tx: sa.Connection, run: str, kind: str, identity: str, record: dict[str, Any]) -> bool:
    number = _locked(tx, run).last_event + 1
    same = sa.select(events.c.sequence).where(events.c.run == run, events.c.identity == identity)
    if tx.execute(same).first() is not None:
        return False
    tx.execute(_of(run).values(last_event=number))
    values = {"run": run, "sequence": number, "at": time.time(), "kind": kind, "identity": identity}
    tx.execute(sa.insert(events).values(**values, record=json.dumps(record, default=str)))
    return True


def _of(run: str) -> sa.Update:
    return sa.update(runs).where(runs.c.id == run)


def _locked(tx: sa.Connection, run: str) -> Any:
    """The run's row, which no other transaction can change until this one ends."""
    row = tx.execute(sa.select(runs).where(runs.c.id == run).with_for_update()).first()
    if row is None:
        raise RunNotFoundError(f"Run {run!r} no longer exists: it was deleted.")
    return row


def _new_folder(root: Path) -> str:
    """A folder of its own for the run; its name sorts by time."""
    while True:
        run = f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
        try:
            (root / run).mkdir(mode=0o700)
        except FileExistsError:
            continue
        return run


def _config(text: str) -> RunConfig:
    """The config; where a setting in it has no meaning today, at least which data it was about."""
    try:
        return RunConfig.from_stored(text)
    except (ConfigError, TypeError):
        written = json.loads(text)
        return RunConfig(source=written.get("source") or "", target=written.get("target"))


def _usual_name(config: RunConfig) -> str:
    names = [Path(path).stem for path in (config.source, config.target) if path]
    return " to ".join(names) or "run"


def _with_absolute_paths(config: RunConfig) -> RunConfig:
    def absolute(path: str | None) -> str | None:
        return str(Path(path).absolute()) if path and not is_from_frames(path) else path

    matcher = config.matcher
    matcher = dataclasses.replace(matcher, folder=absolute(matcher.folder), scores=absolute(matcher.scores))
    source = absolute(config.source) or ""
    return dataclasses.replace(config, source=source, target=absolute(config.target), matcher=matcher)


def _with_absolute_file(url: str | None) -> str | None:
    """A SQLite path is relative to this process's folder; workers may run in another one."""
    try:
        found = None if url is None else sa.make_url(url)
    except (sa.exc.ArgumentError, ValueError):  # `Database` raises a clear error about it
        return url
    if found is None or found.get_backend_name() != "sqlite" or found.database in (None, "", ":memory:"):
        return url
    return found.set(database=str(Path(found.database or "").absolute())).render_as_string(hide_password=False)


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
