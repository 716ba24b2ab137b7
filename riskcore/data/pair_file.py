"""One file of pairs, csv or parquet: `left_<attribute>` and `right_<attribute>`, optional `label`, `split`, `id`.

`left_id` and `right_id`, where both are there, identify records and are not attributes. Identical records are
kept once, so that a record in a hundred pairs counts as one when words are weighed by how many records have them.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from riskcore.config import DataConfig
from riskcore.data.checks import check_attributes, check_cells
from riskcore.data.dataset import DataSet
from riskcore.data.folder import unique_ids
from riskcore.data.labels import (
    LABEL,
    LABELLED_SPLITS,
    SPLITS,
    UNSPLIT,
    read_labels,
    require_labels,
    without_bad,
)
from riskcore.data.overlap import record_codes
from riskcore.data.pairs import LabelledPairs, Table
from riskcore.data.problems import ProblemLog, shown
from riskcore.data.tables import read_text_file
from riskcore.data.text_file import ID, TextFile, missing_columns, report_unused
from riskcore.pair_ids import pair_ids

SPLIT = "split"
LEFT, RIGHT = "left_", "right_"


def read_pair_file(path: Path, log: ProblemLog, config: DataConfig) -> DataSet | None:
    """Everything in the file, as far as it can be used; all that is wrong with it is logged."""
    file = read_text_file(path, log, config)
    return None if file is None else pairs_in(file, path.stem, log, config)


def pairs_in(file: TextFile, name: str, log: ProblemLog, config: DataConfig) -> DataSet | None:
    """The data set of a file with both records of a pair in each row; all that is wrong with it is logged."""
    attributes = (_attributes(file, LEFT, log, config), _attributes(file, RIGHT, log, config))
    check_attributes(*attributes, (file.name, file.name), (LEFT, RIGHT), log)
    _check_columns(file, log)
    if not len(file):
        log.add_header("empty_split", "There is no pair in the file.", "Add pairs.", file.name)
    splits = _splits(file, log)
    labels = read_labels(file, log, config)
    if SPLIT in file.names:
        require_labels(file, labels, np.isin(splits, LABELLED_SPLITS), log)
    ids = _pair_ids(file, log)
    if not all(attributes):
        return None
    (left, left_rows), (right, right_rows) = (
        _table(file, prefix, names, log, config) for prefix, names in zip((LEFT, RIGHT), attributes, strict=True)
    )
    pairs = LabelledPairs(left, right, left_rows, right_rows, ids, without_bad(labels))
    return DataSet.of_one_file(name, pairs, splits, file.name, file.rows)


def _attributes(file: TextFile, prefix: str, log: ProblemLog, config: DataConfig) -> tuple[str, ...]:
    """Attribute names of one side, without the prefix."""
    names = tuple(name.removeprefix(prefix) for name in file.names if name.startswith(prefix))
    names = tuple(name for name in names if name and not (name == ID and _has_record_ids(file)))
    names = tuple(name for name in names if name not in config.leave_out)
    if not names:
        missing_columns(file, (f"{prefix}<attribute>",), log)
    return names


def _has_record_ids(file: TextFile) -> bool:
    return LEFT + ID in file.names and RIGHT + ID in file.names


def _check_columns(file: TextFile, log: ProblemLog) -> None:
    known = (ID, LABEL, SPLIT)
    unused = [name for name in file.names if name not in known and not name.startswith((LEFT, RIGHT))]
    cure = f"Attributes are named {LEFT}<attribute> and {RIGHT}<attribute>."
    report_unused(file, unused, known, cure, log)


def _splits(file: TextFile, log: ProblemLog) -> np.ndarray:
    """The split of each pair; names other than the three are logged."""
    if SPLIT not in file.names:
        return np.full(len(file), UNSPLIT, dtype=object)
    names = np.array([name.lower() for name in file.ids(SPLIT)], dtype=object)
    odd = np.flatnonzero(~np.isin(names, SPLITS))
    cure = f"Write one of {', '.join(SPLITS)}."
    log.add_rows(
        "unknown_split", file.rows[odd], lambda n: f"The split is {shown(names[odd[n]])}.", cure, file.name, SPLIT
    )
    return names


def _pair_ids(file: TextFile, log: ProblemLog) -> np.ndarray:
    """The file's own ids; else those of both records; else the number of the pair."""
    if ID in file.names:
        ids = file.ids(ID)
        unique_ids(ids, file, ID, log)
        return ids
    if _has_record_ids(file):
        return pair_ids(file.ids(LEFT + ID), file.ids(RIGHT + ID))
    return np.array([str(number) for number in range(1, len(file) + 1)], dtype=object)


def _table(
    file: TextFile, prefix: str, names: tuple[str, ...], log: ProblemLog, config: DataConfig
) -> tuple[Table, np.ndarray]:
    """One side's distinct records, and for each pair the row of its record."""
    values = file.values([prefix + name for name in names], config)
    check_cells(file.name, file.rows, values, log)
    codes = record_codes(values)
    ids = file.ids(prefix + ID) if _has_record_ids(file) else None
    if ids is not None:
        codes = _identified(ids, codes, file, prefix + ID, log)
    _, first, rows = np.unique(codes, return_index=True, return_inverse=True)
    order = np.argsort(first)  # records in order of first sight
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    first = first[order]
    records = values.iloc[first].reset_index(drop=True).set_axis(list(names), axis=1)
    own = ids[first] if ids is not None else np.array([str(number + 1) for number in first], dtype=object)
    return Table(prefix.rstrip("_"), own, records), place[rows]


def _identified(ids: np.ndarray, codes: np.ndarray, file: TextFile, column: str, log: ProblemLog) -> np.ndarray:
    """Records told apart by id alone; an id whose values differ between pairs is logged."""
    empty = ids == ""
    log.add_rows("empty_id", file.rows[empty], lambda _: "The id is empty.", "Fill it in.", file.name, column)
    id_codes, _ = pd.factorize(ids)
    _, first, inverse = np.unique(id_codes, return_index=True, return_inverse=True)
    odd = np.flatnonzero((codes != codes[first[inverse]]) & ~empty)

    def describe(number: int) -> str:
        row = odd[number]
        return f"The record {shown(ids[row])} has other values in row {file.rows[first[inverse[row]]]:,}."

    cure = "Give each record its own id, and the same values everywhere."
    log.add_rows("inconsistent_record", file.rows[odd], describe, cure, file.name, column)
    return id_codes.astype(np.int64)
