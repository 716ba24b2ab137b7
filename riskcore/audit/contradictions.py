"""Decisions of a run that cannot all be right: matches that join the two records of a non-match, or more matches of a
record than the data's own constraint allows.

`Contradiction` (in `conflicts`) means decisions that cannot all be right, whoever made them. `resolve` reports those
among people's decisions, which nothing may overrule. Here are those among all current decisions, the model's included,
for a person to look at: no score is needed to know that one of them is wrong, so they also find errors of which the
model is sure.

Where a record may have one match, several matches of it contradict each other. Where it may have any number (`free`,
and always within one table), a non-match contradicts a chain of two or three matches between its records. Chains under
a constraint are not looked for: each has a record with several matches. Longer chains are not looked for either: with
every match more, they say less about each.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from riskcore.audit.conflicts import Contradiction
from riskcore.audit.constraints import FREE, ONE_TO_MANY, ONE_TO_ONE
from riskcore.audit.decisions import BY_MODEL, BY_PEOPLE, MATCH, NON_MATCH
from riskcore.audit.resolve import AUTO, RARE, checked_constraint
from riskcore.columns import LEFT_ID, PAIR_ID, RIGHT_ID

CHAIN, SEVERAL = "chain", "several matches"
FOLLOWED = 10  # the likeliest matches of a record that chains are looked for by: bounds the work on huge components
NAMED = 5  # pairs that a sentence names
PEOPLE_RIGHT = 0.98  # probability that a person's decision is right
_SUREST = 0.999  # a model's label is never taken as surer than this
_AT_ONCE = 2_000_000  # chains compared at a time: some 100 MB


@dataclasses.dataclass(frozen=True)
class RankedContradiction(Contradiction):
    """A contradiction with what orders it."""

    kind: str  # chain, or several matches
    score: float  # probability that at least one of the decisions is wrong


def find_contradictions(
    frame: pd.DataFrame, constraint: str = AUTO, *, self_join: bool = False
) -> list[RankedContradiction]:
    """The contradictions among these decisions (a frame of `decisions`), the surest first.

    The score takes the decisions as independent and right with the model's probability, and counts what they
    contradict as an exception that is true in 2 % of the cases. Several decisions that are all but certain may be such
    an exception; where one of them is in doubt, it is more likely wrong.
    """
    chosen = checked_constraint(frame, constraint, self_join)
    pairs = _Pairs(frame, self_join)
    found = _chains(pairs) if chosen == FREE else _several(pairs, chosen)
    return sorted(found, key=lambda one: -one.score)


def contradicting_pairs(found: Iterable[RankedContradiction]) -> dict[str, list[RankedContradiction]]:
    """By pair, the contradictions that it is part of, in their order."""
    by_pair: dict[str, list[RankedContradiction]] = {}
    for one in found:
        for pair in one.pairs:
            by_pair.setdefault(pair, []).append(one)
    return by_pair


def remains(one: RankedContradiction, verdicts: Mapping[str, str]) -> bool:
    """Whether a contradiction is still one after these verdicts on its pairs; new ones they make are not looked for."""
    said = [verdicts.get(pair) for pair in one.pairs]
    if one.kind == CHAIN:  # the non-match comes first
        return said[0] != MATCH and NON_MATCH not in said[1:]
    return sum(word != NON_MATCH for word in said) > 1


def unseen_pairs(one: Contradiction, judged: Collection[str]) -> list[str]:
    """Its pairs that nobody has looked at yet, in their order."""
    return [pair for pair in one.pairs if pair not in judged]


class _Pairs:
    """The decisions as arrays, with records as numbers."""

    def __init__(self, frame: pd.DataFrame, self_join: bool) -> None:
        self.ids = frame[PAIR_ID].to_numpy(dtype=object)
        names = [frame[column].to_numpy(dtype=object) for column in (LEFT_ID, RIGHT_ID)]
        if self_join:
            both, self.names = pd.factorize(np.concatenate(names))
            self.left, self.right = both[: len(frame)], both[len(frame) :]
        else:
            (self.left, left_names), (right, right_names) = (pd.factorize(one) for one in names)
            self.right = right + len(left_names)
            self.names = np.concatenate([left_names, right_names])
        self.known = ~frame[[LEFT_ID, RIGHT_ID]].isna().any(axis=1).to_numpy()  # runs of version 0.1 lack record ids
        self.match = (frame["decision"] == MATCH).to_numpy() & self.known
        self.by = frame["decided_by"].to_numpy(dtype=object)
        self.right_chance = self._chance(frame["probability"].to_numpy(dtype=float))

    def _chance(self, probability: np.ndarray) -> np.ndarray:
        """The probability that each decision is right."""
        of_decision = np.clip(np.where(self.match, probability, 1 - probability), 1 - _SUREST, _SUREST)
        by_people = np.isin(self.by, BY_PEOPLE) | np.isnan(probability)
        chance: np.ndarray = np.where(by_people, PEOPLE_RIGHT, of_decision)
        return chance

    def named(self, places: Sequence[int]) -> str:
        """Pairs as a sentence names them: who decided is said unless it was the model."""
        texts = [
            str(self.ids[at]) if self.by[at] == BY_MODEL else f"{self.ids[at]} ({self.by[at]})" for at in places[:NAMED]
        ]
        more = len(places) - len(texts)
        if more:
            return f"{', '.join(texts)} and {more:,} more"
        return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def _score(all_right: np.ndarray | float) -> np.ndarray | float:
    """The probability that one of several decisions is wrong, if they are all right with this probability when looked
    at alone, and all of them can be right as an exception only."""
    return (1 - all_right) / (1 - all_right + RARE * all_right)


# ---- several matches of one record


def _several(pairs: _Pairs, constraint: str) -> list[RankedContradiction]:
    at = np.flatnonzero(pairs.match)
    sides = {"left": pairs.left, "right": pairs.right}
    limited = {ONE_TO_ONE: ("left", "right"), ONE_TO_MANY: ("right",)}.get(constraint, ("left",))
    found = []
    for side in limited:
        for places in _groups(at, sides[side][at]):
            likely = places[np.argsort(-pairs.right_chance[places], kind="stable")]
            record = pairs.names[sides[side][likely[0]]]
            words = (
                f"{pairs.named(likely.tolist())} are matches of {side} record {record}, "
                f"which has one match at most here ({constraint})."
            )
            score = float(_score(float(np.prod(pairs.right_chance[places]))))
            found.append(RankedContradiction(words, tuple(pairs.ids[likely].tolist()), SEVERAL, score))
    return found


def _groups(at: np.ndarray, record: np.ndarray) -> list[np.ndarray]:
    """The places of each record that has several."""
    order = np.argsort(record, kind="stable")
    _, start, count = np.unique(record[order], return_index=True, return_counts=True)
    return [at[order[first : first + size]] for first, size in zip(start, count, strict=True) if size > 1]


# ---- a chain of matches between the records of a non-match


def _chains(pairs: _Pairs) -> list[RankedContradiction]:
    graph = _Graph(pairs)
    apart = np.flatnonzero(~pairs.match & pairs.known & (pairs.left != pairs.right))
    apart = apart[graph.component[pairs.left[apart]] == graph.component[pairs.right[apart]]]
    found = []
    for some in _parts(apart, graph.matches[pairs.left[apart]] * graph.matches[pairs.right[apart]]):
        held, chains, cost = graph.best_chains(pairs.left[some], pairs.right[some])
        scores = np.asarray(_score(np.exp(-cost) * pairs.right_chance[some[held]]))
        for at, chain, score in zip(some[held].tolist(), chains.tolist(), scores.tolist(), strict=True):
            through = [one for one in chain if one >= 0]
            verb = "is a match" if len(through) == 1 else "are matches"
            words = f"{pairs.named(through)} {verb}, but {pairs.named([at])} is a non-match."
            found.append(RankedContradiction(words, tuple(pairs.ids[[at, *through]].tolist()), CHAIN, score))
    return found


def _parts(places: np.ndarray, work: np.ndarray) -> list[np.ndarray]:
    """The places in parts of a limited amount of work."""
    part = np.cumsum(work) // _AT_ONCE
    return np.split(places, np.flatnonzero(np.diff(part)) + 1) if len(places) else []


class _Graph:
    """Records joined by matches. The cost of a match is minus the logarithm of its probability to be right, so the
    cheapest chain is the likeliest."""

    def __init__(self, pairs: _Pairs) -> None:
        at = np.flatnonzero(pairs.match & (pairs.left != pairs.right))
        left, right, cost = pairs.left[at], pairs.right[at], -np.log(pairs.right_chance[at])
        self.records = len(pairs.names)
        joined = coo_array((np.ones(len(at), dtype=np.int8), (left, right)), shape=(self.records, self.records))
        self.component = connected_components(joined, directed=False)[1]
        self._follow(np.concatenate([left, right]), np.concatenate([right, left]), np.tile(at, 2), np.tile(cost, 2))
        keys = self._key(left, right)
        order = np.lexsort((cost, keys))  # of two matches of the same records, the cheaper is kept
        self._keys, first = np.unique(keys[order], return_index=True)
        self._key_pair, self._key_cost = at[order[first]], cost[order[first]]

    def _follow(self, source: np.ndarray, goal: np.ndarray, pair: np.ndarray, cost: np.ndarray) -> None:
        """The cheapest matches of every record, one after the other."""
        order = np.lexsort((cost, source))
        count = np.bincount(source, minlength=self.records)
        start = np.cumsum(count) - count
        order = order[np.arange(len(order)) - start[source[order]] < FOLLOWED]
        self.matches = np.minimum(count, FOLLOWED)
        self._start = np.cumsum(self.matches) - self.matches
        self._goal, self._pair, self._cost = goal[order], pair[order], cost[order]

    def _key(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        key: np.ndarray = np.minimum(one, other) * np.int64(self.records) + np.maximum(one, other)
        return key

    def best_chains(self, one: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The cheapest chain of at most three matches between records: for which of these there is one, its pairs (-1
        where it has fewer), and its cost."""
        which, first, last = self._combinations(one, other)
        near, far = self._goal[first], self._goal[last]
        direct, meet = near == other[which], near == far
        middle = np.minimum(np.searchsorted(self._keys, self._key(near, far)), len(self._keys) - 1)
        linked = (self._keys[middle] == self._key(near, far)) & (far != one[which])
        between = np.where(meet, 0.0, np.where(linked, self._key_cost[middle], np.inf))
        cost = self._cost[first] + np.where(direct, 0.0, between + self._cost[last])
        order = np.lexsort((cost, which))
        held, best = np.unique(which[order], return_index=True)
        best = order[best]
        there = np.isfinite(cost[best])
        held, best = held[there], best[there]
        through = np.where(direct | meet, -1, self._key_pair[middle])
        end = np.where(direct, -1, self._pair[last])
        return held, np.stack([self._pair[first], through, end], axis=1)[best], cost[best]

    def _combinations(self, one: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Every match of one record with every match of the other, as places among the matches that are followed."""
        inner = self.matches[other]
        size = self.matches[one] * inner
        which = np.repeat(np.arange(len(one)), size)
        number = np.arange(len(which)) - np.repeat(np.cumsum(size) - size, size)
        first = self._start[one[which]] + number // inner[which]
        last = self._start[other[which]] + number % inner[which]
        return which, first, last
