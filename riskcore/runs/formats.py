"""Which formats of a run's folder can be read, and what older ones called things. No other module decides that.

Format 3 is today's: risk is the probability that a label is wrong, by all the evidence, and there is one for every
method's answer. In format 2 it was the Value at Risk of the risk model, and the answer of iteration 0 alone was ranked.
Format 1 is that of version 0.1, whose run.json has no number. A folder of a later format is
refused. Files are never rewritten: what a reader gets is translated on the way.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa

from riskcore.columns import LEFT_ID, PAIR_ID, RIGHT_ID, SCORE_COLUMNS
from riskcore.config import RunConfig
from riskcore.data.problems import shown
from riskcore.errors import RiskcoreError, StorageError
from riskcore.runs.documents import RunDescription, SummaryRow
from riskcore.storage.parquet import column_names, load_columns, scan, take_rows

FORMAT = 3

# Format 1: names of score columns, by today's. Its `flipped` meant another label than in the iteration before, which
# `from_label` tells in files of both formats; what is `flipped` today was `changed`.
_COLUMNS_1 = {"flipped": "changed", "var_non_match": "var_unmatch"}
_ONLY_IN_1 = "changed"  # the column by which a file of format 1 is known
_OUTCOMES_1 = {"unmatch": "non-match"}


def checked_format(document: Mapping[str, Any], run: str) -> int:
    """The format that run.json states; an error if this version cannot read it."""
    if not isinstance(document, Mapping):
        raise StorageError(
            f"The file run.json of run {run} does not hold a run's description. Restore it, or run again."
        )
    found = document.get("format", 1)
    if not isinstance(found, int) or not 1 <= found <= FORMAT:
        raise StorageError(
            f"Run {run} was written in format {found!r} by a newer version of Riskcore, and this version reads formats "
            f"1 to {FORMAT}: update Riskcore to open it."
        )
    return found


def description(document: dict[str, Any], run: str) -> RunDescription:
    """run.json with today's names."""
    if checked_format(document, run) == 1:
        versions = dict(document.get("versions", {}))
        added = {"format": 1, "code": "", "platform": versions.pop("platform", ""), "truth_fingerprint": ""}
        document = {**added, **document, "versions": versions, "config": _settings(document.get("config", {}))}
    return cast(RunDescription, document)


def rules(text: str, number: int) -> str:
    """rules.json and rules-validation.json with today's names."""
    if number > 1:
        return text
    rows = json.loads(text)
    return json.dumps([{**row, "outcome": _OUTCOMES_1.get(row["outcome"], row["outcome"])} for row in rows])


def model(text: str, number: int, keys: Sequence[str]) -> str:
    """A risk model whose rules have the keys that the run's rules have today; it lists them in the same order."""
    if number > 1:
        return text
    document = json.loads(text)
    named = zip(document["rules"], keys, strict=True)
    return json.dumps({**document, "rules": [{**row, "rule": key} for row, key in named]})


def summary(rows: list[dict[str, Any]], number: int, counts: Mapping[str, int]) -> list[SummaryRow]:
    """summary.json with the labels behind each risk model: format 1 used the validation labels wherever it had any.

    Up to format 2, the risk of an iteration was that of its risk model.
    """
    if number < 3:
        rows = [{**row, "auroc_learnrisk": row.get("auroc_risk")} for row in rows]
    if number > 1:
        return cast(list[SummaryRow], rows)
    used = ["source", "validation"] if counts.get("validation") else ["source"]
    return cast(list[SummaryRow], [{"labels_used": used, **row} for row in rows])


def comparison(document: dict[str, Any], number: int) -> dict[str, Any]:
    """comparison.json; methods of format 1 did not say what they lacked, and formats 1 and 2 ranked the start only."""
    if number < 3 and isinstance(document.get("budgets"), list):
        document = {**document, "budgets": {"tradition": document["budgets"]} if document["budgets"] else {}}
    if number > 1:
        return document
    return {**document, "methods": {name: {"lacked": [], **row} for name, row in document["methods"].items()}}


def read_pair_ids(file: Path) -> pa.Table:
    """The ids of every pair and of its two records. Format 1 has only the pair's, which holds both but for colons."""
    if LEFT_ID in column_names(file):
        pairs = load_columns(file, columns=[PAIR_ID, LEFT_ID, RIGHT_ID])
        _check_ids(pairs, file)
        return pairs
    pairs = load_columns(file, columns=[PAIR_ID])
    sides = [one.split(":") if one.count(":") == 1 else [None, None] for one in pairs.column(PAIR_ID).to_pylist()]
    for place, name in enumerate((LEFT_ID, RIGHT_ID)):
        pairs = pairs.append_column(name, pa.array([one[place] for one in sides], pa.large_string()))
    return pairs


def _check_ids(pairs: pa.Table, file: Path) -> None:
    """Refuse pairs of different records with one id: earlier versions joined (a, b:c) and (a:b, c) to the same."""
    if len(pairs.column(PAIR_ID).unique()) == len(pairs):
        return
    ids = pairs.to_pandas().drop_duplicates()
    shared = ids.loc[ids[PAIR_ID].duplicated(), PAIR_ID]
    if len(shared):
        raise StorageError(
            f"In {file}, several pairs of records have the id {shown(shared.iloc[0])}: a verdict on one would count "
            "for the other. An earlier version recorded the run. Run again: ids with colons are told apart today."
        )


# Scores. The files say themselves which format they have, so that one can be read by its path alone.


def scan_scores(file: Path) -> str:
    """A score file as a table in a query."""
    if not _is_format_1(file):
        return scan(file)
    stored = ", ".join({*_COLUMNS_1, *_COLUMNS_1.values()} & set(column_names(file)))
    renamed = ", ".join(f"{old} AS {new}" for new, old in _COLUMNS_1.items())
    return f"(SELECT * EXCLUDE ({stored}), {renamed} FROM {scan(file)})"


def take_scores(file: Path, rows: Sequence[int] | np.ndarray, columns: Sequence[str] = SCORE_COLUMNS) -> pa.Table:
    """These columns of some rows of a score file, in the order asked."""
    stored = _stored(file, columns)
    return take_rows(file, rows, stored).select(stored).rename_columns(list(columns))


def read_scores(file: Path, columns: Sequence[str]) -> dict[str, np.ndarray]:
    """These columns of every row of a score file."""
    stored = _stored(file, columns)
    table = load_columns(file, columns=list(dict.fromkeys(stored)))
    return {name: table.column(old).to_numpy() for name, old in zip(columns, stored, strict=True)}


def _stored(file: Path, columns: Sequence[str]) -> list[str]:
    return [_COLUMNS_1.get(name, name) for name in columns] if _is_format_1(file) else list(columns)


def _is_format_1(file: Path) -> bool:
    return _ONLY_IN_1 in column_names(file)


def _settings(stored: dict[str, Any]) -> dict[str, Any]:
    """The settings by today's names, or as they are where one has no name today."""
    try:
        return dataclasses.asdict(RunConfig.from_stored(stored))
    except RiskcoreError:
        return stored
