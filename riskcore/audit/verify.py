"""Whether what was recorded about a run is still as it was recorded: its verdict log and its sign-offs.

A dossier is checked without its run: see `riskcore.audit.dossier.verify`.
"""

from __future__ import annotations

import dataclasses
import hmac

import sqlalchemy as sa

from riskcore.audit.log_check import LIMITS, check_log
from riskcore.audit.seal import LogHead, Sealer
from riskcore.audit.sign_off import altered, check, sign_offs
from riskcore.runs.folder import RunFolder
from riskcore.runs.retention import Retained, read_retained
from riskcore.runs.store.database import runs
from riskcore.runs.store.run_store import RunStore
from riskcore.storage.checksums import check_folder


@dataclasses.dataclass(frozen=True)
class Verification:
    """What was checked, and what is wrong with it, both in sentences."""

    checked: tuple[str, ...]
    problems: tuple[str, ...]  # empty: intact

    @property
    def intact(self) -> bool:
        return not self.problems


def verify_run(folder: RunFolder, store: RunStore, expect: str | None = None) -> Verification:
    """Check the verdict log with its seal, all sign-offs, and whether the latest of them still holds. `expect` is a
    head of the log that was written down earlier."""
    run = folder.path.name
    retained = read_retained(folder.path)
    if retained is not None:
        return _verify_retained(folder, store, retained, expect)
    log, signed = check_log(store, run, expect), sign_offs(folder)
    problems = [*log.problems, *altered(signed)]
    checked = [f"The verdict log has {log.head.size:,} entries; its head is {log.head.digest or 'empty'}."]
    checked += [*log.proven, *log.unproven, LIMITS]
    if not signed:
        checked.append("The run has no sign-off.")
        return Verification(tuple(checked), tuple(problems))
    latest = signed[-1]
    checked.append(f"Sign-off {latest.number} is by {latest.who}, {latest.at}.")
    problems += [one for one in check(folder, store, latest) if one not in problems]
    return Verification(tuple(checked), tuple(problems))


NOT_ANY_MORE = (
    "The entries of the verdict log were deleted, so nobody can check any more that they form a chain, whether the "
    "decisions are those that were signed, or what anyone said of a pair."
)


def _verify_retained(folder: RunFolder, store: RunStore, note: Retained, expect: str | None) -> Verification:
    """What can still be verified of a run whose records were deleted under retention."""
    sealer, run = Sealer(store), folder.path.name
    checked, problems = [note.sentence], list(note.problems)
    if note.digest != note.compute_digest():
        problems.append("The note of what was deleted, with the figures that stay, was altered after it was written.")
    elif not sealer.has_key:
        checked.append("The seal of the note cannot be checked: the key is not in this machine's seal folder.")
    elif hmac.compare_digest(sealer.seal(f"{run} retention", LogHead(note.entries, note.digest)), note.seal):
        checked.append("The note with the figures that stay is as it was sealed.")
    else:
        problems.append("The seal of the note does not fit: the note was altered, or the key is another.")
    head = LogHead(note.entries, note.head)
    checked.append(f"The verdict log had {head.size:,} entries; its head was {head.digest or 'empty'}.")
    problems += _head_problems(store, sealer, run, head)
    if expect is not None and expect.strip().lower() == head.digest:
        checked.append("The expected head is that of the last entry.")
    elif expect is not None:
        problems.append("The expected head is not that of the last entry; those of earlier entries were deleted.")
    files = check_folder(folder.path)
    problems += [f"The file {name} is damaged or missing." for name in (*files.damaged, *files.missing)]
    checked += [NOT_ANY_MORE, LIMITS]
    return Verification(tuple(checked), tuple(problems))


def _head_problems(store: RunStore, sealer: Sealer, run: str, head: LogHead) -> list[str]:
    """Whether the note's head is the one in the run's row and the one that the seal folder has noted."""
    with store.database.read() as tx:
        row = tx.execute(sa.select(runs.c.log_size, runs.c.log_head, runs.c.log_seal).where(runs.c.id == run)).first()
    problems = []
    if row is not None and row.log_seal is not None:
        if (row.log_size, row.log_head) != (head.size, head.digest):
            problems.append("The head in the note is not the one in the run's row.")
        elif sealer.has_key and not hmac.compare_digest(sealer.seal(run, head), row.log_seal):
            problems.append("The seal in the run's row does not fit: the row was altered, or the key is another.")
    noted = sealer.noted(run)
    if noted is not None and noted != head:
        problems.append(f"The seal folder has noted another head, of {noted.size:,} entries.")
    return problems
