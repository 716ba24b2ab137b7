"""The pairs that were drawn for labelling or for an estimate, as the screens read them: cached by the draws and the
number of verdicts."""

from __future__ import annotations

import streamlit as st

from pages.parts.runs.run_files import stamp
from riskcore.audit import VerdictLog
from riskcore.audit.draws import drawn_pairs
from riskcore.audit.estimate.runs import AUDITS, audited_pairs
from riskcore.audit.labels import LabelProgress, label_progress
from riskcore.audit.log_cache import CachedLog
from riskcore.audit.outside_draws import outside_draws, outside_records
from riskcore.columns import PAIR_ID, ROW
from riskcore.runs import RunFolder, RunStore
from riskcore.runs.readers.pair_detail import pair_records, row_of

Records = tuple[dict[str, str | None], dict[str, str | None]]


def drawn_rows(folder: RunFolder) -> dict[str, int]:
    """The row of every drawn pair by its id, in the order in which they are shown."""
    return _drawn_rows(str(folder.path), _written(folder))


def audited_rows(folder: RunFolder) -> dict[str, int]:
    """The row of every pair drawn for an estimate by its id, in the order in which they are judged."""
    return _audited_rows(str(folder.path), audits_written(folder))


def audits_written(folder: RunFolder) -> tuple[int, ...]:
    """When the draws for estimates were written."""
    return stamp(*sorted((folder.path / AUDITS).glob("*.parquet")))


def progress_of(folder: RunFolder, run: str, log: VerdictLog) -> LabelProgress:
    """How far labelling is. As verdicts are only added, their number tells whether anything has changed."""
    return _progress(str(folder.path), run, log.size(run), _written(folder))


def records_of(folder: RunFolder, row: int) -> Records:
    """Both records of a pair."""
    return _records(str(folder.path), row, stamp(folder.pairs_file))


def outside_of(folder: RunFolder) -> dict[str, Records]:
    """Both records of every pair that was drawn outside the candidates, by its id and in their order."""
    return _outside(str(folder.path), stamp(*outside_draws(folder)))


def records_of_pair(folder: RunFolder, pair: str) -> Records:
    """Both records of a judged pair, whether it is a candidate or was drawn outside the candidates."""
    outside = outside_of(folder)
    return outside[pair] if pair in outside else records_of(folder, row_of(folder, pair))


def _written(folder: RunFolder) -> tuple[int, ...]:
    return stamp(*sorted(folder.draws.glob("draw-*.parquet")))


@st.cache_data(max_entries=16, ttl=900, show_spinner=False)
def _drawn_rows(path: str, written: tuple[int, ...]) -> dict[str, int]:
    drawn = drawn_pairs(RunFolder(path))
    return {str(pair): int(row) for pair, row in zip(drawn[PAIR_ID], drawn[ROW], strict=True)}


@st.cache_data(max_entries=16, ttl=900, show_spinner=False)
def _audited_rows(path: str, written: tuple[int, ...]) -> dict[str, int]:
    if not written:
        return {}
    pairs = audited_pairs(RunFolder(path))
    return {str(pair): int(row) for pair, row in zip(pairs[PAIR_ID], pairs[ROW], strict=True)}


@st.cache_data(max_entries=16, ttl=900, show_spinner=False)
def _progress(path: str, run: str, verdicts: int, written: tuple[int, ...]) -> LabelProgress:
    folder = RunFolder(path)
    return label_progress(folder, CachedLog(RunStore(folder.path.absolute().parent)).current(run))


@st.cache_data(max_entries=16, ttl=900, show_spinner=False)
def _outside(path: str, written: tuple[int, ...]) -> dict[str, Records]:
    return outside_records(RunFolder(path))


@st.cache_data(max_entries=200, ttl=900, show_spinner=False)
def _records(path: str, row: int, written: tuple[int, ...]) -> Records:
    return pair_records(RunFolder(path), row)
