"""Pairs that source and target have in common: their source labels would tell what the target's are asked for."""

from __future__ import annotations

import numpy as np
import pandas as pd

from riskcore.data.pairs import Pairs
from riskcore.data.parsed import joined, record_codes


def is_among(pairs: Pairs, others: Pairs) -> np.ndarray:
    """For each pair, whether one of the others has the same two records, whatever their ids and sides."""
    tables = [table.values for table in (pairs.left, pairs.right, others.left, others.right)]
    codes = record_codes(pd.concat(tables, ignore_index=True))
    ours_left, ours_right, left, right = np.split(codes, np.cumsum([len(table) for table in tables])[:-1])
    keys = joined(
        np.concatenate([ours_left[pairs.left_rows], left[others.left_rows]]),
        np.concatenate([ours_right[pairs.right_rows], right[others.right_rows]]),
        same=True,
    )
    return np.isin(keys[: len(pairs)], keys[len(pairs) :])
