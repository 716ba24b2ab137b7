"""The search for one-sided cuts: at a node, for every metric and class, the threshold that best carves off a pure side.

The published search fits one decision stump per node, metric and class weighting. Here each metric is sorted once;
a node's cuts are found in one compiled pass over that order. Each pair has a random 64-bit key, and the pass keeps
their running sum: two sets of pairs with the same class, size, matches and key sum are the same set, so equal rules
and equal nodes are recognised before any set is built, and no node is searched twice.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numba import njit

from riskcore.config import RuleConfig
from riskcore.rules.cuts import short_cut

Identity = tuple[int, int, int]  # size, matches and key sum of a set of pairs


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
        columns = np.ascontiguousarray(X.T)
        rows = np.argsort(columns, axis=1)  # NaN sorts last; ties may fall anyhow, as no cut divides them
        return cls(rows.astype(np.int32), np.take_along_axis(columns, rows, axis=1), (~np.isnan(columns)).sum(axis=1))

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
    keys = np.random.default_rng(0).integers(0, 2**64, size=len(y), dtype=np.uint64)
    found: dict[Identity, Found] = {}
    seen: set[Identity] = set()
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
    seen: set[Identity],
    last: bool,
) -> Iterator[_Node]:
    """Record the pure sides of a node's cuts; yield the impure sides opposite a pure one that are still unseen."""
    between, counts, sums = _best_cuts(order.rows, order.values, order.known, node.rows, y, keys, config.class_weight)
    sides = ("<=", ">")
    for metric, weighting in np.argwhere(~np.isnan(between[:, :, 0])):
        cut = short_cut(*between[metric, weighting].tolist())
        pure = [_is_pure(counts[metric, weighting, side].tolist(), config) for side in (0, 1)]
        for side in (0, 1):
            size, matches = counts[metric, weighting, side].tolist()
            identity = (size, matches, int(sums[metric, weighting, side]))
            path = (*node.path, Cut(int(metric), sides[side], cut))
            if pure[side]:
                outcome = int(matches > size / 2)
                found.setdefault(identity, Found(path, outcome, size, matches))
            elif pure[1 - side] and not last and size >= 2 * config.min_support and identity not in seen:
                seen.add(identity)
                values = X[:, metric].astype(np.float64)
                yield _Node(path, node.rows & (values <= cut if side == 0 else values > cut))


def _is_pure(count: Sequence[int], config: RuleConfig) -> bool:
    size, matches = count
    if size < config.min_support:
        return False
    rate = matches / size
    return 2 * rate * (1 - rate) < (config.match_impurity if rate > 0.5 else config.non_match_impurity)


@njit(cache=True, nogil=True)
def _best_cuts(order, ordered, known, node, y, keys, heavy):  # type: ignore[no-untyped-def]
    """Per metric and weighting (heavy on non-match, heavy on match): the two values the best cut falls between, or
    NaN, and both sides' (size, matches) and key sums."""
    metrics, width = order.shape
    between = np.full((metrics, 2, 2), np.nan)
    counts = np.zeros((metrics, 2, 2, 2), dtype=np.int64)
    sums = np.zeros((metrics, 2, 2), dtype=np.uint64)
    values = np.empty(width, dtype=np.float32)
    matches, key_sums = np.zeros(width + 1, dtype=np.int64), np.zeros(width + 1, dtype=np.uint64)
    for metric in range(metrics):
        size = 0
        for place in range(known[metric]):
            row = order[metric, place]
            if node[row]:
                values[size] = ordered[metric, place]
                matches[size + 1] = matches[size] + y[row]
                key_sums[size + 1] = key_sums[size] + keys[row]
                size += 1
        if size < 2 or matches[size] == 0 or matches[size] == size or values[size - 1] <= values[0]:
            continue
        for weighting in range(2):
            split = _best_split(values, matches, size, 1.0 if weighting else heavy, heavy if weighting else 1.0)
            between[metric, weighting, 0] = values[split - 1]
            between[metric, weighting, 1] = values[split] if split < size else np.inf
            counts[metric, weighting, 0] = split, matches[split]
            counts[metric, weighting, 1] = size - split, matches[size] - matches[split]
            sums[metric, weighting, 0] = key_sums[split]
            sums[metric, weighting, 1] = key_sums[size] - key_sums[split]
    return between, counts, sums


@njit(cache=True, nogil=True)
def _best_split(values, matches, size, weight_0, weight_1):  # type: ignore[no-untyped-def]
    """How many of the sorted values lie at or below the best cut. The score is the one that decision trees
    maximise, in the same order of operations, so that ties fall the same way."""
    best, split = -np.inf, 0
    all_0, all_1 = weight_0 * (size - matches[size]), weight_1 * matches[size]
    for place in range(1, size):
        if values[place] <= values[place - 1]:
            continue
        left_0, left_1 = weight_0 * (place - matches[place]), weight_1 * matches[place]
        right_0, right_1 = all_0 - left_0, all_1 - left_1
        score = (left_0 * left_0 + left_1 * left_1) / (left_0 + left_1)
        score += (right_0 * right_0 + right_1 * right_1) / (right_0 + right_1)
        if score > best:
            best, split = score, place
    cut = np.float32(np.float64(values[split - 1]) / 2.0 + np.float64(values[split]) / 2.0)
    while split < size and values[split] <= cut:  # the middle of two neighbouring floats rounds onto one of them
        split += 1
    return split
