"""One benchmark from wish to tables: what is still to do, the work itself, and the tables it leaves."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path

from riskcore.bench.plan.cells import Cell, Entry
from riskcore.bench.run.documents import Document, borrow, missing, read_document, was_resumed
from riskcore.bench.run.pool import Hear, Told, work_off
from riskcore.bench.run.stamps import code_stamp, data_stamp
from riskcore.bench.run.tables import Row, write_tables
from riskcore.bench.run.time_left import Kin, Outlook
from riskcore.errors import BusyError, ConfigError
from riskcore.storage.files import writing
from riskcore.storage.lock import FolderLock

Group = tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class ToDo:
    """The cells of a benchmark: those with something to work out, and how many are finished already."""

    cells: list[Cell]
    finished: int
    known: dict[Kin, list[float]]  # seconds that cells like these took, if they were never cut off

    @classmethod
    def of(cls, cells: Sequence[Cell], out: Path, keep: bool) -> ToDo:
        """Compare what is wanted with what is on disk, other benchmarks' results included."""
        rest, documents = [], dict[Group, list[Document]]()
        for cell in cells:
            if missing(cell, read_document(cell, out), keep):
                borrow(cell, out, keep)
            document = read_document(cell, out)
            wanted = missing(cell, document, keep)
            if wanted:
                rest.append(_rest(cell, wanted, out))
            if document is not None and not was_resumed(document):
                documents.setdefault(cell.group, []).append(document)
        known = {cell.kin: took for cell in rest if (took := _took(cell, documents.get(cell.group, [])))}
        return cls(rest, len(cells) - len(rest), known)

    def outlook(self, jobs: int) -> Outlook:
        return Outlook(self.cells, jobs, self.known)


def _rest(cell: Cell, wanted: Sequence[Entry], out: Path) -> Cell:
    """What is wanted of the cell; all that was begun if it was cut off: its checkpoints are those of the whole."""
    return cell.cut_off(out, wanted, code_stamp(), data_stamp(cell.config)) or cell.only(wanted)


def _took(cell: Cell, documents: Sequence[Document]) -> list[float]:
    """Seconds of what the cell is to work out, in documents that tell of all of it."""
    phases = [Cell.phase_of(entry) for entry in cell.entries]
    whole = [one["seconds"] for one in documents if all(phase in one["seconds"] for phase in phases)]
    of_ablations = tuple(f"({ablation})" for ablation in cell.ablations)  # which may have evidence of their own
    return [
        sum(took for phase, took in seconds.items() if phase in ("evidence", *phases) or phase.endswith(of_ablations))
        for seconds in whole
    ]


def run_benchmark(bench: str, todo: ToDo, out: Path, jobs: int, hear: Hear) -> tuple[list[Row], list[Told]]:
    """Work the cells off; the long table of everything in the folder, and the cells that failed."""
    with _held(bench, out):
        try:
            failed = work_off(todo.cells, out, jobs, hear)
        finally:
            rows = write_tables(out)  # a benchmark that is cut off leaves tables too
    return rows, failed


@contextlib.contextmanager
def _held(bench: str, out: Path) -> Iterator[None]:
    """Two processes would work on the same cells."""
    folder = out / "cells" / bench
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    try:
        with FolderLock(folder, patience=1.0):
            yield
    except BusyError:
        raise ConfigError(
            f"Another process is at work on `bench {bench}` in {out}. Wait for it, or choose another --out."
        ) from None
