"""Balance sheets as files of a run: one Parquet file per method with a row per explained pair, and what its columns
stand for beside it as JSON. Written by the worker, read without any model."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

import numpy as np
import pyarrow as pa

from riskcore.columns import ROW
from riskcore.runs.folder import RunFolder
from riskcore.storage.files import write_json, write_parquet

if TYPE_CHECKING:
    from riskcore.training.balance_sheets import BalanceSheets

LEADING, AGAINST, SAYS, STABILITY = "leading", "against", "says", "stability"
OFFSET, SPOKEN, CELLS, METRICS, RULE_FACTOR, ALONE = "offset", "spoken", "cells", "metrics", "rule_factor", "alone"
ROWS_PER_GROUP = 2_048  # a card reads one row: its group must be small
FORMAT = 1


class RuleTerm(TypedDict):
    """What a rule says, in the learner whose word is split: its weight and its mean."""

    rule: int
    weight: float
    mean: float


class SheetFacts(TypedDict):
    """What the columns stand for."""

    format: int
    method: str
    iteration: int | None  # the kept one, which the sheets are of
    pairs: int  # explained
    of: int  # target pairs
    subjects: list[str]
    voices: list[str]
    weights: list[float]
    metrics: list[str]
    rules: list[RuleTerm]  # with a weight
    resamples: int


def write_sheets(folder: RunFolder, rows: np.ndarray, sheets: BalanceSheets, facts: SheetFacts) -> None:
    """The sheets of these rows, in rising order; the facts come last, as a sign that the sheets are there."""
    write_parquet(folder.sheets_file(facts["method"]), sheet_table(rows, sheets), ROWS_PER_GROUP)
    write_json(folder.sheet_facts_file(facts["method"]), facts)


def write_extra_sheet(folder: RunFolder, row: int, sheets: BalanceSheets, facts: SheetFacts) -> None:
    """The sheet of one more pair, which was asked for."""
    file = folder.extra_sheet_file(facts["method"], row)
    write_json(file.with_suffix(".json"), facts)
    write_parquet(file, sheet_table(np.array([row]), sheets), 1)


def sheet_table(rows: np.ndarray, sheets: BalanceSheets) -> pa.Table:
    """The sheets of these rows as they are stored."""
    names = np.array([*sheets.subjects, ""], dtype=object)  # the last stands for none
    pairs = len(rows)
    columns = {
        ROW: pa.array(rows, pa.int32()),
        LEADING: pa.array(names[sheets.leading], pa.large_string()).dictionary_encode(),
        AGAINST: pa.array(names[sheets.against], pa.large_string()).dictionary_encode(),
        SAYS: pa.array((sheets.total >= 0).astype(np.int8), pa.int8()),
        STABILITY: pa.array(sheets.stability, pa.float32()),
        OFFSET: pa.array(sheets.offset, pa.float64()),
        SPOKEN: _lists(sheets.spoken),
        CELLS: _lists(sheets.cells.reshape(pairs, -1)),
        METRICS: _lists(sheets.by_metric),
        RULE_FACTOR: pa.array(sheets.rule_factor, pa.float64()),
    }
    if sheets.alone is not None:
        columns[ALONE] = _lists(sheets.alone)
    return pa.table(columns)


def _lists(values: np.ndarray) -> pa.Array:
    """A row of numbers per pair, all of one length."""
    flat = pa.array(np.ascontiguousarray(values, dtype=np.float64).ravel(), pa.float64())
    return pa.FixedSizeListArray.from_arrays(flat, values.shape[1]) if values.shape[1] else pa.nulls(len(values))
