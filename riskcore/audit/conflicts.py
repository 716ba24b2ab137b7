"""Records that people hold apart must not end up in one entity: the matches of the model that would join them are
dropped, the least likely first. People's own matches are never dropped; where these join them, it is a contradiction.
"""

from __future__ import annotations

import dataclasses
from collections import deque

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components


@dataclasses.dataclass(frozen=True)
class Contradiction:
    """Decisions that cannot all be right."""

    words: str
    pairs: tuple[str, ...]  # their pair ids


@dataclasses.dataclass(frozen=True, eq=False)
class Separation:
    """What held matches apart."""

    rival: np.ndarray  # for each dropped match, the non-match that it would have contradicted; -1 elsewhere
    impossible: np.ndarray  # non-matches whose records people's own matches join


def separate(
    left: np.ndarray,
    right: np.ndarray,
    probability: np.ndarray,
    kept: np.ndarray,
    apart: np.ndarray,
    fixed: np.ndarray,
    records: int,
) -> tuple[np.ndarray, Separation]:
    """Which of the `kept` matches stay so that no records of a non-match in `apart` are joined.

    In each component where that happens, matches are added again one after the other, people's first, then the most
    likely, each unless it would join records that are held apart.
    """
    rival, stays = np.full(len(left), -1), kept.copy()
    component = _components(left[kept], right[kept], records)
    broken = np.flatnonzero(apart & (component[left] == component[right]))
    if not len(broken):
        return stays, Separation(rival, np.empty(0, dtype=np.int64))
    affected = np.isin(component[left], component[left[broken]]) & kept
    order = np.flatnonzero(affected)
    order = order[np.lexsort((-np.nan_to_num(probability[order], nan=1.0), ~fixed[order]))]
    clusters = _Clusters()
    for one in order[fixed[order]].tolist():
        clusters.join(int(left[one]), int(right[one]))
    joined = [clusters.find(int(left[one])) == clusters.find(int(right[one])) for one in broken.tolist()]
    for one in broken[~np.array(joined)].tolist():
        clusters.hold_apart(int(left[one]), int(right[one]), one)
    for one in order[~fixed[order]].tolist():
        against = clusters.between(int(left[one]), int(right[one]))
        if against is None:
            clusters.join(int(left[one]), int(right[one]))
        else:
            stays[one], rival[one] = False, against
    return stays, Separation(rival, broken[np.array(joined)])


def chain_between(left: np.ndarray, right: np.ndarray, start: int, end: int) -> list[int]:
    """Places of the matches on a shortest way from one record to another; empty where there is none."""
    ways: dict[int, list[tuple[int, int]]] = {}
    for place, (one, other) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
        ways.setdefault(one, []).append((other, place))
        ways.setdefault(other, []).append((one, place))
    came: dict[int, tuple[int, int]] = {start: (start, -1)}
    queue = deque([start])
    while queue and end not in came:
        here = queue.popleft()
        for there, place in ways.get(here, ()):
            if there not in came:
                came[there] = (here, place)
                queue.append(there)
    chain, here = [], end
    while here in came and here != start:
        here, place = came[here]
        chain.append(place)
    return chain[::-1]


def _components(left: np.ndarray, right: np.ndarray, records: int) -> np.ndarray:
    graph = coo_array((np.ones(len(left), dtype=np.int8), (left, right)), shape=(records, records))
    return connected_components(graph, directed=False)[1]


class _Clusters:
    """Records joined into clusters, some of which must stay apart (union-find)."""

    def __init__(self) -> None:
        self._parent: dict[int, int] = {}
        self._apart: dict[
            int, dict[int, int]
        ] = {}  # by cluster: the clusters it must not join, and the pair that says so
        self._size: dict[int, int] = {}

    def find(self, record: int) -> int:
        root = record
        while (above := self._parent.get(root, root)) != root:
            root = above
        while record != root:
            self._parent[record], record = root, self._parent.get(record, root)
        return root

    def hold_apart(self, one: int, other: int, pair: int) -> None:
        first, second = self.find(one), self.find(other)
        self._apart.setdefault(first, {}).setdefault(second, pair)
        self._apart.setdefault(second, {}).setdefault(first, pair)

    def between(self, one: int, other: int) -> int | None:
        """The pair that holds the clusters of two records apart."""
        return self._apart.get(self.find(one), {}).get(self.find(other))

    def join(self, one: int, other: int) -> None:
        first, second = self.find(one), self.find(other)
        if first == second:
            return
        if self._weight(first) < self._weight(second):  # the smaller cluster goes into the larger
            first, second = second, first
        self._parent[second] = first
        self._size[first] = self._size.get(first, 1) + self._size.get(second, 1)
        for cluster, pair in self._apart.pop(second, {}).items():
            self._apart[cluster].pop(second, None)
            self.hold_apart(first, cluster, pair)

    def _weight(self, cluster: int) -> int:
        return self._size.get(cluster, 1) + len(self._apart.get(cluster, ()))
