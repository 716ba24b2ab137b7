"""Labels of a data set in a file apart: which pairs a person judged, how, and how likely each was drawn.

A csv, xlsx or parquet file with `ltable_id` and `rtable_id`, or `pair_id`, and `label`: 1 or match, 0 or non-match.
Rows without a label, or with `unsure`, are left out. `inclusion_probability` is what the design of the draw gave a pair
(see `riskcore.audit.design`); without that column all labels count alike. Other columns are ignored.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from riskcore.columns import PAIR_ID
from riskcore.config import DataConfig
from riskcore.data.bring.files import read_file
from riskcore.data.dataset import DataSet
from riskcore.data.folder import LEFT_ID, RIGHT_ID
from riskcore.data.formulas import unguarded
from riskcore.data.labels import LABEL, UNKNOWN
from riskcore.data.overlap import joined
from riskcore.data.pairs import LabelledPairs
from riskcore.data.problems import DataFormatError, Problem, ProblemLog, shown, visible
from riskcore.data.text_file import TextFile, missing_columns
from riskcore.pair_ids import pair_ids

INCLUSION = "inclusion_probability"
VERDICT = "verdict"  # the name of the column in work lists, where a person fills it in
# What people write, in lower case: match, non-match, unsure, or nothing.
MEANT = {
    **dict.fromkeys(("match", "m", "1", "1.0"), "match"),
    **dict.fromkeys(("non-match", "nonmatch", "n", "0", "0.0"), "non-match"),
    **dict.fromkeys(("unsure", "u", "?"), "unsure"),
    "": "",
}
_LABEL_OF = {"match": 1, "non-match": 0, "unsure": UNKNOWN, "": UNKNOWN}
_BAD = 2


def read_label_file(path: str | Path, data: DataSet, config: DataConfig | None = None) -> LabelledPairs:
    """The labelled pairs of the file, over the tables of the data set. Raises one error with every problem."""
    config = config or DataConfig()
    log = ProblemLog(config.examples_per_problem)
    file = read_labels_text(Path(path), config)
    found = _labelled(file, data, log, config)
    if found is None or log.has_errors:
        raise DataFormatError([problem for problem in log.problems if problem.severity == "error"])
    return found


def read_labels_text(path: Path, config: DataConfig | None = None) -> TextFile:
    """A file that people filled in, whatever program they used; raises if nothing of it can be used."""
    if not path.is_file():
        cure = "Check the path of the labels."
        raise DataFormatError([Problem("path_missing", "There is no such file.", cure, visible(str(path)))])
    brought = read_file(path, config=config)
    if brought.text is None or brought.errors:
        raise DataFormatError(brought.errors)
    return brought.text


def as_known(ids: np.ndarray, known: Iterable[str]) -> np.ndarray:
    """Ids as the data has them: a work list puts an apostrophe before what a spreadsheet would take for a formula."""
    there = set(known)
    plain = [
        next((known for known in (one, one.removeprefix("'"), unguarded(one)) if known in there), one) for one in ids
    ]
    return np.array(plain, dtype=object)


def _labelled(file: TextFile, data: DataSet, log: ProblemLog, config: DataConfig) -> LabelledPairs | None:
    column = VERDICT if VERDICT in file.names and LABEL not in file.names else LABEL
    by_pair = not (LEFT_ID in file.names and RIGHT_ID in file.names) and PAIR_ID in file.names
    if missing_columns(file, (column, *((PAIR_ID,) if by_pair else (LEFT_ID, RIGHT_ID))), log):
        return None
    labels = _labels(file, column, log, config)
    known = np.flatnonzero((labels != UNKNOWN) & (labels != _BAD))
    left, right, ids = (_by_pair_id if by_pair else _by_records)(file, data, known, log)
    there = (left >= 0) & (right >= 0)
    known, left, right, ids = known[there], left[there], right[there], ids[there]
    inclusion = _inclusion(file, known, log, config) if INCLUSION in file.names else None
    pairs = LabelledPairs(data.left, data.right, left, right, ids, labels[known], inclusion)
    return pairs.take(_once(pairs, file, known, log))


def _labels(file: TextFile, column: str, log: ProblemLog, config: DataConfig) -> np.ndarray:
    texts = file.text(column, config)
    labels = np.array([_LABEL_OF.get(MEANT.get(text.lower(), text), _BAD) for text in texts], dtype=np.int8)
    bad = np.flatnonzero(labels == _BAD)
    cure = "Write 1 or match, 0 or non-match; leave it empty or write unsure where you cannot tell."
    log.add_rows(
        "bad_label", file.rows[bad], lambda n: f"The label is {shown(texts[bad[n]])}.", cure, file.name, column
    )
    return labels


def _by_records(
    file: TextFile, data: DataSet, rows: np.ndarray, log: ProblemLog
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The records of each labelled pair by their ids, -1 where the table has none; and the pair's id."""
    sides = []
    for column, table in ((LEFT_ID, data.left), (RIGHT_ID, data.right)):
        ids = as_known(file.ids(column)[rows], table.row_of)
        places = np.array([table.row_of.get(one, -1) for one in ids], dtype=np.int64)
        _unknown(ids, places, file, rows, column, f"{table.name} has no record", log)
        sides.append((ids, places))
    (left_ids, left), (right_ids, right) = sides
    known = {(a, b): name for pairs in data.splits.values() for a, b, name in _named(pairs)}
    if data.self_join:  # (b, a) is (a, b), and the candidate pair is the one to label
        turn = np.array([(b, a) in known and (a, b) not in known for a, b in zip(left, right, strict=True)], dtype=bool)
        left, right = np.where(turn, right, left), np.where(turn, left, right)
        left_ids, right_ids = np.where(turn, right_ids, left_ids), np.where(turn, left_ids, right_ids)
    named = pair_ids(left_ids, right_ids)
    for place, pair in enumerate(zip(left, right, strict=True)):
        named[place] = known.get(pair, named[place])
    return left, right, named


def _named(pairs: LabelledPairs) -> list[tuple[int, int, str]]:
    return list(zip(pairs.left_rows.tolist(), pairs.right_rows.tolist(), pairs.ids.tolist(), strict=True))


def _by_pair_id(
    file: TextFile, data: DataSet, rows: np.ndarray, log: ProblemLog
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same by the pair's own id, for files of pairs whose records have none."""
    known = {name: (a, b) for pairs in data.splits.values() for a, b, name in _named(pairs)}
    ids = file.ids(PAIR_ID)[rows]
    places = np.array([known.get(one, (-1, -1)) for one in ids], dtype=np.int64).reshape(-1, 2)
    _unknown(ids, places[:, 0], file, rows, PAIR_ID, "The data set has no pair", log)
    return places[:, 0], places[:, 1], ids


def _unknown(
    ids: np.ndarray, places: np.ndarray, file: TextFile, rows: np.ndarray, column: str, what: str, log: ProblemLog
) -> None:
    odd = np.flatnonzero(places < 0)
    cure = "Label pairs of this data set: are these labels of another one?"
    log.add_rows("unknown_id", file.rows[rows[odd]], lambda n: f"{what} {shown(ids[odd[n]])}.", cure, file.name, column)


def _inclusion(file: TextFile, rows: np.ndarray, log: ProblemLog, config: DataConfig) -> np.ndarray | None:
    """How likely each labelled pair was drawn; None where the column is empty."""
    texts = file.text(INCLUSION, config)[rows]
    if not (texts != "").any():
        return None
    values = pd.to_numeric(pd.Series(texts, dtype=object), errors="coerce").to_numpy(dtype=np.float64)
    bad = np.flatnonzero(~((values > 0) & (values <= 1)))
    cure = "Give every labelled pair the number that the work list has, above 0 and at most 1, or delete the column."
    log.add_rows(
        "bad_label",
        file.rows[rows[bad]],
        lambda n: f"The inclusion probability is {shown(str(texts[bad[n]]))}.",
        cure,
        file.name,
        INCLUSION,
    )
    return values


def _once(pairs: LabelledPairs, file: TextFile, rows: np.ndarray, log: ProblemLog) -> np.ndarray:
    """The first row of each pair; a pair with both labels is logged."""
    keys = joined(pairs.left_rows, pairs.right_rows, same=pairs.left is pairs.right)
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    odd = np.flatnonzero(pairs.labels != pairs.labels[first[inverse]])
    cure = "Decide on one label, or leave both empty."
    log.add_rows(
        "bad_label",
        file.rows[rows[odd]],
        lambda n: (
            f"The pair {shown(pairs.ids[odd[n]])} has another label in row {file.rows[rows[first[inverse[odd[n]]]]]:,}."
        ),
        cure,
        file.name,
        LABEL,
    )
    return np.sort(first)
