"""How long a benchmark may still take, from what its cells took so far and how far those at work are."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence

from riskcore.bench.plan.cells import Cell
from riskcore.bench.run.pool import Told

Kin = tuple[str, ...]  # cells that take about as long have it in common
_MATCHER = 3  # its place in a cell's kin
_ENOUGH = 0.1  # of a cell, to judge the whole by


class Outlook:
    """Keeps count of cells that are over and at work, and of the seconds that whole ones take."""

    def __init__(self, cells: Sequence[Cell], jobs: int, known: Mapping[Kin, Iterable[float]] | None = None) -> None:
        self.waiting = list(cells)
        self.total, self.over = len(cells), 0
        self.jobs = max(1, jobs)
        self.at_work: dict[Cell, Told] = {}
        self.known = {kin: list(seconds) for kin, seconds in (known or {}).items()}

    def hear(self, told: Told) -> None:
        if told.kind == "started" and told.cell in self.waiting:
            self.waiting.remove(told.cell)
        if told.kind in ("started", "step"):
            self.at_work[told.cell] = told
            return
        self.at_work.pop(told.cell, None)
        self.over += told.kind != "stopped"
        if told.kind == "done" and not told.resumed:
            self.known.setdefault(told.cell.kin, []).append(told.seconds)

    @property
    def seconds_left(self) -> float | None:
        """None until there is something to go by."""
        took = self._took()
        if not took:
            return None
        running = [_expected(cell, took) * (1 - told.share) for cell, told in self.at_work.items()]
        left = [*running, *(_expected(cell, took) for cell in self.waiting)]
        return max(sum(left) / max(1, min(self.jobs, len(left))), max(running, default=0.0))

    @property
    def left(self) -> str:
        """The time left, in words."""
        seconds = self.seconds_left
        if seconds is None:
            return ""
        if seconds >= 5400:
            return f"about {seconds / 3600:.1f} h left"
        return f"about {seconds / 60:.0f} min left" if seconds >= 90 else f"about {seconds:.0f} s left"

    def _took(self) -> dict[Kin, float]:
        """A whole cell's seconds, by kin: those of cells that are over, or else as cells at work promise."""
        promised: dict[Kin, list[float]] = {}
        for cell, told in self.at_work.items():
            if not told.resumed and told.share >= _ENOUGH:
                promised.setdefault(cell.kin, []).append(told.seconds / told.share)
        return {kin: statistics.fmean(seconds) for kin, seconds in (promised | self.known).items()}


def _expected(cell: Cell, took: Mapping[Kin, float]) -> float:
    """What cells of the same kin take, or of the same matcher, or any."""
    if cell.kin in took:
        return took[cell.kin]
    same = [seconds for kin, seconds in took.items() if kin[_MATCHER] == cell.matcher]
    return statistics.fmean(same or took.values())
