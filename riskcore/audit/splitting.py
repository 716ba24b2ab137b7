"""A shallow tree on metrics that separates flagged pairs from the rest, and the conditions that lead to its leaves.

It is a decision tree with one difference: a pair whose metric is missing goes to neither side of a cut on it, as a
condition of a rule holds for neither. So every leaf is exactly the pairs that meet its conditions, and leaves share no
pair. So that few flagged pairs are in no leaf, a metric that many flagged pairs of a node lack is not cut there.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from riskcore.metrics.values import MetricMatrix
from riskcore.rules.cuts import short_cut
from riskcore.rules.rule import Condition, Side

LEAST_DECREASE = 0.01  # of the first node's impurity; a smaller one is no difference that people would name
MOST_MISSING = 0.1  # of the flagged pairs of a node: a metric that more of them lack is not cut


@dataclasses.dataclass(frozen=True, eq=False)
class _Leaf:
    conditions: tuple[Condition, ...]
    rows: np.ndarray
    split: _Split | None  # the best one, if any is good enough


@dataclasses.dataclass(frozen=True)
class _Split:
    decrease: float  # of the impurity
    column: int
    below: float  # the two neighbouring values that the cut falls between
    above: float


def grow(matrix: MetricMatrix, flagged: np.ndarray, depth: int, leaves: int, least: int) -> list[tuple[Condition, ...]]:
    """The conditions of each leaf, none where nothing separates the flagged pairs. A leaf has `least` pairs or more.

    Flagged pairs and the rest weigh the same together, however rare the flagged are.
    """
    count = int(flagged.sum())
    if not 0 < count < len(flagged):
        return []
    weight = np.where(flagged, 0.5 / count, 0.5 / (len(flagged) - count))
    tree = _Tree(matrix, flagged, weight, depth, least)
    grown = [tree.leaf((), np.arange(len(flagged)))]
    while len(grown) < leaves:
        open_ones = [leaf for leaf in grown if leaf.split is not None]
        if not open_ones:
            break
        best = max(open_ones, key=lambda leaf: leaf.split.decrease if leaf.split else 0.0)
        at = next(place for place, leaf in enumerate(grown) if leaf is best)
        grown[at : at + 1] = tree.halves(best)
    return [leaf.conditions for leaf in grown if leaf.conditions]


@dataclasses.dataclass(frozen=True, eq=False)
class _Tree:
    matrix: MetricMatrix
    flagged: np.ndarray
    weight: np.ndarray
    depth: int
    least: int

    def leaf(self, conditions: tuple[Condition, ...], rows: np.ndarray) -> _Leaf:
        return _Leaf(conditions, rows, self._best_split(rows) if len(conditions) < self.depth else None)

    def halves(self, leaf: _Leaf) -> Iterator[_Leaf]:
        split = leaf.split
        assert split is not None
        metric, cut = self.matrix.metrics[split.column], short_cut(split.below, split.above)
        values = self.matrix.values[leaf.rows, split.column]
        sides: tuple[Side, Side] = ("<=", ">")
        for side in sides:
            condition = Condition(metric.attribute, metric.kind, side, cut)
            yield self.leaf((*leaf.conditions, condition), leaf.rows[condition.holds(values)])

    def _best_split(self, rows: np.ndarray) -> _Split | None:
        weight, flagged = self.weight[rows], self.flagged[rows]
        best: _Split | None = None
        for column in range(len(self.matrix.metrics)):
            found = _split_of(self.matrix.values[rows, column], weight, flagged, column, self.least)
            if found is not None and found.decrease > (best.decrease if best else LEAST_DECREASE * _impurity(0.5, 0.5)):
                best = found
        return best


def _split_of(values: np.ndarray, weight: np.ndarray, flagged: np.ndarray, column: int, least: int) -> _Split | None:
    """The cut of one metric after which the known values on either side are purest."""
    order = np.argsort(values, kind="stable")
    order = order[: len(order) - int(np.isnan(values).sum())]  # missing values sort last
    known = values[order]
    if flagged[order].sum() < (1 - MOST_MISSING) * flagged.sum():
        return None
    places = np.arange(least - 1, len(known) - least)  # a cut after each of these leaves enough on both sides
    places = places[known[places] < known[places + 1]]
    if not len(places):
        return None
    share = np.where(flagged[order], weight[order], 0.0).cumsum()
    rest = np.where(flagged[order], 0.0, weight[order]).cumsum()
    left = _impurity(share[places], rest[places])
    right = _impurity(share[-1] - share[places], rest[-1] - rest[places])
    decrease = _impurity(share[-1], rest[-1]) - left - right
    at = int(np.argmax(decrease))
    place = int(places[at])
    return _Split(float(decrease[at]), column, float(known[place]), float(known[place + 1]))


def _impurity(flagged: np.ndarray | float, rest: np.ndarray | float) -> np.ndarray:
    """Gini's, times the weight."""
    total = np.asarray(flagged + rest, dtype=np.float64)
    return np.divide(2 * flagged * rest, total, out=np.zeros_like(total), where=total > 0)
