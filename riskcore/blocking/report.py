"""What blocking gave: how many pairs, how they spread over the records, how many matches they hold."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from riskcore.blocking.candidates import Candidates
from riskcore.blocking.missed import Estimate, estimate_found
from riskcore.config import BlockConfig
from riskcore.data.pairs import Table


@dataclasses.dataclass(frozen=True)
class Spread:
    """Candidate pairs per record of one table."""

    records: int
    mean: float
    most: int
    without: float  # share of records in no pair


@dataclasses.dataclass(frozen=True)
class Recall:
    """Known matches, and how many of them are among the candidates."""

    matches: int
    found: int

    @property
    def share(self) -> float | None:
        return self.found / self.matches if self.matches else None


@dataclasses.dataclass(frozen=True)
class BlockReport:
    """The figures of one blocking. `recall` needs known matches; without them there is an `estimate`."""

    pairs: int
    possible: int  # pairs without blocking
    left: Spread
    right: Spread  # of the same records in a self-join
    found_by: dict[str, int]  # pairs by the blockers that found them
    recall: Recall | None
    estimate: Estimate | None

    @property
    def reduction_ratio(self) -> float | None:
        """Share of the possible pairs that need not be compared."""
        return 1 - self.pairs / self.possible if self.possible else None

    def to_dict(self) -> dict[str, Any]:
        recall = None if self.recall is None else {**dataclasses.asdict(self.recall), "share": self.recall.share}
        return {**dataclasses.asdict(self), "reduction_ratio": self.reduction_ratio, "recall": recall}


def report(
    candidates: Candidates,
    left: Table,
    right: Table | None = None,
    known: tuple[np.ndarray, np.ndarray] | None = None,
    config: BlockConfig | None = None,
) -> BlockReport:
    """The figures of the candidates. `known` are the left and right rows of known matches.

    Without known matches, what is missed is estimated, for which a sample of the records is searched again.
    """
    right = None if right is left else right
    if right is None:
        possible = len(left) * (len(left) - 1) // 2
        sides = [np.concatenate([candidates.left_rows, candidates.right_rows])] * 2
    else:
        possible, sides = len(left) * len(right), [candidates.left_rows, candidates.right_rows]
    return BlockReport(
        pairs=len(candidates),
        possible=possible,
        left=_spread(sides[0], len(left)),
        right=_spread(sides[1], len(left if right is None else right)),
        found_by=candidates.counts(),
        recall=None if known is None else _recall(candidates, known, right is None),
        estimate=None if known is not None else estimate_found(candidates, left, right, config or BlockConfig()),
    )


def _spread(rows: np.ndarray, records: int) -> Spread:
    if not records:
        return Spread(0, 0.0, 0, 0.0)
    counts = np.bincount(rows, minlength=records)
    return Spread(records, float(counts.mean()), int(counts.max()), float((counts == 0).mean()))


def _recall(candidates: Candidates, known: tuple[np.ndarray, np.ndarray], same: bool) -> Recall:
    wanted = np.stack(known, axis=1).astype(np.int64)
    if same:
        wanted = np.sort(wanted, axis=1)
        wanted = wanted[wanted[:, 0] != wanted[:, 1]]  # a record is no candidate of itself
    wanted = np.unique(wanted, axis=0)
    width = int(max(candidates.right_rows.max(initial=0), wanted[:, 1].max(initial=0))) + 1
    found = np.isin(wanted[:, 0] * width + wanted[:, 1], candidates.left_rows * width + candidates.right_rows)
    return Recall(len(wanted), int(found.sum()))
