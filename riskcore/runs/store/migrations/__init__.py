"""Bringing a store to the schema that this version of Riskcore uses, with alembic.

Each step is a file in `versions/`. To change the schema: add a step, change the tables in `database.py` to match (a
test compares both), and add the step's number to `REVISIONS`. A released step is never edited.
"""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa

from riskcore.errors import StorageError

REVISIONS = ("1", "2", "3", "4", "5")  # in order; the last one is what the code uses
FIRST_RELEASE = "1"  # version 0.1 wrote no revision: a store without one has this
_LOCK_NUMBER = 0x7269736B  # "risk": the number under which PostgreSQL knows the lock
_VERSION_TABLE = "alembic_version"


def is_current(connection: sa.Connection, place: str) -> bool:
    """Whether the store needs no step; raises an error if a newer version of Riskcore wrote it."""
    found = revision(connection)
    if found is not None and found not in REVISIONS:
        raise StorageError(
            f"The store {place} was written by a newer version of Riskcore (revision {found}; this version knows "
            f"revisions up to {REVISIONS[-1]}): update Riskcore, or use another folder for runs."
        )
    return found == REVISIONS[-1]


def revision(connection: sa.Connection) -> str | None:
    """The store's revision; None if it has no tables yet."""
    tables = set(sa.inspect(connection).get_table_names())
    if _VERSION_TABLE in tables:
        found = connection.scalar(sa.text(f"SELECT version_num FROM {_VERSION_TABLE}"))
        if found is not None:
            return str(found)
    return FIRST_RELEASE if "runs" in tables else None


def upgrade(connection: sa.Connection, place: str) -> None:
    """Take every step that is missing, all in the transaction that the connection is in.

    SQLite lets one writing transaction in at a time, and PostgreSQL has a lock for it: of several processes that open
    a store at once, one takes the steps and the others find them taken.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(:number)"), {"number": _LOCK_NUMBER})
    if is_current(connection, place):
        return
    from alembic import command  # takes a moment to import, and a store is upgraded once
    from alembic.config import Config

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    if revision(connection) == FIRST_RELEASE:
        command.stamp(config, FIRST_RELEASE)
    command.upgrade(config, REVISIONS[-1])
