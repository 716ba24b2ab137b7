"""Everything a run knows about one pair: both records, metrics, fired rules, and scores by iteration."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from riskcore.columns import FLIP_COLUMNS, HISTORY_COLUMNS, LEFT, MODEL_COLUMNS, PAIR_ID, RIGHT, ROW
from riskcore.errors import RiskcoreError
from riskcore.rules.firing import fired_on
from riskcore.runs.feedback_files import take_queue
from riskcore.runs.folder import RunFolder
from riskcore.runs.formats import take_scores
from riskcore.storage.parquet import frame, scan, searching, take_rows

if TYPE_CHECKING:
    from riskcore.risk import Explanation, RiskModel


class PairNotFoundError(RiskcoreError):
    """No target pair of the run has that id."""


@dataclasses.dataclass(frozen=True)
class PairDetail:
    """One pair of one iteration."""

    pair_id: str
    row: int
    left: dict[str, str | None]
    right: dict[str, str | None]
    metrics: dict[str, float | None]  # by metric key; None is missing
    fired: list[int]  # numbers of the rules that fire
    scores: dict[str, Any]  # the score columns; the risk is that of the queue
    truth: int | None  # None where the label is not known


def pair_detail(
    folder: RunFolder, pair_id: str, method: str = "risk", iteration: int | None = None, row: int | None = None
) -> PairDetail:
    """The pair in an iteration, the kept one if none is named. Passing its row, where known, saves a search."""
    row = row_of(folder, pair_id) if row is None else row
    left, right = pair_records(folder, row)
    values = take_rows(folder.metrics_file, [row]).to_pylist()[0]
    metrics = {key: None if value is None or np.isnan(value) else float(value) for key, value in values.items()}
    scores = take_queue(folder, method, folder.iteration(method, iteration), [row])
    return PairDetail(
        pair_id=pair_id,
        row=row,
        left=left,
        right=right,
        metrics=metrics,
        fired=fired_on(folder.rules().rules, metrics),
        scores=scores.to_pylist()[0],
        truth=_truth(folder, row),
    )


def pair_records(folder: RunFolder, row: int) -> tuple[dict[str, str | None], dict[str, str | None]]:
    """The left and the right record of a target pair by its row, and nothing that a model says about them."""
    record = take_rows(folder.pairs_file, [row]).to_pylist()[0]
    left, right = (
        {name.removeprefix(side): value for name, value in record.items() if name.startswith(side)}
        for side in (LEFT, RIGHT)
    )
    return left, right


def pair_history(folder: RunFolder, pair_id: str, method: str = "risk", row: int | None = None) -> pd.DataFrame:
    """A row per iteration: the pair's label, probability and risk."""
    row, columns = row_of(folder, pair_id) if row is None else row, (*MODEL_COLUMNS, *FLIP_COLUMNS)
    rows = [
        {"iteration": iteration, **take_scores(folder.scores_file(method, iteration), [row], columns).to_pylist()[0]}
        for iteration in folder.iterations(method)
    ]
    return pd.DataFrame(rows, columns=list(HISTORY_COLUMNS))


def explain_detail(
    folder: RunFolder, detail: PairDetail, method: str = "risk", iteration: int | None = None
) -> Explanation:
    """How much each fired rule and the matcher contribute to the pair's risk."""
    return explain_with(folder.model(method, iteration), detail)


def explain_with(model: RiskModel, detail: PairDetail) -> Explanation:
    """The same under any model, such as one with muted rules."""
    from riskcore.risk import explain_pair

    rules = [model.rules[number] for number in detail.fired]
    return explain_pair(model, detail.scores["probability"], rules, detail.scores["label"])


def row_of(folder: RunFolder, pair_id: str) -> int:
    """The pair's place among the target pairs."""
    query = f"SELECT {ROW} FROM {scan(folder.pairs_file)} WHERE {PAIR_ID} = ? ORDER BY {ROW} LIMIT 1"
    folder.run()  # raises a clear error if there is no such run
    with searching() as connection:
        found = frame(connection, query, [pair_id])
    if found.empty:
        from riskcore.data.problems import shown

        raise PairNotFoundError(f"Run {folder.path.name} has no target pair {shown(pair_id)}. `top` lists some.")
    return int(found[ROW][0])


def _truth(folder: RunFolder, row: int) -> int | None:
    if not folder.has_truth:
        return None
    label = int(take_rows(folder.truth_file, [row], ["label"]).column("label")[0].as_py())
    return label if label >= 0 else None
