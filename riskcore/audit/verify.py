"""Whether what was recorded about a run is still as it was recorded: its verdict log and its sign-offs.

A dossier is checked without its run: see `riskcore.audit.dossier.verify`.
"""

from __future__ import annotations

import dataclasses

from riskcore.audit.log_entries import chain_problems, recorded_entries
from riskcore.audit.sign_off import altered, check, sign_offs
from riskcore.runs.folder import RunFolder
from riskcore.runs.store.run_store import RunStore


@dataclasses.dataclass(frozen=True)
class Verification:
    """What was checked, and what is wrong with it, both in sentences."""

    checked: tuple[str, ...]
    problems: tuple[str, ...]  # empty: intact

    @property
    def intact(self) -> bool:
        return not self.problems


def verify_run(folder: RunFolder, store: RunStore) -> Verification:
    """Check the chain of the verdict log, all sign-offs, and whether the latest of them still holds."""
    run = folder.path.name
    entries, signed = recorded_entries(store, run), sign_offs(folder)
    problems = chain_problems(entries) + altered(signed)
    checked = [f"The verdict log has {len(entries):,} entries."]
    if not signed:
        checked.append("The run has no sign-off.")
        return Verification(tuple(checked), tuple(problems))
    latest = signed[-1]
    checked.append(f"Sign-off {latest.number} is by {latest.who}, {latest.at}.")
    problems += [one for one in check(folder, store, latest) if one not in problems]
    return Verification(tuple(checked), tuple(problems))
