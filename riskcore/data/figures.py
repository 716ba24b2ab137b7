"""What a data set looks like, for a screen: figures, problems and a preview, none of which grows with it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from riskcore.data.dataset import DataSet
from riskcore.data.problems import Problem
from riskcore.data.profile import DataProfile, profile
from riskcore.data.reading import inspect_data
from riskcore.data.uses import Use, possible_uses

PREVIEW_ROWS, PREVIEW_COLUMNS = 50, 100
SAMPLE_VALUES = 20_000  # values per attribute behind lengths and overlap: enough for two digits
CELL_CHARS = 300  # of a cell in a preview


@dataclasses.dataclass(frozen=True, eq=False)
class DataFigures:
    """Everything the screens show of a data set. Nothing here grows with it."""

    profile: DataProfile | None  # None where it cannot be used
    problems: tuple[Problem, ...]
    values: pd.DataFrame  # per attribute: lengths and overlap
    previews: dict[str, pd.DataFrame]  # tables, and pairs per split
    uses: tuple[Use, ...] = ()  # what is possible with it


def data_figures(path: Path) -> DataFigures:
    """Read and check the data set at a path."""
    data, problems = inspect_data(path)
    if data is None:
        return DataFigures(None, tuple(problems), pd.DataFrame(), {})
    return DataFigures(profile(data), tuple(problems), _values(data), _previews(data), possible_uses(data))


def _values(data: DataSet) -> pd.DataFrame:
    return pd.DataFrame([_attribute(data, name) for name in data.attributes])


def _attribute(data: DataSet, name: str) -> dict[str, object]:
    left, right = (table.values[name].dropna().head(SAMPLE_VALUES) for table in (data.left, data.right))
    lengths = [None if side.empty else float(side.str.len().median()) for side in (left, right)]
    longest = max((int(side.str.len().max()) for side in (left, right) if not side.empty), default=0)
    distinct = set(left.str.casefold())
    shared = 100 * len(distinct & set(right.str.casefold())) / len(distinct) if distinct else None
    return {
        "attribute": name,
        "length_left": lengths[0],
        "length_right": lengths[1],
        "longest": longest,
        "overlap": shared,
    }


def _previews(data: DataSet) -> dict[str, pd.DataFrame]:
    tables = {"left records": data.left} if data.self_join else {"left records": data.left, "right records": data.right}
    shown = {name: _head(table.values, table.ids) for name, table in tables.items()}
    return shown | {f"{name} pairs": _pairs(data, name) for name in data.splits}


def _head(values: pd.DataFrame, ids: Sequence[str] | np.ndarray) -> pd.DataFrame:
    head = values.iloc[:PREVIEW_ROWS, :PREVIEW_COLUMNS].map(
        lambda cell: cell if pd.isna(cell) else str(cell)[:CELL_CHARS]
    )
    head.insert(0, "id", list(ids[:PREVIEW_ROWS]), allow_duplicates=True)
    return head


def _pairs(data: DataSet, split: str) -> pd.DataFrame:
    pairs = data.splits[split].take(slice(PREVIEW_ROWS))
    words = {1: "= match", 0: "≠ non-match"}
    rows = {"pair": pairs.ids, "label": [words.get(int(label), "unknown") for label in pairs.labels]}
    for name in data.attributes[:3]:
        for side, table, at in (("left", pairs.left, pairs.left_rows), ("right", pairs.right, pairs.right_rows)):
            rows[f"{side} {name}"] = [None if v is None else v[:CELL_CHARS] for v in table.text(name, at)]
    return pd.DataFrame(rows)
