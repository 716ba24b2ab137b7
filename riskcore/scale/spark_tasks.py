"""What a task of Spark does: parts scored by the `PartScorer` that scores them everywhere, their files sent back.

A row of the mapped DataFrame is a part, so no limit on the rows of a batch cuts one. Heavy imports are inside
functions: Spark forks its workers, and the libraries that start threads must come after that.
"""

from __future__ import annotations

import dataclasses
import gc
import io
import os
import platform
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pandas as pd

from riskcore.config import ScaleConfig
from riskcore.errors import ConfigError
from riskcore.provenance import versions

if TYPE_CHECKING:
    from riskcore.scale.parts import PartScorer

# A part to gather comes with the rows of its records, as whole numbers of 4 bytes; one to finish with its gathered
# file and, for each pair, the log-odds of its two strongest competitors.
REQUEST = "part int, left_rows binary, right_rows binary, gathered binary, competitors binary"
ANSWER = "part int, pairs int, file string, content binary, peak_mb double, cpu_seconds double, process bigint"
ROW_TYPE, MARGIN_TYPE = np.dtype("<i4"), np.dtype("<f8")


class Archive(Protocol):
    """What was broadcast: bundle and records, as one tar file."""

    @property
    def value(self) -> bytes: ...


@dataclasses.dataclass(frozen=True)
class Opening:
    """What a worker opens once, before its first part."""

    key: str  # names what was broadcast
    method: str
    config: ScaleConfig
    versions: dict[str, str]  # of the libraries where the job was started


def score_parts(frames: Iterator[pd.DataFrame], opening: Opening, archive: Archive) -> Iterator[pd.DataFrame]:
    """For `mapInPandas`: for each part that is asked for its file."""
    for frame in frames:
        for request in frame.itertuples(index=False):
            yield pd.DataFrame([_answer(_opened(opening, archive), request)])


def pack(folder: Path) -> bytes:
    """Bundle and records of a folder of scored pairs, as one tar file, the same for the same contents. (Parquet is
    compressed already.)"""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as tar:
        for name in ("bundle", *sorted(one.name for one in folder.glob("records-*.parquet"))):
            tar.add(folder / name, name, filter=_timeless)
    return content.getvalue()


def _timeless(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.mtime = entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


def _answer(scorer: PartScorer, request: Any) -> dict[str, Any]:
    """The part is written into a folder of its own, by the code that writes it everywhere, and read back."""
    from riskcore.scale.folder import ScoredFolder
    from riskcore.scale.processes import told

    with tempfile.TemporaryDirectory(dir=_work_folder()) as place:
        folder = scorer.folder = ScoredFolder(Path(place))
        if request.gathered is None:
            left, right = (np.frombuffer(rows, ROW_TYPE) for rows in (request.left_rows, request.right_rows))
            done = told(scorer.gather(request.part, left, right))
        else:
            file = folder.gathered_file(request.part)
            file.parent.mkdir()
            file.write_bytes(request.gathered)
            competitors = np.frombuffer(request.competitors, MARGIN_TYPE).reshape(-1, 2)
            done = told(scorer.finish(request.part, competitors))
        written = folder.pairs_file(request.part)
        if not written.exists():
            written = folder.gathered_file(request.part)
        return {
            "part": request.part,
            "pairs": done.pairs,
            "file": written.relative_to(place).as_posix(),
            "content": written.read_bytes(),
            "peak_mb": done.peak_mb,
            "cpu_seconds": done.cpu_seconds,
            "process": zlib.crc32(f"{platform.node()} {done.process}".encode()),
        }


_held: tuple[Opening, PartScorer] | None = None  # of this worker


def _opened(opening: Opening, archive: Archive) -> PartScorer:
    """Bundle and records, opened once in a worker."""
    global _held
    if _held is None or _held[0] != opening:
        _held = None  # its memory first
        gc.unfreeze()
        _refuse_other_versions(opening.versions)
        _one_thread()
        from riskcore.scale.parts import PartScorer

        _held = opening, PartScorer(_unpacked(opening.key, archive), opening.method, opening.config)
        gc.freeze()  # Spark collects garbage after each task, and need not look through the tables each time
    return _held[1]


def _refuse_other_versions(wanted: dict[str, str]) -> None:
    found = versions()
    names = [name for name in {**wanted, **found} if wanted.get(name) != found.get(name)]
    if names:
        told = ", ".join(
            f"{name} {found.get(name, 'absent')} instead of {wanted.get(name, 'absent')}" for name in names
        )
        raise ConfigError(
            f"The worker on {platform.node()} has other libraries than the driver: {told}. Its scores could differ. "
            "Give executors the environment of the driver (PYSPARK_PYTHON)."
        )


def _one_thread() -> None:
    """Spark runs one worker for each core. The matcher sets torch's threads itself."""
    import pyarrow as pa
    from threadpoolctl import threadpool_limits

    os.environ["NUMBA_NUM_THREADS"] = "1"
    threadpool_limits(1)
    pa.set_cpu_count(1)


def _unpacked(key: str, archive: Archive) -> Path:
    """The folder with what was broadcast, one for all workers of an executor; Spark removes it with the application."""
    folder = _work_folder() / f"riskcore-{key}"
    if not folder.is_dir():
        beside = tempfile.mkdtemp(dir=folder.parent)
        with tarfile.open(fileobj=io.BytesIO(archive.value)) as tar:
            tar.extractall(beside, filter="data")
        try:
            os.rename(beside, folder)
        except OSError:
            shutil.rmtree(beside, ignore_errors=True)
            if not folder.is_dir():
                raise
    return folder


def _work_folder() -> Path:
    """The folder that Spark gives an application on each executor."""
    from pyspark import SparkFiles

    return Path(SparkFiles.getRootDirectory())
