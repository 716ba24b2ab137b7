"""Above, level or below: how two means compare, given how much they vary with the seed.

A difference is level where its 95 % confidence interval includes 0: the seeds do not show which of the two is higher.
That is not the same as equal, so the interval is part of the text.
"""

from __future__ import annotations

import dataclasses
import math
import statistics

from scipy.special import stdtrit

from riskcore.bench.report.paper import PAPER_SEEDS, PaperFigure
from riskcore.bench.run.schema import MeanRow

ROUNDING = 0.5  # of a figure given in whole percents
ONE_SEED = "one seed, not known"
_TIE = 1e-9  # points: equal means that were summed in another order


@dataclasses.dataclass(frozen=True)
class Difference:
    """The difference of two means, and whether it is larger than chance and rounding explain."""

    points: float  # of F1
    margin: float | None  # half the width of the 95 % interval; None with one seed, which says nothing of the others
    seeds: int  # of ours, in the mean
    is_bound: bool = False  # the other figure is only known to be more than the one compared with

    @property
    def word(self) -> str:
        if self.margin is None:
            return ONE_SEED
        margin = self.margin + _TIE
        if self.is_bound and self.points >= -margin:
            return "not below"
        if abs(self.points) <= margin:
            return "level"
        return "above" if self.points > 0 else "below"

    @property
    def text(self) -> str:
        margin = "" if self.margin is None else f" ± {self.margin:.2f}"
        return f"{self.word} ({self.points:+.2f}{margin})"


def compare_with_paper(row: MeanRow, paper: PaperFigure) -> Difference | None:
    """Our mean against the paper's, whose seeds are not ours: by Welch's interval, and half a point more where the
    paper rounds. One seed has no deviation: the paper's is used in its place, if there is one."""
    if row["f1_mean"] is None:
        return None
    points = 100 * row["f1_mean"] - paper.mean
    return Difference(points, _margin_to_paper(row, paper), row["seeds"], paper.at_least)


def compare_methods(row: MeanRow | None, other: MeanRow | None) -> Difference | None:
    """Two of our methods: their mean difference on the seeds that both have, with Student's interval.

    Both methods of a seed have the same pairs and the same trained matcher, so what varies with both cancels.
    """
    if row is None or other is None:
        return None
    scores, others = row["f1_of_seeds"], other["f1_of_seeds"]
    both = [(ours, theirs) for seed, ours in scores.items() if (theirs := others.get(seed)) is not None]
    shared = [100 * (ours - theirs) for ours, theirs in both if ours is not None]
    if not shared:
        return None
    margin = None if len(shared) == 1 else _half_width(statistics.variance(shared) / len(shared), len(shared) - 1)
    return Difference(statistics.fmean(shared), margin, len(shared))


def _margin_to_paper(row: MeanRow, paper: PaperFigure) -> float | None:
    seeds, deviation = row["seeds"], row["f1_deviation"]
    if paper.deviation is None:
        return None if deviation is None else ROUNDING + _half_width((100 * deviation) ** 2 / seeds, seeds - 1)
    theirs = paper.deviation**2 / PAPER_SEEDS
    if deviation is None:
        return _half_width(paper.deviation**2 / seeds + theirs, PAPER_SEEDS - 1)
    ours = (100 * deviation) ** 2 / seeds
    if not ours + theirs:
        return 0.0
    freedom = (ours + theirs) ** 2 / (ours**2 / (seeds - 1) + theirs**2 / (PAPER_SEEDS - 1))
    return _half_width(ours + theirs, freedom)


def _half_width(variance: float, freedom: float) -> float:
    """Of the 95 % interval of a mean whose variance was estimated with so many degrees of freedom."""
    return float(stdtrit(freedom, 0.975)) * math.sqrt(variance)
