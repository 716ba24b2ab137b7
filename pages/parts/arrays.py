"""Whole columns of a run, for numbers that need every pair: scores, truth, answers of all methods, who fires where.

Kept for a few runs only, by path and time of writing. The firing matrix of a very large run is read for its riskiest
pairs only, and the screens say so.
"""

from __future__ import annotations

import numpy as np
import pyarrow.parquet as pq
import streamlit as st
from scipy import sparse

from pages.parts.run_files import stamp
from riskcore.risk import top
from riskcore.runs import RunFolder

MOST_FIRED = 8_000_000  # entries of a firing matrix held in memory: about 40 MB, twice that while it is read
MOST_ROWS = 100_000  # pairs looked at where the matrix is larger


def columns_of(folder: RunFolder, method: str, iteration: int, *names: str) -> tuple[np.ndarray, ...]:
    """Score columns of one iteration, in row order."""
    file = folder.scores_file(method, iteration)
    return _columns(str(file), names, stamp(file))


@st.cache_resource(max_entries=16, ttl=1800, show_spinner=False)
def _columns(file: str, names: tuple[str, ...], written: tuple[int, ...]) -> tuple[np.ndarray, ...]:
    table = pq.read_table(file, columns=list(dict.fromkeys(names)))
    return tuple(table.column(name).to_numpy() for name in names)


def truth_of(folder: RunFolder) -> np.ndarray | None:
    """The target's labels, -1 where unknown; None where there are none."""
    if not folder.has_truth:
        return None
    return _columns(str(folder.truth_file), ("label",), stamp(folder.truth_file))[0]


def answers_of(folder: RunFolder) -> dict[str, np.ndarray]:
    """The probability that each method ended with; empty while the run is not done."""
    if not folder.final_file.exists():
        return {}
    names = tuple(name for name in pq.read_schema(folder.final_file).names if name not in ("row", "pair_id"))
    return dict(zip(names, _columns(str(folder.final_file), names, stamp(folder.final_file)), strict=True))


def ids_of(folder: RunFolder, rows: np.ndarray) -> list[str]:
    """Ids of some pairs."""
    ids = pq.read_table(folder.pairs_file, columns=["pair_id"]).column("pair_id")
    return [str(value) for value in ids.take(rows).to_pylist()]


def fired_of(folder: RunFolder, method: str, iteration: int, rules: int) -> tuple[np.ndarray, sparse.csr_array]:
    """Rows and their firing matrix: all of them, or the riskiest where all would not fit."""
    return _fired(str(folder.path), method, iteration, rules, stamp(folder.fired_file))


@st.cache_resource(max_entries=2, ttl=1800, show_spinner="Reading which rules fire where …")
def _fired(
    path: str, method: str, iteration: int, rules: int, written: tuple[int, ...]
) -> tuple[np.ndarray, sparse.csr_array]:
    folder = RunFolder(path)
    (risk,) = columns_of(folder, method, iteration, "risk")
    if pq.read_metadata(folder.fired_file).num_rows <= MOST_FIRED:
        return np.arange(len(risk)), _matrix(folder, None, len(risk), rules)
    rows = np.sort(top(risk, MOST_ROWS))
    return rows, _matrix(folder, rows, len(risk), rules)


def _matrix(folder: RunFolder, rows: np.ndarray | None, pairs: int, rules: int) -> sparse.csr_array:
    """The long table as a matrix, keeping only the rows asked for. The table is sorted by rule, then by row."""
    place = None
    if rows is not None:
        place = np.full(pairs, -1, dtype=np.int32)
        place[rows] = np.arange(len(rows), dtype=np.int32)
    parts, counts = [np.empty(0, dtype=np.int32)], np.zeros(rules, dtype=np.int64)
    with pq.ParquetFile(folder.fired_file) as file:
        for batch in file.iter_batches(batch_size=500_000, columns=["row", "rule"]):
            pair, rule = (batch.column(at).to_numpy() for at in (0, 1))
            if place is not None:
                kept = place[pair] >= 0
                pair, rule = place[pair[kept]], rule[kept]
            parts.append(pair.astype(np.int32))
            counts += np.bincount(rule, minlength=rules)
    indices, ends = np.concatenate(parts), np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    shape = (pairs if rows is None else len(rows), rules)
    return sparse.csc_array((np.ones(len(indices), dtype=bool), indices, ends), shape=shape).tocsr()
