"""Which records and pairs are the same, whatever their ids: within a data set, and between source and target."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from riskcore.data.pairs import Pairs, Table


def record_codes(values: pd.DataFrame) -> np.ndarray:
    """One number per record, equal exactly where all values are equal (missing equals missing)."""
    codes = np.zeros(len(values), dtype=np.int64)
    for name in values.columns:
        column, distinct = pd.factorize(values[name])  # -1 where missing
        codes = codes * (len(distinct) + 1) + column + 1
        codes = np.unique(codes, return_inverse=True)[1].astype(np.int64)
    return codes


def joined(left: np.ndarray, right: np.ndarray, same: bool) -> np.ndarray:
    """One number per pair of numbers; where both are of the `same` kind, (a, b) is (b, a)."""
    if same:
        left, right = np.minimum(left, right), np.maximum(left, right)
    return left * (int(right.max(initial=0)) + 1) + right


def is_among(pairs: Pairs, others: Pairs, attributes: Sequence[str]) -> np.ndarray:
    """For each pair, whether one of the others has the same two records by these attributes, whatever ids and sides."""
    tables = [table.values[list(attributes)] for table in (pairs.left, pairs.right, others.left, others.right)]
    codes = record_codes(pd.concat(tables, ignore_index=True))
    ours_left, ours_right, left, right = np.split(codes, np.cumsum([len(table) for table in tables])[:-1])
    keys = joined(
        np.concatenate([ours_left[pairs.left_rows], left[others.left_rows]]),
        np.concatenate([ours_right[pairs.right_rows], right[others.right_rows]]),
        same=True,
    )
    return np.isin(keys[: len(pairs)], keys[len(pairs) :])


def told_apart(table: Table, shared: Sequence[str]) -> np.ndarray:
    """For each record, whether its values of the `shared` attributes belong to no other record of its table.

    Records that differ only in other attributes look the same, so it is unknown which of them another data set
    contains.
    """
    looks, records = record_codes(table.values[list(shared)]), record_codes(table.values)
    distinct = np.unique(np.column_stack([looks, records]), axis=0)[:, 0]
    return np.bincount(distinct, minlength=int(looks.max(initial=0)) + 1)[looks] == 1
