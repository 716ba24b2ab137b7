"""A run's files as the screens read them, cached by path and time of writing, never by the content of a frame."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from pathlib import Path

import pandas as pd
import streamlit as st

from riskcore.audit import Verdict
from riskcore.audit.log_cache import Judged
from riskcore.data.schema import AttributeType
from riskcore.risk import RiskModel
from riskcore.risk.balance import BalanceSheet
from riskcore.rules.rule_set import RuleSet
from riskcore.runs import (
    PairDetail,
    PairPage,
    PairQuery,
    RunFolder,
    pair_detail,
    pair_history,
    query_pairs,
    rule_table,
    summary,
)
from riskcore.runs.feedback_files import ranking_file
from riskcore.runs.readers.flips import flipped_at
from riskcore.runs.readers.orders import CorrectionGain, correction_gain
from riskcore.runs.readers.pair_reasons import PairReason, attribute_types, reason_of_row
from riskcore.runs.readers.pair_sheet import count_leading, pair_sheet, reasons_of_rows, sheet_method
from riskcore.runs.sheet_files import SAYS


def stamp(*files: Path) -> tuple[int, ...]:
    """When each file was written: files are replaced as a whole, so the time identifies their content."""
    return tuple(file.stat().st_mtime_ns if file.exists() else 0 for file in files)


def rules_of(folder: RunFolder) -> RuleSet:
    return _rules(str(folder.path), stamp(folder.rules_file))


@st.cache_resource(max_entries=6, show_spinner=False)
def _rules(path: str, written: tuple[int, ...]) -> RuleSet:
    return RunFolder(path).rules()


def validation_rules_of(folder: RunFolder) -> RuleSet | None:
    """The rules with their record on the validation pairs; None where there is none."""
    return _validation_rules(str(folder.path), stamp(folder.validation_rules_file))


@st.cache_resource(max_entries=6, show_spinner=False)
def _validation_rules(path: str, written: tuple[int, ...]) -> RuleSet | None:
    return RunFolder(path).rules_on_validation()


def model_of(folder: RunFolder, method: str, iteration: int) -> RiskModel:
    return _model(str(folder.path), method, iteration, stamp(folder.model_file(method, iteration)))


@st.cache_resource(max_entries=12, show_spinner=False)
def _model(path: str, method: str, iteration: int, written: tuple[int, ...]) -> RiskModel:
    return RunFolder(path).model(method, iteration)


def rule_table_of(folder: RunFolder, method: str, iteration: int) -> pd.DataFrame:
    files = (folder.scores_file(method, iteration), folder.model_file(method, iteration), folder.fired_file)
    return _rule_table(str(folder.path), method, iteration, stamp(*files))


@st.cache_data(max_entries=12, show_spinner="Counting the pairs of each rule …")
def _rule_table(path: str, method: str, iteration: int, written: tuple[int, ...]) -> pd.DataFrame:
    return rule_table(RunFolder(path), method, iteration)


def summary_of(folder: RunFolder, method: str) -> pd.DataFrame:
    """The iterations of one method so far."""
    rows = summary(folder)
    return rows[rows["method"] == method].reset_index(drop=True)


def risk_labels(history: pd.DataFrame) -> str:
    """The labels that the risk models of these iterations were fitted on, as the run recorded them."""
    recorded = [row for row in history.get("labels_used", ()) if isinstance(row, list)]
    named = dict.fromkeys(name for row in recorded for name in row)
    return " and ".join(named) if named else "no target labels"  # older runs did not record it


def subjects_of(folder: RunFolder) -> list[str]:
    """What rules refer to: the attributes, and the whole record if a rule refers to it."""
    named = {condition.attribute for rule in rules_of(folder).rules for condition in rule.conditions}
    attributes = folder.attributes()
    return [*attributes, *sorted(named - set(attributes))]


def detail_of(folder: RunFolder, pair: str, method: str, iteration: int, row: int | None = None) -> PairDetail:
    """One pair. Its row, where the queue knows it, saves a search."""
    return _detail(str(folder.path), pair, method, iteration, row, _queue_stamp(folder, method, iteration))


@st.cache_data(max_entries=200, ttl=900, show_spinner=False)
def _detail(path: str, pair: str, method: str, iteration: int, row: int | None, written: tuple[int, ...]) -> PairDetail:
    return pair_detail(RunFolder(path), pair, method, iteration, row)


def types_of(folder: RunFolder) -> dict[str, AttributeType]:
    """The types of the target's attributes."""
    return attribute_types(folder)


def sheet_of(folder: RunFolder, detail: PairDetail, method: str, iteration: int) -> BalanceSheet | None:
    """The pair's balance sheet; None where the worker has made none for it."""
    explained = sheet_method(folder, method, iteration)
    if explained is None:
        return None
    return _sheet(str(folder.path), explained, detail.row, tuple(detail.fired), stamp(folder.sheets_file(explained)))


@st.cache_data(max_entries=200, ttl=900, show_spinner=False)
def _sheet(path: str, method: str, row: int, fired: tuple[int, ...], written: tuple[int, ...]) -> BalanceSheet | None:
    return pair_sheet(RunFolder(path), method, row, fired)


def forget_sheet() -> None:
    """A sheet was added: look for it again."""
    _sheet.clear()


def visible_types(folder: RunFolder, hidden: Collection[str]) -> dict[str, AttributeType]:
    """The types of the attributes whose values may be quoted: the others are named only."""
    return {name: kind for name, kind in types_of(folder).items() if name not in hidden}


def reasons_on(
    folder: RunFolder, method: str, iteration: int | None, rows: pd.DataFrame, hidden: Collection[str] = ()
) -> list[PairReason | None]:
    """The reason of each pair on a page of the queue; None where the worker has found none. No value of a hidden
    attribute is quoted."""
    explained = sheet_method(folder, method, folder.iteration(method, iteration))
    if explained is None or rows.empty:
        return [None] * len(rows)
    written = stamp(folder.sheets_file(explained), folder.pairs_file)
    return _reasons(str(folder.path), explained, tuple(rows["row"].tolist()), tuple(sorted(hidden)), written, rows)


@st.cache_data(max_entries=64, ttl=900, show_spinner=False)
def _reasons(
    path: str,
    method: str,
    places: tuple[int, ...],
    hidden: tuple[str, ...],
    written: tuple[int, ...],
    _rows: pd.DataFrame,
) -> list[PairReason | None]:
    """Of the pairs at these places, whose records are in the frame: comparing the values of a page takes longer than
    anything else when stepping from pair to pair."""
    folder = RunFolder(path)
    told, types = reasons_of_rows(folder, method, _rows["row"].to_numpy()), visible_types(folder, hidden)
    return [
        None if pd.isna(one[SAYS]) else reason_of_row(row, types, one)
        for row, (_, one) in zip(_rows.to_dict("records"), told.iterrows(), strict=True)
    ]


def flips_of(folder: RunFolder, method: str, iteration: int, rows: Collection[int]) -> list[int | None]:
    """When the label of each of these pairs became what it is: see `flipped_at`."""
    iterations = [one for one in folder.iterations(method) if one <= iteration]
    written = stamp(*(folder.scores_file(method, one) for one in iterations))
    return _flips(str(folder.path), method, iteration, tuple(int(row) for row in rows), written)


@st.cache_data(max_entries=256, ttl=900, show_spinner=False)
def _flips(path: str, method: str, iteration: int, rows: tuple[int, ...], written: tuple[int, ...]) -> list[int | None]:
    return flipped_at(RunFolder(path), method, iteration, rows)


def gain_of(folder: RunFolder, method: str, iteration: int) -> CorrectionGain:
    """What correcting a wrong label of either kind adds to F1."""
    return _gain(str(folder.path), method, iteration, stamp(folder.scores_file(method, iteration)))


@st.cache_data(max_entries=32, show_spinner=False)
def _gain(path: str, method: str, iteration: int, written: tuple[int, ...]) -> CorrectionGain:
    return correction_gain(RunFolder(path), method, iteration)


def leading_counts(folder: RunFolder, method: str, iteration: int | None) -> dict[str, int]:
    """How many pairs each subject leads among the reasons of, the most first; empty where no reasons were found."""
    explained = sheet_method(folder, method, folder.iteration(method, iteration))
    if explained is None:
        return {}
    return _leading_counts(str(folder.path), explained, stamp(folder.sheets_file(explained)))


@st.cache_data(max_entries=12, show_spinner=False)
def _leading_counts(path: str, method: str, written: tuple[int, ...]) -> dict[str, int]:
    return count_leading(RunFolder(path), method)


def history_of(folder: RunFolder, detail: PairDetail, method: str) -> pd.DataFrame:
    """The pair's scores in all iterations so far."""
    iterations = folder.iterations(method)
    files = (folder.scores_file(method, iteration) for iteration in iterations)
    return _history(str(folder.path), detail.pair_id, method, detail.row, stamp(*files))


@st.cache_data(max_entries=200, ttl=900, show_spinner=False)
def _history(path: str, pair: str, method: str, row: int, written: tuple[int, ...]) -> pd.DataFrame:
    return pair_history(RunFolder(path), pair, method, row)


def page_of(folder: RunFolder, query: PairQuery, judged: Judged) -> PairPage:
    """One page of the queue. Verdicts are part of the query only where the queue is filtered by them; they are told
    apart by the state of the log, which takes no time however many there are."""
    written = _queue_stamp(folder, query.method, folder.iteration(query.method, query.iteration))
    if query.verdict is not None:
        state = (judged.who, judged.head.size, judged.head.digest)
        return _page(str(folder.path), query, state, written, judged.verdicts)
    page = _page(str(folder.path), query, None, written, {})
    given = [word_of(judged, pair) for pair in page.rows["pair_id"]]
    return dataclasses.replace(page, rows=page.rows.assign(verdict=given))


def word_of(judged: Judged, pair: str) -> str | None:
    """The verdict on a pair in a word."""
    held = judged.verdicts.get(pair)
    return None if held is None else str(held.verdict)


def _queue_stamp(folder: RunFolder, method: str, iteration: int) -> tuple[int, ...]:
    """The scores of a queue, and what people's verdicts and decisions made of them."""
    return stamp(folder.scores_file(method, iteration), ranking_file(folder, method))


@st.cache_data(max_entries=256, ttl=900, show_spinner=False)
def _page(
    path: str,
    query: PairQuery,
    state: tuple[str | None, int, str] | None,
    written: tuple[int, ...],
    _verdicts: Mapping[str, Verdict],
) -> PairPage:
    return query_pairs(RunFolder(path), query, _verdicts)
