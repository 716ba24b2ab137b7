"""The search for one-sided cuts: at a node, for every metric and class, the threshold that best carves off a pure side.

The published search fits one decision stump per node, metric and class weighting. Here each metric is sorted once;
a node's cuts are found in one compiled pass over that order, both weightings at a time. Row sets are compared by
128-bit sums of random row numbers kept along the pass, so equal rules and equal nodes are recognised before any
set is built, and no node is searched twice.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

import numpy as np
from numba import njit

from riskcore.config import RuleConfig

Identity = tuple[int, int, int]  # outcome and the 128-bit sum of its rows: two sets that agree are the same set


@dataclasses.dataclass(frozen=True)
class Cut:
    """A threshold on one metric and one side of it."""

    metric: int
    side: str  # "<=" or ">"
    threshold: float


@dataclasses.dataclass(frozen=True)
class Found:
    """A pure side: the cuts that lead to it, its class and size."""

    path: tuple[Cut, ...]
    outcome: int
    support: int
    matches: int


@dataclasses.dataclass(frozen=True, eq=False)
class _Node:
    path: tuple[Cut, ...]
    rows: np.ndarray  # bool, over all training pairs


@dataclasses.dataclass(frozen=True, eq=False)
class _Order:
    """Training pairs sorted by each metric, missing values left out."""

    rows: np.ndarray  # int32, metrics x pairs
    values: np.ndarray  # float32, the same order
    known: np.ndarray  # int64, how many are not missing

    @classmethod
    def of(cls, X: np.ndarray) -> _Order:
        rows = np.argsort(X, axis=0, kind="stable").T.astype(np.int32)  # NaN sorts last
        values = np.take_along_axis(X.T, rows, axis=1)
        return cls(np.ascontiguousarray(rows), np.ascontiguousarray(values), (~np.isnan(X)).sum(axis=0))

    def within(self, node: np.ndarray) -> _Order:
        """The same order for the pairs of a node only, so that its children cost what the node holds."""
        keep = node[self.rows] & (np.arange(self.rows.shape[1]) < self.known[:, None])
        known = keep.sum(axis=1)
        width = int(known.max(initial=0))
        rows, values = np.zeros((len(known), width), np.int32), np.zeros((len(known), width), np.float32)
        place = np.arange(width) < known[:, None]
        rows[place], values[place] = self.rows[keep], self.values[keep]
        return _Order(rows, values, known)


def search(
    X: np.ndarray, y: np.ndarray, config: RuleConfig, on_progress: Callable[[int, int], None] | None = None
) -> dict[Identity, Found]:
    """All pure sides reachable within `depth` cuts, one per distinct set of pairs and class; shortest paths first."""
    X, y = np.ascontiguousarray(X, dtype=np.float32), np.ascontiguousarray(y, dtype=np.uint8)
    keys = np.random.default_rng(0).integers(0, 2**64, size=(len(y), 2), dtype=np.uint64)
    found: dict[Identity, Found] = {}
    seen: set[tuple[int, int]] = set()
    level = [(_Order.of(X), [_Node((), np.ones(len(y), dtype=bool))])]
    for depth in range(1, config.depth + 1):
        next_level, total = [], sum(len(nodes) for _, nodes in level)
        done = 0
        for order, nodes in level:
            for node in nodes:
                children = list(_expand(order, node, X, y, keys, config, found, seen, last=depth == config.depth))
                if children:
                    next_level.append((order.within(node.rows), children))
                done += 1
                if on_progress:
                    on_progress(done, total)
        level = next_level
    return found


def _expand(
    order: _Order,
    node: _Node,
    X: np.ndarray,
    y: np.ndarray,
    keys: np.ndarray,
    config: RuleConfig,
    found: dict[Identity, Found],
    seen: set[tuple[int, int]],
    last: bool,
) -> Iterator[_Node]:
    """Record the pure sides of a node's cuts; yield the impure sides opposite a pure one that are still unseen."""
    between, counts, sums = _best_cuts(order.rows, order.values, order.known, node.rows, y, keys, config.class_weight)
    sides = ("<=", ">")
    for metric, weighting in np.argwhere(~np.isnan(between[:, :, 0])):
        cut = _readable(*between[metric, weighting])
        pure = [_is_pure(*counts[metric, weighting, side].tolist(), config) for side in (0, 1)]
        for side in (0, 1):
            size, matches = counts[metric, weighting, side].tolist()
            identity = tuple(sums[metric, weighting, side].tolist())
            path = (*node.path, Cut(int(metric), sides[side], cut))
            if pure[side]:
                outcome = int(matches > size / 2)
                found.setdefault((outcome, *identity), Found(path, outcome, size, matches))  # type: ignore[arg-type]
            elif pure[1 - side] and not last and size >= 2 * config.min_support and identity not in seen:
                seen.add(identity)  # type: ignore[arg-type]
                values = X[:, metric].astype(np.float64)
                yield _Node(path, node.rows & (values <= cut if side == 0 else values > cut))


def _readable(below: float, above: float) -> float:
    """The middle of the two values a cut falls between, in as many digits as people write, if that separates them."""
    middle = below / 2 + above / 2
    short = round(middle, 5)
    if below < short < above:
        return short
    return middle if below <= middle < above else float(below)


def _is_pure(size: int, matches: int, config: RuleConfig) -> bool:
    if size < config.min_support:
        return False
    rate = matches / size
    return 2 * rate * (1 - rate) < (config.match_impurity if rate > 0.5 else config.unmatch_impurity)


@njit(cache=True, nogil=True)
def _best_cuts(order, ordered, known, node, y, keys, heavy):  # type: ignore[no-untyped-def]
    """Per metric and weighting (heavy on unmatch, heavy on match): the two values the best cut falls between, or
    NaN, and both sides' (size, matches) and row sums. The score is the one decision trees maximise, in the same
    order of operations, so that ties fall the same way."""
    metrics, width = order.shape
    between = np.full((metrics, 2, 2), np.nan)
    counts = np.zeros((metrics, 2, 2, 2), dtype=np.int64)
    sums = np.zeros((metrics, 2, 2, 2), dtype=np.uint64)
    rows, values = np.empty(width, dtype=np.int32), np.empty(width, dtype=np.float32)
    for metric in range(metrics):
        size, matches = 0, 0
        for place in range(known[metric]):
            row = order[metric, place]
            if node[row]:
                rows[size] = row
                values[size] = ordered[metric, place]
                matches += y[row]
                size += 1
        if size < 2 or matches == 0 or matches == size or values[size - 1] <= values[0]:
            continue
        for weighting in range(2):
            weight_0 = 1.0 if weighting else heavy
            weight_1 = heavy if weighting else 1.0
            best, split, left_matches = -np.inf, 0, 0
            for place in range(1, size):
                left_matches += y[rows[place - 1]]
                if values[place] <= values[place - 1]:
                    continue
                left_0, left_1 = weight_0 * (place - left_matches), weight_1 * left_matches
                right_0 = weight_0 * (size - matches - place + left_matches)
                right_1 = weight_1 * (matches - left_matches)
                score = (left_0 * left_0 + left_1 * left_1) / (left_0 + left_1)
                score += (right_0 * right_0 + right_1 * right_1) / (right_0 + right_1)
                if score > best:
                    best, split = score, place
            cut = np.float32(np.float64(values[split - 1]) / 2.0 + np.float64(values[split]) / 2.0)
            while split < size and values[split] <= cut:  # the midpoint of two neighbouring floats rounds onto one
                split += 1
            between[metric, weighting, 0] = values[split - 1]
            between[metric, weighting, 1] = values[split] if split < size else np.inf
            for place in range(size):
                side = 0 if place < split else 1
                counts[metric, weighting, side, 0] += 1
                counts[metric, weighting, side, 1] += y[rows[place]]
                sums[metric, weighting, side, 0] += keys[rows[place], 0]
                sums[metric, weighting, side, 1] += keys[rows[place], 1]
    return between, counts, sums
