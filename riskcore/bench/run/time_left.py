"""How long a benchmark may still take, from the seconds of finished cells and the progress of running ones."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence

from riskcore.bench.plan.cells import Cell, CostGroup
from riskcore.bench.run.pool import CellEvent
from riskcore.runs.readers.time_left import time_left_text

_MATCHER = 3  # position of the matcher in a cost group
_ENOUGH = 0.1  # share of a cell that must be done before its total time is extrapolated


class TimeLeft:
    """Counts finished and running cells, and the seconds that whole cells take."""

    def __init__(
        self, cells: Sequence[Cell], jobs: int, known: Mapping[CostGroup, Iterable[float]] | None = None
    ) -> None:
        self.waiting = list(cells)
        self.total, self.finished = len(cells), 0
        self.jobs = max(1, jobs)
        self.running: dict[Cell, CellEvent] = {}
        self.known = {group: list(seconds) for group, seconds in (known or {}).items()}

    def update(self, event: CellEvent) -> None:
        """Take note of what happened to a cell."""
        if event.kind == "started" and event.cell in self.waiting:
            self.waiting.remove(event.cell)
        if event.kind in ("started", "step"):
            self.running[event.cell] = event
            return
        self.running.pop(event.cell, None)
        self.finished += event.kind != "stopped"
        if event.kind == "done" and not event.resumed:
            self.known.setdefault(event.cell.cost_group, []).append(event.seconds)

    @property
    def seconds(self) -> float | None:
        """Seconds left; None until some cell gives an estimate."""
        took = self._seconds_by_group()
        if not took:
            return None
        running = [_expected(cell, took) * (1 - event.share) for cell, event in self.running.items()]
        left = [*running, *(_expected(cell, took) for cell in self.waiting)]
        return max(sum(left) / max(1, min(self.jobs, len(left))), max(running, default=0.0))

    @property
    def text(self) -> str:
        """The time left in words; empty while it is unknown."""
        return "" if self.seconds is None else time_left_text(self.seconds)

    def _seconds_by_group(self) -> dict[CostGroup, float]:
        """Seconds of a whole cell: measured on finished cells, or else extrapolated from running ones."""
        extrapolated: dict[CostGroup, list[float]] = {}
        for cell, event in self.running.items():
            if not event.resumed and event.share >= _ENOUGH:
                extrapolated.setdefault(cell.cost_group, []).append(event.seconds / event.share)
        return {group: statistics.fmean(seconds) for group, seconds in (extrapolated | self.known).items()}


def _expected(cell: Cell, took: Mapping[CostGroup, float]) -> float:
    """The mean of the same cost group, or else of the same matcher, or else of all cells."""
    if cell.cost_group in took:
        return took[cell.cost_group]
    same = [seconds for group, seconds in took.items() if group[_MATCHER] == cell.matcher]
    return statistics.fmean(same or took.values())
