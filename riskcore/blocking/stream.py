"""Blocking to a file, in parts that survive the process.

What each step finds is written as a part, whole or not at all, into a hidden folder beside the output. A process that
starts again with the same tables and settings keeps the parts that are there and does the rest; parts of other tables,
settings or versions are removed. The folder is removed once the output is in place.
"""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from riskcore.blocking.candidates import SCHEMA, Candidates, Found
from riskcore.blocking.steps import OnProgress, Step, Work
from riskcore.config import BlockConfig
from riskcore.data.fingerprint import Fingerprint
from riskcore.data.pairs import Table
from riskcore.errors import StorageError
from riskcore.storage.files import remove_parts, write_json, write_parquet, write_parquet_chunks, writing
from riskcore.storage.lock import FileLock
from riskcore.version import __version__

PLAN_FILE, LOCK_FILE = "plan.json", "lock"
_ROWS = 200_000  # pairs turned into ids at a time: ids are text, and cost far more memory than row numbers


def block_to_file(
    left: Table,
    right: Table | None,
    config: BlockConfig,
    out: Path,
    on_progress: OnProgress | None = None,
) -> Candidates:
    """Writes the candidates to a parquet file, and returns them. Resumes where a killed process stopped."""
    work = Work(left, None if right is left else right, config)
    folder = parts_folder(out)
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / LOCK_FILE):
        parts = _Parts(folder, work)
        todo = [step for step in work.steps() if not parts.has(step)]
        for step, found in work.run(todo, on_progress):
            parts.write(step, found)
        candidates = work.candidates([(step.number, parts.read(step)) for step in work.steps()])
        write_parquet_chunks(out, SCHEMA, _chunks(candidates, left, right))
        shutil.rmtree(folder, ignore_errors=True)
    return candidates


def parts_folder(out: Path) -> Path:
    """Where the parts of an unfinished output are kept."""
    return out.with_name(f".{out.name}.blocking")


def _chunks(candidates: Candidates, left: Table, right: Table | None) -> Iterator[pa.Table]:
    for start in range(0, len(candidates), _ROWS):
        yield candidates.take(slice(start, start + _ROWS)).to_arrow(left, right)


class _Parts:
    """The parts of one blocking in their folder."""

    def __init__(self, folder: Path, work: Work) -> None:
        self.folder = folder
        plan = {"fingerprint": _fingerprint(work)}
        if _read_plan(folder) != plan:
            self._remove()
            write_json(folder / PLAN_FILE, plan)
        remove_parts(folder)

    def has(self, step: Step) -> bool:
        return self._file(step).exists()

    def write(self, step: Step, found: Found) -> None:
        write_parquet(self._file(step), pa.table(dataclasses.asdict(found)), rows_per_group=1 << 20)

    def read(self, step: Step) -> Found:
        try:
            table = pq.read_table(self._file(step), memory_map=False)
        except (OSError, pa.ArrowInvalid) as error:
            cure = f"Remove the folder {self.folder} and start again."
            raise StorageError(f"{self._file(step)} cannot be read: {error}. {cure}") from error
        return Found(*(table.column(field.name).to_numpy() for field in dataclasses.fields(Found)))

    def _file(self, step: Step) -> Path:
        return self.folder / f"{step.name}.parquet"

    def _remove(self) -> None:
        with writing(self.folder):
            for file in self.folder.iterdir():
                if file.name != LOCK_FILE:
                    file.unlink()


def _read_plan(folder: Path) -> object:
    try:
        return json.loads((folder / PLAN_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None  # none yet, or one that no complete write left


def _fingerprint(work: Work) -> str:
    """Of all that the parts depend on: tables, settings but the number of threads, versions of code."""
    digest = Fingerprint()
    for table in work.tables:
        digest.add_table(table)
    settings = dataclasses.replace(work.config, threads=1).to_json()
    versions = [f"{name} {version(name)}" for name in ("sparse_dot_topn", "numba", "numpy", "scipy")]
    digest.add_words(settings, __version__, *versions)
    digest.add_numbers(np.array([len(table) for table in work.tables]))
    return digest.hexdigest()
