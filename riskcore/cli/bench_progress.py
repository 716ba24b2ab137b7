"""Progress of a benchmark on stderr: a bar and the running cells in a terminal, lines elsewhere."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from riskcore.cli.console import console, say

if TYPE_CHECKING:
    from riskcore.bench.run.pool import CellEvent, OnEvent
    from riskcore.bench.run.time_left import TimeLeft

LINE_SECONDS = 60.0


@contextlib.contextmanager
def showing_cells(time_left: TimeLeft) -> Iterator[OnEvent]:
    """Yields the function that shows the events of cells."""
    screen = console(to_stderr=True)
    if not screen.is_terminal:
        yield _Lines(time_left)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[left]}"))
    with Progress(*columns, console=screen) as bar:
        task = bar.add_task("cells", total=time_left.total, left="")

        def show(event: CellEvent) -> None:
            time_left.update(event)
            if event.kind in ("done", "failed"):
                bar.console.print(_ended(event), soft_wrap=True)
            steps = " | ".join(_step(one) for one in time_left.running.values())
            bar.update(task, completed=time_left.finished, description=steps or "cells", left=time_left.text)

        yield show


class _Lines:
    """A line for each cell that ends, and one line on the progress every minute."""

    def __init__(self, time_left: TimeLeft) -> None:
        self.time_left = time_left
        self._last = time.monotonic()

    def __call__(self, event: CellEvent) -> None:
        self.time_left.update(event)
        ended = event.kind in ("done", "failed")
        if ended or time.monotonic() - self._last >= LINE_SECONDS:
            self._last = time.monotonic()
            what = _ended(event) if ended else _step(event)
            left = f", {self.time_left.text}" if self.time_left.text else ""
            say(f"{self.time_left.finished} of {self.time_left.total}  {what}{left}", to_stderr=True)


def _step(event: CellEvent) -> str:
    return f"{event.cell.title}: {event.step or 'starting'}"


def _ended(event: CellEvent) -> str:
    if event.kind == "failed":
        return f"{event.cell.title} failed: {event.error}"
    return f"{event.cell.title} took {event.seconds:.0f} s"
