"""The listener that records a run: files for scores, events for what happened.

A file is written before the event that announces it, and each event has an identity: an engine that is killed and
resumed may report the same thing twice, and it is recorded once.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from riskcore.evaluation.truth_scorer import TruthScorer
from riskcore.matchers.store import save
from riskcore.registry import iterations_of
from riskcore.runs.documents import MethodRow, RankedBy
from riskcore.runs.evidence_files import has_evidence, write_evidence
from riskcore.runs.folder import RunFolder
from riskcore.runs.label_names import named_labels
from riskcore.runs.starts import write_state
from riskcore.runs.store.run_store import RunStore
from riskcore.runs.worker.score_writer import ScoreWriter
from riskcore.storage.jsonable import jsonable
from riskcore.training.listeners import Listener, PairsProgress, PhaseEnd, PhaseProgress, PhaseStart, TrainingStart

if TYPE_CHECKING:
    from riskcore.config import RunConfig
    from riskcore.data.workload import TargetTruth, Workload
    from riskcore.matchers.base import Matcher
    from riskcore.training.ensemble import Ensemble
    from riskcore.training.evidence import Evidence
    from riskcore.training.fitted_learners import FittedLearners
    from riskcore.training.results import DoubtedLabel, EpochRow, IterationRow, IterationScores, MethodResult

PROGRESS_EVENTS = 20  # per phase; which ones are recorded does not depend on the speed of the machine
ROW_SECONDS = 0.5  # how often the progress in the run's row is updated
SPEED_OF = "tradition"  # the training whose speed is recorded, for estimates: it is the first, and has a core to itself


class Recorder(Listener):
    """Records what the engine reports. It knows the target's labels; the engine does not."""

    def __init__(
        self,
        store: RunStore,
        run: str,
        folder: RunFolder,
        workload: Workload,
        truth: TargetTruth,
        config: RunConfig,
    ) -> None:
        self.store, self.run, self.folder = store, run, folder
        self._config, self._workload = config, workload
        self.scorer = TruthScorer(truth.labels)
        self.unseen = None if truth.unseen is None else TruthScorer(truth.unseen.labels)
        self.twins = np.zeros(len(truth.labels), dtype=bool) if truth.twins is None else truth.twins
        self.scores = ScoreWriter(folder, workload.target.ids, self.scorer)
        self.evidence: Evidence | None = None
        self.doubted: list[DoubtedLabel] = []
        self.ensemble: Ensemble | None = None
        self.helpers_mb = 0.0  # the most memory of all helper processes together
        self._phase: str | None = None
        self._task, self._epochs = "", 0
        self._updated = 0.0
        self._passes: dict[str, PairsProgress] = {}  # under way, by task
        self._speeds: list[float] = []

    def on_evidence(self, evidence: Evidence) -> None:
        """Metrics and rules are known."""
        self.evidence = evidence
        if not has_evidence(self.folder, evidence):
            write_evidence(self.folder, evidence)

    def on_start(self, record: TrainingStart) -> None:
        self._task, self._epochs = str(record.get("task", "")), int(record.get("epochs") or 0)

    def on_phase_start(self, record: PhaseStart) -> None:
        self._phase, self._task = record["phase"], ""
        self._event("phase_start", record["phase"], record)
        self._row(0, record.get("steps") or 0, at_once=True)

    def on_progress(self, record: PhaseProgress) -> None:
        done, total = int(record["done"]), int(record["total"] or 0)
        self._phase = record["phase"]
        if total:
            self._event("progress", f"{self._phase}/{done * PROGRESS_EVENTS // total}", record)
        self._row(done, total)

    def on_pairs(self, record: PairsProgress) -> None:
        """One row for all that go on: what is said of a pass takes the place of what was said before."""
        self._passes[record["task"]] = record
        if record["done"] == record["total"] and record["number"] == record["of"]:
            del self._passes[record["task"]]
        self.store.passing(self.run, list(self._passes.values()))
        if record["task"] == SPEED_OF and record["done"] == record["total"]:
            self._speeds.append(record["per_second"])

    def on_phase_end(self, record: PhaseEnd) -> None:
        if self._passes.pop(record["phase"], None):
            self.store.passing(self.run, list(self._passes.values()))
        if record["phase"] == SPEED_OF and self._speeds:
            self._event("speed", SPEED_OF, {"task": SPEED_OF, "pairs_per_second": round(median(self._speeds), 1)})
        self._event("phase_end", record["phase"], record)

    def on_epoch_end(self, record: EpochRow) -> None:
        event = {"phase": self._phase, "task": self._task, **record}
        self._event("epoch_end", f"{self._phase}/{self._task}/{record['epoch']}", event)
        self._row(record["epoch"], max(self._epochs, record["epoch"]))

    def on_iteration_end(self, scores: IterationScores) -> None:
        if "labels_used" in scores.record:
            record: IterationRow = {**scores.record, "labels_used": self.named(scores.record["labels_used"])}
            scores = dataclasses.replace(scores, record=record)
        iterations, most = iterations_of(self._config, scores.method), self._config.adapt.states_mb
        write_state(self.folder, scores.method, scores.iteration, scores.learned, iterations, most)
        row = self.scores.write(scores)
        self._event("iteration_end", f"{scores.method}/{scores.iteration}", row)
        self._row(scores.iteration, max(iterations_of(self._config, scores.method), scores.iteration), at_once=True)

    def on_doubted_labels(self, labels: Sequence[DoubtedLabel]) -> None:
        self.doubted = list(labels)

    def on_base_learners(self, ensemble: Ensemble) -> None:
        self.ensemble = ensemble

    @property
    def learners(self) -> FittedLearners | None:
        return None if self.ensemble is None else self.ensemble.learners

    @property
    def left_out(self) -> set[str]:
        """Validation pairs whose label was not trusted: `risk+` has no probability of them."""
        return {one["pair_id"] for one in self.doubted if not one["used"]}

    def on_adapted(self, matcher: Matcher) -> None:
        save(matcher, self.folder.matcher)

    def on_method_end(self, result: MethodResult) -> None:
        if result.method == "tradition":  # reported first, also by a resumed run
            self.scores.start_from(result.probability)
        self._event("method_end", result.method, {"method": result.method, **self.method_row(result)})

    def on_helpers_end(self, peak_rss_mb: float) -> None:
        self.helpers_mb = peak_rss_mb

    def method_row(self, result: MethodResult) -> MethodRow:
        """F1, precision, recall and labels used of a method, with the fields that the method adds."""
        labels = (result.probability >= 0.5).astype("int8")
        row: dict[str, Any] = {**self.scorer.scores(labels), "labels_used": self.named(result.labels_used)}
        row["twins"], row["f1_without_twins"] = int(self.twins.sum()), self.scorer.f1_without(labels, self.twins)
        if self.unseen is not None and result.unseen is not None:
            unseen = self.unseen.scores((result.unseen >= 0.5).astype("int8"))
            row["unseen"] = {**unseen, "pairs": len(result.unseen)}
        row["ranked"] = self._ranked_by(result)
        record = {name: value for name, value in result.record.items() if name != "rows"}  # the summary has them
        return cast(MethodRow, jsonable({**record, **row}))

    def named(self, labels: Iterable[str]) -> list[str]:
        """The labels that were used, by what they are to a person."""
        return named_labels(labels, self._config, self._workload)

    def _ranked_by(self, result: MethodResult) -> RankedBy:
        risk = result.risk
        if risk is None:
            return {"by": "confidence", "labels_used": [], "calibrated": False, "choice": None}
        choice = None if risk.choice is None else cast(dict[str, float | None], dict(risk.choice))
        return {
            "by": risk.ranked_by,
            "labels_used": self.named(risk.labels_used),
            "calibrated": risk.calibrated,
            "choice": choice,
        }

    def _event(self, kind: str, which: str, record: Mapping[str, Any]) -> None:
        self.store.record(self.run, kind, f"{kind}/{which}", jsonable(record))

    def _row(self, done: int, total: int, at_once: bool = False) -> None:
        if at_once or done == total or time.monotonic() - self._updated >= ROW_SECONDS:
            self.store.progress(self.run, self._phase, done, total)
            self._updated = time.monotonic()
