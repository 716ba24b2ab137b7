"""The rows of the store as lines of JSON, which any database takes: SQLite's into PostgreSQL and back."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

import sqlalchemy as sa

from riskcore.operations.archive import BackupError
from riskcore.runs.store.database import Database, deletions, metadata, runs
from riskcore.runs.store.migrations import REVISIONS

_AT_ONCE = 1_000  # rows
TRANSIENT = "transient"  # in the `info` of a table of processes that are alive: it is in no backup

Row = dict[str, Any]


def stored_tables() -> list[sa.Table]:
    """The tables that a backup has, those first that others refer to."""
    return [table for table in metadata.sorted_tables if not table.info.get(TRANSIENT)]


def snapshot_of(tx: sa.Connection) -> None:
    """Let every query of a connection see one moment; called before its first. SQLite's readers always do."""
    if tx.dialect.name == "postgresql":
        tx.execution_options(isolation_level="REPEATABLE READ")


def rows_of(tx: sa.Connection, table: sa.Table, known: Collection[str], every: bool) -> Iterator[Row]:
    """The rows of a table that are of these runs, a few at a time; with `every`, also those that are of no run."""
    column = table.c.id if table is runs else table.c.get("run")
    of_runs = column is not None and table is not deletions
    if not (of_runs or every):
        return
    wanted = sa.select(table).order_by(*table.primary_key.columns)
    if of_runs and column is not None and not every:
        wanted = wanted.where(column.in_(sorted(known)))
    for row in tx.execute(wanted, execution_options={"stream_results": True, "yield_per": _AT_ONCE}):
        found = dict(row._mapping)
        if column is None or not of_runs or found[column.name] in known:
            yield found


def as_line(row: Mapping[str, Any]) -> bytes:
    return json.dumps(row, ensure_ascii=True, default=str).encode("ascii") + b"\n"


def is_empty(database: Database) -> bool:
    """Whether the store knows no run, living or deleted."""
    with database.read() as tx:
        return all(tx.execute(sa.select(table).limit(1)).first() is None for table in stored_tables())


def check_revision(revision: Any) -> None:
    """Refuse rows of a store that is newer than this program."""
    if revision not in REVISIONS:
        raise BackupError(
            f"The backup has a store of revision {revision}, and this version of Riskcore knows revisions up to "
            f"{REVISIONS[-1]}: update Riskcore, then restore. Nothing was restored."
        )


def insert_rows(
    tx: sa.Connection, table: sa.Table, lines: Iterable[bytes], change: Callable[[Row], Row] | None = None
) -> int:
    """Add the rows of these lines; returns how many. Columns that did not exist yet get their defaults."""
    held: list[Row] = []
    count = 0
    for line in lines:
        row = json.loads(line)
        if not isinstance(row, dict) or not set(row) <= set(table.c.keys()):
            raise BackupError(f"A row of the table {table.name} has columns that this version does not know.")
        held.append(row if change is None else change(row))
        if len(held) == _AT_ONCE:
            count += _insert(tx, table, held)
    return count + _insert(tx, table, held)


def _insert(tx: sa.Connection, table: sa.Table, held: list[Row]) -> int:
    count = len(held)
    if held:
        tx.execute(sa.insert(table), held)
        held.clear()
    return count
