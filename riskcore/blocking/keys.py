"""Exact keys: records whose folded values of one attribute are equal.

A value that too many records share is a category rather than a key, and its pairs would grow with the square of them.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from riskcore.blocking.candidates import Found
from riskcore.data.pairs import Table
from riskcore.data.values import fold


def equal_values(left: Table, right: Table | None, attribute: str, max_records: int) -> Found:
    """All pairs of records with an equal value; missing values equal nothing."""
    sides = [_by_value(table, attribute, max_records) for table in (left, left if right is None else right)]
    both = sides[0].merge(sides[1], on="value", suffixes=("_left", "_right"))
    rows = [both[f"row_{side}"].to_numpy(dtype=np.int32) for side in ("left", "right")]
    if right is None:
        once = rows[0] < rows[1]
        rows = [side[once] for side in rows]
    return Found(rows[0], rows[1], np.full(len(rows[0]), np.nan, dtype=np.float32))


def _by_value(table: Table, attribute: str, max_records: int) -> pd.DataFrame:
    """Row and folded value of the records whose value few enough records have."""
    texts = table.text(attribute)
    codes, distinct = pd.factorize(texts)  # each text is folded once
    values = np.array([*map(fold, distinct), ""], dtype=object)[codes]  # a missing value has code -1
    rows = np.flatnonzero(values != "")
    found = pd.DataFrame({"row": rows, "value": values[rows]})
    shared = found.groupby("value", sort=False)["row"].transform("size")
    return found[shared <= max_records]
