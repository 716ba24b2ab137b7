"""Writing what a person chose as a data set in the project's own format: whole or not at all.

`assemble` makes the data set in memory and says what is wrong with it, by the files that were brought; `arrange` writes
it. `columns.json` says where each attribute came from.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from riskcore.config import DataConfig
from riskcore.data.bring.files import BroughtFile
from riskcore.data.bring.found_candidates import CANDIDATES_FILE, fitting
from riskcore.data.bring.plan import Plan
from riskcore.data.bring.roles import ID_PAIRS, UNREADABLE, Recognised, Role, label_text
from riskcore.data.checks import check_attributes, check_pairs
from riskcore.data.dataset import DataSet
from riskcore.data.folder import LEFT_ID, PAIR_STEMS, RIGHT_ID, TABLES, read_table, split_of
from riskcore.data.labels import LABEL, UNKNOWN, UNSPLIT
from riskcore.data.overlap import joined
from riskcore.data.pair_file import LEFT, RIGHT, SPLIT, pairs_in
from riskcore.data.pairs import LabelledPairs, Table, concatenated
from riskcore.data.problems import DataFormatError, Problem, ProblemLog
from riskcore.data.text_file import ID, TextFile
from riskcore.errors import ConfigError
from riskcore.storage.files import folder_in_place, read_json, write_json, write_parquet, writing

COLUMNS_FILE = "columns.json"
MATCHES_FILE = "known_matches.parquet"
_SPLIT_OF = {
    Role.TRAIN: "train",
    Role.VALID: "valid",
    Role.TEST: "test",
    Role.LABELS: "valid",
    Role.CANDIDATES: UNSPLIT,
}


@dataclasses.dataclass(frozen=True, eq=False)
class Assembled:
    """A data set made of brought files; `data` is None where an error stands against it."""

    data: DataSet | None
    problems: tuple[Problem, ...]
    matches: tuple[np.ndarray, np.ndarray] | None = None  # ids of known matches

    @property
    def errors(self) -> tuple[Problem, ...]:
        return tuple(problem for problem in self.problems if problem.severity == "error")


def arrange(
    files: Sequence[BroughtFile],
    plan: Plan,
    folder: Path,
    *,
    replace: bool = False,
    candidates: pa.Table | None = None,
    config: DataConfig | None = None,
) -> DataSet:
    """Write the data set as a new folder, or raise `DataFormatError` with every problem and leave nothing behind.

    `candidates` were found by blocking in an earlier arrangement of the same tables; they are written too, unless the
    files bring candidates. The data set that is returned is without them.
    """
    found = assemble(files, plan, config)
    if found.data is None:
        raise DataFormatError(found.errors)
    if folder.exists() and not replace:
        raise ConfigError(f"{folder} exists already. Choose another name, or replace it.")
    with writing(folder), folder_in_place(folder, replace) as beside:
        write_data(found.data, beside)
        if found.matches is not None:
            write_parquet(beside / MATCHES_FILE, pa.table(dict(zip((LEFT_ID, RIGHT_ID), found.matches, strict=True))))
        if candidates is not None and UNSPLIT not in found.data.splits:
            write_parquet(beside / CANDIDATES_FILE, fitting(candidates, found.data))
        write_json(beside / COLUMNS_FILE, _origin(files, plan))
    return dataclasses.replace(found.data, name=folder.name, origin=str(folder.absolute()))


def has_same_tables(folder: Path, files: Sequence[BroughtFile], plan: Plan) -> bool:
    """Whether the data set in the folder was made from the same tables, read in the same way, with the same ids."""
    stored, wanted = read_json(folder / COLUMNS_FILE), _origin(files, plan)
    return _tables(stored) == _tables(wanted)


def _tables(origin: dict[str, Any]) -> dict[str, tuple[Any, ...]]:
    forms = {one["file"]: one["form"] for one in origin["files"]}
    return {stem: (one["file"], one["id"], forms[one["file"]]) for stem, one in origin["tables"].items()}


def write_data(data: DataSet, folder: Path) -> None:
    """Tables and pairs of a data set as parquet files in an existing folder."""
    for stem, table in zip(TABLES, (data.left, data.right), strict=True):
        if stem == TABLES[0] or not data.self_join:
            write_parquet(folder / f"{stem}.parquet", _table_columns(table))
    for split, pairs in data.splits.items():
        write_parquet(folder / f"{PAIR_STEMS[split]}.parquet", _pair_columns(pairs))


def _table_columns(table: Table) -> pa.Table:
    ids = {ID: pa.array(table.ids, pa.large_string())}
    values = {name: pa.array(table.text(name), pa.large_string()) for name in table.attributes}
    return pa.table(ids | values)


def _pair_columns(pairs: LabelledPairs) -> pa.Table:
    columns = {
        LEFT_ID: pa.array(pairs.left.ids[pairs.left_rows], pa.large_string()),
        RIGHT_ID: pa.array(pairs.right.ids[pairs.right_rows], pa.large_string()),
    }
    if (pairs.labels != UNKNOWN).any():
        columns[LABEL] = pa.array(pairs.labels, pa.int8(), mask=pairs.labels == UNKNOWN)
    return pa.table(columns)


def assemble(files: Sequence[BroughtFile], plan: Plan, config: DataConfig | None = None) -> Assembled:
    """The data set that the plan makes of the files, and all that is wrong with it."""
    config = config or DataConfig()
    log = ProblemLog(config.examples_per_problem)
    by_name = {file.name: file for file in files}
    unused = (Role.UNUSED, Role.SCORES)
    used = [by_name[one.file] for one in plan.roles if one.role not in unused or one.reason == UNREADABLE]
    broken = [problem for file in used for problem in file.errors]
    data, matches = _read(by_name, plan, log, config)
    if data is not None:
        check_pairs(data, log)
    problems = (*broken, *(problem for problem in log.problems if problem not in broken))
    usable = data is not None and not any(problem.severity == "error" for problem in problems)
    return Assembled(data if usable else None, problems, matches)


def _read(
    files: dict[str, BroughtFile], plan: Plan, log: ProblemLog, config: DataConfig
) -> tuple[DataSet | None, tuple[np.ndarray, np.ndarray] | None]:
    if plan.left is None and plan.record_pairs is not None:
        (role,) = plan.of_role(Role.RECORD_PAIRS)[:1]
        text = _side_by_side(files[role.file], plan, role)
        return None if text is None else pairs_in(text, files[role.file].stem, log, config), None
    if plan.left is None:
        log.add("missing_file", "No file is the left table.", "Choose one of the files as the left table.")
        return None, None
    if not plan.attributes:
        cure = "Choose at least one column of each table that hold the same thing."
        log.add("no_shared_attribute", "No attribute is chosen.", cure)
        return None, None
    left = _table(files[plan.left], TABLES[0], plan.left_id, {a.left: a.name for a in plan.attributes}, log, config)
    right = left
    if plan.right is not None:
        renamed = {a.right: a.name for a in plan.attributes}
        right = _table(files[plan.right], TABLES[1], plan.right_id, renamed, log, config)
    if left is None or right is None:
        return None, None
    if plan.right is not None:
        check_attributes(left.attributes, right.attributes, (plan.left, plan.right), ("", ""), log)
    return _with_pairs(files, plan, left, right, log, config)


def _table(
    file: BroughtFile, name: str, id_name: str | None, names: dict[str, str], log: ProblemLog, config: DataConfig
) -> Table | None:
    """One table under the attributes' names; rows are numbered where there is no column of ids."""
    if file.text is None:
        return None
    ids = pa.array([str(row) for row in range(1, len(file.text) + 1)], pa.large_string())
    columns: dict[str, Any] = {ID: ids if id_name is None else file.text.columns.column(id_name)}
    columns |= {new: file.text.columns.column(old) for old, new in names.items()}
    return read_table(name, TextFile(file.name, pa.table(columns), file.text.rows), log, config)


def _side_by_side(file: BroughtFile, plan: Plan, role: Recognised) -> TextFile | None:
    """A file with both records in one row, under the names of the format."""
    if file.text is None:
        return None
    table, columns = file.text.columns, {}
    for attribute in plan.attributes:
        columns[LEFT + attribute.name] = table.column(attribute.left)
        columns[RIGHT + attribute.name] = table.column(attribute.right)
    if role.left_id is not None and role.right_id is not None:
        columns |= {LEFT + ID: table.column(role.left_id), RIGHT + ID: table.column(role.right_id)}
    if role.label is not None:
        columns[LABEL] = _labels(table.column(role.label))
    if SPLIT in file.text.names:
        columns[SPLIT] = table.column(SPLIT)
    return TextFile(file.name, pa.table(columns), file.text.rows)


def _labels(column: pa.ChunkedArray) -> pa.Array:
    return pa.array([label_text(text) for text in column.to_pylist()], pa.large_string())


def _with_pairs(
    files: dict[str, BroughtFile], plan: Plan, left: Table, right: Table, log: ProblemLog, config: DataConfig
) -> tuple[DataSet, tuple[np.ndarray, np.ndarray] | None]:
    splits: dict[str, LabelledPairs] = {}
    names: dict[str, str] = {}
    rows: dict[str, np.ndarray] = {}
    matches = None
    for role in plan.of_role(*ID_PAIRS):
        text = _id_pairs(files[role.file], role, left, right)
        if text is None:
            if files[role.file].text is not None:
                cure = "Choose the two columns that name the records of a pair."
                log.add("missing_column", "The columns of ids are not known.", cure, role.file)
            continue
        split = UNSPLIT if role.role is Role.MATCHES else _SPLIT_OF[role.role]
        found = split_of(split, text, left, right, log, config)
        if found is None:
            continue
        pairs, at = found
        if role.role is Role.MATCHES:
            known = pairs.take(pairs.labels != 0)
            matches = (known.left.ids[known.left_rows], known.right.ids[known.right_rows])
            continue
        if split in splits:
            pairs, at = concatenated([splits[split], pairs]), np.concatenate([rows[split], at])
        splits[split], names[split], rows[split] = pairs, role.file, at
    data = DataSet(plan.left or "", left, right, _ordered(splits), files=names, rows=rows)
    return _without_labelled(data), matches


def _ordered(splits: dict[str, LabelledPairs]) -> dict[str, LabelledPairs]:
    return {split: splits[split] for split in PAIR_STEMS if split in splits}


def _without_labelled(data: DataSet) -> DataSet:
    """Candidates that another file has too belong to that one alone: a pair is in one split."""
    if UNSPLIT not in data.splits or len(data.splits) == 1:
        return data
    keys = {
        name: joined(
            np.append(pairs.left_rows, len(data.left)), np.append(pairs.right_rows, len(data.right)), data.self_join
        )[:-1]
        for name, pairs in data.splits.items()
    }
    elsewhere = np.concatenate([key for name, key in keys.items() if name != UNSPLIT])
    kept = ~np.isin(keys[UNSPLIT], elsewhere)
    splits, rows = dict(data.splits), dict(data.rows)
    splits[UNSPLIT], rows[UNSPLIT] = splits[UNSPLIT].take(kept), rows[UNSPLIT][kept]
    if not kept.any():
        del splits[UNSPLIT], rows[UNSPLIT]
    return dataclasses.replace(data, splits=splits, rows=rows)


def _id_pairs(file: BroughtFile, role: Recognised, left: Table, right: Table) -> TextFile | None:
    """A file of id pairs under the names of the format."""
    if file.text is None or role.left_id is None or role.right_id is None:
        return None
    columns: dict[str, Any] = {
        LEFT_ID: _as_known(file.text.ids(role.left_id), left),
        RIGHT_ID: _as_known(file.text.ids(role.right_id), right),
    }
    if role.label is not None:
        columns[LABEL] = _labels(file.text.columns.column(role.label))
    return TextFile(file.name, pa.table(columns), file.text.rows)


def _as_known(ids: np.ndarray, table: Table) -> pa.Array:
    """The ids; whole numbers that a program wrote as 12.0 are written as the table writes them."""
    known = pd.Index(table.ids, dtype=object)
    if not pd.Index(ids, dtype=object).isin(known).any():
        shorter = np.array([text.removesuffix(".0") for text in ids], dtype=object)
        ids = shorter if pd.Index(shorter, dtype=object).isin(known).any() else ids
    return pa.array(ids, pa.large_string())


def _origin(files: Sequence[BroughtFile], plan: Plan) -> dict[str, Any]:
    """Where everything came from."""
    forms = {file.name: file.form.words for file in files}
    sides = {TABLES[0]: (plan.left or plan.record_pairs, plan.left_id)}
    if plan.right is not None or plan.left is None:
        sides[TABLES[1]] = (plan.right or plan.record_pairs, plan.right_id)
    return {
        "format": 1,
        "files": [{"file": one.file, "form": forms[one.file], "role": one.role.value} for one in plan.roles],
        "tables": {
            stem: {
                "file": name,
                "id": id_name,
                "columns": {a.name: a.left if stem == TABLES[0] else a.right for a in plan.attributes},
            }
            for stem, (name, id_name) in sides.items()
        },
        "left_out": [dataclasses.asdict(one) for one in plan.left_out],
    }
