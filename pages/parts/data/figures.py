"""What a data set looks like, computed once per content of its files and kept small: figures, problems, a preview."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st

from riskcore.data import DataProfile, DataSet, Problem, inspect_data, profile
from riskcore.data.tables import FORMATS
from riskcore.data.uses import Use, possible_uses

PREVIEW_ROWS = 50
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


def figures_of(path: str) -> DataFigures:
    """The figures of the set at a path; read again when its files change."""
    return _figures(path, _signature(Path(path)))


@st.cache_data(max_entries=8, show_spinner="Reading and checking every row …")
def _figures(path: str, signature: tuple[tuple[str, int, int], ...]) -> DataFigures:
    data, problems = inspect_data(path)
    if data is None:
        return DataFigures(None, tuple(problems), pd.DataFrame(), {})
    return DataFigures(profile(data), tuple(problems), _values(data), _previews(data), possible_uses(data))


def _signature(path: Path) -> tuple[tuple[str, int, int], ...]:
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    kept = [file for file in files if file.is_file() and file.suffix in FORMATS]
    return tuple((file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in kept)


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
    head = values.head(PREVIEW_ROWS).map(lambda cell: cell if pd.isna(cell) else str(cell)[:CELL_CHARS])
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
