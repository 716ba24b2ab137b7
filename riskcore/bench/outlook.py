"""How long a benchmark may still take, from what its cells took so far and how far those at work are."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence

from riskcore.bench.cells import Cell
from riskcore.bench.queue import Told

Group = tuple[str, ...]
_ENOUGH = 0.1  # of a cell, to judge the whole by


class Outlook:
    """Keeps count of cells that are over and at work, and of the seconds that whole ones take."""

    def __init__(self, cells: Sequence[Cell], jobs: int, known: Mapping[Group, Iterable[float]] | None = None) -> None:
        self.waiting = list(cells)
        self.total, self.over = len(cells), 0
        self.jobs = max(1, jobs)
        self.at_work: dict[Cell, Told] = {}
        self.known = {group: list(seconds) for group, seconds in (known or {}).items()}

    def hear(self, told: Told) -> None:
        if told.kind == "started" and told.cell in self.waiting:
            self.waiting.remove(told.cell)
        if told.kind in ("started", "step"):
            self.at_work[told.cell] = told
            return
        self.at_work.pop(told.cell, None)
        self.over += told.kind != "stopped"
        if told.kind == "done" and not told.resumed:
            self.known.setdefault(told.cell.group, []).append(told.seconds)

    @property
    def seconds_left(self) -> float | None:
        """None until there is something to go by."""
        usual = self._usual()
        if usual is None:
            return None
        running = sum(self._expected(cell, usual) * (1 - told.share) for cell, told in self.at_work.items())
        return (running + sum(self._expected(cell, usual) for cell in self.waiting)) / self.jobs

    @property
    def left(self) -> str:
        """The time left, in words."""
        seconds = self.seconds_left
        if seconds is None:
            return ""
        if seconds >= 5400:
            return f"about {seconds / 3600:.1f} h left"
        return f"about {seconds / 60:.0f} min left" if seconds >= 90 else f"about {seconds:.0f} s left"

    def _expected(self, cell: Cell, usual: float) -> float:
        """What cells of the same group took, or any cell."""
        return statistics.fmean(self.known.get(cell.group) or [usual])

    def _usual(self) -> float | None:
        took = [statistics.fmean(seconds) for seconds in self.known.values() if seconds]
        whole = [told for told in self.at_work.values() if not told.resumed]
        took += [told.seconds / told.share for told in whole if told.share >= _ENOUGH]
        return statistics.fmean(took) if took else None
