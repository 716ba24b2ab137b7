"""The transactional store's tables, and engines over them: SQLite in WAL mode, or any other database by URL.

Times are seconds since 1970 in UTC, so that every database keeps them alike. The tables here are what queries use;
`migrations` makes them and brings older stores to them.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from riskcore.errors import StorageError
from riskcore.runs.store.migrations import is_current, upgrade
from riskcore.storage.time_limit import limit, too_long

BUSY_MILLISECONDS = 15_000  # a writer waits this long for others; each takes milliseconds
PATIENCE = 10.0  # seconds that a screen or a command waits for a server that is being restarted
WORKER_PATIENCE = 90.0  # a worker has hours of work to lose, and nobody waits for its answer
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 2.0  # seconds between attempts; each pause is twice the one before
_READ, _DURABLE, _WAIT = "riskcore_read", "riskcore_durable", "riskcore_wait"  # options of a connection
_COMING_BACK = ("starting up", "shutting down", "recovery")  # how a server refuses that will be there soon
_REPEATABLE = ("08", "57P", "40001", "40P01")  # codes of a broken connection, of a shutdown, of two in each other's way
_STEPS = 10_000  # of SQLite's machine, a millisecond or less, after which it asks whether the time is over
# What SQLite and PostgreSQL say of what was stopped for that.
_STOPPED = ("interrupted", "statement timeout", "lock timeout")
_Found = TypeVar("_Found")

metadata = sa.MetaData()
runs = sa.Table(
    "runs",
    metadata,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("state", sa.String(16), nullable=False),
    sa.Column("phase", sa.Text),
    sa.Column("done", sa.BigInteger, nullable=False, default=0),
    sa.Column("total", sa.BigInteger, nullable=False, default=0),
    sa.Column("created", sa.Double, nullable=False),
    sa.Column("started", sa.Double),
    sa.Column("ended", sa.Double),
    sa.Column("error", sa.Text),
    sa.Column("config", sa.Text, nullable=False),
    sa.Column("cancel", sa.Boolean, nullable=False, default=False),
    sa.Column("pid", sa.Integer),
    sa.Column("host", sa.Text),
    sa.Column("beat", sa.Double),
    sa.Column("attempts", sa.Integer, nullable=False, default=0),
    sa.Column("seconds", sa.Double, nullable=False, default=0.0),
    sa.Column("last_event", sa.BigInteger, nullable=False, default=0),
    # The verdict log's entries, the digest of the last one, and the keyed seal of both: see `riskcore.audit.seal`.
    sa.Column("log_size", sa.BigInteger),
    sa.Column("log_head", sa.String(64)),
    sa.Column("log_seal", sa.String(64)),
    sa.Column("ticket", sa.BigInteger),  # of a started run until it has a worker: see `run_queue`
    sa.Column("passes", sa.Text),  # JSON: how far those under way are, in place of an event for each step
    sa.Index("runs_by_age", "created", "id"),
)
events = sa.Table(
    "events",
    metadata,
    sa.Column("run", sa.String(64), primary_key=True),
    sa.Column("sequence", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("at", sa.Double, nullable=False),
    sa.Column("kind", sa.String(32), nullable=False),
    sa.Column("identity", sa.String(200), nullable=False),  # reported twice, recorded once
    sa.Column("record", sa.Text, nullable=False),
    sa.UniqueConstraint("run", "identity", name="one_event_per_identity"),
)
verdicts = sa.Table(
    "verdicts",
    metadata,
    sa.Column("run", sa.String(64), primary_key=True),
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("pair_id", sa.Text, nullable=False),
    sa.Column("verdict", sa.String(16), nullable=False),
    sa.Column("note", sa.Text, nullable=False),
    sa.Column("who", sa.Text, nullable=False),
    sa.Column("at", sa.Double, nullable=False),
    sa.Column("digest", sa.String(64), nullable=False),
    sa.Index("verdicts_of_pair", "run", "pair_id"),
)
deletions = sa.Table(
    "deletions",
    metadata,
    sa.Column("run", sa.String(64), primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("who", sa.Text, nullable=False),
    sa.Column("at", sa.Double, nullable=False),
    sa.Column("verdicts", sa.BigInteger, nullable=False),
    sa.Column("head", sa.String(64), nullable=False),  # digest of the last verdict; empty without any
)


class Database:
    """One database: short transactions, and one clear error whenever it fails.

    A server that is restarted comes back within seconds, so what fails for lack of a connection is tried again for
    `patience` seconds.
    """

    def __init__(self, url: str, place: str) -> None:
        self.place, self.patience = place, PATIENCE
        try:
            self.engine = _engine(url)
        except (sa.exc.ArgumentError, sa.exc.NoSuchModuleError, ImportError) as error:
            raise StorageError(f"The store's URL cannot be used: {error}. Check it and its driver.") from None
        except ValueError:  # its text may quote a part of the password
            raise StorageError("The store's URL cannot be used: its host or port cannot be read. Check it.") from None
        self._current = False

    def transact(self, work: Callable[[sa.Connection], _Found], durable: bool = False) -> _Found:
        """Do the work in one transaction and commit it as a whole.

        If the connection breaks, the work is done again, and nobody can tell whether its commit got through the first
        time: it must be such that doing it twice does no harm.
        """

        def attempt() -> _Found:
            self._upgrade()
            with self.engine.connect().execution_options(**{_DURABLE: durable}) as connection, connection.begin():
                return work(connection)

        with self._clear_errors():
            return self._patiently(attempt)

    def fetch(self, query: Callable[[sa.Connection], _Found]) -> _Found:
        """What a query finds; asked again if the connection breaks."""

        def attempt() -> _Found:
            self._upgrade()
            with self.engine.connect().execution_options(**{_READ: True}) as connection:
                return query(connection)

        with self._clear_errors():
            return self._patiently(attempt)

    @contextlib.contextmanager
    def write(self, durable: bool = False, wait: bool = True) -> Iterator[sa.Connection]:
        """One transaction, committed as a whole or not at all. A durable one is on disk when this returns. Only the
        connection is tried again here: `transact` repeats the work too. Without `wait`, SQLite raises an error at once
        if another process is writing."""
        with self._clear_errors():
            self._patiently(self._upgrade)
            connection = self._patiently(self.engine.connect)
            with connection.execution_options(**{_DURABLE: durable, _WAIT: wait}), connection.begin():
                yield connection

    @contextlib.contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """A consistent view of the store. It blocks no writer."""
        with self._clear_errors():
            self._patiently(self._upgrade)
            with self._patiently(self.engine.connect).execution_options(**{_READ: True}) as connection:
                yield connection

    def _patiently(self, attempt: Callable[[], _Found]) -> _Found:
        """The result of the attempt, repeated with growing pauses while the server cannot be reached."""
        pause, until = FIRST_PAUSE, time.monotonic() + self.patience
        while True:
            try:
                return attempt()
            except DBAPIError as error:
                if not _will_pass(error) or time.monotonic() + pause > until:
                    raise
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def _upgrade(self) -> None:
        """On first use: make the tables, or bring those of an older version up to date."""
        if self._current:
            return
        with self.engine.connect().execution_options(**{_READ: True}) as connection:
            current = is_current(connection, self.place)
        if not current:
            with self.engine.connect().execution_options(**{_DURABLE: True}) as connection, connection.begin():
                upgrade(connection, self.place)
        self._current = True

    def forget_deleted(self, wait: bool = True) -> None:
        """Leave nothing of deleted rows in the files of SQLite: neither in the log of changes nor in free pages."""
        if self.engine.dialect.name != "sqlite":
            return  # a server reuses and cleans its pages by itself
        with self._clear_errors():
            connection: Any = self.engine.raw_connection()
            try:
                connection.set_progress_handler(None, 0)  # of an earlier query's time limit
                connection.execute(f"PRAGMA busy_timeout={BUSY_MILLISECONDS if wait else 0}")
                connection.execute("VACUUM")
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            finally:
                connection.close()

    @contextlib.contextmanager
    def _clear_errors(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            reason = str(error.orig).strip().splitlines()[0] if error.orig else str(error)
            seconds = limit()
            if seconds is not None and any(words in reason for words in _STOPPED):
                raise too_long(seconds) from error
            usual = (reason, "Check that it can be reached, has free space and is writable")
            reason, cure = next((known for words, known in _KNOWN.items() if words in reason), usual)
            kept = "what was recorded before is kept."
            raise StorageError(f"The store {self.place} cannot be used: {reason}. {cure}; {kept}") from error


# What SQLite says: what it means, and what to do.
_KNOWN = {
    "database is locked": (
        f"it is locked: another process has been writing to it for more than {BUSY_MILLISECONDS // 1000} seconds",
        "Nothing was recorded: try again, and if this stays so, end the process that holds it",
    ),
    "disk is full": ("the disk is full", "Nothing of this was recorded: free some space and do it again"),
}


def _will_pass(error: DBAPIError) -> bool:
    """Whether the server may be there again soon. SQLite has none: it waits for other writers by itself."""
    code = getattr(error.orig, "sqlstate", None)
    if code is not None:
        return str(code).startswith(_REPEATABLE)
    if type(error.orig).__module__.startswith("sqlite3"):
        return False
    refused = "FATAL" in str(error.orig)  # by the server itself, as for a wrong password
    return error.connection_invalidated or not refused or any(words in str(error.orig) for words in _COMING_BACK)


def sqlite_url(file: Path) -> str:
    return str(sa.URL.create("sqlite", database=str(file)))


def _engine(url: str) -> sa.Engine:
    if sa.make_url(url).get_backend_name() != "sqlite":
        engine = sa.create_engine(url, pool_pre_ping=True)
        if engine.dialect.name == "postgresql":
            sa.event.listen(engine, "begin", _limit_postgresql)
        return engine
    engine = sa.create_engine(url)
    sa.event.listen(engine, "connect", _prepare_sqlite)
    sa.event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # transactions begin where `_begin_sqlite` says
    for pragma in (f"busy_timeout={BUSY_MILLISECONDS}", "journal_mode=WAL", "synchronous=NORMAL"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: sa.Connection) -> None:
    """Writers take the lock when they begin: a transaction that began as a reader could not wait for it."""
    options = connection.get_execution_options()
    _limit_sqlite(connection, bool(options.get(_READ)))
    if not options.get(_READ):
        # Connections are reused, so each transaction states whether its commit waits for the disk. Heartbeats and
        # there are many events, and a resumed run repeats a lost one; a lost verdict would not be repeated.
        connection.exec_driver_sql(f"PRAGMA synchronous={'FULL' if options.get(_DURABLE) else 'NORMAL'}")
        connection.exec_driver_sql(f"PRAGMA busy_timeout={BUSY_MILLISECONDS if options.get(_WAIT, True) else 0}")
    connection.exec_driver_sql("BEGIN" if options.get(_READ) else "BEGIN IMMEDIATE")


def _limit_sqlite(connection: sa.Connection, is_read: bool) -> None:
    """Stop what a screen reads once its time is over. Connections are reused, so each transaction says it anew."""
    seconds, now = limit() if is_read else None, time.monotonic()
    driver: Any = connection.connection.dbapi_connection
    driver.set_progress_handler(None if seconds is None else lambda: time.monotonic() - now > seconds, _STEPS)


def _limit_postgresql(connection: sa.Connection) -> None:
    """The same by settings of the server, which end with the transaction. Who writes may wait so long for others."""
    seconds = limit()
    if seconds is not None:
        what = "statement_timeout" if connection.get_execution_options().get(_READ) else "lock_timeout"
        connection.exec_driver_sql(f"SET LOCAL {what} = {max(1, round(1000 * seconds))}")
