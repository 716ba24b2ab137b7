"""The balance sheet of one pair, and the leading reasons of a page of pairs, from what the worker has written."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from riskcore.columns import ROW
from riskcore.risk.balance import BEFORE, BalanceSheet, Voice
from riskcore.runs.folder import RunFolder
from riskcore.runs.readers.pair_detail import PairDetail
from riskcore.runs.sheet_files import (
    AGAINST,
    ALONE,
    CELLS,
    LEADING,
    METRICS,
    OFFSET,
    RULE_FACTOR,
    SAYS,
    SPOKEN,
    STABILITY,
    SheetFacts,
)
from riskcore.storage.files import read_json
from riskcore.storage.parquet import load_columns, take_rows

START_METHOD = "tradition"  # whose answers are iteration 0 of `risk`
REASON_COLUMNS = (LEADING, AGAINST, SAYS, STABILITY)


def sheet_method(folder: RunFolder, method: str, iteration: int | None = None) -> str | None:
    """Whose sheets explain an iteration: the method's own for its kept iteration, the starting matcher's for the first
    of `risk`; None where there are none."""
    has_own = folder.sheet_facts_file(method).exists()
    if has_own and iteration in (None, sheet_facts(folder, method)["iteration"]):
        return method
    starts = method == "risk" and iteration == 0
    return START_METHOD if starts and folder.sheet_facts_file(START_METHOD).exists() else None


def sheet_facts(folder: RunFolder, method: str) -> SheetFacts:
    facts: SheetFacts = read_json(folder.sheet_facts_file(method))
    return facts


def pair_sheet(folder: RunFolder, method: str, row: int, fired: Sequence[int] = ()) -> BalanceSheet | None:
    """The sheet of a target pair, by its row; None where the pair was not explained. `fired` are the numbers of the
    rules that fire on it."""
    places = _places(folder, method, [row])
    if places[0] >= 0:
        stored = take_rows(folder.sheets_file(method), places).to_pylist()[0]
        return sheet_from(stored, sheet_facts(folder, method), fired)
    extra = folder.extra_sheet_file(method, row)
    if not extra.exists():
        return None
    return sheet_from(take_rows(extra, [0]).to_pylist()[0], read_json(extra.with_suffix(".json")), fired)


def sheet_of_detail(
    folder: RunFolder, detail: PairDetail, method: str = "risk", iteration: int | None = None
) -> BalanceSheet | None:
    """The sheet of a pair in an iteration; None where there is none."""
    explained = sheet_method(folder, method, iteration)
    return None if explained is None else pair_sheet(folder, explained, detail.row, detail.fired)


def reasons_of_rows(folder: RunFolder, method: str, rows: Sequence[int]) -> pd.DataFrame:
    """What the evidence says of these pairs, and the subjects that speak most for and against it; missing where a pair
    was not explained."""
    places = _places(folder, method, rows)
    known = places >= 0
    found = take_rows(folder.sheets_file(method), places[known], list(REASON_COLUMNS)).to_pandas()
    table = pd.DataFrame(index=range(len(places)), columns=list(REASON_COLUMNS), dtype=object)
    for name in REASON_COLUMNS:
        table.loc[known, name] = found[name].to_numpy(dtype=object)
    return table


def count_leading(folder: RunFolder, method: str) -> dict[str, int]:
    """How many pairs each subject leads among the reasons of, the most first."""
    leading = load_columns(folder.sheets_file(method), columns=[LEADING]).column(LEADING).to_pandas()
    counts = leading[leading != ""].astype(str).value_counts()
    return {str(name): int(count) for name, count in counts.items()}


def _places(folder: RunFolder, method: str, rows: Sequence[int]) -> np.ndarray:
    """Where the sheets of these pairs are; -1 for pairs without one."""
    file = folder.sheets_file(method)
    explained = _explained(file, file.stat().st_mtime_ns)
    wanted = np.asarray(rows, dtype=np.int64)
    at = np.minimum(np.searchsorted(explained, wanted), len(explained) - 1)
    return np.where(explained[at] == wanted, at, -1) if len(explained) else np.full(len(wanted), -1)


@lru_cache(maxsize=32)
def _explained(file: Path, written: int) -> np.ndarray:
    """The rows that a file of sheets explains, in rising order."""
    rows: np.ndarray = load_columns(file, columns=[ROW]).column(ROW).to_numpy()
    return rows


def sheet_from(stored: dict[str, Any], facts: SheetFacts, fired: Sequence[int]) -> BalanceSheet:
    """The sheet that is stored in a row, given what its columns stand for."""
    names = [BEFORE, *facts["subjects"]]
    cells = np.array(stored[CELLS], dtype=np.float64).reshape(len(facts["voices"]), len(names))
    voices = tuple(
        Voice(name, spoken, weight, {subject: part for subject, part in zip(names, row, strict=True) if part})
        for name, spoken, weight, row in zip(
            facts["voices"], stored[SPOKEN], facts["weights"], cells.tolist(), strict=True
        )
    )
    terms = {one["rule"]: one["weight"] * (one["mean"] - 0.5) for one in facts["rules"]}
    alone = stored.get(ALONE)
    stability = stored[STABILITY]
    return BalanceSheet(
        offset=stored[OFFSET],
        voices=voices,
        metrics=dict(zip(facts["metrics"], stored[METRICS] or (), strict=True)),
        rules={number: stored[RULE_FACTOR] * terms[number] for number in fired if number in terms},
        matcher_alone=None if alone is None else dict(zip(names, alone, strict=True)),
        leading=stored[LEADING],
        against=stored[AGAINST],
        stability=None if stability is None or np.isnan(stability) else float(stability),
    )
