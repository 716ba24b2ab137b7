"""Progress of a benchmark on stderr: a bar and the cells at work in a terminal, lines elsewhere."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from riskcore.cli.console import console, say

if TYPE_CHECKING:
    from riskcore.bench.run.pool import Hear, Told
    from riskcore.bench.run.time_left import Outlook

LINE_SECONDS = 60.0


@contextlib.contextmanager
def showing_cells(outlook: Outlook) -> Iterator[Hear]:
    """What is to be told about cells goes to what this yields."""
    screen = console(to_stderr=True)
    if not screen.is_terminal:
        yield _Lines(outlook)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[left]}"))
    with Progress(*columns, console=screen) as bar:
        task = bar.add_task("cells", total=outlook.total, left="")

        def hear(told: Told) -> None:
            outlook.hear(told)
            if told.kind in ("done", "failed"):
                bar.console.print(_ended(told), soft_wrap=True)
            steps = " | ".join(f"{cell.title}: {one.step or 'starting'}" for cell, one in outlook.at_work.items())
            bar.update(task, completed=outlook.over, description=steps or "cells", left=outlook.left)

        yield hear


class _Lines:
    """A line for each cell that ends, and every minute one on how far all is."""

    def __init__(self, outlook: Outlook) -> None:
        self.outlook = outlook
        self._last = time.monotonic()

    def __call__(self, told: Told) -> None:
        self.outlook.hear(told)
        ended = told.kind in ("done", "failed")
        if ended or time.monotonic() - self._last >= LINE_SECONDS:
            self._last = time.monotonic()
            what = _ended(told) if ended else f"{told.cell.title}: {told.step or 'starting'}"
            left = f", {self.outlook.left}" if self.outlook.left else ""
            say(f"{self.outlook.over} of {self.outlook.total}  {what}{left}", to_stderr=True)


def _ended(told: Told) -> str:
    if told.kind == "failed":
        return f"{told.cell.title} failed: {told.error}"
    return f"{told.cell.title} took {told.seconds:.0f} s"
