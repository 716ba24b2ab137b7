"""Where a loop of rounds stands: enough to go on after a kill as if nothing had happened."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from riskcore.matchers.base import Arrays, Matcher
from riskcore.training.checkpoint import Checkpoint, Progress
from riskcore.training.listeners import Record


@dataclasses.dataclass(eq=False)
class Rounds:
    """One row per round done, what the last round left for the next, and the best matcher so far."""

    rows: list[Record]
    arrays: Arrays
    best: Arrays
    made_from: str
    checkpoint: Checkpoint | None

    @classmethod
    def resume(cls, matcher: Matcher, checkpoint: Checkpoint | None, made_from: str) -> Rounds:
        """From the start, or from the checkpoint with the matcher as it was then."""
        progress = checkpoint.read(made_from) if checkpoint is not None else None
        if progress is None:
            return cls([], {}, {}, made_from, checkpoint)
        matcher.restore(progress.groups["last"])
        groups = progress.groups
        return cls(progress.facts["rows"], dict(groups["arrays"]), dict(groups["best"]), made_from, checkpoint)

    def advance(
        self, matcher: Matcher, row: Record, arrays: Arrays, best_of: Callable[[Sequence[Record]], int]
    ) -> None:
        """Another round is done; its matcher is kept if it is the best of all."""
        self.rows.append(row)
        self.arrays = arrays
        if best_of(self.rows) == row["iteration"]:
            self.best = matcher.snapshot()

    def save(self, matcher: Matcher) -> None:
        if self.checkpoint is not None:
            groups = {"last": matcher.snapshot(moments=True), "best": self.best, "arrays": self.arrays}
            self.checkpoint.write(Progress(groups, {"rows": self.rows}), self.made_from)
