"""Attack Riskcore in every way that has a bar, print one table, and fail if a bar is missed.

python -m benchmarks.chaos [--minutes 14] [--seed 0] [--only NAME ...] [--to docs/reliability.md] [--json]

Everything happens on this machine, in a temporary folder that is removed afterwards. `--only` takes names of attacks,
such as `bit_flips`; the page is written only if all of them ran.
"""

from __future__ import annotations

import dataclasses
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.chaos.adversity import clock_back, disk_full, store_locked, tampering
from benchmarks.chaos.fuzz import fuzzed_inputs
from benchmarks.chaos.killed_runs import killed_servers, killed_workers
from benchmarks.chaos.run_folders import bit_flips, spoilt_folders
from benchmarks.chaos.served import broken_sign_in, large_behind_small, twenty_sessions
from benchmarks.chaos.site import Figure, Site, Sizes
from benchmarks.chaos.table import table, write_table
from benchmarks.chaos.verdict_writers import four_writers, killed_writers
from riskcore.paths import SEAL_VARIABLE
from riskcore.version import __version__

# The order of the table. What compares times comes first, before the machine is warm with other work.
ATTACKS: dict[str, Callable[[Site], list[Figure]]] = {
    one.__name__: one
    for one in (
        fuzzed_inputs, large_behind_small, bit_flips, spoilt_folders, killed_writers, four_writers, killed_workers,
        killed_servers, disk_full, store_locked, clock_back, tampering, twenty_sessions, broken_sign_in,
    )
}  # fmt: skip


def main(
    minutes: Annotated[float, typer.Option(help="Attacks that have not begun by then are left out.")] = 14.0,
    seed: Annotated[int, typer.Option(help="Of everything that is drawn.")] = 0,
    only: Annotated[list[str] | None, typer.Option(help=f"One of {', '.join(ATTACKS)}; repeatable.")] = None,
    to: Annotated[Path | None, typer.Option(help="The page to write the table to.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False,
) -> None:
    """Attack, print, and exit with 1 if a bar is missed."""
    unknown = set(only or ()) - set(ATTACKS)
    if unknown:
        raise typer.BadParameter(f"There is no attack {', '.join(unknown)}.")
    begun, load = time.monotonic(), os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="chaos-", ignore_cleanup_errors=True) as place:
        os.environ[SEAL_VARIABLE] = str(Path(place) / "seal")
        site = Site(Path(place), seed, Sizes(), minutes)
        figures = [figure for name in (only or ATTACKS) for figure in attack(site, name)]
    took = (time.monotonic() - begun) / 60
    if as_json:
        print(json.dumps([dataclasses.asdict(one) for one in figures], indent=2))
    else:
        print(table(figures))
    if to is not None and not only:
        write_table(to, figures, _about(seed, took, load))
    raise typer.Exit(int(any(one.met is False for one in figures)))


def attack(site: Site, name: str) -> list[Figure]:
    """One attack; what fails in the attack itself is a missed bar too."""
    if site.over:
        return [Figure(name, "nothing", "the time was over", "", False)]
    begun = time.monotonic()
    try:
        found = ATTACKS[name](site)
    except Exception as error:
        found = [
            Figure(name, "nothing", f"the attack failed: {type(error).__name__}", "", False, (str(error)[-2000:],))
        ]
    for one in found:
        state = {True: "met", False: "MISSED", None: "not run"}[one.met]
        print(f"{time.monotonic() - begun:6.1f} s  {state:8} {one.attack}: {one.found}", file=sys.stderr, flush=True)
        for detail in one.details if one.met is False else ():
            print(f"          {detail}", file=sys.stderr)
    return found


def _about(seed: int, minutes: float, load: float) -> str:
    cores = os.cpu_count() or 1
    return (
        f"Measured with version {__version__} on {time.strftime('%Y-%m-%d')}: seed {seed}, {minutes:.1f} minutes, "
        f"Python {platform.python_version()}, {cores} {platform.machine()} cores, load {load:.1f} at the start."
    )


if __name__ == "__main__":
    typer.run(main)
