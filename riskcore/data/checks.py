"""Warnings: defects that are common in real data and do not stop a run, but that its owner should know about.

All of it is vectorised over columns and pairs; a message is written only for the rows that are named.
"""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pandas as pd

from riskcore.data.dataset import DataSet
from riskcore.data.formulas import MAY_RUN, runs
from riskcore.data.labels import UNKNOWN
from riskcore.data.overlap import joined, record_codes
from riskcore.data.problems import ProblemLog, shown

_NUMBER = re.compile(r"[+-]\s*[$€£¥]?\s*(\d[\d,.\s]*|\.\d+)([eE][+-]?\d+)?\s*[%$€£¥]?")
_LIKE_MISSING = ("na", "none")
IDENTITY_PAIRS = 20  # matches and non-matches with both values: with fewer, an honest attribute may look perfect
IDENTITY_SHARE = 0.995  # of these pairs, in which equality says the label: a wrong label or two must not hide it


def check_cells(file: str, rows: np.ndarray, values: pd.DataFrame, log: ProblemLog) -> None:
    """Warn of formula-like cells, columns without a value, and words that look like missing but are text."""
    for name in values.columns:
        column = values[name]
        if len(column) and column.isna().all():
            log.add("empty_attribute", "The column has no value at all.", "Remove it, or fill it.", file, None, name)
            continue
        _check_formulas(file, rows, column, log)
        _check_words(file, rows, column, log)


def _check_formulas(file: str, rows: np.ndarray, column: pd.Series, log: ProblemLog) -> None:
    places = np.flatnonzero(column.str.contains(MAY_RUN, regex=True).fillna(False).to_numpy(dtype=bool))
    texts = column.iloc[places].tolist()
    odd = [place for place, cell in enumerate(texts) if runs(cell) and not _is_harmless(cell)]
    cure = "It is kept as text; take care when opening exports in a spreadsheet."
    log.add_rows(
        "formula_cell",
        rows[places[odd]] if odd else (),
        lambda n: f"The cell {shown(texts[odd[n]])} looks like a formula.",
        cure,
        file,
        str(column.name),
    )


def _is_harmless(cell: str) -> bool:
    """Signed numbers, and dashes or signs with nothing to compute."""
    return _NUMBER.fullmatch(cell.strip()) is not None or not any(char.isalnum() for char in cell)


def _check_words(file: str, rows: np.ndarray, column: pd.Series, log: ProblemLog) -> None:
    short = column.str.strip().str.lower().isin(_LIKE_MISSING).to_numpy(dtype=bool)
    count = int(short.sum())
    if count:
        words = sorted({cell.strip() for cell in column[short]})
        message = f"{count:,} cells read {' or '.join(words)}; they are kept as text."
        cure = "Empty them, or add the word to missing_words, if it means missing."
        log.add("text_like_missing", message, cure, file, int(rows[short][0]), str(column.name), count)


def check_attributes(
    left: tuple[str, ...], right: tuple[str, ...], files: tuple[str, str], prefixes: tuple[str, str], log: ProblemLog
) -> None:
    """Log attributes without a counterpart, and the case that none has one."""
    if left and right and not set(left) & set(right):
        cure = "Give at least one attribute the same name on both sides."
        log.add_header("no_shared_attribute", "The two sides have no attribute in common.", cure, files[1])
        return
    for names, others, file, prefix in ((left, right, files[0], prefixes[0]), (right, left, files[1], prefixes[1])):
        for name in names:
            if name not in others:
                message = f"Only one side has the attribute {shown(name)}; it is not used."
                cure = "Rename it if it has a counterpart under another name."
                log.add_header("unshared_attribute", message, cure, file, prefix + name)


@dataclasses.dataclass(frozen=True)
class _AllPairs:
    """The pairs of all splits in one row of arrays, in the order of the splits."""

    files: list[str]  # by split number
    names: list[str]
    split: np.ndarray
    row: np.ndarray
    pair: np.ndarray  # equal where both ids are
    content: np.ndarray  # equal where all values of both records are
    label: np.ndarray

    def where(self, position: int) -> str:
        split = self.split[position]
        same_file = self.files.count(self.files[split]) > 1
        return f"{self.files[split]}{f' ({self.names[split]})' if same_file else ''} row {self.row[position]:,}"


def check_pairs(data: DataSet, log: ProblemLog) -> None:
    """Warn of pairs that repeat, contradict each other, cross splits, or join a record with itself."""
    for name, split in data.splits.items():
        _check_classes(name, data.files[name], split.labels, log)
    if not data.splits:
        return
    pairs = _all_pairs(data)
    _check_repeats(pairs, log)
    _check_contradictions(pairs, log)
    _check_crossing(pairs, log)
    if data.self_join:
        _check_self_pairs(data, log)
    _check_identity(data, log)


def _check_classes(split: str, file: str, labels: np.ndarray, log: ProblemLog) -> None:
    known = set(labels[labels != UNKNOWN].tolist())
    if len(known) == 1:
        message = f"All labels of {split} are {known.pop()}."
        log.add("one_class_split", message, "Add pairs of the other class, or split again.", file, None, "label")


def _all_pairs(data: DataSet) -> _AllPairs:
    splits = list(data.splits.values())
    left = np.concatenate([split.left_rows for split in splits])
    right = np.concatenate([split.right_rows for split in splits])
    left_code, right_code = record_codes(data.left.values), record_codes(data.right.values)
    sizes = [len(split) for split in splits]
    return _AllPairs(
        [data.files[name] for name in data.splits],
        list(data.splits),
        np.repeat(np.arange(len(sizes)), sizes),
        np.concatenate([data.rows[name] for name in data.splits]),
        joined(left, right, data.self_join),
        joined(left_code[left], right_code[right], data.self_join),
        np.concatenate([split.labels for split in splits]),
    )


def _first(keys: np.ndarray) -> np.ndarray:
    """For each position the first position with the same key."""
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return first[inverse]


def _report(
    kind: str, found: np.ndarray, first: np.ndarray, says: str, cure: str, pairs: _AllPairs, log: ProblemLog
) -> None:
    """Log the found positions, file by file, each with the place of the pair it goes back to."""
    for number, file in enumerate(pairs.files):
        here = found[pairs.split[found] == number]
        log.add_rows(
            kind,
            pairs.row[here],
            lambda n, here=here: says.format(there=pairs.where(first[here[n]])),  # type: ignore[misc]
            cure,
            file,
        )


def _check_repeats(pairs: _AllPairs, log: ProblemLog) -> None:
    first = _first(pairs.pair * len(pairs.files) + pairs.split)
    again = np.flatnonzero(first != np.arange(len(first)))
    _report("duplicate_pair", again, first, "The pair is already in {there}.", "Remove one of them.", pairs, log)


def _check_contradictions(pairs: _AllPairs, log: ProblemLog) -> None:
    known = np.flatnonzero(pairs.label != UNKNOWN)
    first = np.arange(len(pairs.label))
    first[known] = known[_first(pairs.content[known])]
    against = known[pairs.label[known] != pairs.label[first[known]]]
    says = "The pair has the content of {there} and the opposite label."
    _report("contradictory_pair", against, first, says, "Find out which label is right.", pairs, log)


def _check_crossing(pairs: _AllPairs, log: ProblemLog) -> None:
    by_pair, by_content = _first(pairs.pair), _first(pairs.content)
    same = pairs.split[by_pair] != pairs.split
    says = "The pair is also in {there}."
    cure = "Keep it in one split: results on the other are too good."
    _report("pair_in_two_splits", np.flatnonzero(same), by_pair, says, cure, pairs, log)
    alike = np.flatnonzero((pairs.split[by_content] != pairs.split) & ~same)
    says = "The pair has the content of {there}, which is in another split."
    cure = "Split by cluster for a strict test: results may be too good."
    _report("content_crosses_splits", alike, by_content, says, cure, pairs, log)


def _check_self_pairs(data: DataSet, log: ProblemLog) -> None:
    for name, pairs in data.splits.items():
        own = data.rows[name][pairs.left_rows == pairs.right_rows]
        log.add_rows(
            "self_pair", own, lambda _: "A record is paired with itself.", "Remove the pair.", data.files[name]
        )


def _check_identity(data: DataSet, log: ProblemLog) -> None:
    """Warn of attributes that are equal exactly where the label is match: such a column holds the answer."""
    splits = list(data.splits.values())
    labels = np.concatenate([split.labels for split in splits])
    left = np.concatenate([split.left_rows for split in splits])
    right = np.concatenate([split.right_rows for split in splits])
    for name in data.attributes:
        one, other = data.left.values[name].take(left), data.right.values[name].take(right)
        both = one.notna().to_numpy() & other.notna().to_numpy() & (labels != UNKNOWN)
        match = labels[both] == 1
        if min(int(match.sum()), int((~match).sum())) < IDENTITY_PAIRS:
            continue
        same = one.to_numpy(dtype=object)[both] == other.to_numpy(dtype=object)[both]
        if (same == match).mean() >= IDENTITY_SHARE:
            message = (
                f"{shown(name)} is equal in {int((same & match).sum()):,} of {int(match.sum()):,} matches and in "
                f"{int((same & ~match).sum()):,} of {int((~match).sum()):,} non-matches: it likely holds the entity's "
                "identity, and every method will look perfect."
            )
            cure = (
                f"Leave it out with --set data.leave_out={name}, or under More settings of a new run, unless "
                "tomorrow's records have it too."
            )
            log.add("identity_column", message, cure, data.files[next(iter(data.splits))], None, name)
