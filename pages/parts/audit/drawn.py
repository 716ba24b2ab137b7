"""The pairs that were drawn for labelling, as the screens read them: cached by the draws and the number of verdicts."""

from __future__ import annotations

import streamlit as st

from pages.parts.runs.run_files import stamp
from riskcore.audit import VerdictLog
from riskcore.audit.draws import drawn_pairs
from riskcore.audit.labels import LabelProgress, label_progress
from riskcore.columns import PAIR_ID, ROW
from riskcore.runs import RunFolder, RunStore
from riskcore.runs.readers.pair_detail import pair_records

Records = tuple[dict[str, str | None], dict[str, str | None]]


def drawn_rows(folder: RunFolder) -> dict[str, int]:
    """The row of every drawn pair by its id, in the order in which they are shown."""
    return _drawn_rows(str(folder.path), _written(folder))


def progress_of(folder: RunFolder, run: str, log: VerdictLog) -> LabelProgress:
    """How far labelling is. As verdicts are only added, their number tells whether anything has changed."""
    return _progress(str(folder.path), run, log.size(run), _written(folder))


def records_of(folder: RunFolder, row: int) -> Records:
    """Both records of a pair."""
    return _records(str(folder.path), row, stamp(folder.pairs_file))


def _written(folder: RunFolder) -> tuple[int, ...]:
    return stamp(*sorted(folder.draws.glob("draw-*.parquet")))


@st.cache_data(max_entries=16, ttl=900, show_spinner=False)
def _drawn_rows(path: str, written: tuple[int, ...]) -> dict[str, int]:
    drawn = drawn_pairs(RunFolder(path))
    return {str(pair): int(row) for pair, row in zip(drawn[PAIR_ID], drawn[ROW], strict=True)}


@st.cache_data(max_entries=16, ttl=900, show_spinner=False)
def _progress(path: str, run: str, verdicts: int, written: tuple[int, ...]) -> LabelProgress:
    folder = RunFolder(path)
    return label_progress(folder, VerdictLog(RunStore(folder.path.absolute().parent)).current(run))


@st.cache_data(max_entries=200, ttl=900, show_spinner=False)
def _records(path: str, row: int, written: tuple[int, ...]) -> Records:
    return pair_records(RunFolder(path), row)
