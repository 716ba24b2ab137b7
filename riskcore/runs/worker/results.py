"""The results of a finished run: what `run --json` prints and results.json holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from riskcore.evaluation import measure_calibration
from riskcore.evaluation.truth_scorer import TruthScorer
from riskcore.registry import RANKINGS
from riskcore.risk import auroc, errors_found
from riskcore.runs.documents import IterationRow, KeptRanking, MethodRow, RankingRow, RunFindings
from riskcore.runs.folder import RunFolder
from riskcore.runs.readers.label_rankings import LabelRankings
from riskcore.runs.worker.recorder import Recorder
from riskcore.storage.jsonable import jsonable

ITERATION_FIELDS = tuple(IterationRow.__annotations__)
REVIEWED = 1000
LISTED_LABELS = 100


def results_document(
    recorder: Recorder,
    methods: dict[str, MethodRow],
    initial: LabelRankings | None,
    rankings: Mapping[str, LabelRankings],
) -> RunFindings:
    """Everything but the seconds and the memory, which are known at the very end."""
    rules = None if recorder.evidence is None else len(recorder.evidence.rules)
    found: RunFindings = {
        "methods": methods,
        "risk": None if initial is None else _rankings(initial, rankings, recorder.scorer),
        "iterations": iteration_rows(recorder.folder),
        "rules": rules,
        "doubted_labels": recorder.doubted[:LISTED_LABELS],
    }
    return cast(RunFindings, jsonable(found))


def iteration_rows(folder: RunFolder) -> list[IterationRow]:
    """The iterations of `risk` as the results tell them."""
    of_risk = (row for row in folder.summary_rows() if row["method"] == "risk")
    rows: list[Mapping[str, Any]] = sorted(of_risk, key=lambda row: row["iteration"])
    return [cast(IterationRow, {field: row[field] for field in ITERATION_FIELDS}) for row in rows]


def _rankings(initial: LabelRankings, rankings: Mapping[str, LabelRankings], scorer: TruthScorer) -> RankingRow:
    """How well risk and its baselines find the mistakes of iteration 0, and then of every method's answer.

    The key `rivals` is fixed: scripts read it.
    """
    first = _kept(initial, scorer)
    return {
        "auroc": first["auroc"],
        "rivals": {"confidence": first["confidence"], **first["rivals"]},
        "mispredicted": first["errors"],
        "top_1000_hits": _found(initial, scorer, REVIEWED),
        "kept": {method: _kept(one, scorer) for method, one in rankings.items()},
    }


def _kept(found: LabelRankings, scorer: TruthScorer) -> KeptRanking:
    """How well the labels of one answer are ranked."""
    names = [name for name in RANKINGS.names() if name not in ("risk", "confidence")]
    unknown: dict[str, float | None] = dict.fromkeys(names)
    if not scorer.knows:
        return {"errors": None, "auroc": None, "confidence": None, "rivals": unknown, "ece": None, "top_100": None}
    wrong, known = scorer.wrong(found.label)[scorer.known], scorer.known
    areas = {ranking.name: auroc(ranking.scores[known], wrong) for ranking in found.rankings}
    return {
        "errors": int(wrong.sum()),
        "auroc": areas.pop("risk"),
        "confidence": areas.pop("confidence"),
        "rivals": unknown | areas,
        "ece": measure_calibration(wrong.astype(np.int8), found.risk[known]).ece,
        "top_100": _found(found, scorer, 100),
    }


def _found(rankings: LabelRankings, scorer: TruthScorer, reviews: int) -> int | None:
    """Wrong labels among the riskiest."""
    if not scorer.knows:
        return None
    known = scorer.known
    found = errors_found(rankings.risk[known], scorer.wrong(rankings.label)[known])
    return round(float(found[min(reviews, len(found) - 1)]))
