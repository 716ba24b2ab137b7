"""The paper's table: mispredicted pairs by how many peers support their repair, and how many were flipped."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from riskcore.evaluation.theory import ErrorTheory, Theory
from riskcore.evaluation.truth import EvaluationError

PAPER_EDGES = (100,)


@dataclasses.dataclass(frozen=True)
class FlipCell:
    """Errors of one kind in one row of the table."""

    pairs: int
    flipped: int | None  # None where the labels afterwards are not known

    @property
    def share(self) -> float | None:
        """Share that was flipped, and so is right now."""
        return self.flipped / self.pairs if self.pairs and self.flipped is not None else None


@dataclasses.dataclass(frozen=True)
class FlipRow:
    """Errors whose count of `dVaR > dC` is at least `low` and below `high` (None: no end)."""

    low: int
    high: int | None
    false_negatives: FlipCell
    false_positives: FlipCell

    @property
    def text(self) -> str:
        if self.high is None:
            return f">= {self.low:,}" if self.low else "all"
        return f"< {self.high:,}" if not self.low else f"{self.low:,} to {self.high - 1:,}"


@dataclasses.dataclass(frozen=True)
class FlipTable:
    """Rows by rising count, their total, and what happened to the pairs that were right."""

    rows: tuple[FlipRow, ...]
    total: FlipRow
    true_positives: FlipCell  # flipped means wrongly
    true_negatives: FlipCell


def flip_table(theory: Theory, edges: Sequence[int] = PAPER_EDGES) -> FlipTable | None:
    """Cut the counts at `edges` (the paper's: below 100, and 100 or more); None where no truth is known."""
    negatives, positives = theory.false_negatives, theory.false_positives
    if negatives is None or positives is None:
        return None
    if list(edges) != sorted(set(edges)) or any(edge < 1 for edge in edges):
        raise EvaluationError(f"Edges of the flip table must rise from 1 on; they are {tuple(edges)}.")
    lows, highs = [0, *edges], [*edges, None]
    rows = [_row(negatives, positives, low, high) for low, high in zip(lows, highs, strict=True)]
    return FlipTable(
        tuple(rows),
        _row(negatives, positives, 0, None),
        FlipCell(theory.true_positives or 0, theory.true_positives_flipped),
        FlipCell(theory.true_negatives or 0, theory.true_negatives_flipped),
    )


def _row(negatives: ErrorTheory, positives: ErrorTheory, low: int, high: int | None) -> FlipRow:
    return FlipRow(low, high, _cell(negatives, low, high), _cell(positives, low, high))


def _cell(side: ErrorTheory, low: int, high: int | None) -> FlipCell:
    within = (side.count >= low) & (side.count < (np.inf if high is None else high))
    return FlipCell(int(within.sum()), None if side.flipped is None else int(side.flipped[within].sum()))
