"""Pairs that source and target have in common: their source labels would tell what the target's are asked for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from riskcore.data.content import record_codes
from riskcore.data.pairs import Pairs


def is_among(pairs: Pairs, others: Sequence[Pairs]) -> np.ndarray:
    """For each pair, whether one of the others has the same two records, whatever their ids and sides."""
    everything = [pairs, *others]
    tables = [table for part in everything for table in (part.left, part.right)]
    codes = record_codes(pd.concat([table.values for table in tables], ignore_index=True))
    sides = iter(np.split(codes, np.cumsum([len(table.values) for table in tables])[:-1]))
    base = int(codes.max(initial=0)) + 1
    ours, *theirs = (_keys(next(sides)[part.left_rows], next(sides)[part.right_rows], base) for part in everything)
    return np.isin(ours, np.concatenate([np.zeros(0, dtype=np.int64), *theirs]))


def _keys(left: np.ndarray, right: np.ndarray, base: int) -> np.ndarray:
    return np.minimum(left, right) * base + np.maximum(left, right)
