"""The result of a run, computed once and shared: cached by run, method, constraint and number of verdicts.

Frames that are returned are shared by all sessions: do not change them.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import streamlit as st

from pages.parts.audit import verdicts
from pages.parts.runs.run_files import stamp
from riskcore.audit.decisions import decisions, pairs_with_text
from riskcore.audit.resolve import FREE
from riskcore.audit.result import RunResult, run_result
from riskcore.columns import ENTITY_ID, LEFT_ID, RECORD_ID, RIGHT_ID, VALUE
from riskcore.runs import RunFolder
from riskcore.runs.candidate_files import is_self_join

Written = tuple[int, ...]
Order = np.ndarray  # places of rows, in the order in which they are shown


@dataclasses.dataclass(frozen=True)
class ResultKey:
    """What a result depends on."""

    run: str
    path: str
    method: str
    constraint: str
    verdicts: int  # entries of the log, which only grows
    written: Written

    @property
    def folder(self) -> RunFolder:
        return RunFolder(self.path)

    def under(self, constraint: str) -> ResultKey:
        """The same under another constraint."""
        return dataclasses.replace(self, constraint=constraint)


@dataclasses.dataclass(frozen=True)
class PairFilter:
    """Which pairs are shown, in which order; None is any."""

    decision: str | None = None
    decided_by: str | None = None
    text: str = ""
    sort: str = "row"


@dataclasses.dataclass(frozen=True)
class EntityFilter:
    """Which entities are shown."""

    several: bool = True  # those of several records only
    text: str = ""


def key_of(run: str, folder: RunFolder, method: str, constraint: str) -> ResultKey:
    written = stamp(folder.results_file, folder.final_file, folder.pairs_file, folder.other_pairs_file)
    return ResultKey(run, str(folder.path), method, constraint, verdicts.log().size(run), written)


def result_of(key: ResultKey) -> RunResult:
    """The decisions under the constraint, and the entities. Without entities where record ids are not known."""
    return _result(key)


def can_cluster(key: ResultKey) -> bool:
    """Whether the ids of both records of every pair are known; runs of version 0.1 do not have them all."""
    return not bool(_decided(key.under(FREE))[[LEFT_ID, RIGHT_ID]].isna().any(axis=None))


def is_one_table(folder: RunFolder) -> bool:
    """Whether both records of a pair come from one table. Older runs do not state it, and asking their pairs takes
    time."""
    return _one_table(str(folder.path), stamp(folder.run_file))


def pair_order(key: ResultKey, wanted: PairFilter) -> Order:
    """The rows of `result.pairs` that pass the filter."""
    return _pair_order(key, wanted)


def entity_order(key: ResultKey, wanted: EntityFilter) -> Order:
    """The first row, in the table of entities, of each entity that passes the filter; the largest first."""
    return _entity_order(key, wanted)


@st.cache_data(max_entries=32, show_spinner=False)
def _one_table(path: str, written: Written) -> bool:
    return is_self_join(RunFolder(path))


@st.cache_resource(max_entries=3, ttl=3600, show_spinner="Deciding all pairs …")
def _decided(key: ResultKey) -> pd.DataFrame:
    return decisions(key.folder, key.method, verdicts.current(key.run), values=False)


@st.cache_resource(max_entries=4, ttl=3600, show_spinner="Putting records into entities …")
def _result(key: ResultKey) -> RunResult:
    decided = _decided(key.under(FREE))
    return run_result(key.folder, key.method, key.constraint, decided=decided, entities=can_cluster(key))


@st.cache_resource(max_entries=24, ttl=900, show_spinner=False)
def _pair_order(key: ResultKey, wanted: PairFilter) -> Order:
    pairs = _result(key).pairs
    stays = np.ones(len(pairs), dtype=bool)
    for column, value in (("decision", wanted.decision), ("decided_by", wanted.decided_by)):
        if value is not None:
            stays &= (pairs[column] == value).to_numpy()
    if wanted.text:
        stays &= np.isin(pairs.index.to_numpy(), pairs_with_text(key.folder, wanted.text))
    rows = np.flatnonzero(stays)
    if wanted.sort == "row":
        return rows
    values = np.nan_to_num(pairs[wanted.sort].to_numpy(dtype=float)[rows], nan=-1.0)  # unknown ones come last
    return rows[np.argsort(-values, kind="stable")]


@st.cache_resource(max_entries=24, ttl=900, show_spinner=False)
def _entity_order(key: ResultKey, wanted: EntityFilter) -> Order:
    found = _result(key).resolution
    if found is None:
        return np.empty(0, dtype=np.int64)
    table = found.entities
    ids = table[ENTITY_ID].to_numpy()
    first = np.flatnonzero(np.concatenate([[True], ids[1:] != ids[:-1]])) if len(ids) else np.empty(0, dtype=np.int64)
    if wanted.text:
        number = np.searchsorted(first, np.flatnonzero(_has_text(table, wanted.text)), side="right") - 1
        first = first[np.unique(number)]
    size = table["records"].to_numpy()[first]
    if wanted.several:
        first, size = first[size > 1], size[size > 1]
    return first[np.argsort(-size, kind="stable")]


def _has_text(table: pd.DataFrame, text: str) -> np.ndarray:
    names = [ENTITY_ID, RECORD_ID, *(name for name in table if name.startswith(VALUE))]
    found = np.zeros(len(table), dtype=bool)
    for name in names:
        found |= table[name].astype("string").str.contains(text, case=False, regex=False).fillna(False).to_numpy(bool)
    return found
