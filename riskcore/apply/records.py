"""New records beside those of the run: under the run's attribute names, and in tables that begin with its records.

What a metric or a competing candidate needs to know of other records is then the same as in the run. A record that the
run has already, with the same id and the same values, is the run's own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection

import numpy as np
import pandas as pd

from riskcore.data.pairs import Pairs, Table
from riskcore.errors import ConfigError
from riskcore.pair_ids import pair_ids
from riskcore.runs.bundle.read import Bundle

_MISSING = "\x00"  # in no value: a missing value equals another missing one
SHOWN = 10  # columns listed in an error


class Records:
    """The run's tables, and behind their records the new ones that were added."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self.self_join = bundle.facts["self_join"]
        self.left, self.right = bundle.tables

    def add_left(self, table: Table) -> np.ndarray:
        """The rows of these records in the left table."""
        self.left, rows = _extended(self.left, named_as_in_run(self.bundle, table))
        if self.self_join:
            self.right = self.left
        return rows

    def add_right(self, table: Table) -> np.ndarray:
        """The rows of these records in the right table."""
        if self.self_join:
            return self.add_left(table)
        self.right, rows = _extended(self.right, named_as_in_run(self.bundle, table))
        return rows

    def place(self, pairs: Pairs) -> Pairs:
        """Pairs of other tables as pairs of these."""
        left = self.add_left(pairs.left)
        right = left if pairs.left is pairs.right and self.self_join else self.add_right(pairs.right)
        return Pairs(self.left, self.right, left[pairs.left_rows], right[pairs.right_rows], pairs.ids)

    def pairs(self, left_rows: np.ndarray, right_rows: np.ndarray) -> Pairs:
        """Pairs of these rows."""
        ids = pair_ids(self.left.ids[left_rows], self.right.ids[right_rows])
        return Pairs(self.left, self.right, left_rows, right_rows, ids)


def named_as_in_run(bundle: Bundle, table: Table) -> Table:
    """The table with the run's attributes under the run's names; one error names every column that is missing."""
    names, missing = {}, []
    theirs = {one["column"] for one in bundle.facts["attributes"]}
    for one in bundle.facts["attributes"]:
        name, column = one["name"], one["column"]
        if column in table.attributes:
            names[name] = column
        elif name in table.attributes and name not in theirs:
            names[name] = name
        else:
            missing.append(column)
    if missing:
        raise ConfigError(_missing(table, missing, theirs))
    values = table.values[list(names.values())].set_axis(list(names), axis=1)
    return Table(table.name, table.ids, values[list(bundle.tables[0].attributes)])


def _missing(table: Table, missing: list[str], wanted: Collection[str]) -> str:
    has = ", ".join(map(repr, table.attributes[:SHOWN]))
    more = f" and {len(table.attributes) - SHOWN} more" if len(table.attributes) > SHOWN else ""
    lacking = ", ".join(map(repr, missing))
    return (
        f"The new records ({table.name}) lack {'a column' if len(missing) == 1 else 'columns'} that the run's records "
        f"have: {lacking}. There are: {has}{more}. Rename or add {'it' if len(missing) == 1 else 'them'}; cells may be "
        "empty."
    )


def _extended(table: Table, new: Table) -> tuple[Table, np.ndarray]:
    """The table with the new records that it lacks behind its own, and the row of each new record in it."""
    place = _same_records(table, new)
    added = np.flatnonzero(place < 0)
    if not len(added):
        return table, place
    place[added] = len(table) + np.arange(len(added))
    values = pd.concat([table.values, new.values.iloc[added]], ignore_index=True)
    whole = dataclasses.replace(table, ids=np.concatenate([table.ids, new.ids[added]]), values=values.astype("str"))
    return whole, place


def _same_records(table: Table, new: Table) -> np.ndarray:
    """For each new record the row that has its id and its values; -1 where there is none."""
    rows = pd.Index(table.ids).get_indexer(pd.Index(new.ids))
    found = np.flatnonzero(rows >= 0)
    ours = table.values.iloc[rows[found]].fillna(_MISSING).to_numpy(dtype=object)
    theirs = new.values.iloc[found].fillna(_MISSING).to_numpy(dtype=object)
    rows[found[(ours != theirs).any(axis=1)]] = -1
    return rows.astype(np.int64)
