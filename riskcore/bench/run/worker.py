"""`python -m riskcore.bench.run.worker OUT`: one process that works out one cell, read from its standard input.

It tells how far it is in lines of JSON on standard output. Its input stays open for as long as the benchmark lives:
when that ends, however it ends, so does this process, and the same cell is never worked on twice at once.
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
from typing import Any

import numpy as np

from riskcore.bench.plan.ablations import ablated
from riskcore.bench.plan.cells import BEGUN, Cell
from riskcore.bench.run.documents import write_document
from riskcore.bench.run.stamps import code_stamp, data_stamp, hardware, versions
from riskcore.config import RunConfig
from riskcore.data.workload import TargetTruth, Workload
from riskcore.errors import RiskcoreError
from riskcore.evaluation.truth_scorer import TruthScorer
from riskcore.registry import METHODS, iterations_of
from riskcore.runs.worker.execute import load_data
from riskcore.runs.worker.results import peak_rss_mb
from riskcore.storage.files import read_json, write_json, write_text
from riskcore.storage.jsonable import jsonable
from riskcore.storage.lock import FolderLock
from riskcore.training.listeners import Listener, Record

Tell = Callable[[dict[str, Any]], None]
DONE, FAILED = 0, 3
PATIENCE = 60.0  # seconds for the worker of a killed benchmark to notice that it is alone


def main() -> int:
    """Work out the cell on standard input; the exit code."""
    cell, out = Cell.from_json(sys.stdin.readline()), Path(sys.argv[1])
    threading.Thread(target=_end_with_the_benchmark, daemon=True).start()
    try:
        work_out(cell, out, _tell)
    except RiskcoreError as error:
        _tell({"error": str(error)})
        return FAILED
    except Exception as error:
        traceback.print_exc()
        _tell({"error": f"an unexpected {type(error).__name__} ({error}). {cell.log(out)} has the details."})
        return FAILED
    return DONE


def _end_with_the_benchmark() -> None:
    sys.stdin.read()
    os._exit(FAILED)


def _tell(record: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(record) + "\n")
    sys.stdout.flush()


def work_out(cell: Cell, out: Path, tell: Tell) -> None:
    """Run the cell's methods and ablations, going on where a killed process left them, and write its document."""
    folder = cell.checkpoints(out, code_stamp(), data_stamp(cell.config))
    resumed = folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    with FolderLock(folder, PATIENCE):
        write_text(folder / BEGUN, cell.to_json())
        if resumed:
            tell({"resumed": True})
        _work_out(cell, out, folder, resumed, tell)
    shutil.rmtree(folder.parent, ignore_errors=True)


def _work_out(cell: Cell, out: Path, folder: Path, resumed: bool, tell: Tell) -> None:
    """The document is written after the methods and after each ablation: one that fails takes nothing with it."""
    from riskcore.training.experiment import run_experiment

    workload, truth = load_data(cell.config)
    notes = _Notes(cell, truth, folder / "seconds.json", tell)
    unseen = None if truth.unseen is None else truth.unseen.without_labels()

    def write(results: list[dict[str, Any]]) -> None:
        write_document(cell, out, {**_facts(workload, truth, notes), "resumed": resumed}, jsonable(results))

    found = run_experiment(workload, cell.config, [notes], checkpoints=folder, unseen=unseen)
    write([notes.result(one, None) for one in found.values()])
    for number, ablation in enumerate(cell.ablations):
        notes.ablation = ablation
        config, place = ablated(cell.config, ablation), folder / f"ablation-{number}"
        trained = _trained(folder, cell.config, workload) if _same_matcher(cell.config, config) else None
        found = run_experiment(workload, config, [notes], checkpoints=place, unseen=unseen, trained=trained)
        write([notes.result(found["risk"], ablation)])


def _same_matcher(config: RunConfig, other: RunConfig) -> bool:
    """Whether both train the same matcher. The head of a wide one is as wide as there are metrics."""
    return not config.matcher.wide or config.metric == other.metric


def _trained(folder: Path, config: RunConfig, workload: Workload) -> dict[str, np.ndarray]:
    """The traditionally trained matcher, which ablations start from."""
    from riskcore.training.checkpoint import Checkpoint

    done = Checkpoint(folder / "tradition-done.safetensors").read(config.to_json() + workload.fingerprint)
    assert done is not None
    return dict(done.groups["learned"])


def _facts(workload: Workload, truth: TargetTruth, notes: _Notes) -> dict[str, Any]:
    counts = {"source": len(workload.source), "validation": len(workload.validation), "target": len(workload.target)}
    counts["unseen"] = 0 if truth.unseen is None else len(truth.unseen)
    seconds = {**notes.seconds, "total": sum(notes.seconds.values())}
    return {"counts": counts, "rules": notes.rules, "seconds": seconds, "peak_rss_mb": round(peak_rss_mb(), 1)}


class _Notes(Listener):
    """Hears what the engine does: tells how far it is, keeps seconds and each iteration's scores."""

    def __init__(self, cell: Cell, truth: TargetTruth, file: Path, tell: Tell) -> None:
        self.scorer = TruthScorer(truth.labels)
        self.unseen = None if truth.unseen is None else TruthScorer(truth.unseen.labels)
        self.ablation: str | None = None
        self.rules = 0
        self.file, self.tell = file, tell
        # A resumed cell reads its finished methods back and does not take their time again.
        kept = read_json(file) if file.exists() else {"seconds": {}, "iterations": {}}
        self.seconds: dict[str, float] = kept["seconds"]
        self.iterations: dict[str, list[dict[str, Any]]] = kept["iterations"]
        self.phases = len(cell.entries) + 1
        self.within = 0.0  # the share of the phase that is on
        self.config = cell.config

    def on_phase_start(self, record: Record) -> None:
        self.within = 0.0
        self._tell_step(self._name(record["phase"]))

    def on_phase_end(self, record: Record) -> None:
        self.within = 0.0
        self.seconds[self._name(record["phase"])] = record["seconds"]
        self._save()

    def on_evidence(self, evidence: Any) -> None:
        self.rules = self.rules if self.ablation else len(evidence.rules)

    def on_epoch_end(self, record: Record) -> None:
        epochs = self.config.tune.epochs
        if self.ablation is None:  # an ablation's share is that of its iterations, even if it trains first
            self.within = record["epoch"] / epochs
        self._tell_step(f"{self._name('tradition')} epoch {record['epoch']} of {epochs}")

    def on_progress(self, record: Record) -> None:
        """Of phases without epochs or iterations; what is told of a step within them does not move the share."""
        phase, done, total = record["phase"], record["done"], record["total"]
        if phase in METHODS and total:
            self.within = done / total
        self._tell_step(f"{self._name(phase)} {done} of {total}")

    def on_iteration_end(self, scores: Any) -> None:
        name, number = self._name(scores.method), scores.iteration
        row = {"iteration": number, "validation_f1": scores.record["validation_f1"]}
        row |= self.scorer.scores(scores.scores.label)
        unsure = -np.abs(scores.scores.probability - 0.5)
        row |= self.scorer.ranking(scores.scores.label, risk=scores.scores.risk, confidence=unsure)
        self.iterations[name] = [*(one for one in self.iterations.get(name, []) if one["iteration"] < number), row]
        self._save()
        rounds = max(iterations_of(self.config, scores.method), number, 1)
        self.within = number / rounds
        self._tell_step(f"{name} iteration {number} of {rounds}")

    def result(self, found: Any, ablation: str | None) -> dict[str, Any]:
        """One method's scores, and what they were made with."""
        name = Cell.phase_of((found.method, ablation))
        record = {key: value for key, value in found.record.items() if key != "rows"}
        unseen = None
        if self.unseen is not None and found.unseen is not None:
            unseen = self.unseen.scores((found.unseen >= 0.5).astype("int8"))
        return {
            "method": found.method,
            "ablation": ablation,
            **self.scorer.scores((found.probability >= 0.5).astype("int8")),
            "unseen": unseen,
            "seconds": self.seconds.get(name),
            "labels_used": list(found.labels_used),
            "record": record,
            "iterations": self.iterations.get(name, []),
            "code": code_stamp(),
            "versions": versions(),
            "hardware": hardware(),
            "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        }

    def _name(self, phase: str) -> str:
        return phase if self.ablation is None else f"{phase} ({self.ablation})"

    def _save(self) -> None:
        write_json(self.file, jsonable({"seconds": self.seconds, "iterations": self.iterations}))

    def _tell_step(self, step: str) -> None:
        over = sum(not name.startswith(("evidence (", "tradition (")) for name in self.seconds)
        self.tell({"step": step, "share": min((over + self.within) / self.phases, 1.0)})


if __name__ == "__main__":
    sys.exit(main())
