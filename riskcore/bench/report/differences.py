"""Above, level or below: how two means compare, given how much they vary with the seed."""

from __future__ import annotations

import dataclasses
import math
import statistics

from riskcore.bench.report.paper import PAPER_SEEDS, PaperFigure
from riskcore.bench.run.schema import MeanRow

LEVEL = 0.3  # points of F1 that are too few to matter
ROUNDING = 0.5  # of a figure given in whole percents


@dataclasses.dataclass(frozen=True)
class Difference:
    """The difference of two means, and whether it is larger than chance and rounding explain."""

    points: float  # of F1
    margin: float
    seeds: int  # of ours, in the mean
    is_bound: bool = False  # the other figure is only known to be more than the one compared with

    @property
    def word(self) -> str:
        if self.is_bound and self.points >= -self.margin:
            return "not below"
        if abs(self.points) <= self.margin:
            return "level"
        return "above" if self.points > 0 else "below"

    @property
    def text(self) -> str:
        return f"{self.word} ({self.points:+.2f})"


def compare_with_paper(row: MeanRow, paper: PaperFigure) -> Difference | None:
    """Our mean against the paper's; level within two standard errors of the difference, or 0.3 points.

    One seed has no deviation: the paper's is used in its place, if there is one.
    """
    if row["f1_mean"] is None:
        return None
    theirs = paper.deviation or 0.0
    ours = theirs if row["f1_deviation"] is None else 100 * row["f1_deviation"]
    noise = 2 * math.sqrt(ours**2 / row["seeds"] + theirs**2 / PAPER_SEEDS)
    margin = max(LEVEL, noise, ROUNDING if paper.deviation is None else 0.0)
    return Difference(100 * row["f1_mean"] - paper.mean, margin, row["seeds"], paper.at_least)


def compare_methods(row: MeanRow | None, other: MeanRow | None) -> Difference | None:
    """Two of our methods on the same pairs: their mean difference on the seeds that both have; level within 0.3."""
    if row is None or other is None:
        return None
    scores, others = row["f1_of_seeds"], other["f1_of_seeds"]
    both = [(ours, theirs) for seed, ours in scores.items() if (theirs := others.get(seed)) is not None]
    shared = [ours - theirs for ours, theirs in both if ours is not None]
    return Difference(100 * statistics.fmean(shared), LEVEL, len(shared)) if shared else None
