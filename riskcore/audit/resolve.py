"""From decisions on pairs to entities: a constraint on how many matches a record may have, then clusters of records.

What people decided is never overruled. Where a constraint or a person's non-match contradicts matches of the model,
the least likely of these are dropped. Where people contradict each other, nothing is chosen: it is reported.

Records of the left and the right table are different even if their ids are equal; a self-join has one table.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from riskcore.audit.conflicts import Contradiction, chain_between, separate
from riskcore.audit.constraints import CONSTRAINTS, FREE, MANY_TO_ONE, ONE_TO_MANY, ONE_TO_ONE, kept_matches
from riskcore.audit.decisions import BY_CONSTRAINT, BY_MODEL, BY_PEOPLE, MATCH, NON_MATCH
from riskcore.columns import (
    ENTITY_COLUMNS,
    ENTITY_ID,
    LEFT_ENTITY,
    LEFT_ID,
    PAIR_ID,
    RECORD_ID,
    RIGHT_ENTITY,
    RIGHT_ID,
    SIDE,
    VALUE,
)
from riskcore.errors import ConfigError
from riskcore.runs.candidate_files import BOTH_SIDES, LEFT_SIDE, RIGHT_SIDE

AUTO = "auto"  # whatever `suggest_constraint` suggests
CONFIDENT = 0.9  # a match of the model from which the data's own constraint is guessed
RARE = 0.02  # share of records with several matches that is put down to mistakes
ENOUGH = 20  # matches that people gave: from so many on, theirs alone suggest the constraint
EXAMPLES = 5


@dataclasses.dataclass(frozen=True, eq=False)
class Resolution:
    """Decisions under a constraint, and the entities that follow from them."""

    constraint: str
    pairs: pd.DataFrame  # the decisions, with the entity of either record
    entities: pd.DataFrame  # a row per record, the records of an entity together
    dropped: pd.DataFrame  # the pairs that were a match before
    contradictions: tuple[Contradiction, ...]


@dataclasses.dataclass(frozen=True)
class Preview:
    """What a constraint would do."""

    constraint: str
    matches: int  # before
    dropped: int
    entities: int
    several: int  # entities of more than one record
    largest: int  # records of the largest entity
    contradictions: int
    examples: tuple[str, ...]  # dropped matches, each with the reason


def suggest_constraint(frame: pd.DataFrame, self_join: bool = False) -> tuple[str, str]:
    """The constraint that the data suggest, and why: how many records of either side have several matches.

    Matches that people gave are asked first; where they are few, confident matches of the model are asked too.
    """
    if self_join:
        return FREE, "Both records of a pair come from one table, where an entity may have any number of records."
    matches = frame[frame["decision"] == MATCH]
    people = matches["decided_by"].isin(BY_PEOPLE)
    words = "matches that people gave"
    asked = matches[people]
    if len(asked) < ENOUGH:
        asked = matches[people | (matches["probability"] >= CONFIDENT)]
        words = f"matches that people gave or the model is sure of (at least {CONFIDENT:.0%})"
    if asked.empty:
        return FREE, "There is no match to learn a constraint from."
    left, right = (_share_with_several(asked[column]) for column in (LEFT_ID, RIGHT_ID))
    found = {(False, False): ONE_TO_ONE, (True, False): ONE_TO_MANY, (False, True): MANY_TO_ONE}
    constraint = found.get((left > RARE, right > RARE), FREE)
    return constraint, (
        f"By {len(asked):,} {words}, {left:.1%} of the left records and {right:.1%} of the right ones have several; "
        f"up to {RARE:.0%} counts as mistakes."
    )


def resolve(
    frame: pd.DataFrame,
    constraint: str = FREE,
    *,
    self_join: bool = False,
    records: pd.DataFrame | None = None,
) -> Resolution:
    """Apply the constraint to the decisions and cluster the records.

    `records` are all records of the target (`read_records`); those without a match are entities of their own. Without
    it, the records of the pairs are taken.
    """
    chosen = checked_constraint(frame, constraint, self_join)
    if frame[[LEFT_ID, RIGHT_ID]].isna().any(axis=None):
        raise ConfigError(
            "The run is of version 0.1, which did not store the ids of both records of every pair, so its records "
            "cannot be clustered. Run again, or export the pairs alone."
        )
    nodes = _Nodes(frame, self_join, records)
    probability = frame["probability"].to_numpy(dtype=float)
    matched = (frame["decision"] == MATCH).to_numpy()
    fixed = frame["decided_by"].isin(BY_PEOPLE).to_numpy()
    rival = np.full(len(frame), -1)
    contradictions: list[Contradiction] = []
    kept = matched.copy()
    if chosen != FREE:
        at = np.flatnonzero(matched)
        stays, against = kept_matches(nodes.left[at], nodes.right[at], probability[at], fixed[at], chosen)
        kept[at], rival[at] = stays, np.where(against >= 0, at[against], -1)
        contradictions += _broken_constraint(frame, nodes, at[stays & fixed[at]], chosen)
    kept, apart = separate(nodes.left, nodes.right, probability, kept, fixed & ~matched, fixed, len(nodes))
    rival = np.where(matched & ~kept & (rival < 0), apart.rival, rival)
    contradictions += _contradictions(frame, nodes, kept & fixed, apart.impossible)
    entity = nodes.entities(kept)
    ids = nodes.ids_of(entity)
    pairs = _without(frame, matched & ~kept, rival, chosen)
    pairs = pairs.assign(**{LEFT_ENTITY: ids[nodes.left], RIGHT_ENTITY: ids[nodes.right]})
    dropped = pairs[matched & ~kept]
    return Resolution(chosen, pairs, nodes.table(entity, ids, records), dropped, tuple(contradictions))


def preview(frame: pd.DataFrame, constraint: str = FREE, **how: Any) -> Preview:
    """What the constraint would do to the decisions; takes what `resolve` takes."""
    found = resolve(frame, constraint, **how)
    sizes = found.entities.drop_duplicates(ENTITY_ID)["records"]
    some = found.dropped.sort_values("probability", ascending=False).head(EXAMPLES)
    return Preview(
        constraint=found.constraint,
        matches=int((frame["decision"] == MATCH).sum()),
        dropped=len(found.dropped),
        entities=len(sizes),
        several=int((sizes > 1).sum()),
        largest=int(sizes.max()) if len(sizes) else 0,
        contradictions=len(found.contradictions),
        examples=tuple(f"{pair}: {why}" for pair, why in zip(some[PAIR_ID], some["reasons"], strict=True)),
    )


def checked_constraint(frame: pd.DataFrame, constraint: str, self_join: bool) -> str:
    """The constraint, or the suggested one for `auto`."""
    if constraint == AUTO:
        return suggest_constraint(frame, self_join)[0]
    if constraint not in CONSTRAINTS:
        raise ConfigError(f"{constraint!r} is not a constraint. Possible: {', '.join((AUTO, *CONSTRAINTS))}.")
    if self_join and constraint != FREE:
        raise ConfigError(
            f"{constraint} does not apply: both records of a pair come from one table, which has no left and right "
            "side. Use free."
        )
    return constraint


def entity_id(side: str, record: str) -> str:
    """The id of the entity whose smallest record this is (left before right, then by id).

    It depends on nothing else: not on the run, the method, the order of rows or the other records. Where two entities
    are merged, the id of the one with the smaller record stays; where one is split, the part with it keeps the id.
    """
    # The letter in front keeps a spreadsheet from reading digits with an e among them as a number.
    return "e" + hashlib.sha256(f"{side}\x1f{record}".encode("utf-8", "surrogatepass")).hexdigest()[:16]


class _Nodes:
    """All records as numbers, in the order of side and id."""

    def __init__(self, frame: pd.DataFrame, self_join: bool, records: pd.DataFrame | None) -> None:
        self.sides = (BOTH_SIDES,) if self_join else (LEFT_SIDE, RIGHT_SIDE)
        ids = [_texts(frame[name]) for name in (LEFT_ID, RIGHT_ID)]
        known = {
            side: [] if records is None else [_texts(records.loc[records[SIDE] == side, RECORD_ID])]
            for side in self.sides
        }
        if self_join:
            self._ids = [_sorted_unique([*ids, *known[BOTH_SIDES]])]
            self.left, self.right = (_places(one, self._ids[0]) for one in ids)
        else:
            self._ids = [_sorted_unique([one, *known[side]]) for one, side in zip(ids, self.sides, strict=True)]
            self.left = _places(ids[0], self._ids[0])
            self.right = _places(ids[1], self._ids[1]) + len(self._ids[0])

    def __len__(self) -> int:
        return sum(map(len, self._ids))

    def entities(self, kept: np.ndarray) -> np.ndarray:
        """The entity of every record, as the number of its smallest record."""
        left, right = self.left[kept], self.right[kept]
        graph = coo_array((np.ones(len(left), dtype=np.int8), (left, right)), shape=(len(self), len(self)))
        _, component = connected_components(graph, directed=False)
        _, first = np.unique(component, return_index=True)  # records are in order: the first is the smallest
        smallest: np.ndarray = first[component]
        return smallest

    def ids_of(self, entity: np.ndarray) -> np.ndarray:
        """The entity ids."""
        smallest, inverse = np.unique(entity, return_inverse=True)
        sides, records = self._keys()
        made = [entity_id(sides[one], records[one]) for one in smallest]
        found: np.ndarray = np.array(made, dtype=object)[inverse]
        return found

    def table(self, entity: np.ndarray, entity_ids: np.ndarray, records: pd.DataFrame | None) -> pd.DataFrame:
        """A row per record, the records of an entity together, with their values where they are known."""
        sides, ids = self._keys()
        order = np.argsort(entity, kind="stable")
        sizes = np.bincount(entity, minlength=len(self))
        found = pd.DataFrame({ENTITY_ID: entity_ids, SIDE: sides, RECORD_ID: ids, "records": sizes[entity]})
        found = found[list(ENTITY_COLUMNS)].iloc[order].reset_index(drop=True)
        if records is None:
            return found
        values = [SIDE, RECORD_ID, *(name for name in records if name.startswith(VALUE))]
        return found.merge(records[values], on=[SIDE, RECORD_ID], how="left")

    def names(self, numbers: Sequence[int]) -> list[str]:
        """Records as a message names them."""
        sides, ids = self._keys()
        return [str(ids[one]) if sides[one] == BOTH_SIDES else f"{sides[one]} {ids[one]}" for one in numbers]

    def _keys(self) -> tuple[np.ndarray, np.ndarray]:
        sides = np.repeat(np.array(self.sides, dtype=object), [len(one) for one in self._ids])
        return sides, np.concatenate([one.to_numpy(zero_copy_only=False) for one in self._ids])


def _texts(values: pd.Series) -> pa.Array:
    return pa.array(values.astype(object), pa.large_string(), from_pandas=True)


def _sorted_unique(parts: list[pa.Array]) -> pa.Array:
    unique = pa.chunked_array(parts, pa.large_string()).unique().drop_null()
    return unique.take(pc.sort_indices(unique))


def _places(values: pa.Array, known: pa.Array) -> np.ndarray:
    places: np.ndarray = pc.index_in(values, value_set=known).to_numpy(zero_copy_only=False)
    return places.astype(np.int64)


def _share_with_several(ids: pd.Series) -> float:
    return float((ids.value_counts() > 1).mean())


def _without(frame: pd.DataFrame, dropped: np.ndarray, rival: np.ndarray, constraint: str) -> pd.DataFrame:
    """The decisions without the dropped matches, each with the reason and the competing pair."""
    pair, probability = frame[PAIR_ID].to_numpy(), frame["probability"].to_numpy(dtype=float)
    by, decision = frame["decided_by"].to_numpy(), frame["decision"].to_numpy()
    reasons = frame["reasons"].to_numpy(dtype=object, copy=True)
    for at in np.flatnonzero(dropped):
        other = rival[at]
        reasons[at] = _why(constraint, pair[other], decision[other], by[other], probability[other])
    return frame.assign(
        decision=np.where(dropped, NON_MATCH, decision),
        decided_by=np.where(dropped, BY_CONSTRAINT, by),
        reasons=reasons,
    )


def _why(constraint: str, pair: str, decision: str, by: str, probability: float) -> str:
    if decision == NON_MATCH:
        return f"{pair} is a non-match ({by}), and this pair would put both records into one entity"
    known = f"{probability:.2f}" if by == BY_MODEL else by
    return f"{constraint}: {pair} is kept instead ({known})"


def _broken_constraint(frame: pd.DataFrame, nodes: _Nodes, at: np.ndarray, constraint: str) -> list[Contradiction]:
    """Records for which people gave more matches than the constraint allows."""
    limited = {ONE_TO_ONE: (nodes.left, nodes.right), ONE_TO_MANY: (nodes.right,), MANY_TO_ONE: (nodes.left,)}
    found, pairs = [], frame[PAIR_ID].to_numpy()
    for side in limited[constraint]:
        record, count = np.unique(side[at], return_counts=True)
        for one in record[count > 1]:
            several = tuple(pairs[at[side[at] == one]])
            words = (
                f"People gave {len(several)} matches of record {nodes.names([one])[0]}, and {constraint} allows one."
            )
            found.append(Contradiction(words, several))
    return found


def _contradictions(
    frame: pd.DataFrame, nodes: _Nodes, by_people: np.ndarray, impossible: np.ndarray
) -> list[Contradiction]:
    """Non-matches of people whose records other matches of people join."""
    found, pairs = [], frame[PAIR_ID].to_numpy()
    at = np.flatnonzero(by_people)
    for apart in impossible:
        ends = (int(nodes.left[apart]), int(nodes.right[apart]))
        chain = tuple(pairs[at[chain_between(nodes.left[at], nodes.right[at], *ends)]])
        joined = ", ".join(chain)
        words = f"{pairs[apart]} is a non-match, and its records are joined by matches that people gave: {joined}."
        found.append(Contradiction(words, (pairs[apart], *chain)))
    return found
