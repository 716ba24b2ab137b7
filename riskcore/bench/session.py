"""One benchmark from wish to tables: what is still to do, the work itself, and the tables it leaves."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path

from riskcore.bench.cells import Cell, Entry
from riskcore.bench.documents import borrow, missing, read_document, was_resumed
from riskcore.bench.outlook import Group, Outlook
from riskcore.bench.queue import Hear, Told, work_off
from riskcore.bench.stamps import code_stamp, data_stamp
from riskcore.bench.tables import Row, write_tables
from riskcore.errors import ConfigError
from riskcore.runs.files import writing
from riskcore.runs.lock import RunLock
from riskcore.runs.records import RunBusyError


@dataclasses.dataclass(frozen=True)
class ToDo:
    """The cells of a benchmark: those with something to work out, and how many are finished already."""

    cells: list[Cell]
    finished: int
    known: dict[Group, list[float]]  # seconds that finished cells took, if they were never cut off

    @classmethod
    def of(cls, cells: Sequence[Cell], out: Path, keep: bool) -> ToDo:
        """Compare what is wanted with what is on disk, other benchmarks' results included."""
        rest, known = [], dict[Group, list[float]]()
        for cell in cells:
            if missing(cell, read_document(cell, out), keep):
                borrow(cell, out, keep)
            document = read_document(cell, out)
            wanted = missing(cell, document, keep)
            if wanted:
                rest.append(_rest(cell, wanted, out))
            if document is not None and not was_resumed(document):
                known.setdefault(cell.group, []).append(document["seconds"]["total"])
        return cls(rest, len(cells) - len(rest), known)

    def outlook(self, jobs: int) -> Outlook:
        return Outlook(self.cells, jobs, self.known)


def _rest(cell: Cell, wanted: Sequence[Entry], out: Path) -> Cell:
    """What is wanted of the cell; all of it if it was cut off, since its checkpoints are those of the whole."""
    begun = cell.checkpoints(out, code_stamp(), data_stamp(cell.config)).exists()
    return cell if begun else cell.only(wanted)


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
        with RunLock(folder, patience=1.0):
            yield
    except RunBusyError:
        raise ConfigError(
            f"Another process is at work on `bench {bench}` in {out}. Wait for it, or choose another --out."
        ) from None
