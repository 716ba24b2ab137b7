"""Scoring on an existing Spark: `mapInPandas` over the parts that `Job` hands out; the driver stores their files.

The driver reads the pairs and writes the folder, so executors need no storage that they share. Bundle and records are
broadcast once. Parts go out as rows of small DataFrames and come back as files; nothing is shuffled.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import queue
import re
import shutil
import sys
import uuid
import warnings
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa

from riskcore.config import ScaleConfig
from riskcore.errors import ConfigError, StorageError
from riskcore.provenance import versions
from riskcore.runs.folder import RunFolder
from riskcore.scale.folder import ScoredFolder
from riskcore.scale.job import OnShare
from riskcore.scale.parts import PartScorer
from riskcore.scale.processes import Done, Pool
from riskcore.scale.score import Engine, Scored, score
from riskcore.scale.spark_tasks import ANSWER, MARGIN_TYPE, REQUEST, ROW_TYPE, Archive, Opening, pack, score_parts
from riskcore.storage.files import write_bytes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PARTS_PER_JOB = 16  # at most: a job of Spark costs the driver some hundredths of a second, whatever its size
_BYTES_PER_PAIR = 40  # of a part to finish, about; one to gather has 8
# Spark spreads the rows of a local DataFrame over its cores one by one only below
# spark.sql.execution.arrow.localRelationThreshold, 48 MB.
_BYTES_PER_JOB = 32 << 20
_SCHEMA = pa.schema(
    [("part", pa.int32()), *((name, pa.large_binary()) for name in re.findall(r"(\w+) binary", REQUEST))]
)


def score_with_spark(
    spark: SparkSession,
    run: RunFolder | Path,
    out: Path,
    pairs: Path | None = None,
    left: Path | None = None,
    right: Path | None = None,
    *,
    method: str | None = None,
    top: int | None = None,
    processes: int | None = None,
    config: ScaleConfig | None = None,
    on_progress: OnShare | None = None,
) -> Scored:
    """As `riskcore.scale.score.score`, with the parts scored by this Spark: the same folder, byte for byte. `processes`
    is how many parts are scored at a time; by default as many as Spark has cores now."""
    count = processes or cores(spark)
    return score(
        run if isinstance(run, RunFolder) else RunFolder(Path(run)),
        out,
        pairs,
        left,
        right,
        method=method,
        top=top,
        processes=count,
        config=config,
        on_progress=on_progress,
        engine=spark_engine(spark, count),
    )


def spark_engine(spark: SparkSession, processes: int) -> Engine:
    """What scores the parts of a folder on this Spark, so many at a time."""
    _context(spark)  # raises early

    @contextlib.contextmanager
    def engine(folder: Path, method: str, config: ScaleConfig) -> Iterator[Pool]:
        content = pack(folder)
        opening = Opening(hashlib.sha256(content).hexdigest()[:32], method, config, versions())
        archive = _context(spark).broadcast(content)
        del content
        workers = InSpark(spark, ScoredFolder(folder), opening, archive, processes)
        try:
            with _quiet():
                yield workers
        except BaseException:
            workers.give_up()
            raise
        finally:
            workers.close()
            archive.destroy()

    return engine


def cores(spark: SparkSession) -> int:
    """How many tasks this Spark runs at a time."""
    return int(_context(spark).defaultParallelism)


class InSpark:
    """Parts are queued; some threads take what waits, each time as one job of Spark, and store the files."""

    def __init__(
        self, spark: SparkSession, folder: ScoredFolder, opening: Opening, archive: Archive, processes: int
    ) -> None:
        from pyspark import InheritableThread

        self._spark, self._folder, self._opening, self._archive = spark, folder, opening, archive
        fitting = _BYTES_PER_JOB // (_BYTES_PER_PAIR * opening.config.part_pairs)
        self._parts_per_job = max(1, min(-(-processes // 2), _PARTS_PER_JOB, fitting))
        jobs = -(-2 * processes // self._parts_per_job)  # as much waits as is worked on, so that no core does
        self.ahead = self._parts_per_job * (jobs + 1)
        self._waiting: queue.Queue[tuple[dict[str, Any], Future[Done]] | None] = queue.Queue()
        self._scorer: PartScorer | None = None  # of the driver
        self._closed, self._group = False, f"riskcore-{uuid.uuid4().hex}"
        self._threads = [InheritableThread(target=self._serve, daemon=True) for _ in range(jobs)]
        for thread in self._threads:
            thread.start()

    def gather(self, part: int, left: np.ndarray, right: np.ndarray) -> Future[Done]:
        rows = {"left_rows": left.astype(ROW_TYPE).tobytes(), "right_rows": right.astype(ROW_TYPE).tobytes()}
        return self._queued({"part": part, **rows})

    def finish(self, part: int, competitors: np.ndarray) -> Future[Done]:
        gathered = self._folder.gathered_file(part).read_bytes()
        return self._queued(
            {"part": part, "gathered": gathered, "competitors": competitors.astype(MARGIN_TYPE).tobytes()}
        )

    def scorer(self) -> PartScorer:
        if self._scorer is None:
            self._scorer = PartScorer(self._folder.path, self._opening.method, self._opening.config)
        return self._scorer

    def give_up(self) -> None:
        """End what Spark is working on."""
        self._closed = True
        with contextlib.suppress(Exception):  # Spark may be gone
            self._spark.sparkContext.cancelJobGroup(self._group)

    def close(self) -> None:
        """No more parts come."""
        self._closed = True
        for _ in self._threads:
            self._waiting.put(None)
        for thread in self._threads:
            thread.join()

    def _queued(self, request: dict[str, Any]) -> Future[Done]:
        future: Future[Done] = Future()
        self._waiting.put((request, future))
        return future

    def _serve(self) -> None:
        """Take what waits, again and again."""
        while (first := self._waiting.get()) is not None and not self._closed:
            taken = [first, *self._more()]
            try:
                found = self._run([request for request, _ in taken])
                for request, future in taken:
                    future.set_result(found[request["part"]])
            except BaseException as error:
                for _, future in taken:
                    future.set_exception(_in_words(error))

    def _more(self) -> Iterator[tuple[dict[str, Any], Future[Done]]]:
        """What else waits, as far as it fits into a job."""
        for _ in range(self._parts_per_job - 1):
            try:
                one = self._waiting.get_nowait()
            except queue.Empty:
                return
            if one is None:
                self._waiting.put(None)  # it was for another thread
                return
            yield one

    def _run(self, requests: list[dict[str, Any]]) -> dict[int, Done]:
        """One job of Spark: these parts, scored and stored."""
        opening, archive, found = self._opening, self._archive, {}

        def mapped(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
            return score_parts(frames, opening, archive)

        self._spark.sparkContext.setJobGroup(self._group, "riskcore score")
        asked = self._spark.createDataFrame(pa.Table.from_pylist(requests, _SCHEMA), REQUEST)
        for row in asked.mapInPandas(mapped, ANSWER).collect():
            write_bytes(self._folder.path / row.file, row.content)
            found[row.part] = Done(row.pairs, row.peak_mb, row.cpu_seconds, row.process)
        return found


@contextlib.contextmanager
def open_session(master: str | None = None) -> Iterator[SparkSession]:
    """The session that is active; else a new one on this master, or on that of `spark-submit`, stopped at the end."""
    session = _session_class()
    active = session.getActiveSession()
    if active is not None:
        yield active
        return
    if "PYSPARK_GATEWAY_PORT" not in os.environ and not _java():  # with it, spark-submit has started Java already
        raise ConfigError(
            "The engine spark needs Java 17, and none is found. Install it (Debian: apt-get install "
            "openjdk-17-jre-headless), or set JAVA_HOME."
        )
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = session.builder.appName("riskcore score").config("spark.ui.showConsoleProgress", "false")
    if master is not None:
        builder = builder.master(master)
        if master.startswith("local"):  # it listens to nobody else
            for name in ("spark.driver.host", "spark.driver.bindAddress"):
                builder = builder.config(name, "127.0.0.1")
            builder = builder.config("spark.ui.enabled", "false")
    with _quiet():
        spark = _started(builder)
    try:
        _context(spark).setLogLevel("ERROR")
        yield spark
    finally:
        spark.stop()


def _started(builder: Any) -> SparkSession:
    from pyspark.errors import PySparkException

    try:
        spark: SparkSession = builder.getOrCreate()
    except PySparkException as error:
        reason = str(error).strip().splitlines()[0]
        raise ConfigError(
            f"Spark could not be started: {reason} Check --master, and that `java -version` tells 17 or later."
        ) from error
    return spark


def _session_class() -> type[SparkSession]:
    try:
        with _quiet():
            from pyspark.sql import SparkSession
    except ImportError as error:
        raise ConfigError(
            "The engine spark needs pyspark, which is not installed. Install the extra: pip install 'riskcore[spark]'."
        ) from error
    return SparkSession


def _java() -> str | None:
    home = os.environ.get("JAVA_HOME")
    return shutil.which("java", path=str(Path(home) / "bin")) if home else shutil.which("java")


def _context(spark: SparkSession) -> Any:
    """The context that broadcasts, which Spark Connect does not have."""
    try:
        return spark.sparkContext
    except Exception as error:
        raise ConfigError(
            "This Spark session has no context that could broadcast the bundle, as with Spark Connect (sc://). Start "
            "`riskcore score` by spark-submit, or give the address of the cluster itself (spark://, yarn, k8s://)."
        ) from error


def _in_words(error: BaseException) -> BaseException:
    """What Spark says when it gives up a part, without the stacks of Java and Python."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    if not isinstance(error, PySparkException | Py4JError):
        return error
    own = re.search(r"^riskcore\.errors\.\w+: (.+)$", str(error), re.MULTILINE)
    if own:
        return StorageError(own[1])
    lines = re.findall(r"^(?:\w+\.)*\w+(?:Error|Exception): .+$", str(error), re.MULTILINE) or str(error).splitlines()
    return StorageError(
        f"Spark gave up a part of the pairs: {lines[-1].strip()} The logs of its executors say more. Finished parts "
        "are kept: start again, and it goes on."
    )


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """pyspark 4.3 warns of any pandas from 3 on; what is used of it here, frames with columns of bytes, is tested."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        yield
