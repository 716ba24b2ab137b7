"""One benchmark from its cells to its tables: which results are missing, making them, and writing the tables."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path

from riskcore.bench.plan.cells import CELLS, Cell, CellGroup, CostGroup, Entry
from riskcore.bench.run.documents import borrow, missing, read_document, was_resumed
from riskcore.bench.run.pool import CellEvent, OnEvent, run_cells
from riskcore.bench.run.schema import Document, Row
from riskcore.bench.run.stamps import data_stamp
from riskcore.bench.run.tables import write_tables
from riskcore.bench.run.time_left import TimeLeft
from riskcore.errors import BusyError, ConfigError
from riskcore.provenance import code_stamp
from riskcore.registry import BASE_LEARNERS_STEP, needs_base_learners
from riskcore.storage.files import writing
from riskcore.storage.lock import FolderLock


@dataclasses.dataclass(frozen=True)
class RemainingWork:
    """The cells of a benchmark that still lack results, and how many have them all."""

    cells: list[Cell]
    finished: int
    known: dict[CostGroup, list[float]]  # seconds of similar cells that were never interrupted

    @classmethod
    def of(cls, cells: Sequence[Cell], out: Path, keep: bool) -> RemainingWork:
        """Compare what was requested with what is on disk, other benchmarks' results included."""
        rest, documents = [], dict[CellGroup, list[Document]]()
        for cell in cells:
            if missing(cell, read_document(cell, out), keep):
                borrow(cell, out, keep)
            document = read_document(cell, out)
            wanted = missing(cell, document, keep)
            if wanted:
                rest.append(_rest(cell, wanted, out))
            if document is not None and not was_resumed(document):
                documents.setdefault(cell.group, []).append(document)
        known = {cell.cost_group: took for cell in rest if (took := _seconds(cell, documents.get(cell.group, [])))}
        return cls(rest, len(cells) - len(rest), known)

    def time_left(self, jobs: int) -> TimeLeft:
        return TimeLeft(self.cells, jobs, self.known)


def _rest(cell: Cell, wanted: Sequence[Entry], out: Path) -> Cell:
    """The missing results of the cell, or all that it had begun before an interruption: its checkpoints need them."""
    return cell.interrupted(out, wanted, code_stamp(), data_stamp(cell.config)) or cell.only(wanted)


def _seconds(cell: Cell, documents: Sequence[Document]) -> list[float]:
    """Seconds of the cell's phases, from each document that has timed all of them."""
    phases = [Cell.phase_of(entry) for entry in cell.entries]
    complete = [one["seconds"] for one in documents if all(phase in one["seconds"] for phase in phases)]
    of_ablations = tuple(f"({ablation})" for ablation in cell.ablations)  # which may have evidence of their own
    phases += ["evidence", *([BASE_LEARNERS_STEP] if needs_base_learners(cell.config.methods) else [])]
    return [
        sum(took for phase, took in seconds.items() if phase in phases or phase.endswith(of_ablations))
        for seconds in complete
    ]


def run_benchmark(
    bench: str, remaining: RemainingWork, out: Path, jobs: int, on_event: OnEvent
) -> tuple[list[Row], list[CellEvent]]:
    """Run the cells; the long table of everything in the folder, and the cells that failed."""
    with _locked(bench, out):
        try:
            failed = run_cells(remaining.cells, out, jobs, on_event)
        finally:
            rows = write_tables(out)  # also for a benchmark that is interrupted
    return rows, failed


@contextlib.contextmanager
def _locked(bench: str, out: Path) -> Iterator[None]:
    """Keep a second process from running the same cells."""
    folder = out / CELLS / bench
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    try:
        with FolderLock(folder, patience=1.0):
            yield
    except BusyError:
        raise ConfigError(
            f"Another process is running `bench {bench}` in {out}. Wait for it, or choose another --out."
        ) from None
