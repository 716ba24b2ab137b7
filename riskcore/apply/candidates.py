"""Candidate pairs of new records with the records of a run."""

from __future__ import annotations

import dataclasses

import numpy as np

from riskcore.apply.records import Records, named_as_in_run
from riskcore.blocking import Candidates, block
from riskcore.blocking.steps import OnProgress
from riskcore.config import BlockConfig
from riskcore.data.pairs import Pairs, Table
from riskcore.errors import ConfigError

LEFT_SIDE, RIGHT_SIDE = "left", "right"
SIDES = (LEFT_SIDE, RIGHT_SIDE)
_NO_LIMIT = 2**31 - 1  # pairs of a record of the run: many new records may be candidates of the same one


def candidates_of(
    records: Records, new: Table, side: str = RIGHT_SIDE, top: int | None = None, on_progress: OnProgress | None = None
) -> Pairs:
    """The best candidates of each new record among the run's records of the other side.

    Where the run is a self-join there are no sides: candidates are found among all records of the run, and among the
    new records themselves.
    """
    if side not in SIDES:
        raise ConfigError(f"side is {side!r}; new records stand on the left or on the right.")
    named = named_as_in_run(records.bundle, new)
    theirs = records.left if records.self_join or side == RIGHT_SIDE else records.right
    if records.self_join:
        rows = records.add_left(new)
        found = _block(theirs, named, RIGHT_SIDE, top, on_progress)
        within = _block(named, None, RIGHT_SIDE, top, None)
        left = np.concatenate([found.left_rows, rows[within.left_rows]])
        return _once(records, left, np.concatenate([rows[found.right_rows], rows[within.right_rows]]))
    if side == RIGHT_SIDE:
        rows = records.add_right(new)
        found = _block(theirs, named, side, top, on_progress)
        return records.pairs(found.left_rows, rows[found.right_rows])
    rows = records.add_left(new)
    found = _block(named, theirs, side, top, on_progress)
    return records.pairs(rows[found.left_rows], found.right_rows)


def candidates_between(records: Records, left: Table, right: Table, top: int | None = None) -> Pairs:
    """Candidates of two new tables, or within one, whatever the run's records are."""
    named = named_as_in_run(records.bundle, left)
    other = None if right is left else named_as_in_run(records.bundle, right)
    found = _block(named, other, "both", top, None)
    left_rows = records.add_left(left)
    right_rows = left_rows if right is left and records.self_join else records.add_right(right)
    return records.pairs(left_rows[found.left_rows], right_rows[found.right_rows])


def _block(left: Table, right: Table | None, side: str, top: int | None, on_progress: OnProgress | None) -> Candidates:
    config = BlockConfig(direction=side, max_per_record=_NO_LIMIT)
    config = config if top is None else dataclasses.replace(config, top=top)
    return block(left, right, config, on_progress)


def _once(records: Records, left: np.ndarray, right: np.ndarray) -> Pairs:
    """Pairs within one table, each once and none of a record with itself."""
    low, high = np.minimum(left, right), np.maximum(left, right)
    both = np.unique(np.column_stack([low, high])[low < high], axis=0).reshape(-1, 2)
    return records.pairs(both[:, 0], both[:, 1])
