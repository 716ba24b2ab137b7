"""Above, level or below: what may be said of two means, given how much they vary with the seed."""

from __future__ import annotations

import dataclasses
import math
import statistics
from typing import Any

from riskcore.bench.report.paper import SESSIONS, Published

LEVEL = 0.3  # points of F1 that nobody should quarrel about
ROUNDING = 0.5  # of a figure given in whole percents


@dataclasses.dataclass(frozen=True)
class Verdict:
    """How far a mean lies from another, and whether that is more than chance and rounding explain."""

    difference: float  # points of F1
    margin: float
    seeds: int  # of ours that it is a mean of
    bound: bool = False  # theirs is known to be more than what the difference is from, not how much more

    @property
    def word(self) -> str:
        if self.bound and self.difference >= -self.margin:
            return "not below"
        if abs(self.difference) <= self.margin:
            return "level"
        return "above" if self.difference > 0 else "below"

    @property
    def text(self) -> str:
        return f"{self.word} ({self.difference:+.2f})"


def against_paper(row: dict[str, Any], paper: Published) -> Verdict:
    """Our mean against the paper's; level within two standard errors of the difference, or 0.3 points.

    One seed has no deviation: the paper's stands in for it, where it has one.
    """
    theirs = paper.deviation or 0.0
    ours = theirs if row["f1_deviation"] is None else 100 * row["f1_deviation"]
    noise = 2 * math.sqrt(ours**2 / row["seeds"] + theirs**2 / SESSIONS)
    margin = max(LEVEL, noise, ROUNDING if paper.deviation is None else 0.0)
    return Verdict(100 * row["f1_mean"] - paper.mean, margin, row["seeds"], paper.at_least)


def against(row: dict[str, Any] | None, rival: dict[str, Any] | None) -> Verdict | None:
    """Our own methods meet the same pairs: 0.3 points, in the mean of the seeds that both have, are the bar."""
    if row is None or rival is None:
        return None
    ours, theirs = row["f1_of_seeds"], rival["f1_of_seeds"]
    shared = [seed for seed in ours if ours[seed] is not None and theirs.get(seed) is not None]
    if not shared:
        return None
    return Verdict(100 * statistics.fmean(ours[seed] - theirs[seed] for seed in shared), LEVEL, len(shared))
