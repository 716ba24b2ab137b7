"""A random forest as plain arrays: stored without pickle, and the same probabilities as scikit-learn's, bit for bit."""

from __future__ import annotations

import dataclasses
from functools import cached_property

import numpy as np
from numba import njit
from sklearn.ensemble import RandomForestClassifier

from riskcore.matchers.base import Arrays
from riskcore.training.forest import with_flags

_LEAF = -1
_AT_ONCE = 1_024  # pairs


@dataclasses.dataclass(frozen=True, eq=False)
class StoredForest:
    """The nodes of all trees, tree after tree. Children are counted from the first node of their tree."""

    starts: np.ndarray  # int64: where each tree begins, and the end of the last
    left: np.ndarray  # int32; -1 in a leaf
    right: np.ndarray  # int32
    feature: np.ndarray  # int32
    threshold: np.ndarray  # float32: a value at or below it goes left
    share: np.ndarray  # float64: of matches among the pairs of a node

    @classmethod
    def of(cls, forest: RandomForestClassifier) -> StoredForest:
        trees = [estimator.tree_ for estimator in forest.estimators_]
        classes = forest.classes_.tolist()
        match = classes.index(1) if 1 in classes else None
        shares = [np.zeros(tree.node_count) if match is None else tree.value[:, 0, match] for tree in trees]
        return cls(
            np.concatenate([[0], np.cumsum([tree.node_count for tree in trees])]).astype(np.int64),
            np.concatenate([tree.children_left for tree in trees]).astype(np.int32),
            np.concatenate([tree.children_right for tree in trees]).astype(np.int32),
            np.concatenate([tree.feature for tree in trees]).astype(np.int32),
            _rounded_down(np.concatenate([tree.threshold for tree in trees])),
            np.concatenate(shares).astype(np.float64),
        )

    def predict_proba(self, metrics: np.ndarray) -> np.ndarray:
        """Match probability of each pair, from its metrics."""
        inputs = np.ascontiguousarray(with_flags(metrics), dtype=np.float32)
        total: np.ndarray = _sum_of_trees(inputs, self.starts, self._nodes, self.threshold, self.share)
        return total / (len(self.starts) - 1)

    @cached_property
    def _nodes(self) -> np.ndarray:
        """Per node what a pair's path needs, side by side in memory: feature (-1 in a leaf), left and right child,
        counted from the first node of all."""
        first = np.repeat(self.starts[:-1], np.diff(self.starts))
        feature = np.where(self.left == _LEAF, _LEAF, self.feature)
        return np.column_stack([feature, self.left + first, self.right + first]).astype(np.int32)

    def contributions(self, metrics: np.ndarray) -> tuple[float, np.ndarray]:
        """How each metric moves the probability, along the paths that a pair takes: the share of matches before any
        question, and pairs x metrics. Together they add up to the probability."""
        inputs = np.ascontiguousarray(with_flags(metrics), dtype=np.float32)
        moved = _moved_along_paths(
            inputs, self.starts, self.left, self.right, self.feature, self.threshold, self.share, metrics.shape[1]
        )
        trees = len(self.starts) - 1
        return float(self.share[self.starts[:-1]].mean()), moved / trees

    def some_trees(self, trees: np.ndarray) -> StoredForest:
        """A forest of these trees; one may occur several times."""
        nodes = [np.arange(self.starts[tree], self.starts[tree + 1]) for tree in trees]
        rows = np.concatenate(nodes)
        starts = np.concatenate([[0], np.cumsum([len(one) for one in nodes])]).astype(np.int64)
        fields = (self.left, self.right, self.feature, self.threshold, self.share)
        return StoredForest(starts, *(values[rows] for values in fields))

    def arrays(self) -> Arrays:
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}


def _rounded_down(threshold: np.ndarray) -> np.ndarray:
    """The largest float32 that is not above: scikit-learn compares float32 values with float64 thresholds, and a
    float32 value is at or below the one exactly where it is at or below the other."""
    rounded = threshold.astype(np.float32)
    above = rounded.astype(np.float64) > threshold
    rounded[above] = np.nextafter(rounded[above], np.float32(-np.inf))
    return rounded


@njit(cache=True, nogil=True)
def _sum_of_trees(inputs, starts, nodes, threshold, share):  # type: ignore[no-untyped-def]
    """The trees' shares, added up in their order, as scikit-learn does in one thread. Some pairs go through all trees
    before the next ones, so that their metrics stay in the processor's cache."""
    total = np.zeros(len(inputs))
    for begin in range(0, len(inputs), _AT_ONCE):
        end = min(begin + _AT_ONCE, len(inputs))
        for tree in range(len(starts) - 1):
            for row in range(begin, end):
                node = starts[tree]
                feature = nodes[node, 0]
                while feature != _LEAF:
                    node = nodes[node, 1] if inputs[row, feature] <= threshold[node] else nodes[node, 2]
                    feature = nodes[node, 0]
                total[row] += share[node]
    return total


@njit(cache=True, nogil=True)
def _moved_along_paths(inputs, starts, left, right, feature, threshold, share, metrics):  # type: ignore[no-untyped-def]
    """The change of the share at each question of a path, added up by the metric that is asked about. A question
    whether a metric is missing, in the second half of the inputs, is one about the metric."""
    moved = np.zeros((len(inputs), metrics))
    for tree in range(len(starts) - 1):
        first = starts[tree]
        for row in range(len(inputs)):
            node = first
            while left[node] != _LEAF:
                asked = feature[node]
                goes_left = inputs[row, asked] <= threshold[node]
                below = first + (left[node] if goes_left else right[node])
                moved[row, asked % metrics] += share[below] - share[node]
                node = below
    return moved
