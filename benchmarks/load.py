"""How long clicks take while many people work on one run at once: latency by action, memory, errors.

python benchmarks/load.py [--pairs 100000] [--verdicts 20000] [--sessions 20] [--seconds 60] [--think 3] [--train]

Makes a run and its verdicts up, starts the screens on a free port of this machine and lets people without browsers
work on it: they open cards, judge, turn pages and look at Label & audit, with a pause before every click. Measured is
the time that the server takes, also while it is busy with the clicks of others. With --train, runs of the bundled
sample train meanwhile in the same store, one after the other.
"""

from __future__ import annotations

import asyncio
import dataclasses
import random
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import psutil
import typer

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.arguments import JsonOption, report
from benchmarks.screen_session import ScreenError, ScreenSession
from riskcore.audit.verdicts import Brought, VerdictLog
from riskcore.runs import PairQuery, RunFolder, RunRecord, RunState, RunStore, cancel, query_pairs, start
from riskcore.runs.example import sample_config
from tests.browser.driver import Server
from tests.pages.synthetic_run import write_run

WORDS = ("match", "non-match", "non-match", "unsure")
TAGS = ("", "", "", "#wrong-year", "#other-edition", "#check")
REVIEWERS = 10  # people whose verdicts are in the log before the measurement
ITERATIONS = 5
JUDGED_IN_A_ROW = 4
SAMPLE_SECONDS = 20  # that a run of the sample takes on a fast machine


def main(
    pairs: Annotated[int, typer.Option(help="Target pairs of the run.")] = 100_000,
    verdicts: Annotated[int, typer.Option(help="Verdicts in its log when the measurement begins.")] = 20_000,
    sessions: Annotated[int, typer.Option(help="People at work at once.")] = 20,
    seconds: Annotated[float, typer.Option(help="Length of the measurement.")] = 60.0,
    think: Annotated[float, typer.Option(help="Mean pause before a click, in seconds.")] = 3.0,
    seed: Annotated[int, typer.Option(help="Of the run, the verdicts and the pauses.")] = 0,
    train: Annotated[bool, typer.Option(help="Train on the bundled sample meanwhile.")] = False,
    as_json: JsonOption = False,
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        record = write_run(root / "runs", pairs, ITERATIONS, methods=("risk",), more_rules=100, seed=seed)
        bring_verdicts(root, record, verdicts, seed)
        server = Server(root)
        server.start()
        try:
            with training(RunStore(root / "runs"), seconds if train else 0) as trains:
                found = asyncio.run(work(server.port, record.id, sessions, seconds, think, seed))
                found["a run trains at the end"] = trains()
        finally:
            server.stop()
        found["log"] = VerdictLog(RunStore(root / "runs")).size(record.id)
    asked = {"pairs": pairs, "verdicts": verdicts, "sessions": sessions, "seconds": seconds, "think": think}
    report({**asked, **found}, as_json)


def bring_verdicts(root: Path, record: RunRecord, count: int, seed: int) -> None:
    """Verdicts of several people on the riskiest pairs, some with a tag, a tenth of them by two people."""
    chance, log = random.Random(seed), VerdictLog(RunStore(root / "runs"))
    wanted, page = max(1, count * 9 // 10), 1
    ids: list[str] = []
    while len(ids) < wanted:
        rows = query_pairs(RunFolder(record.folder), PairQuery(page=page, page_size=10_000)).rows
        ids += list(rows["pair_id"])
        page += 1
    chosen = [*ids[:wanted], *ids[: count - wanted]]
    log.bring(
        record.id,
        [
            Brought(pair, chance.choice(WORDS), chance.choice(TAGS), f"reviewer {place * REVIEWERS // count}")
            for place, pair in enumerate(chosen)
        ],
    )


@contextmanager
def training(store: RunStore, seconds: float) -> Iterator[Callable[[], bool]]:
    """Runs of the sample at work for at least that long; gives whether one is. They are cancelled at the end."""
    count = 1 + int(seconds / SAMPLE_SECONDS) if seconds else 0
    queue = [store.create(dataclasses.replace(sample_config(), seed=seed), "sample").id for seed in range(count)]
    at_work = lambda: any(store.get(run).state is RunState.RUNNING for run in queue)  # noqa: E731 - asked for twice
    try:
        for run in queue:
            start(store, run)
        while queue and not at_work():
            time.sleep(0.5)
        yield at_work
    finally:
        for run in reversed(queue):  # those that wait first, so that none of them begins
            if not store.get(run).state.over:
                cancel(store, run)
        while at_work():
            time.sleep(0.5)


async def work(port: int, run: str, sessions: int, seconds: float, think: float, seed: int) -> dict[str, Any]:
    """All people at work until the time is over; what they measured."""
    process = next(one for one in psutil.process_iter() if listens(one, port))
    first = Person(port, run, "visitor", random.Random(seed), 0.0)
    await first.arrive()  # warms the server up: measured are people who come to a server that is in use
    await first.session.close()
    before, times = process.memory_info().rss, defaultdict[str, list[float]](list)
    errors: list[str] = []
    people = [Person(port, run, f"person {number}", random.Random(seed + number), think) for number in range(sessions)]
    end = time.perf_counter() + seconds
    busy = process.cpu_times()
    await asyncio.gather(*(person.work(end, times, errors) for person in people))
    spent = process.cpu_times()
    used = spent.user + spent.system - busy.user - busy.system
    after = process.memory_info().rss
    every = [one for values in times.values() for one in values]
    return {
        **{name: summary(values) for name, values in times.items()},
        "all": summary(every),
        "server CPU s a click": round(used / (len(every) + 2 * sessions), 3),
        "server MB": round(after / 2**20),
        "MB a session": round((after - before) / 2**20 / sessions, 1),
        "errors": len(errors),
        **({"first error": errors[0]} if errors else {}),
    }


def listens(process: psutil.Process, port: int) -> bool:
    try:
        return any(one == str(port) for one in process.cmdline()) and "streamlit" in process.cmdline()
    except psutil.Error:
        return False


def summary(values: list[float]) -> dict[str, float]:
    ordered = sorted(values)
    return {
        "clicks": len(ordered),
        "p50": round(statistics.median(ordered), 3),
        "p95": round(ordered[min(int(0.95 * len(ordered)), len(ordered) - 1)], 3),
        "worst": round(ordered[-1], 3),
    }


class Person:
    """Someone who reviews: in turn from the whole queue and from the pairs without a verdict."""

    session: ScreenSession

    def __init__(self, port: int, run: str, name: str, chance: random.Random, think: float) -> None:
        self.port, self.run, self.name, self.chance, self.think = port, run, name, chance, think

    async def arrive(self) -> list[tuple[str, float]]:
        self.session = await ScreenSession.open(self.port)
        return [
            ("open the queue", await self.session.visit("pairs", f"run={self.run}")),
            ("write the name", await self.session.write("Your name", self.name)),
        ]

    async def work(self, end: float, times: dict[str, list[float]], errors: list[str]) -> None:
        await asyncio.sleep(self.chance.random() * self.think)  # people do not come at the same moment
        try:
            await self.arrive()
            while time.perf_counter() < end:
                for name, action in self._round():
                    await asyncio.sleep(self.chance.expovariate(1 / self.think) if self.think else 0)
                    if time.perf_counter() >= end:
                        break
                    times[name].append(await action())
        except (ScreenError, OSError, TimeoutError) as error:
            errors.append(f"{self.name}: {error}")
        finally:
            await self.session.close()

    def _round(self) -> list[tuple[str, Any]]:
        """What someone does in a few minutes."""
        left, screen = self.chance.random() < 0.5, self.session
        narrowed = f"run={self.run}" + ("&verdict=no+verdict" if left else "")
        kind = ", no verdict" if left else ""
        judge = lambda: screen.click(self.chance.choice(("= Match", "≠ Non-match")))  # noqa: E731 - as the others
        return [
            (f"open the queue{kind}", lambda: screen.visit("pairs", narrowed)),
            *[(f"next page{kind}", self._turn)] * 2,
            (f"open card{kind}", lambda: screen.click("Open the first pair")),
            *[(f"verdict{kind}", judge)] * JUDGED_IN_A_ROW,
            (f"next pair{kind}", lambda: screen.click("Next")),
            ("audit tab: Verdicts", lambda: screen.visit("audit", f"run={self.run}&part=Verdicts")),
        ]

    async def _turn(self) -> float:
        return await self.session.turn_to(self.chance.randint(2, min(200, self.session.pages_of_queue)))


if __name__ == "__main__":
    typer.run(main)
