"""Working on a run in this process: lock it, load the data, run the engine, record, and end in a known state."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import os
import re
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from riskcore import logs
from riskcore.config import RunConfig
from riskcore.data.origin import is_from_frames
from riskcore.data.reading import open_data
from riskcore.data.scored_pairs import checked_coverage, with_candidates
from riskcore.data.workload import TargetTruth, Workload, configured_workload
from riskcore.errors import CancelledError, RiskcoreError, StorageError
from riskcore.matchers.external import ExternalMatcher, check_scores
from riskcore.registry import MATCHERS
from riskcore.runs.candidate_files import write_other_pairs, write_records
from riskcore.runs.documents import RunResults, WholeTargetRow
from riskcore.runs.evidence_files import write_pairs, write_truth
from riskcore.runs.extra_columns import write_extra
from riskcore.runs.folder import RunFolder
from riskcore.runs.readers.label_rankings import all_label_rankings, initial_rankings, shared_input
from riskcore.runs.readers.method_comparison import compare_methods
from riskcore.runs.retention import refuse_forgotten
from riskcore.runs.starts import read_start
from riskcore.runs.store.database import WORKER_PATIENCE
from riskcore.runs.store.liveness import this_host
from riskcore.runs.store.run_record import RunError, RunFailedError, RunRecord, RunState
from riskcore.runs.store.run_store import RunStore
from riskcore.runs.worker.description import check_resumable, describe
from riskcore.runs.worker.heartbeat import Heartbeat
from riskcore.runs.worker.large_target import LargeTarget, large_target, sample_facts
from riskcore.runs.worker.process import stopping_on_signals
from riskcore.runs.worker.recorder import Recorder
from riskcore.runs.worker.results import results_document
from riskcore.storage.checksums import keep_checksums
from riskcore.storage.files import remove_parts, storage_error, write_json, writing
from riskcore.storage.lock import FolderLock
from riskcore.training.listeners import Listener
from riskcore.training.processes import CoreWatch, peak_rss_mb, processes_in_memory

PATIENCE = 1.0  # seconds to wait until the system releases a killed worker's lock
Engine = Callable[..., Any]
Data = tuple[Workload, TargetTruth]


def load_data(config: RunConfig) -> Data:
    """The run's workload and, apart from it, the target's labels."""
    if is_from_frames(config.source) or is_from_frames(config.target):
        raise RunError(
            "its data came from frames in a Python session, which a run does not keep. "
            "Call `riskcore.adapt` again with the same frames: it makes a new run."
        )
    source = open_data(config.source, config.data) if config.source else None
    target = open_data(config.target, config.data) if config.target else None
    if config.matcher.kind == ExternalMatcher.kind:
        scores = check_scores(config.matcher)
        target = None if target is None else with_candidates(target, scores)
        workload, truth = configured_workload(source, target, config)
        data = source if target is None else target
        assert data is not None  # or there would be no workload
        return checked_coverage(workload, scores, data), truth
    found = configured_workload(source, target, config)
    if not len(found[0].source) and MATCHERS[config.matcher.kind].trainable:
        raise RunError(
            "There is neither a source nor a label to train the matcher on. Make a draft (`run --draft`), label "
            "about a hundred pairs that it draws, and run with these labels."
        )
    return found


def execute(
    store: RunStore,
    run: str,
    *,
    data: Data | None = None,
    data_seconds: float = 0.0,
    engine: Engine | None = None,
    listeners: Sequence[Listener] = (),
    stopping: threading.Event | None = None,
) -> RunResults:
    """Work on the run until it is done. Returns its results.

    Raises `BusyError` if another worker has it, `CancelledError` if someone stopped it, `RunFailedError` if it
    cannot go on. In each case the files stay, and the run can be resumed. A caller that has loaded the data already
    passes it as `data`, with the seconds that took.
    """
    store.database.patience = WORKER_PATIENCE
    record, stopping = store.get(run), stopping or threading.Event()
    refuse_forgotten(record.folder)
    with FolderLock(record.folder, PATIENCE):
        remove_parts(record.folder)
        _keep_checksums(record)
        watch = CoreWatch()
        engine = engine or _engine(store, record, watch)  # takes seconds to import, which are not the run's
        store.claim(record.id)
        logs.event("worker", run=record.id, outcome="started", pid=os.getpid())
        heartbeat = Heartbeat(store, record.id, record.seconds + data_seconds, stopping)
        with heartbeat, _ending(store, record, heartbeat), stopping_on_signals(stopping):
            work = _Work(store, record, store.config(record.id), heartbeat, list(listeners))
            return work.do(data, data_seconds, engine)


def _keep_checksums(record: RunRecord) -> None:
    """From its first file on. What an older version began stays without: its files cannot be vouched for."""
    if not RunFolder(record.folder).run_file.exists():
        with writing(record.folder):
            keep_checksums(record.folder)


@contextlib.contextmanager
def _ending(store: RunStore, record: RunRecord, heartbeat: Heartbeat) -> Iterator[None]:
    """Record how the work ended as the state of the run."""
    try:
        yield
    except (CancelledError, KeyboardInterrupt) as error:
        _finish(store, record, RunState.CANCELLED, None, heartbeat)
        frames = is_from_frames(record.config.source) or is_from_frames(record.config.target)
        cure = "a run on frames cannot be resumed." if frames else f"`runs resume {record.id}` continues it."
        kept = f"Its files are kept: {cure}"
        raise CancelledError(f"Run {record.id} was cancelled. {kept}") from error
    except Exception as error:
        message = _reason(record, error)
        _finish(store, record, RunState.FAILED, message, heartbeat, error)
        raise RunFailedError(f"Run {record.id} failed: {message}") from error
    _finish(store, record, RunState.DONE, None, heartbeat, must=True)


def _finish(
    store: RunStore,
    record: RunRecord,
    state: RunState,
    error: str | None,
    heartbeat: Heartbeat,
    cause: Exception | None = None,
    must: bool = False,
) -> None:
    level = logging.INFO if state is RunState.DONE else logging.WARNING
    named = None if cause is None else logs.error_name(cause)
    logs.event("worker", level, run=record.id, outcome=state.value, error=named, seconds=round(heartbeat.seconds, 3))
    try:
        store.finish(record.id, state, error, heartbeat.seconds)
    except (RunError, StorageError):  # the store itself failed: the first error is the one to report
        if must:
            raise


def _reason(record: RunRecord, error: Exception) -> str:
    """One clear message; the traceback of a defect goes to the run's log."""
    if isinstance(error, OSError) and error.errno:
        return str(storage_error(record.folder, error))
    wrapped = re.search(r"os error (\d+)", str(error))  # some libraries pass the system's error on as text
    if wrapped:
        number = int(wrapped[1])
        return str(storage_error(record.folder, OSError(number, os.strerror(number))))
    if isinstance(error, RiskcoreError):
        return str(error)
    log = RunFolder(record.folder).log_file
    with contextlib.suppress(OSError), log.open("a", encoding="utf-8") as lines:
        lines.write("".join(traceback.format_exception(error)))
    return f"an unexpected {type(error).__name__} ({error}). {log} has the details."


@dataclasses.dataclass
class _Work:
    """The work itself, from data to results."""

    store: RunStore
    record: RunRecord
    config: RunConfig
    heartbeat: Heartbeat
    listeners: list[Listener]

    def do(self, data: Data | None, data_seconds: float, engine: Engine) -> RunResults:
        folder = RunFolder(self.record.folder)
        started = time.perf_counter() - data_seconds
        workload, truth = data or load_data(self.config)
        loaded = time.perf_counter()
        large = self._sampled(folder, workload, truth)
        drawn = time.perf_counter() - loaded
        if large is not None:
            workload, truth = large.workload, large.truth
        self._describe(folder, workload, truth)
        recorder = Recorder(self.store, self.record.id, folder, workload, truth, self.config)
        recorder.on_phase_start({"phase": "data", "steps": None})
        recorder.on_phase_end({"phase": "data", "seconds": time.perf_counter() - started - drawn})
        if large is not None:
            recorder.on_phase_start({"phase": "sample", "steps": None})
            recorder.on_phase_end({"phase": "sample", "seconds": drawn})
        self._check_stop()
        unseen = None if truth.unseen is None else truth.unseen.without_labels()
        start = {"trained": read_start(self.config.start)} if self.config.start else {}
        results = engine(
            workload,
            self.config,
            [recorder, *self.listeners],
            checkpoints=folder.checkpoints,
            unseen=unseen,
            should_stop=self.heartbeat.stopping.is_set,
            **start,
        )
        alone = not self.config.source  # labels of the target teach
        write_other_pairs(folder, workload, unseen, results, recorder.evidence, recorder.left_out, alone)
        return self._report(folder, workload, recorder, results, large)

    def _sampled(self, folder: RunFolder, workload: Workload, truth: TargetTruth) -> LargeTarget | None:
        """Of a target that is too large to adapt to as a whole, a sample."""

        def tell(done: int, total: int) -> None:
            self.store.progress(self.record.id, "sample", done, total)

        return large_target(folder, workload, truth, self.config, tell, self.heartbeat.stopping.is_set)

    def _describe(self, folder: RunFolder, workload: Workload, truth: TargetTruth) -> None:
        """run.json, pairs and truth; of a resumed run, whether it may go on."""
        if folder.run_file.exists():
            check_resumable(folder.run(), workload, truth)
            return
        write_pairs(folder, workload.target)
        write_records(folder, workload.target)
        write_truth(folder, truth.labels)
        write_extra(folder, workload, self.config, truth.unseen)
        facts = sample_facts(workload, self.config)
        write_json(folder.run_file, describe(self.record, self.config, workload, truth, facts))

    def _report(
        self,
        folder: RunFolder,
        workload: Workload,
        recorder: Recorder,
        results: dict[str, Any],
        large: LargeTarget | None,
    ) -> RunResults:
        started = time.perf_counter()
        recorder.on_phase_start({"phase": "report", "steps": None})
        recorder.scores.write_final(results)
        known = shared_input(folder, recorder.evidence, self.config.risk)
        methods = {method: recorder.method_row(result) for method, result in results.items()}
        rankings = all_label_rankings(folder, known, methods)
        document = results_document(recorder, methods, initial_rankings(folder, known), rankings)
        fired = None if recorder.evidence is None else recorder.evidence.target.fired
        self._write_bundle(folder, workload, recorder, results)
        self._explain(folder, recorder, results)
        write_json(folder.comparison_file, compare_methods(folder, document["methods"], rankings, fired))
        recorder.on_phase_end({"phase": "report", "seconds": time.perf_counter() - started})
        whole = None if large is None else self._score_all(large, folder, recorder)
        seconds = {**self._phases(), "total": self.heartbeat.seconds}
        found: RunResults = {
            "run": self.record.id,
            "seconds": seconds,
            **document,
            "peak_rss_mb": round(peak_rss_mb() + recorder.helpers_mb, 1),
        }
        if large is not None:
            found["target"] = whole
        measured = {"seconds": seconds, "peak_rss_mb": found["peak_rss_mb"]}  # nothing else could compute these again
        self.store.record(self.record.id, "measured", f"measured/{self.record.attempts + 1}", measured)
        write_json(folder.results_file, found)
        return found

    def _write_bundle(self, folder: RunFolder, workload: Workload, recorder: Recorder, results: dict[str, Any]) -> None:
        """What the run answers with, for `riskcore apply`."""
        if recorder.evidence is None:
            return
        from riskcore.runs.bundle.write import write_bundle  # imports the engine, which only a worker needs

        write_bundle(folder, workload, self.config, recorder.evidence, recorder.learners, results, recorder.left_out)

    def _score_all(self, large: LargeTarget, folder: RunFolder, recorder: Recorder) -> WholeTargetRow | None:
        """All pairs of a large target, with what the run answers with."""
        started = time.perf_counter()
        recorder.on_phase_start({"phase": "all pairs", "steps": None})

        def tell(done: int, total: int) -> None:
            recorder.on_progress({"phase": "all pairs", "done": done, "total": total})

        found = large.score_all(folder, tell, self.heartbeat.stopping.is_set)
        recorder.on_phase_end({"phase": "all pairs", "seconds": time.perf_counter() - started})
        return found

    def _explain(self, folder: RunFolder, recorder: Recorder, results: dict[str, Any]) -> None:
        """The balance sheet of each pair, for its card."""
        if recorder.evidence is None:
            return
        from riskcore.runs.worker.sheets import explain_run  # imports the engine too

        def tell(done: int, total: int) -> None:
            recorder.on_progress({"phase": "report", "done": done, "total": total})

        explain_run(folder, recorder.evidence, recorder.ensemble, results, tell)

    def _phases(self) -> dict[str, float]:
        """Seconds of each phase in the attempt that finished it, from the events of all attempts."""
        found: dict[str, float] = {}
        after = 0
        while batch := self.store.events(self.record.id, after):
            found |= {one.record["phase"]: one.record["seconds"] for one in batch if one.kind == "phase_end"}
            after = batch[-1].sequence
        return found

    def _check_stop(self) -> None:
        if self.heartbeat.stopping.is_set():
            raise CancelledError("Cancelled before training began.")


def _engine(store: RunStore, record: RunRecord, watch: CoreWatch) -> Engine:
    from riskcore.training.experiment import run_experiment  # imports torch, which only a worker needs

    def engine(*arguments: Any, **options: Any) -> Any:
        return run_experiment(*arguments, **options, processes=_processes(store, record, watch))

    return engine


def _processes(store: RunStore, record: RunRecord, watch: CoreWatch) -> int:
    """How many processes may work on the run: as many as were asked for, or as there are free cores."""
    asked = record.config.engine.processes
    if asked is not None:
        return asked
    others = (one for one in store.list() if one.state is RunState.RUNNING and one.id != record.id)
    return 1 if any(one.host == this_host() for one in others) else min(watch.free_cores(), processes_in_memory())
