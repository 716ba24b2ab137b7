"""What a pair's answer can still become while the matcher has not been asked about it.

A pair's stacked log-odds are a weighted sum, and each term lies between the log-odds of `stack.probability_floor` and
of its complement. So the matcher's terms, and that of the rules, which weigh the matcher's probability too, have bounds
that hold whatever the matcher would say. Where both ends give the same label, asking cannot change it.

Where candidates compete, a pair's label hangs on others too. Competitors count from "hopeless" at -`competition.clip`
to "certain" at `clip` and not beyond, so a first wave of questions settles how much each pair counts, and a second one,
by then with all competitors known, settles the labels.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from riskcore.risk.log_odds import log_odds
from riskcore.risk.scoring import ScoringModel, rule_terms

SLACK = 1e-9  # in log-odds: sums are rounded


@dataclasses.dataclass(frozen=True, eq=False)
class Bounds:
    """The stacker's inputs of some pairs, each between a low and a high end; both are the same where it is known."""

    low: np.ndarray  # pairs x inputs
    high: np.ndarray

    def margins(self, offset: float, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The lowest and the highest stacked log-odds."""
        rising = np.maximum(weights, 0.0)
        falling = np.minimum(weights, 0.0)
        low = offset + self.low @ rising + self.high @ falling
        high = offset + self.high @ rising + self.low @ falling
        return low, high

    def widest_spread(self) -> np.ndarray:
        """The largest standard deviation that the inputs of a pair can have: it is convex, so at some corner."""
        known = self.low == self.high
        open_columns = np.flatnonzero(~known.all(axis=0))
        widest = np.zeros(len(self.low))
        for corner in range(1 << len(open_columns)):
            inputs = self.low.copy()
            for place, column in enumerate(open_columns):
                if corner >> place & 1:
                    inputs[:, column] = self.high[:, column]
            np.maximum(widest, inputs.std(axis=1), out=widest)
        return widest


def rule_bounds(model: ScoringModel, fired: object, floor: float) -> tuple[np.ndarray, np.ndarray]:
    """The log-odds of a risk model's mean for any probability of the matcher.

    The mean is (S + w x) / (W + w), with the matcher's probability x between 0 and 1 and its weight w at most that at 0
    and 1; since S is at most W, it lies between S / (W + w) and (S + w) / (W + w) for the largest w.
    """
    sums = fired.astype(np.float64) @ rule_terms(model)[:, :2]  # type: ignore[attr-defined]
    weight, mean = sums[:, 0], sums[:, 1]
    most = float(model.matcher_weight(np.array([0.0, 1.0])).max())
    total = weight + most
    return log_odds(np.maximum(mean, 0.0) / total, floor), log_odds(np.minimum((mean + most) / total, 1.0), floor)
