"""The transactional store's tables, and engines over them: SQLite in WAL mode, or any other database by URL.

Times are seconds since 1970 in UTC, so that every database keeps them alike. The tables here are what queries use;
`migrations` makes them and brings older stores to them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from riskcore.errors import StorageError
from riskcore.runs.store.migrations import is_current, upgrade

BUSY_MILLISECONDS = 15_000  # a writer waits this long for others; each takes milliseconds
_READ, _DURABLE = "riskcore_read", "riskcore_durable"  # options of a connection

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


class Database:
    """One database: short transactions, and one clear error whenever it fails."""

    def __init__(self, url: str, place: str) -> None:
        self.place = place
        try:
            self.engine = _engine(url)
        except (sa.exc.ArgumentError, sa.exc.NoSuchModuleError, ImportError) as error:
            raise StorageError(f"The store's URL cannot be used: {error}. Check it and its driver.") from None
        self._current = False

    @contextlib.contextmanager
    def write(self, durable: bool = False) -> Iterator[sa.Connection]:
        """One transaction, committed as a whole or not at all. A durable one is on disk when this returns."""
        with self._clear_errors():
            self._upgrade()
            with self.engine.connect().execution_options(**{_DURABLE: durable}) as connection, connection.begin():
                yield connection

    @contextlib.contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """A consistent view of the store. It blocks no writer."""
        with self._clear_errors():
            self._upgrade()
            with self.engine.connect().execution_options(**{_READ: True}) as connection:
                yield connection

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

    @contextlib.contextmanager
    def _clear_errors(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            reason = str(error.orig).strip().splitlines()[0] if error.orig else str(error)
            cure = "Check that it can be reached, has free space and is writable; what was recorded before is kept."
            raise StorageError(f"The store {self.place} cannot be used: {reason}. {cure}") from error


def sqlite_url(file: Path) -> str:
    return str(sa.URL.create("sqlite", database=str(file)))


def _engine(url: str) -> sa.Engine:
    if sa.make_url(url).get_backend_name() != "sqlite":
        return sa.create_engine(url, pool_pre_ping=True)
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
    if not options.get(_READ):
        # Connections are reused, so each transaction states whether its commit waits for the disk. Heartbeats and
        # there are many events, and a resumed run repeats a lost one; a lost verdict would not be repeated.
        connection.exec_driver_sql(f"PRAGMA synchronous={'FULL' if options.get(_DURABLE) else 'NORMAL'}")
    connection.exec_driver_sql("BEGIN" if options.get(_READ) else "BEGIN IMMEDIATE")
