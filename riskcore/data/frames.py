"""Pandas frames as a data set: the same text, the same checks and the same problems as reading files gives.

Cells become text by the rules for parquet, with one more, because pandas turns a column of whole numbers with gaps
into floats: such a column, and any column of ids, is written without the `.0`.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from riskcore.config import DataConfig
from riskcore.data.checks import check_attributes, check_pairs
from riskcore.data.dataset import DataSet
from riskcore.data.folder import LEFT_ID, RIGHT_ID, read_table, rows_of
from riskcore.data.labels import LABEL, LABELLED_SPLITS, SPLITS, read_labels, require_labels, without_bad
from riskcore.data.origin import frames_origin
from riskcore.data.pairs import LabelledPairs, Table
from riskcore.data.parquet_file import text_column
from riskcore.data.problems import DataFormatError, ProblemLog, shown
from riskcore.data.tables import capped
from riskcore.data.text_file import ID, TextFile, column_names, too_many_columns, too_many_rows
from riskcore.pair_ids import pair_ids

SPLIT = "split"
TARGET_SPLIT = "test"  # where pairs go whose split is not named: as a target they are what is adapted to
_LARGEST_WHOLE = 2.0**53  # up to here every whole number is a float


def from_frames(
    left: pd.DataFrame,
    right: pd.DataFrame | None = None,
    pairs: pd.DataFrame | None = None,
    *,
    name: str = "frames",
    id: str = ID,  # noqa: A002  (the name of the column)
    left_id: str = LEFT_ID,
    right_id: str = RIGHT_ID,
    config: DataConfig | None = None,
) -> DataSet:
    """A checked data set from frames; `DataFormatError` lists every problem with its frame, row and column.

    `left` and `right` hold records, identified by the column `id` or, where there is none, by the index; without
    `right`, both sides of a pair are records of `left`. `pairs` has `left_id` and `right_id`, and optionally `label`
    (1, 0 or missing) and `split` (train, valid or test). Rows are counted as `iloc` counts them.
    """
    config = config or DataConfig()
    log = ProblemLog(config.examples_per_problem)
    left_table = _records("left", left, id, log, config)
    right_table = left_table if right is None else _records("right", right, id, log, config)
    if left_table is not None and right_table is not None and right is not None:
        check_attributes(left_table.attributes, right_table.attributes, ("left", "right"), ("", ""), log)
    data = _joined(name, left_table, right_table, _pair_columns(pairs, left_id, right_id, log, config), log, config)
    if data is not None:
        check_pairs(data, log)
    if data is None or log.has_errors:
        raise DataFormatError([problem for problem in log.problems if problem.severity == "error"])
    return dataclasses.replace(data, warnings=tuple(log.problems), origin=frames_origin(name, data.fingerprint))


def table_from_frame(
    name: str,
    frame: pd.DataFrame,
    *,
    id: str = ID,  # noqa: A002  (the name of the column)
    config: DataConfig | None = None,
) -> Table:
    """One frame of records as a checked table; `DataFormatError` lists every problem."""
    config = config or DataConfig()
    log = ProblemLog(config.examples_per_problem)
    table = _records(name, frame, id, log, config)
    if table is None or log.has_errors:
        raise DataFormatError([problem for problem in log.problems if problem.severity == "error"])
    return table


def _records(name: str, frame: pd.DataFrame, id_column: str, log: ProblemLog, config: DataConfig) -> Table | None:
    """One frame of records as a table; None, and logged, where it cannot be one."""
    if not isinstance(frame, pd.DataFrame):
        message = f"This is a {type(frame).__name__}, not a pandas DataFrame."
        log.add("unreadable_file", message, "Give a DataFrame of records.", name)
        return None
    if frame.columns.nlevels > 1:
        log.add("unreadable_file", "Its columns have several levels.", "Give each column one name.", name)
        return None
    if id_column in frame.columns:
        frame = frame.rename(columns={id_column: ID}) if id_column != ID else frame
    elif frame.index.nlevels > 1:
        message = f"There is no column {shown(id_column)}, and the index has several levels."
        log.add("missing_column", message, "Add a column of ids, or name it with id=.", name, None, id_column)
        return None
    else:
        frame = frame.set_axis(frame.index.rename(ID), axis=0).reset_index()
    file = _text_frame(name, frame, (ID,), log, config)
    return None if file is None or ID not in file.names else read_table(name, file, log, config)


def _pair_columns(
    pairs: pd.DataFrame | None, left_id: str, right_id: str, log: ProblemLog, config: DataConfig
) -> TextFile | None:
    """The columns of the frame of pairs that mean something, under their usual names."""
    if not isinstance(pairs, pd.DataFrame):
        given = "There are no pairs." if pairs is None else f"This is a {type(pairs).__name__}."
        cure = f"Give a DataFrame of candidate pairs with the columns {LEFT_ID} and {RIGHT_ID}."
        log.add("missing_file", given, cure, "pairs")
        return None
    if len({left_id, right_id, LABEL, SPLIT}) < 4:
        message = f"left_id is {shown(left_id)} and right_id is {shown(right_id)}."
        cure = f"Name two columns of ids, neither of them {LABEL} nor {SPLIT}."
        log.add("missing_column", message, cure, "pairs")
        return None
    absent = [name for name in (left_id, right_id) if name not in pairs.columns]
    for name in absent:
        found = ", ".join(shown(str(one)) for one in pairs.columns[:10]) or "none"
        cure = f"Name the columns of ids with left_id= and right_id=; there are: {found}."
        log.add("missing_column", f"There is no column {shown(name)}.", cure, "pairs", None, name)
    if absent:
        return None
    usual = {left_id: LEFT_ID, right_id: RIGHT_ID, LABEL: LABEL, SPLIT: SPLIT}
    wanted = pairs[[name for name in usual if name in pairs.columns]].rename(columns=usual)
    return _text_frame("pairs", wanted, (LEFT_ID, RIGHT_ID, SPLIT), log, config)


def _joined(
    name: str, left: Table | None, right: Table | None, file: TextFile | None, log: ProblemLog, config: DataConfig
) -> DataSet | None:
    """The pairs of every split over both tables; None where a frame cannot be used at all."""
    if file is None or not {LEFT_ID, RIGHT_ID} <= set(file.names):
        return None
    if not len(file):
        log.add("empty_split", "There is no pair in it.", "Add candidate pairs.", file.name)
    splits, labels = _splits(file, log), read_labels(file, log, config)
    require_labels(file, labels, np.isin(splits, LABELLED_SPLITS), log)
    left_rows, right_rows = rows_of(file, LEFT_ID, left, log), rows_of(file, RIGHT_ID, right, log)
    if left is None or right is None:
        return None
    known = (left_rows >= 0) & (right_rows >= 0)
    ids = pair_ids(left.ids[left_rows[known]], right.ids[right_rows[known]])
    pairs = LabelledPairs(left, right, left_rows[known], right_rows[known], ids, without_bad(labels)[known])
    return DataSet.of_one_file(name, pairs, splits[known], file.name, file.rows[known])


def _splits(file: TextFile, log: ProblemLog) -> np.ndarray:
    """The split of each pair; names other than the three are logged, and gaps belong to the target."""
    if SPLIT not in file.names:
        return np.full(len(file), TARGET_SPLIT, dtype=object)
    names = np.array([name.lower() or TARGET_SPLIT for name in file.ids(SPLIT)], dtype=object)
    odd = np.flatnonzero(~np.isin(names, SPLITS))
    cure = f"Write one of {', '.join(SPLITS)}."
    log.add_rows(
        "unknown_split", file.rows[odd], lambda n: f"The split is {shown(names[odd[n]])}.", cure, file.name, SPLIT
    )
    return names


def _text_frame(
    name: str, frame: pd.DataFrame, ids: Sequence[str], log: ProblemLog, config: DataConfig
) -> TextFile | None:
    """The frame as text columns, by the rules for parquet; None if it exceeds the caps."""
    if frame.shape[1] > config.max_columns:
        too_many_columns(frame.shape[1], name, log, config)
    if len(frame) > config.max_rows:
        too_many_rows(name, None, log, config)
    if frame.shape[1] > config.max_columns or len(frame) > config.max_rows:
        return None
    columns: dict[str, pa.ChunkedArray] = {}
    for number, column in enumerate(column_names([str(one) for one in frame.columns], name, log)):
        if column is not None:
            text = _text(frame.iloc[:, number], column, name, column in ids, log)
            columns |= {} if text is None else {column: text}
    return capped(TextFile(name, pa.table(columns), np.arange(len(frame), dtype=np.int64)), log, config)


def _text(series: pd.Series, column: str, frame: str, is_id: bool, log: ProblemLog) -> pa.ChunkedArray | None:
    series = without_point_zero(series, always=is_id)
    try:
        array = pa.array(series, from_pandas=True)
        cells = array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
    except (pa.ArrowException, TypeError, ValueError, OverflowError):  # cells of several types, or broken text
        cells = _cell_by_cell(series, column, frame, log)
    return text_column(cells, column, frame, log, first_row=0)


def without_point_zero(series: pd.Series, always: bool) -> pd.Series:
    """Whole numbers that a gap has turned into floats, as whole numbers again; of ids, all whole floats."""
    if not pd.api.types.is_float_dtype(series.dtype):
        return series
    values = series.to_numpy(dtype=np.float64, na_value=np.nan)
    known = values[~np.isnan(values)]
    whole = len(known) > 0 and bool((np.isfinite(known) & (known == np.round(known))).all())
    if not whole or np.abs(known).max() > _LARGEST_WHOLE or (len(known) == len(values) and not always):
        return series
    return pd.Series(values).astype("Int64")


_SINGLE = (str, bytes, int, float, decimal.Decimal, datetime.date, datetime.time, np.generic)


def _cell_by_cell(series: pd.Series, column: str, frame: str, log: ProblemLog) -> pa.ChunkedArray:
    """A column of mixed cells as text: each by its own type, as if it stood in a column of that type."""
    texts: list[str | None] = []
    for row, value in enumerate(series.tolist()):
        single = value is None or value is pd.NA or isinstance(value, _SINGLE)
        if not single:
            message = f"A cell holds a {type(value).__name__}, not a single value."
            log.add("nested_column", message, "Write it as text.", frame, row, column)
        text = _cell(value) if single else None
        if text is not None and text.encode("utf-8", "replace").decode("utf-8") != text:
            message = f"A cell holds characters that no text file can hold: {shown(text)}."
            log.add("broken_encoding", message, "Decode the text anew, or replace them.", frame, row, column)
            text = text.encode("utf-8", "replace").decode("utf-8")
        texts.append(text)
    return pa.chunked_array([pa.array(texts, pa.large_string())])


def _cell(value: Any) -> str | None:
    if value is None or pd.isna(value):
        return None
    if isinstance(value, bool | np.bool_):
        return str(int(value))
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    return str(value.isoformat()) if hasattr(value, "isoformat") else str(value)
