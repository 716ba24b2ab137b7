"""Candidates that blocking found for a data set and a person accepted: they outlive a new arrangement of its files."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from riskcore.data.dataset import DataSet
from riskcore.data.folder import LEFT_ID, PAIR_STEMS, RIGHT_ID
from riskcore.data.labels import UNSPLIT

CANDIDATES_FILE = f"{PAIR_STEMS[UNSPLIT]}.parquet"
_BLOCKED_BY = "blocked_by"  # a column that only blocking writes


def found_candidates(folder: Path) -> pa.Table | None:
    """The accepted candidates of a data set; None if it has none, or if they were brought as a file."""
    file = folder / CANDIDATES_FILE
    if not file.is_file() or _BLOCKED_BY not in pq.read_schema(file).names:
        return None
    return pq.read_table(file)


def fitting(candidates: pa.Table, data: DataSet) -> pa.Table:
    """The candidates whose records the data set has, but for those that it has in another file, with a label."""
    left, right = (candidates.column(name).to_pandas().astype(object) for name in (LEFT_ID, RIGHT_ID))
    known = {name for part in data.splits.values() for name in part.ids}
    there = (left + ":" + right).isin(known) | (data.self_join & (right + ":" + left).isin(known))
    tables = [pd.Index(table.ids, dtype=object) for table in (data.left, data.right)]
    return candidates.filter(pa.array(~there & left.isin(tables[0]) & right.isin(tables[1])))
