"""The same pairs scored by this machine and by Spark on its cores: whether the bytes are the same, and what each costs.

python benchmarks/spark.py RUN PAIRS [--runs FOLDER] [--cores 2] [--part-pairs 50000] [--json]

Costs are processor time, so a busy machine changes them little. The time of scoring counts from the second part of each
process on: the first one opens bundle and tables, and compiles. The driver's, and Java's, are those while parts are
handed out and stored.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.arguments import JsonOption, report
from riskcore.config import ScaleConfig
from riskcore.runs.folder import RunFolder
from riskcore.scale.folder import ScoredFolder
from riskcore.scale.parts import PartScorer
from riskcore.scale.processes import Done, Pool, pool
from riskcore.scale.riskiest import riskiest
from riskcore.scale.score import Engine, Scored, score
from riskcore.scale.spark import open_session, spark_engine
from riskcore.scale.spark_tasks import pack


class Watched:
    """A pool whose parts are noted as they are done, with the bytes that a part to finish takes along."""

    def __init__(self, inner: Pool, folder: Path, clocks: Callable[[], tuple[float, float]]) -> None:
        self._inner, self._folder, self.ahead = inner, ScoredFolder(folder), inner.ahead
        self._clocks, self._before = clocks, clocks()
        self.done: list[Done] = []
        self.sent = self.gathered = self.sent_to_finish = 0
        self.spent = (0.0, 0.0)  # processor time of this process and of Java while parts were handed out and stored

    def gather(self, part: int, left: np.ndarray, right: np.ndarray) -> Future[Done]:
        self.sent += 8 * len(left)
        return self._noted(self._inner.gather(part, left, right))

    def finish(self, part: int, competitors: np.ndarray) -> Future[Done]:
        size = self._folder.gathered_file(part).stat().st_size
        self.gathered += size
        self.sent_to_finish += size + competitors.nbytes
        return self._noted(self._inner.finish(part, competitors))

    def scorer(self) -> PartScorer:
        """Asked for once all parts are stored."""
        after = self._clocks()
        self.spent = after[0] - self._before[0], after[1] - self._before[1]
        return self._inner.scorer()

    def _noted(self, future: Future[Done]) -> Future[Done]:
        future.add_done_callback(lambda one: self.done.append(one.result()))
        return future

    def pairs_per_second(self) -> float:
        """Of processor time, without the first part of each process."""
        of_process: dict[int, list[Done]] = defaultdict(list)
        for one in sorted(self.done, key=lambda one: one.cpu_seconds):
            of_process[one.process].append(one)
        later = sum(one.pairs for several in of_process.values() for one in several[1:])
        seconds = sum(several[-1].cpu_seconds - several[0].cpu_seconds for several in of_process.values())
        return later / seconds if seconds else float("nan")


def main(
    run: Annotated[str, typer.Argument(help="A finished run.")],
    pairs: Annotated[Path, typer.Argument(help="What to score, as for `riskcore score`.")],
    runs: Annotated[Path, typer.Option(help="Where runs are.")] = Path("runs"),
    cores: Annotated[int, typer.Option(help="Parts that are scored at a time.")] = 2,
    part_pairs: Annotated[int, typer.Option(help="Pairs of a part.")] = 50_000,
    as_json: JsonOption = False,
) -> None:
    """Score twice, compare."""
    config = ScaleConfig(part_pairs=part_pairs)
    with tempfile.TemporaryDirectory() as place, open_session(f"local[{cores}]") as spark:
        common = {"pairs": pairs, "processes": cores, "config": config}
        folders = {name: Path(place) / name for name in ("local", "spark")}
        engines: dict[str, Engine] = {"local": partial(pool, processes=cores), "spark": spark_engine(spark, cores)}
        results: dict[str, Any] = {}
        for name, engine in engines.items():
            watched: list[Watched] = []
            watching = _watching(engine, watched, lambda: (time.process_time(), _java_seconds(spark)))
            done = score(RunFolder(runs / run), folders[name], engine=watching, **common)  # type: ignore[arg-type]
            millions = done.facts["pairs"] / 1e6
            results |= {
                f"{name}: pairs per CPU s": round(watched[0].pairs_per_second()),
                f"{name}: driver CPU s/M pairs": round(watched[0].spent[0] / millions, 2),
                f"{name}: wall s": done.measured["total"],
            }
        results |= {
            "pairs": done.facts["pairs"],
            "Java CPU s/M pairs": round(watched[0].spent[1] / millions, 2),
            "choosing the riskiest, CPU s/M pairs": round(_choosing_seconds(done) / millions, 2),
            "same bytes": _digest(folders["local"]) == _digest(folders["spark"]),
            "broadcast MB": round(len(pack(folders["spark"])) / 1e6, 2),
            "sent MB/M pairs": round((watched[0].sent + watched[0].sent_to_finish) / 1e6 / millions, 2),
            "returned MB/M pairs": round((_size(folders["spark"] / "pairs") + watched[0].gathered) / 1e6 / millions, 2),
            "shuffled bytes": _shuffled(spark),
        }
    report(results, as_json)


def _watching(engine: Engine, watched: list[Watched], clocks: Callable[[], tuple[float, float]]) -> Engine:
    @contextlib.contextmanager
    def watching(folder: Path, method: str, config: ScaleConfig) -> Iterator[Pool]:
        with engine(folder, method, config) as inner:
            watched.append(Watched(inner, folder, clocks))
            yield watched[-1]

    return watching


def _choosing_seconds(done: Scored) -> float:
    """What the driver reads again at the end: all pairs, to find the riskiest."""
    started = time.process_time()
    riskiest(done.folder, done.facts["parts"], 10_000)
    return time.process_time() - started


def _java_seconds(spark: Any) -> float:
    """Processor time of the JVM, which is driver and executor in one here."""
    found = spark._jvm.java.lang.ProcessHandle.current().info().totalCpuDuration().get().toMillis()
    return float(found) / 1000


def _shuffled(spark: Any) -> int:
    context = spark.sparkContext
    empty, quantiles = context._jvm.java.util.ArrayList(), context._gateway.new_array(context._jvm.double, 0)
    stages = context._jsc.sc().statusStore().stageList(empty, False, False, quantiles, empty)
    return sum(stages.apply(place).shuffleWriteBytes() for place in range(stages.size()))


def _digest(folder: Path) -> str:
    found = hashlib.sha256()
    for file in sorted([*(folder / "pairs").iterdir(), folder / "riskiest.parquet", folder / "scored.json"]):
        found.update(file.name.encode() + file.read_bytes())
    return found.hexdigest()


def _size(folder: Path) -> int:
    return sum(os.path.getsize(file) for file in folder.iterdir())


if __name__ == "__main__":
    typer.run(main)
