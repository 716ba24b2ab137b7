"""Proof that the log of a run is the one that was recorded, kept apart from the store.

Each entry of the log has a digest of itself and of the entry before, so the last digest, the head, stands for the whole
log. Whoever can write to the store could compute new digests, remove the last entries, or put an old copy of the store
in place. Against that, two things are kept in a folder of their own, the seal folder: a key, with which the number of
entries and the head are sealed in the run's row (HMAC-SHA256), and a note of the latest number and head of every run.
Whoever can write to the seal folder too can forge both; a head that was written down elsewhere, in an export, a dossier
or on paper, still tells.
"""

from __future__ import annotations

import dataclasses
import hashlib
import hmac
import os
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from riskcore.audit.chain import Entry
from riskcore.paths import seal_folder
from riskcore.runs.store.database import runs, verdicts
from riskcore.runs.store.run_store import RunStore
from riskcore.storage.files import private_folder, read_json, write_json, writing
from riskcore.storage.lock import FileLock

_KEY_BYTES = 32
_PATIENCE = 10.0  # seconds to wait for another process that notes a head of the same run


@dataclasses.dataclass(frozen=True)
class LogHead:
    """The state of a log: how many entries it has, and the digest of the last (empty without any)."""

    size: int = 0
    digest: str = ""


def departure(entries: Sequence[Entry], head: LogHead) -> str | None:
    """What is wrong if a log does not begin with what the head stands for; None if it does."""
    if len(entries) < head.size:
        return f"{head.size - len(entries):,} entries at the end of the verdict log are missing."
    if head.size and entries[head.size - 1]["digest"] != head.digest:
        return "The verdict log is another one than the one that was recorded."
    return None


class Sealer:
    """The seal folder: its key, and the heads it has noted of the runs of one store."""

    def __init__(self, store: RunStore, folder: Path | None = None) -> None:
        self.folder = seal_folder() if folder is None else folder
        place = store.url or str(store.root)  # a copy of a store is another store: both may go on
        self._heads = self.folder / "heads" / hashlib.sha256(place.encode()).hexdigest()[:16]

    @property
    def has_key(self) -> bool:
        return self._key_file.is_file()

    @property
    def key_time(self) -> float:
        """When the key was made, in seconds since 1970."""
        return self._key_file.stat().st_mtime

    def seal(self, run: str, head: LogHead) -> str:
        """The keyed seal of a log's state. The key is made when it is first needed."""
        text = f"{run}\n{head.size}\n{head.digest}".encode()
        return hmac.new(self._key(), text, hashlib.sha256).hexdigest()

    def note(self, run: str, head: LogHead) -> None:
        """Keep the head of a run outside the store. Of two processes, the one with more entries is believed."""
        file = self._note_file(run)
        with writing(file):
            private_folder(file.parent)
        with FileLock(file.with_suffix(".lock"), _PATIENCE):
            before = self.noted(run)
            if before is None or before.size < head.size:
                write_json(file, dataclasses.asdict(head))

    def noted(self, run: str) -> LogHead | None:
        """The latest head that was noted of a run; None if none was."""
        file = self._note_file(run)
        if not file.is_file():
            return None
        found = read_json(file, "Restore it from a backup of the seal folder.")
        return LogHead(int(found["size"]), str(found["digest"]))

    @property
    def _key_file(self) -> Path:
        return self.folder / "key"

    def _note_file(self, run: str) -> Path:
        return self._heads / f"{run}.json"

    def key_text(self) -> str:
        """The key as hexadecimal digits, for a backup that is asked for it."""
        return self._key_file.read_text("ascii").strip()

    def adopt_key(self, text: str) -> None:
        """Take the key of a backup, where there is none yet."""
        if not self.has_key:
            self._make_key(bytes.fromhex(text))

    def _key(self) -> bytes:
        if not self.has_key:
            self._make_key(secrets.token_bytes(_KEY_BYTES))
        return bytes.fromhex(self.key_text())

    def _make_key(self, key: bytes) -> None:
        """Write the key whole; of two processes that make one at once, the first wins."""
        with writing(self._key_file):
            private_folder(self.folder)
            part = self._key_file.with_name(f".key-{secrets.token_hex(4)}")
            descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                os.write(descriptor, key.hex().encode("ascii"))
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            try:
                os.link(part, self._key_file)
            except FileExistsError:
                pass
            finally:
                part.unlink()


def record_head(tx: sa.Connection, sealer: Sealer, run: str, head: LogHead) -> None:
    """Write the head of a run's log with its seal into the run's row, in the transaction that adds the entries."""
    sealed = {"log_size": head.size, "log_head": head.digest, "log_seal": sealer.seal(run, head)}
    tx.execute(sa.update(runs).where(runs.c.id == run).values(**sealed))


def as_recorded(tx: sa.Connection, sealer: Sealer, run: str, last: LogHead) -> bool:
    """Whether a log that ends here is still the one that was sealed, before another entry is sealed with it.

    Otherwise the next verdict would seal, with the true key, what someone had cut off or rewritten. A log without a
    seal counts as recorded by an earlier version, unless its last entry is later than the key.
    """
    row = tx.execute(sa.select(runs.c.log_size, runs.c.log_head, runs.c.log_seal).where(runs.c.id == run)).one()
    if sealer.has_key and row.log_seal is not None:
        held = LogHead(row.log_size or 0, row.log_head or "")
        if held != last or not hmac.compare_digest(sealer.seal(run, held), row.log_seal):
            return False
    elif sealer.has_key and last.size and (_of_entry(tx, run, last.size, verdicts.c.at) or 0.0) > sealer.key_time:
        return False
    noted = sealer.noted(run)
    return noted is None or not noted.size or _of_entry(tx, run, noted.size, verdicts.c.digest) == noted.digest


def _of_entry(tx: sa.Connection, run: str, number: int, column: sa.Column[Any]) -> Any:
    """What an entry of the log has in a column; None without such an entry."""
    return tx.scalar(sa.select(column).where(verdicts.c.run == run, verdicts.c.number == number))
