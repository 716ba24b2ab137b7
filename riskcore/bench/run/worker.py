"""`python -m riskcore.bench.run.worker OUT`: a process that runs one cell, read from its standard input.

It reports its progress in lines of JSON on standard output. Its input stays open while the benchmark runs: when the
benchmark ends, for whatever reason, this process ends too, so two processes never run the same cell.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np

from riskcore.bench.plan.ablations import ablated
from riskcore.bench.plan.cells import BEGUN, Cell
from riskcore.bench.run.documents import write_document
from riskcore.bench.run.schema import Facts, PairCounts, Result, Scores, WorkerMessage
from riskcore.bench.run.stamps import data_stamp, hardware, result_stamp
from riskcore.config import RunConfig
from riskcore.data.workload import TargetTruth, Workload
from riskcore.errors import RiskcoreError
from riskcore.evaluation.truth_scorer import TruthScorer
from riskcore.provenance import code_stamp, versions
from riskcore.registry import METHODS, iterations_of, needs_base_learners, outside_packages
from riskcore.runs.worker.execute import load_data
from riskcore.storage.files import read_json, write_json, write_text
from riskcore.storage.jsonable import jsonable
from riskcore.storage.lock import FolderLock
from riskcore.training.evidence import Evidence
from riskcore.training.listeners import Listener, PhaseEnd, PhaseProgress, PhaseStart, TrainingStart
from riskcore.training.processes import peak_rss_mb
from riskcore.training.results import EpochRow, IterationScores, MethodResult

Send = Callable[[WorkerMessage], None]
DONE, FAILED = 0, 3
PATIENCE = 60.0  # seconds in which the worker of a killed benchmark ends and releases its lock


def main() -> int:
    """Run the cell on standard input; the exit code."""
    cell, out = Cell.from_json(sys.stdin.readline()), Path(sys.argv[1])
    threading.Thread(target=_end_with_the_benchmark, daemon=True).start()
    try:
        run_cell(cell, out, _send)
    except RiskcoreError as error:
        _send({"error": str(error)})
        return FAILED
    except Exception as error:
        traceback.print_exc()
        _send({"error": f"an unexpected {type(error).__name__} ({error}). See {cell.log(out)}."})
        return FAILED
    return DONE


def _end_with_the_benchmark() -> None:
    sys.stdin.read()
    os._exit(FAILED)


def _send(message: WorkerMessage) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def run_cell(cell: Cell, out: Path, send: Send) -> None:
    """Run the cell's methods and ablations, resuming what a killed process had begun, and write its document."""
    folder = cell.checkpoints(out, code_stamp(), data_stamp(cell.config))
    resumed = folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    with FolderLock(folder, PATIENCE):
        write_text(folder / BEGUN, cell.to_json())
        if resumed:
            send({"resumed": True})
        _run_methods(cell, out, folder, resumed, send)
    shutil.rmtree(folder.parent, ignore_errors=True)


def _run_methods(cell: Cell, out: Path, folder: Path, resumed: bool, send: Send) -> None:
    """The document is written after the methods and after each ablation: one that fails loses no earlier result."""
    from riskcore.training.experiment import run_experiment

    workload, truth = load_data(cell.config)
    recorder = _CellRecorder(cell, truth, folder / "seconds.json", send)
    unseen = None if truth.unseen is None else truth.unseen.without_labels()

    def write(results: list[Result]) -> None:
        facts = _facts(workload, truth, recorder)
        facts["resumed"] = resumed
        write_document(cell, out, facts, jsonable(results))

    found = run_experiment(workload, cell.config, [recorder], checkpoints=folder, unseen=unseen)
    write([recorder.result(one, None) for one in found.values()])
    for number, ablation in enumerate(cell.ablations):
        recorder.ablation = ablation
        config, checkpoints = ablated(cell.config, ablation), folder / f"ablation-{number}"
        trained = _trained(folder, cell.config, workload) if _same_matcher(cell.config, config) else None
        found = run_experiment(
            workload, config, [recorder], checkpoints=checkpoints, unseen=unseen, trained=trained, rank=False
        )
        write([recorder.result(found["risk"], ablation)])


def _same_matcher(config: RunConfig, other: RunConfig) -> bool:
    """Whether both train the same matcher. The input of a wide one depends on the metrics."""
    return not config.matcher.wide or config.metric == other.metric


def _trained(folder: Path, config: RunConfig, workload: Workload) -> dict[str, np.ndarray]:
    """The weights of the traditionally trained matcher, from which ablations start."""
    from riskcore.training.checkpoint import Checkpoint

    done = Checkpoint(folder / "tradition-done.safetensors").read(config.to_json() + workload.fingerprint)
    assert done is not None
    return dict(done.groups["learned"])


def _facts(workload: Workload, truth: TargetTruth, recorder: _CellRecorder) -> Facts:
    counts: PairCounts = {
        "source": len(workload.source),
        "validation": len(workload.validation),
        "target": len(workload.target),
        "unseen": 0 if truth.unseen is None else len(truth.unseen),
    }
    seconds = {**recorder.seconds, "total": sum(recorder.seconds.values())}
    return {"counts": counts, "rules": recorder.rules, "seconds": seconds, "peak_rss_mb": round(peak_rss_mb(), 1)}


class _CellRecorder(Listener):
    """Reports progress, and records the seconds of each phase and the scores of each iteration."""

    def __init__(self, cell: Cell, truth: TargetTruth, file: Path, send: Send) -> None:
        self.scorer = TruthScorer(truth.labels)
        self.unseen = None if truth.unseen is None else TruthScorer(truth.unseen.labels)
        self.twins = np.zeros(len(truth.labels), dtype=bool) if truth.twins is None else truth.twins
        self.ablation: str | None = None
        self.rules = 0
        self.file, self.send = file, send
        # A resumed cell reads finished methods from their checkpoints: their time was measured before.
        kept = read_json(file) if file.exists() else {"seconds": {}, "iterations": {}}
        self.seconds: dict[str, float] = kept["seconds"]
        self.iterations: dict[str, list[dict[str, Any]]] = kept["iterations"]
        self.phases = len(cell.entries) + 1 + needs_base_learners(cell.config.methods)
        self.within = 0.0  # share of the current phase that is done
        self.config, self.epochs = cell.config, cell.config.tune.epochs

    def on_phase_start(self, record: PhaseStart) -> None:
        self.within = 0.0
        self._send_step(self._name(record["phase"]))

    def on_phase_end(self, record: PhaseEnd) -> None:
        self.within = 0.0
        self.seconds[self._name(record["phase"])] = record["seconds"]
        self._save()

    def on_start(self, record: TrainingStart) -> None:
        self.epochs = record["epochs"]

    def on_evidence(self, evidence: Evidence) -> None:
        self.rules = self.rules if self.ablation else len(evidence.rules)

    def on_epoch_end(self, record: EpochRow) -> None:
        epochs = self.epochs
        if self.ablation is None:  # the share of an ablation counts its iterations only, even if it trains first
            self.within = record["epoch"] / epochs
        self._send_step(f"{self._name('tradition')} epoch {record['epoch']} of {epochs}")

    def on_progress(self, record: PhaseProgress) -> None:
        """Progress of phases without epochs or iterations; steps within a method do not change the share."""
        phase, done, total = record["phase"], record["done"], record["total"]
        if phase in METHODS and total:
            self.within = done / total
        self._send_step(f"{self._name(phase)} {done} of {total}")

    def on_iteration_end(self, scores: IterationScores) -> None:
        name, number = self._name(scores.method), scores.iteration
        row = {"iteration": number, "validation_f1": scores.record["validation_f1"]}
        row |= self.scorer.scores(scores.scores.label)
        unsure = -np.abs(scores.scores.probability - 0.5)
        row |= self.scorer.ranking(
            scores.scores.label, risk=scores.queue, confidence=unsure, learnrisk=scores.scores.risk
        )
        self.iterations[name] = [*(one for one in self.iterations.get(name, []) if one["iteration"] < number), row]
        self._save()
        total = max(iterations_of(self.config, scores.method), number, 1)
        self.within = number / total
        self._send_step(f"{name} iteration {number} of {total}")

    def result(self, found: MethodResult, ablation: str | None) -> Result:
        """The scores of one method, and what they were made with."""
        name = Cell.phase_of((found.method, ablation))
        record = {key: value for key, value in found.record.items() if key != "rows"}
        unseen = None
        if self.unseen is not None and found.unseen is not None:
            unseen = _scores(self.unseen, found.unseen)
        label = (found.probability >= 0.5).astype("int8")
        queue = {} if found.risk is None else {"queue": self.scorer.queue(label, found.risk.risk, found.probability)}
        made: dict[str, Any] = {
            "method": found.method,
            "ablation": ablation,
            **_scores(self.scorer, found.probability),
            "unseen": unseen,
            "twins": int(self.twins.sum()),
            "f1_without_twins": self.scorer.f1_without(label, self.twins),
            **queue,
            "seconds": self.seconds.get(name),
            "labels_used": list(found.labels_used),
            "record": record,
            "iterations": self.iterations.get(name, []),
            "code": result_stamp(ablation),
            "versions": {**versions(), **outside_packages(self.config.matcher.kind, [found.method])},
            "hardware": hardware(),
            "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        }
        return cast(Result, made)

    def _name(self, phase: str) -> str:
        return phase if self.ablation is None else f"{phase} ({self.ablation})"

    def _save(self) -> None:
        write_json(self.file, jsonable({"seconds": self.seconds, "iterations": self.iterations}))

    def _send_step(self, step: str) -> None:
        finished = sum(not name.startswith(("evidence (", "tradition (")) for name in self.seconds)
        self.send({"step": step, "share": min((finished + self.within) / self.phases, 1.0)})


def _scores(scorer: TruthScorer, probability: np.ndarray) -> Scores:
    found = scorer.scores((probability >= 0.5).astype("int8"))
    return {"f1": found["f1"], "precision": found["precision"], "recall": found["recall"]}


if __name__ == "__main__":
    sys.exit(main())
