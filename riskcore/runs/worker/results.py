"""The results of a finished run: what `run --json` prints and results.json holds."""

from __future__ import annotations

import resource
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from riskcore.evaluation.truth_scorer import TruthScorer
from riskcore.registry import RANKINGS
from riskcore.risk import auroc, errors_found
from riskcore.runs.documents import IterationRow, RankingRow, RunFindings
from riskcore.runs.folder import RunFolder
from riskcore.runs.readers.initial_rankings import InitialRankings
from riskcore.runs.worker.recorder import Recorder
from riskcore.storage.jsonable import jsonable

if TYPE_CHECKING:
    from riskcore.training.results import MethodResult

ITERATION_FIELDS = tuple(IterationRow.__annotations__)
REVIEWED = 1000


def results_document(
    recorder: Recorder, results: dict[str, MethodResult], initial: InitialRankings | None
) -> RunFindings:
    """Everything but the seconds and the memory, which are known at the very end."""
    methods = {method: recorder.method_row(result) for method, result in results.items()}
    rules = None if recorder.evidence is None else len(recorder.evidence.rules)
    found: RunFindings = {
        "methods": methods,
        "risk": _first_iteration(initial, recorder.scorer),
        "iterations": _iterations(recorder.folder),
        "rules": rules,
    }
    return cast(RunFindings, jsonable(found))


def peak_rss_mb() -> float:
    """The most memory this process has had, in units of 2^20 bytes."""
    try:  # getrusage would include the parent's peak
        lines = Path("/proc/self/status").read_text().splitlines()
        return float(next(line.split()[1] for line in lines if line.startswith("VmHWM"))) / 1024
    except (OSError, StopIteration):
        unit = 2**20 if sys.platform == "darwin" else 2**10
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def _iterations(folder: RunFolder) -> list[IterationRow]:
    of_risk = (row for row in folder.summary_rows() if row["method"] == "risk")
    rows: list[Mapping[str, Any]] = sorted(of_risk, key=lambda row: row["iteration"])
    return [cast(IterationRow, {field: row[field] for field in ITERATION_FIELDS}) for row in rows]


def _first_iteration(initial: InitialRankings | None, scorer: TruthScorer) -> RankingRow | None:
    """How well risk and its baselines find the mistakes of iteration 0. The key `rivals` is fixed: scripts read it."""
    if initial is None:
        return None
    if not scorer.knows:
        return {"auroc": None, "rivals": _unknown(), "mispredicted": None, "top_1000_hits": None}
    wrong, known = scorer.wrong(initial.label), scorer.known
    risk, *baselines = initial.rankings
    found = errors_found(risk.scores[known], wrong[known])
    areas = {ranking.name: auroc(ranking.scores[known], wrong[known]) for ranking in baselines}
    return {
        "auroc": auroc(risk.scores[known], wrong[known]),
        "rivals": _unknown() | areas,
        "mispredicted": int(wrong.sum()),
        "top_1000_hits": round(float(found[min(REVIEWED, len(found) - 1)])),
    }


def _unknown() -> dict[str, float | None]:
    """Every ranking except risk itself, with no figure yet."""
    return {name: None for name in RANKINGS.names() if name != "risk"}
