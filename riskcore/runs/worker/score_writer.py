"""Scores of each iteration as columns, with the changes since the iteration before and since the first."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from riskcore.columns import MODEL_COLUMNS, PAIR_ID, ROW, SCORE_COLUMNS, SUMMARY_COLUMNS
from riskcore.evaluation.truth_scorer import TruthScorer
from riskcore.runs.folder import RunFolder
from riskcore.runs.formats import read_scores
from riskcore.storage.files import write_json, write_parquet, write_text
from riskcore.storage.jsonable import jsonable

if TYPE_CHECKING:
    from riskcore.training.results import IterationScores, MethodResult

STARTS_FROM_MATCHER = "risk"  # whose iteration 0 is the matcher as trained on the source


@dataclasses.dataclass(frozen=True, eq=False)
class _Labels:
    """The labels of an iteration, those of the starting matcher, and how often each has flipped."""

    iteration: int
    first: np.ndarray
    label: np.ndarray
    flips: np.ndarray


def _risk(result: MethodResult) -> np.ndarray:
    """The risk of a method's labels; where there is no evidence beside the method's own, its doubt in them."""
    doubt = np.minimum(result.probability, 1 - result.probability)
    return doubt if result.risk is None else result.risk.risk


class ScoreWriter:
    """Writes each iteration's files. After a resume it continues from the files of earlier iterations."""

    def __init__(self, folder: RunFolder, ids: np.ndarray, scorer: TruthScorer) -> None:
        self.folder, self.scorer = folder, scorer
        self._ids = pa.array(ids, pa.large_string())
        self._rows = pa.array(np.arange(len(ids)), pa.int32())
        self._latest: dict[str, _Labels] = {}
        self._start: np.ndarray | None = None

    def start_from(self, probability: np.ndarray) -> None:
        """The answers of the matcher as trained on the source: what every method's labels are flipped from.

        The first iteration of `risk` is this matcher; that of `risk+` is a stacker, whose own changes count as flips.
        """
        self._start = (probability >= 0.5).astype(np.int8)

    def write(self, update: IterationScores) -> dict[str, Any]:
        """Scores, model and summary of one iteration; its row of the summary."""
        before = None if update.fallback else self._previous(update.method, update.iteration)
        label = update.scores.label.astype(np.int8)
        first, previous = (label, label) if before is None else (before.first, before.label)
        if self._start is not None and update.method != STARTS_FROM_MATCHER and not update.fallback:
            first = self._start
        flips = np.zeros(len(label), np.int16) if before is None else before.flips + (label != previous)
        columns = {
            ROW: self._rows,
            PAIR_ID: self._ids,
            **{name: getattr(update.scores, name) for name in MODEL_COLUMNS},
            "risk": update.queue,
            "label": label,
            "flipped": label != first,
            "from_label": previous,
            "flips": flips.astype(np.int16),
        }
        # Scores come last: readers take them as a sign that the iteration's model is there too.
        write_text(self.folder.model_file(update.method, update.iteration), update.model.to_json())
        file = self.folder.scores_file(update.method, update.iteration)
        write_parquet(file, pa.table({name: columns[name] for name in SCORE_COLUMNS}))
        self._latest[update.method] = _Labels(update.iteration, first, label, flips)
        return self._summarise(update, first, label, int((label != previous).sum()))

    def write_final(self, results: dict[str, MethodResult]) -> None:
        """The probability that each method ended with, and the risk of its labels, side by side."""
        risks = {method: _risk(result) for method, result in results.items()}
        self._write_columns(self.folder.risks_file, risks)
        self._write_columns(self.folder.final_file, {method: one.probability for method, one in results.items()})

    def _write_columns(self, file: Path, of_methods: dict[str, np.ndarray]) -> None:
        columns = {method: pa.array(values, pa.float64()) for method, values in of_methods.items()}
        write_parquet(file, pa.table({ROW: self._rows, PAIR_ID: self._ids, **columns}))

    def _previous(self, method: str, iteration: int) -> _Labels | None:
        """The labels of the iteration before: from memory, or after a resume from its file."""
        if iteration == 0:
            return None
        known = self._latest.get(method)
        if known is not None and known.iteration == iteration - 1:
            return known
        last = self._read(method, iteration - 1, ["label", "flips"])
        first = self._read(method, 0, ["label"])["label"]
        return _Labels(iteration - 1, first, last["label"], last["flips"])

    def _read(self, method: str, iteration: int, columns: list[str]) -> dict[str, np.ndarray]:
        file = self.folder.scores_file(method, self.folder.iteration(method, iteration))
        return read_scores(file, columns)

    def _summarise(self, update: IterationScores, first: np.ndarray, label: np.ndarray, flips: int) -> dict[str, Any]:
        """The iteration's row, put into the summary. A row that is written again replaces the earlier one."""
        doubt = np.abs(update.scores.probability - label)
        found = {
            **update.record,
            "method": update.method,
            "iteration": update.iteration,
            "flips": flips,
            "match_rate": float(label.mean()),
            "mean_risk": float(update.queue.mean()),
            **self.scorer.scores(label),
            **self.scorer.change(first, label),
            **self.scorer.ranking(label, risk=update.queue, confidence=doubt, learnrisk=update.scores.risk),
        }
        row = jsonable({name: found.get(name) for name in SUMMARY_COLUMNS})
        file = self.folder.summary_file
        rows = {(one["method"], one["iteration"]): one for one in self.folder.summary_rows()}
        rows[update.method, update.iteration] = row
        write_json(file, list(rows.values()))
        return {**jsonable(update.record), **row}
