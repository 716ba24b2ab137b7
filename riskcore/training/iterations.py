"""The state of an iterative method: enough to resume after a kill and end in the same bits."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from riskcore.matchers.base import Arrays, Matcher
from riskcore.training.checkpoint import Checkpoint, Progress
from riskcore.training.results import IterationRow


@dataclasses.dataclass(eq=False)
class Iterations:
    """One row per finished iteration, the arrays that the next one needs, and the best matcher so far."""

    rows: list[IterationRow]
    arrays: Arrays
    best: Arrays
    made_from: str
    checkpoint: Checkpoint | None

    @classmethod
    def resume(cls, matcher: Matcher, checkpoint: Checkpoint | None, made_from: str) -> Iterations:
        """From the start, or from the checkpoint with the matcher as it was then."""
        progress = checkpoint.read(made_from) if checkpoint is not None else None
        if progress is None:
            return cls([], {}, {}, made_from, checkpoint)
        matcher.restore(progress.groups["last"])
        groups = progress.groups
        return cls(progress.facts["rows"], dict(groups["arrays"]), dict(groups["best"]), made_from, checkpoint)

    def advance(
        self, matcher: Matcher, row: IterationRow, arrays: Arrays, best_of: Callable[[Sequence[IterationRow]], int]
    ) -> None:
        """Add a finished iteration; keep its matcher if it is the best so far."""
        self.rows.append(row)
        self.arrays = arrays
        if best_of(self.rows) == row["iteration"]:
            self.best = matcher.snapshot()

    def save(self, matcher: Matcher) -> None:
        if self.checkpoint is not None:
            groups = {"last": matcher.snapshot(moments=True), "best": self.best, "arrays": self.arrays}
            self.checkpoint.write(Progress(groups, {"rows": self.rows}), self.made_from)
