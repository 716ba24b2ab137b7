"""The document that a finished run leaves: what `run --json` prints and results.json holds."""

from __future__ import annotations

import contextlib
import resource
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.parquet as pq

from riskcore.config import RiskConfig
from riskcore.risk import Ranking, RiskModelError, auroc, errors_found
from riskcore.risk.rivals import confidence, static_rules, trust_score
from riskcore.runs.files import read_json
from riskcore.runs.folder import RunFolder
from riskcore.runs.judge import Judge
from riskcore.runs.plain import plain
from riskcore.runs.recorder import Recorder

if TYPE_CHECKING:
    from riskcore.tuning.evidence import Evidence
    from riskcore.tuning.records import MethodResult

ITERATION_FIELDS = ("f1", "validation_f1", "flips", "fixed", "broken", "mean_risk", "seconds")
REVIEWED = 1000
TRUST_CELLS = 2_000_000_000  # distances a trust score may take: some minutes of one core
RIVALS = ("confidence", "uncertainty", "trust score", "static rules")


def results_document(recorder: Recorder, results: dict[str, MethodResult], config: RiskConfig) -> dict[str, Any]:
    """Everything but the seconds, which are known once all of this is done."""
    folder, judge = recorder.folder, recorder.judge
    methods = {method: recorder.method_row(result) for method, result in results.items()}
    rules = None if recorder.evidence is None else len(recorder.evidence.rules)
    return plain(
        {
            "methods": methods,
            "risk": _first_iteration(folder, judge, recorder.evidence, config),
            "iterations": _iterations(folder),
            "rules": rules,
        }
    )


def peak_rss_mb() -> float:
    """The most memory this process has had, in units of 2^20 bytes."""
    try:  # getrusage starts from the parent's figure
        lines = Path("/proc/self/status").read_text().splitlines()
        return float(next(line.split()[1] for line in lines if line.startswith("VmHWM"))) / 1024
    except (OSError, StopIteration):
        unit = 2**20 if sys.platform == "darwin" else 2**10
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def _iterations(folder: RunFolder) -> list[dict[str, Any]]:
    rows = read_json(folder.summary_file) if folder.summary_file.exists() else []
    of_risk = sorted((row for row in rows if row["method"] == "risk"), key=lambda row: row["iteration"])
    return [{field: row[field] for field in ITERATION_FIELDS} for row in of_risk]


def _first_iteration(
    folder: RunFolder, judge: Judge, evidence: Evidence | None, config: RiskConfig
) -> dict[str, Any] | None:
    """How well risk and its rivals find the starting model's mistakes."""
    if 0 not in folder.iterations("risk"):
        return None
    if not judge.knows:
        return {"auroc": None, "rivals": dict.fromkeys(RIVALS), "mispredicted": None, "top_1000_hits": None}
    columns = ["probability", "label", "risk"]
    scores = pq.read_table(folder.scores_file("risk", 0), columns=columns)
    probability, label, risk = (scores.column(name).to_numpy() for name in columns)
    wrong, known = judge.wrong(label), judge.known
    found = errors_found(risk[known], wrong[known])
    rivals = dict.fromkeys(RIVALS) | {
        ranking.name: auroc(ranking.scores[known], wrong[known])
        for ranking in _rivals(evidence, probability, label, config)
    }
    return {
        "auroc": auroc(risk[known], wrong[known]),
        "rivals": rivals,
        "mispredicted": int(wrong.sum()),
        "top_1000_hits": round(float(found[min(REVIEWED, len(found) - 1)])),
    }


def _rivals(evidence: Evidence | None, probability: np.ndarray, label: np.ndarray, config: RiskConfig) -> list[Ranking]:
    """The other rankings that can be made here; votes of several matchers cannot, there being one."""
    found = [confidence(probability, label)]
    if evidence is None:
        return found
    found.append(static_rules(evidence.prior, probability, evidence.target.fired, label))
    source, target = evidence.source, evidence.target
    if len(source) * len(label) <= TRUST_CELLS:
        with contextlib.suppress(RiskModelError):  # a source of one class has no other class to be close to
            found.append(trust_score(source.metrics.values, source.labels, target.metrics.values, label, config))
    return found
