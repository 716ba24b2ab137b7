"""The learning curve of a method: one row per iteration, iteration 0 being the model it started from.

`flips` and the flips by class are against the iteration before; `fixed` and `broken` against iteration 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from riskcore.evaluation.flips import flips_by_class
from riskcore.evaluation.scores import confusion
from riskcore.evaluation.truth import EvaluationError, checked_labels

LABEL_FREE = ("iteration", "flips", "match_rate")
NEED_TRUTH = (
    "f1",
    "precision",
    "recall",
    "fixed",
    "broken",
    "tp_flipped",
    "tn_flipped",
    "fn_flipped",
    "fp_flipped",
)
CURVE_COLUMNS = LABEL_FREE + NEED_TRUTH


def iteration_row(
    truth: np.ndarray | None, labels: np.ndarray, previous: np.ndarray, first: np.ndarray, iteration: int
) -> dict[str, Any]:
    """One iteration as JSON-ready values: labels now, in the iteration before, and in iteration 0."""
    now, before, start = checked_labels(labels), checked_labels(previous), checked_labels(first)
    step, whole, cells = flips_by_class(truth, before, now), flips_by_class(truth, start, now), confusion(truth, now)
    return {
        "iteration": iteration,
        "flips": int((now != before).sum()),
        "match_rate": float(now.mean()) if len(now) else None,
        "f1": cells.f1,
        "precision": cells.precision,
        "recall": cells.recall,
        "fixed": whole.fixed,
        "broken": whole.broken,
        "tp_flipped": step.tp_flipped,
        "tn_flipped": step.tn_flipped,
        "fn_flipped": step.fn_flipped,
        "fp_flipped": step.fp_flipped,
    }


def iteration_rows(
    truth: np.ndarray | None, labels: Sequence[np.ndarray], records: Sequence[Mapping[str, Any]] | None = None
) -> list[dict[str, Any]]:
    """A row per iteration, together with what training recorded of it (validation F1, mean risk, seconds ...)."""
    if records is not None and len(records) != len(labels):
        raise EvaluationError(f"There are {len(records)} records for {len(labels)} iterations.")
    rows = []
    for iteration, now in enumerate(labels):
        row = iteration_row(truth, now, labels[max(iteration - 1, 0)], labels[0], iteration)
        rows.append({**(records[iteration] if records is not None else {}), **row})
    return rows


def learning_curve(
    truth: np.ndarray | None, labels: Sequence[np.ndarray], records: Sequence[Mapping[str, Any]] | None = None
) -> pd.DataFrame:
    """The rows as a frame for plotting: `CURVE_COLUMNS` first, NaN where truth is lacking."""
    frame = pd.DataFrame(iteration_rows(truth, labels, records), columns=_columns(records))
    return frame.astype(dict.fromkeys(NEED_TRUTH, np.float64))


def _columns(records: Sequence[Mapping[str, Any]] | None) -> list[str]:
    recorded = [name for record in records or () for name in record]
    return list(dict.fromkeys([*CURVE_COLUMNS, *recorded]))
