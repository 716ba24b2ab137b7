"""Which matches stay where a record may have one match only: the most likely choice as a whole.

The likelihood of a choice is the product of the odds of the matches in it, so their log-odds are added up. Small groups
of competing matches are solved exactly (`linear_sum_assignment`), large ones greedily, the most likely match first.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

FREE, ONE_TO_ONE, ONE_TO_MANY, MANY_TO_ONE = "free", "one-to-one", "one-to-many", "many-to-one"
CONSTRAINTS = (FREE, ONE_TO_ONE, ONE_TO_MANY, MANY_TO_ONE)
LARGEST_EXACT = 250_000  # cells of a group's table of left and right records: at most some 50 ms each
_FLOOR = 1e-9  # of a probability: log-odds stay finite, and differences above 1 - 1e-9 mean nothing
_BONUS = 1e-6  # a match of probability 0.5 is worth more than none


def kept_matches(
    left: np.ndarray, right: np.ndarray, probability: np.ndarray, fixed: np.ndarray, constraint: str
) -> tuple[np.ndarray, np.ndarray]:
    """Which matches stay, and for each that does not, the match that competes with it (-1 for those that stay).

    Fixed matches stay in any case, and leave no room for others.
    """
    worth = _worth(probability)
    sides = limited_sides(constraint, left, right)
    stays = fixed.copy()
    free = ~fixed
    for side in sides:
        free &= ~np.isin(side, side[fixed])
    if len(sides) == 2:
        at = np.flatnonzero(free)
        stays[at] = _matching(left[at], right[at], worth[at])
    elif sides:
        at = np.flatnonzero(free)
        stays[at[_best_of_each(sides[0][at], worth[at])]] = True
    else:
        stays[:] = True
    return stays, _rivals(sides, stays, fixed, worth)


def limited_sides(constraint: str, left: np.ndarray, right: np.ndarray) -> list[np.ndarray]:
    """The sides on which a record may have one match."""
    return {FREE: [], ONE_TO_ONE: [left, right], ONE_TO_MANY: [right], MANY_TO_ONE: [left]}[constraint]


def _worth(probability: np.ndarray) -> np.ndarray:
    """Log-odds; a match without a probability, which people gave, is worth nothing here."""
    known = np.clip(np.nan_to_num(probability, nan=0.5), _FLOOR, 1 - _FLOOR)
    worth: np.ndarray = np.maximum(np.log(known) - np.log1p(-known), 0.0) + _BONUS
    return worth


def _best_of_each(record: np.ndarray, worth: np.ndarray) -> np.ndarray:
    """The place of the best match of each record, the first of equals."""
    order = np.lexsort((np.arange(len(record)), -worth, record))
    _, first = np.unique(record[order], return_index=True)
    best: np.ndarray = order[first]
    return best


def _matching(left: np.ndarray, right: np.ndarray, worth: np.ndarray) -> np.ndarray:
    """The matches of the best choice with one match per record."""
    stays = np.zeros(len(left), dtype=bool)
    if not len(left):
        return stays
    (_, left), (_, right) = (np.unique(side, return_inverse=True) for side in (left, right))
    lefts = int(left.max()) + 1
    size = lefts + int(right.max()) + 1
    graph = coo_array((np.ones(len(left), dtype=np.int8), (left, right + lefts)), shape=(size, size))
    groups, of_record = connected_components(graph, directed=False)
    group = of_record[left]
    count = [_distinct(group, side, groups) for side in (left, right)]
    star = (count[0] == 1) | (count[1] == 1)  # one record on a side: its best match stays
    at = np.flatnonzero(star[group])
    stays[at[_best_of_each(group[at], worth[at])]] = True
    rest = np.flatnonzero(~star[group])
    rest = rest[np.argsort(group[rest], kind="stable")]
    row, column = _within_group(left, group), _within_group(right, group)
    for some in np.split(rest, np.flatnonzero(np.diff(group[rest])) + 1) if len(rest) else ():
        cells = int(count[0][group[some[0]]] * count[1][group[some[0]]])
        choose = _exact if cells <= LARGEST_EXACT else _greedy
        stays[some[choose(row[some], column[some], worth[some])]] = True
    return stays


def _distinct(group: np.ndarray, record: np.ndarray, groups: int) -> np.ndarray:
    """How many different records of a side each group has."""
    _, first = np.unique(record, return_index=True)
    return np.bincount(group[first], minlength=groups)


def _within_group(record: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Every record's number among those of its group."""
    _, first = np.unique(record, return_index=True)
    of_record = group[first]
    order = np.argsort(of_record, kind="stable")
    _, start, count = np.unique(of_record[order], return_index=True, return_counts=True)
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.arange(len(order)) - np.repeat(start, count)
    found: np.ndarray = number[record]
    return found


def _exact(row: np.ndarray, column: np.ndarray, worth: np.ndarray) -> np.ndarray:
    """Places of the matches that have the highest total worth together."""
    table = np.zeros((row.max() + 1, column.max() + 1))
    table[row, column] = worth
    place = np.full(table.shape, -1)
    place[row, column] = np.arange(len(row))
    chosen = place[linear_sum_assignment(table, maximize=True)]
    found: np.ndarray = chosen[chosen >= 0]  # cells without a match are worth 0: nothing
    return found


def _greedy(left: np.ndarray, right: np.ndarray, worth: np.ndarray) -> np.ndarray:
    """Places of matches taken one after the other, the best first, where both records are still free."""
    taken: tuple[set[int], set[int]] = (set(), set())
    found = []
    for place in np.argsort(-worth, kind="stable").tolist():
        one, other = int(left[place]), int(right[place])
        if one not in taken[0] and other not in taken[1]:
            taken[0].add(one)
            taken[1].add(other)
            found.append(place)
    return np.array(found, dtype=np.int64)


def _rivals(sides: list[np.ndarray], stays: np.ndarray, fixed: np.ndarray, worth: np.ndarray) -> np.ndarray:
    """For each match that does not stay, the best that stays and shares a limited record with it; people's first."""
    rival = np.full(len(stays), -1)
    strength = np.where(fixed, np.inf, worth)
    kept = np.flatnonzero(stays)[::-1]  # of equals, the first is named
    for side in sides:
        best = np.full(int(side.max()) + 1 if len(side) else 0, -1)
        order = kept[np.argsort(strength[kept], kind="stable")]
        best[side[order]] = order  # the last written is the strongest
        found = best[side]
        better = (found >= 0) & ((rival < 0) | (strength[found] > strength[rival]))
        rival = np.where(~stays & better, found, rival)
    return rival
