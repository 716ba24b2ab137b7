"""What a folder or file holds once its cells are text: tables, pairs, and where in the files each pair stands."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd

from riskcore.data.pairs import LabelledPairs, Table
from riskcore.data.problems import ProblemLog, shown


@dataclasses.dataclass(frozen=True, eq=False)
class SplitContent:
    """The pairs of one split, and the file and rows they come from."""

    name: str
    file: str
    rows: np.ndarray
    pairs: LabelledPairs


@dataclasses.dataclass(frozen=True, eq=False)
class Content:
    """Both tables (one object twice in a self-join) and all splits."""

    left: Table
    right: Table
    splits: tuple[SplitContent, ...]


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


def record_codes(values: pd.DataFrame) -> np.ndarray:
    """One number per record, equal exactly where all values are equal (missing equals missing)."""
    codes = np.zeros(len(values), dtype=np.int64)
    for name in values.columns:
        column, distinct = pd.factorize(values[name])  # -1 where missing
        codes = codes * (len(distinct) + 1) + column + 1
        codes = np.unique(codes, return_inverse=True)[1].astype(np.int64)
    return codes


def joined(left: np.ndarray, right: np.ndarray, same: bool) -> np.ndarray:
    """One number per pair of numbers; where both are of the `same` kind, (a, b) is (b, a)."""
    if same:
        left, right = np.minimum(left, right), np.maximum(left, right)
    return left * (int(right.max(initial=0)) + 1) + right
