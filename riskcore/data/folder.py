"""The usual format: a folder of `tableA`, `tableB`, `train`, `valid`, `test` and `pairs`, each csv or parquet.

Tables have a column `id`; pairs have `ltable_id`, `rtable_id` and `label`, which `test` and `pairs` may leave out or
empty. Only `tableA` is needed. Without a `tableB` both sides of a pair are records of `tableA`: a self-join. What can
be done with a folder that has only some of the files is told by `riskcore.data.uses`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from riskcore.config import DataConfig
from riskcore.data.checks import check_attributes, check_cells
from riskcore.data.dataset import DataSet
from riskcore.data.labels import LABEL, LABELLED_SPLITS, SPLITS, UNSPLIT, read_labels, require_labels, without_bad
from riskcore.data.pairs import LabelledPairs, Table
from riskcore.data.problems import ProblemLog, shown
from riskcore.data.tables import FORMATS, read_text_file
from riskcore.data.text_file import ID, TextFile, missing_columns, report_unused
from riskcore.pair_ids import pair_ids

TABLES = ("tableA", "tableB")
LEFT_ID, RIGHT_ID = "ltable_id", "rtable_id"
PAIR_STEMS = {**{split: split for split in SPLITS}, UNSPLIT: "pairs"}  # the file of each split
_FROM_BLOCKING = ("score", "blocked_by")  # columns of candidates that blocking writes beside the ids


def read_folder(folder: Path, log: ProblemLog, config: DataConfig) -> DataSet | None:
    """Everything in the folder, as far as it can be used; all that is wrong with it is logged."""
    files = {stem: _read(folder, stem, log, config) for stem in (*TABLES, *PAIR_STEMS.values())}
    left, right = (read_table(stem, files[stem], log, config) for stem in TABLES)
    if _find(folder, TABLES[1]) == []:
        right = left
    elif left is not None and right is not None:
        names = [files[stem].name for stem in TABLES]  # type: ignore[union-attr]
        check_attributes(left.attributes, right.attributes, (names[0], names[1]), ("", ""), log)
        right = left if _same(left, right) else right
    found = {
        split: split_of(split, file, left, right, log, config)
        for split, stem in PAIR_STEMS.items()
        if (file := files[stem]) is not None
    }
    if left is None or right is None:
        return None
    splits = {name: split for name, split in found.items() if split is not None}
    return DataSet(
        folder.name,
        left,
        right,
        splits={name: pairs for name, (pairs, _) in splits.items()},
        files={name: file.name for name in splits if (file := files[PAIR_STEMS[name]]) is not None},
        rows={name: rows for name, (_, rows) in splits.items()},
    )


def _find(folder: Path, stem: str) -> list[Path]:
    return [path for suffix in FORMATS if (path := folder / f"{stem}{suffix}").exists()]


def _read(folder: Path, stem: str, log: ProblemLog, config: DataConfig) -> TextFile | None:
    found = _find(folder, stem)
    if len(found) > 1:
        message = f"Both {found[0].name} and {found[1].name} exist."
        log.add("ambiguous_file", message, "Keep one of them.", found[0].name)
    if not found and stem == TABLES[0]:
        cure = (
            f"Add {stem}.csv or {stem}.parquet. If your tables have other names, bring them on the screen Data sets or "
            "with `riskcore data bring`."
        )
        log.add("missing_file", f"The folder has no {stem}.", cure, f"{stem}.csv")
    return read_text_file(found[0], log, config) if len(found) == 1 else None


def read_table(name: str, file: TextFile | None, log: ProblemLog, config: DataConfig) -> Table | None:
    """The file as a table of uniquely identified records; rows whose id cannot be used are logged and left out."""
    if file is None or missing_columns(file, (ID,), log):
        return None
    attributes = [column for column in file.names if column != ID and column not in config.leave_out]
    if not attributes:
        cure = "Add at least one column with values to compare."
        log.add_header("no_attributes", "The table has ids and nothing else.", cure, file.name)
    if not len(file):
        log.add_header("empty_file", "The table has a header and no record.", "Add the records.", file.name)
        return None  # else every pair would name an unknown record
    values = file.values(attributes, config)
    check_cells(file.name, file.rows, values, log)
    ids = file.ids(ID)
    kept = unique_ids(ids, file, ID, log)
    return Table(name, ids[kept], values.iloc[kept].reset_index(drop=True))


def unique_ids(ids: np.ndarray, file: TextFile, column: str, log: ProblemLog) -> np.ndarray:
    """Positions of the records that have an id of their own; the others are logged."""
    empty = np.flatnonzero(ids == "")
    log.add_rows("empty_id", file.rows[empty], lambda _: "The id is empty.", "Fill it in.", file.name, column)
    codes, _ = pd.factorize(ids)
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    again = np.flatnonzero((first[inverse] != np.arange(len(ids))) & (ids != ""))

    def describe(number: int) -> str:
        row = again[number]
        return f"The id {shown(ids[row])} is already used in row {file.rows[first[inverse[row]]]:,}."

    log.add_rows("duplicate_id", file.rows[again], describe, "Give each record its own id.", file.name, column)
    kept = np.ones(len(ids), dtype=bool)
    kept[empty] = kept[again] = False
    return np.flatnonzero(kept)


def _same(left: Table, right: Table) -> bool:
    return np.array_equal(left.ids, right.ids) and left.values.equals(right.values)


def split_of(
    name: str, file: TextFile, left: Table | None, right: Table | None, log: ProblemLog, config: DataConfig
) -> tuple[LabelledPairs, np.ndarray] | None:
    """The pairs of one file and their rows in it. Pairs that name no record are logged and left out."""
    wanted = (LEFT_ID, RIGHT_ID, LABEL) if name in LABELLED_SPLITS else (LEFT_ID, RIGHT_ID)
    lacking = missing_columns(file, wanted, log)
    _check_columns(file, log)
    if not len(file):
        log.add_header("empty_split", "There is no pair in it.", "Add pairs, or split the data again.", file.name)
    labels = read_labels(file, log, config)
    if LABEL in file.names and name in LABELLED_SPLITS:
        require_labels(file, labels, np.ones(len(file), dtype=bool), log)
    sides = [rows_of(file, column, table, log) for column, table in ((LEFT_ID, left), (RIGHT_ID, right))]
    if lacking or left is None or right is None:
        return None
    known = (sides[0] >= 0) & (sides[1] >= 0)
    left_rows, right_rows = sides[0][known], sides[1][known]
    ids = pair_ids(left.ids[left_rows], right.ids[right_rows])
    pairs = LabelledPairs(left, right, left_rows, right_rows, ids, without_bad(labels[known]))
    return pairs, file.rows[known]


def _check_columns(file: TextFile, log: ProblemLog) -> None:
    known = (LEFT_ID, RIGHT_ID, LABEL)
    unused = [name for name in file.names if name not in (*known, *_FROM_BLOCKING)]
    report_unused(file, unused, known, f"Pairs have {LEFT_ID}, {RIGHT_ID} and {LABEL}.", log)


def rows_of(file: TextFile, column: str, table: Table | None, log: ProblemLog) -> np.ndarray:
    """Row in the table of each pair's record, -1 if it has none; nothing is looked up in a table that is broken."""
    if column not in file.names:
        return np.full(len(file), -1, dtype=np.int64)
    ids = file.ids(column)
    empty = ids == ""
    log.add_rows("empty_id", file.rows[empty], lambda _: "The id is empty.", "Fill it in.", file.name, column)
    if table is None:
        return np.full(len(file), -1, dtype=np.int64)
    rows: np.ndarray = pd.Index(table.ids, dtype=object).get_indexer(pd.Index(ids, dtype=object)).astype(np.int64)
    lost = np.flatnonzero((rows < 0) & ~empty)
    cure = f"Add the record to {table.name} or remove the pair; ids are text, so 1 and 1.0 differ."
    log.add_rows(
        "unknown_id",
        file.rows[lost],
        lambda n: f"{table.name} has no record with the id {shown(ids[lost[n]])}.",
        cure,
        file.name,
        column,
    )
    return rows
