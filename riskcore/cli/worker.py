"""`worker`: a process that takes waiting runs and works on them."""

from __future__ import annotations

import signal
from typing import Annotated

import typer

from riskcore.cli.console import RUNS, STOPPED, Runs, counted, say


def worker(
    runs: Runs = RUNS,
    slots: Annotated[
        int | None,
        typer.Option(min=1, help="Runs at a time on this machine; by default RISKCORE_SLOTS, or half of the cores."),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="End when no run waits any more.")] = False,
) -> None:
    """Take waiting runs in the order of their start, and work on them until stopped.

    Ctrl-C or SIGTERM: takes no more runs and ends when those at work are done. A second one cancels them first.
    """
    from riskcore.runs import RunStore
    from riskcore.runs.worker.pool import WorkerPool
    from riskcore.runs.worker.slots import machine_slots

    places = slots or machine_slots()
    if places == 0:
        say("RISKCORE_SLOTS is 0, so this worker would take no run. Give it --slots.", to_stderr=True)
        raise typer.Exit(2)
    store = RunStore(runs)
    pool = WorkerPool(store, places, lambda line: say(line, to_stderr=True))

    def stop(*_: object) -> None:
        pool.stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    say(f"Taking runs from {store.root}, {counted(places, 'run')} at a time.", to_stderr=True)
    pool.work(once)
    if pool.cancelled:
        raise typer.Exit(STOPPED)
