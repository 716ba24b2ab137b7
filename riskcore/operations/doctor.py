"""`riskcore doctor`: whether a server's store, disk, workers, versions and settings are as they should be.

Nothing is changed, made or upgraded. What would take long on many runs is bounded: `NEWEST` runs are looked into, and
`FILES` files are counted. Contents of files are not read: `riskcore runs check RUN` does that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from riskcore.errors import RiskcoreError
from riskcore.operations import doctor_machine, doctor_runs, doctor_sign_in, doctor_store
from riskcore.operations.finding import Finding, Level, error
from riskcore.runs.store.run_store import RunStore

CHECKS = (  # in the order of the report; docs/operations.md describes each
    "python", "libraries", "clock", "store", "store writable", "disk", "permissions", "workers", "run folders",
    "leftovers", "sign-in", "secrets", "seal",
)  # fmt: skip


def examine(root: Path, data: Path) -> list[Finding]:
    """All checks of the folder of runs and the data folder. One that breaks is a finding and stops no other."""
    store = RunStore(root)
    parts: tuple[tuple[str, Callable[[], Iterator[Finding]]], ...] = (
        ("libraries", doctor_machine.check_versions),
        ("clock", lambda: doctor_machine.check_clock(store)),
        ("store", lambda: doctor_store.check_store(store)),
        ("disk", lambda: doctor_machine.check_disk(store)),
        ("permissions", lambda: doctor_machine.check_permissions(store, data)),
        ("workers", lambda: doctor_runs.check_workers(store)),
        ("run folders", lambda: doctor_runs.check_folders(store)),
        ("leftovers", lambda: doctor_runs.check_leftovers(store.root, data)),
        ("sign-in", doctor_sign_in.check_sign_in),
        ("seal", lambda: doctor_store.check_seal(store)),
    )
    found: list[Finding] = []
    for name, check in parts:
        try:
            found += check()
        except (RiskcoreError, OSError) as problem:
            found.append(error(name, f"It could not be checked: {problem}", "See the other lines, then try again."))
    return found


def worst(found: list[Finding]) -> Level:
    """The worst level among the findings."""
    order = list(Level)
    return max((one.level for one in found), key=order.index, default=Level.OK)
