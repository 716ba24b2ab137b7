"""Candidates that blocking found for a data set and a person accepted: they outlive a new arrangement of its files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from riskcore.data.dataset import DataSet
from riskcore.data.folder import LEFT_ID, PAIR_STEMS, RIGHT_ID
from riskcore.data.labels import UNSPLIT
from riskcore.data.reading import open_data
from riskcore.pair_ids import pair_ids

CANDIDATES_FILE = f"{PAIR_STEMS[UNSPLIT]}.parquet"
_BLOCKED_BY = "blocked_by"  # a column that only blocking writes
_PREVIEW_ROWS, _PREVIEW_CHARS = 20, 80


def has_found_candidates(folder: Path) -> bool:
    """Whether the data set has candidates that were found for it, and not brought as a file."""
    file = folder / CANDIDATES_FILE
    return file.is_file() and _BLOCKED_BY in pq.read_schema(file).names


def found_candidates(folder: Path) -> pa.Table | None:
    """The accepted candidates of a data set; None if it has none, or if they were brought as a file."""
    return pq.read_table(folder / CANDIDATES_FILE) if has_found_candidates(folder) else None


def candidate_preview(folder: Path, pairs: Path, names: Sequence[str]) -> pd.DataFrame:
    """The first pairs of a file that blocking wrote, with these attributes of their records."""
    file = pq.ParquetFile(pairs)
    if not file.num_row_groups:
        return pd.DataFrame()
    found = file.read_row_group(0).slice(0, _PREVIEW_ROWS).to_pandas()
    data = open_data(folder)
    shown: dict[str, Any] = {"score": found["score"].tolist()}
    for name in names:
        for side, table, column in (("left", data.left, LEFT_ID), ("right", data.right, RIGHT_ID)):
            rows = np.array([table.row_of[one] for one in found[column]], dtype=np.int64)
            shown[f"{side} {name}"] = [text and text[:_PREVIEW_CHARS] for text in table.text(name, rows)]
    return pd.DataFrame(shown | {"found by": found[_BLOCKED_BY], LEFT_ID: found[LEFT_ID], RIGHT_ID: found[RIGHT_ID]})


def fitting(candidates: pa.Table, data: DataSet) -> pa.Table:
    """The candidates whose records the data set has, but for those that it has in another file, with a label."""
    left, right = (candidates.column(name).to_pandas().astype(object) for name in (LEFT_ID, RIGHT_ID))
    known = {name for part in data.splits.values() for name in part.ids}
    there = _among(left, right, known) | (_among(right, left, known) if data.self_join else False)
    tables = [pd.Index(table.ids, dtype=object) for table in (data.left, data.right)]
    return candidates.filter(pa.array(~there & left.isin(tables[0]) & right.isin(tables[1])))


def _among(left: pd.Series, right: pd.Series, known: set[str]) -> pd.Series:
    return pd.Series(pair_ids(left, right), index=left.index).isin(known)
