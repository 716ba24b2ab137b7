"""Whole columns of a run, for numbers that need every pair: scores, truth, which rules fire on which pairs.

Cached for a few runs, by path and time of writing. The firing matrix of a very large run is read only for its
riskiest pairs, and the screens say so.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import streamlit as st
from scipy import sparse

from pages.parts.runs.run_files import stamp
from riskcore.risk import top
from riskcore.runs import RunFolder
from riskcore.runs.evidence_files import read_fired
from riskcore.runs.formats import read_scores
from riskcore.runs.readers.label_rankings import MOST_FIRED
from riskcore.storage.parquet import load_columns, row_count

MOST_ROWS = 100_000  # pairs that are read where the matrix is larger


def columns_of(folder: RunFolder, method: str, iteration: int, *names: str) -> tuple[np.ndarray, ...]:
    """Score columns of one iteration, in row order."""
    file = folder.scores_file(method, iteration)
    return _columns(str(file), names, stamp(file))


@st.cache_resource(max_entries=16, ttl=1800, show_spinner=False)
def _columns(file: str, names: tuple[str, ...], written: tuple[int, ...]) -> tuple[np.ndarray, ...]:
    found = read_scores(Path(file), names)
    return tuple(found[name] for name in names)


def truth_of(folder: RunFolder) -> np.ndarray | None:
    """The target's labels, -1 where unknown; None where there are none."""
    if not folder.has_truth:
        return None
    return _columns(str(folder.truth_file), ("label",), stamp(folder.truth_file))[0]


def pairs_in(folder: RunFolder, method: str, iteration: int) -> int:
    """How many pairs an iteration has scored."""
    return int(row_count(folder.scores_file(method, iteration)))


def ids_of(folder: RunFolder, rows: np.ndarray) -> list[str]:
    """Ids of some pairs."""
    ids = load_columns(folder.pairs_file, columns=["pair_id"]).column("pair_id")
    return [str(value) for value in ids.take(rows).to_pylist()]


def fired_of(folder: RunFolder, method: str, iteration: int, rules: int) -> tuple[np.ndarray, sparse.csr_array]:
    """Rows and their firing matrix: all of them, or the riskiest where all would not fit."""
    return _fired(str(folder.path), method, iteration, rules, stamp(folder.fired_file))


@st.cache_resource(max_entries=2, ttl=1800, show_spinner="Reading the rules of each pair …")
def _fired(
    path: str, method: str, iteration: int, rules: int, written: tuple[int, ...]
) -> tuple[np.ndarray, sparse.csr_array]:
    folder = RunFolder(path)
    (risk,) = columns_of(folder, method, iteration, "risk")
    if row_count(folder.fired_file) <= MOST_FIRED:
        return np.arange(len(risk)), read_fired(folder, len(risk), rules)
    rows = np.sort(top(risk, MOST_ROWS))
    return rows, read_fired(folder, len(risk), rules, rows)
