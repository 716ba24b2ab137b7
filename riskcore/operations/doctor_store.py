"""What `riskcore doctor` looks at in the store and at the key that seals verdict logs. Nothing is written."""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from riskcore.audit.seal import Sealer
from riskcore.operations.finding import Finding, error, ok, warning
from riskcore.runs.store.database import runs, verdicts
from riskcore.runs.store.migrations import REVISIONS, revision
from riskcore.runs.store.run_store import RunStore

LARGE = 1e9  # bytes of an SQLite file that is not read as a whole


def check_store(store: RunStore) -> Iterator[Finding]:
    """Whether it opens, its revision, its integrity, and whether it can be written to and keeps what it commits."""
    if not store.exists():
        yield ok("store", f"There is none yet in {store.root}; the first run makes it")
        return
    kind = store.database.engine.dialect.name
    try:
        with store.database.engine.connect() as connection:
            found = revision(connection)
            if found is not None and found not in REVISIONS:
                cure = "Update Riskcore, or use another folder of runs."
                yield error("store", f"It was written by a newer version (revision {found})", cure)
                return
            yield from _check_content(store, connection, kind, found)
            yield from _check_writing(connection, kind)
    except DBAPIError as problem:
        reason = str(problem.orig).strip().splitlines()[0]
        cure = "Restore it from a backup, or see `riskcore runs rescue`."
        if kind != "sqlite":
            cure = "Check that the server runs and that RISKCORE_STORE_URL is right."
        yield error("store", f"{store.database.place} cannot be used: {reason}", cure)


def _check_content(store: RunStore, connection: sa.Connection, kind: str, found: str | None) -> Iterator[Finding]:
    words = f"{kind}, revision {found}"
    if found is None:
        yield ok("store", f"{kind}, empty; the first run makes its tables")
        return
    if found != REVISIONS[-1]:
        words += f"; the next start brings it to {REVISIONS[-1]}"
    else:
        words += f", {connection.scalar(sa.select(sa.func.count()).select_from(runs)):,} runs"
    if kind != "sqlite":
        yield ok("store", words)
        return
    size = int(connection.exec_driver_sql("PRAGMA page_count").scalar_one()) * int(
        connection.exec_driver_sql("PRAGMA page_size").scalar_one()
    )
    if size > LARGE:
        yield ok("store", f"{words}, {size / 1e9:,.1f} GB: too large to be read as a whole here")
        return
    damage = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar_one()
    if damage != "ok":
        cure = f"Restore {store.database.place} from a backup, or remove it and run `riskcore runs rescue`."
        yield error("store", f"It is damaged: {damage}", cure)
    else:
        yield ok("store", f"{words}, sound")


def _check_writing(connection: sa.Connection, kind: str) -> Iterator[Finding]:
    """SQLite: the writing lock is taken and released. PostgreSQL: what its settings say."""
    name = "store writable"
    if kind == "sqlite":
        mode = connection.exec_driver_sql("PRAGMA journal_mode").scalar_one()
        connection.rollback()
        raw = connection.connection
        raw.execute("PRAGMA busy_timeout=1000")
        try:
            raw.execute("BEGIN IMMEDIATE")
            raw.execute("ROLLBACK")
        except Exception as problem:  # of the driver, not of SQLAlchemy
            yield error(name, f"It cannot be written to: {problem}", "Check its permissions and who holds it.")
            return
        if mode != "wal":
            cure = "Move it to a local disk: WAL needs shared memory, which network file systems do not have."
            yield warning(name, f"It is in the mode {mode}, not WAL: readers wait for writers", cure)
        else:
            yield ok(name, "yes; verdicts are synced to disk before they count")
        return
    asked = {one: str(connection.scalar(sa.text(f"SHOW {one}"))) for one in _UNSAFE}
    wrong = [f"{one} = {said}" for one, said in asked.items() if said in _UNSAFE[one]]
    if "transaction_read_only = on" in wrong:
        yield error(name, "The database is read-only", "Connect to the primary server.")
    elif wrong:
        cure = "Set fsync and synchronous_commit to on: a verdict must survive a power failure."
        yield error(name, f"What is committed can be lost: {', '.join(wrong)}", cure)
    else:
        yield ok(name, "yes; what is committed is on disk")


_UNSAFE = {"transaction_read_only": ("on",), "fsync": ("off",), "synchronous_commit": ("off",)}  # values to object to


def check_seal(store: RunStore) -> Iterator[Finding]:
    """Whether the key that seals verdict logs is there, and apart from the runs."""
    sealer = Sealer(store)
    if sealer.folder.is_relative_to(store.root):
        cure = "Name a folder elsewhere in RISKCORE_SEAL, and move the key there."
        yield error("seal", f"{sealer.folder} lies among the runs: whoever can alter them can forge seals", cure)
    elif sealer.has_key:
        yield ok("seal", f"The key is in {sealer.folder}; a backup of it belongs elsewhere than that of the store")
    elif _has_verdicts(store):
        cure = "Put the folder's backup back, or set RISKCORE_SEAL to where it is, for all processes of this store."
        yield warning("seal", f"There are verdicts, and no key in {sealer.folder}: seals cannot be checked", cure)
    else:
        yield ok("seal", f"No key yet in {sealer.folder}; the first verdict makes it")


def _has_verdicts(store: RunStore) -> bool:
    if not store.exists():
        return False
    try:
        with store.database.engine.connect() as connection:
            return connection.execute(sa.select(verdicts.c.run).limit(1)).first() is not None
    except DBAPIError:
        return False  # the store's own line says so
