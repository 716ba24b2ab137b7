"""Kill a run at random moments, resume it each time, and compare it with an undisturbed run.

python benchmarks/kill_resume.py [--kills 20] [--seed 0] [--methods tradition,risk,risk+,supervised,forest] [--json]

Checked: final scores and every iteration are equal to the bit, no event is lost or doubled, sequence numbers have
no gaps, and whatever file is there at any moment can be read.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import pyarrow.parquet as pq
import typer

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.arguments import JsonOption, report
from riskcore.config import AdaptConfig, MatcherConfig, RunConfig, TuneConfig
from riskcore.data.samples import find_sample
from riskcore.runs import RunFolder, RunState, RunStore
from riskcore.runs.store.run_record import RunRecord

WORKER = (sys.executable, "-m", "riskcore.runs.worker")
PROJECT = Path(__file__).resolve().parent.parent


def main(
    kills: Annotated[int, typer.Option(help="How often to kill.")] = 20,
    seed: Annotated[int, typer.Option(help="Of the moments.")] = 0,
    methods: Annotated[str, typer.Option(help="Separated by commas.")] = "tradition,risk,risk+,supervised,forest",
    as_json: JsonOption = False,
) -> None:
    """Kill, resume, compare."""
    source, target = (str(find_sample(f"bibliography_{name}").path) for name in ("clean", "scraped"))
    config = RunConfig(
        source=source,
        target=target,
        methods=tuple(methods.split(",")),
        matcher=MatcherConfig(kind="toy"),
        tune=TuneConfig(epochs=10),
        adapt=AdaptConfig(iterations=6),
    )
    with tempfile.TemporaryDirectory() as folder:
        found = kill_and_resume(RunStore(Path(folder) / "runs"), config, kills, random.Random(seed))
    report(found, as_json)
    raise typer.Exit(bool(found["differences"]))


def kill_and_resume(
    store: RunStore,
    config: RunConfig,
    kills: int,
    chance: random.Random,
    command: Sequence[str] = WORKER,
    longest: float | None = None,
) -> dict[str, Any]:
    """An undisturbed run, then as many runs as all kills need; what differed, and in which phases the kills fell."""
    started = time.monotonic()
    reference = store.create(config, "undisturbed")
    worker(store, reference, command).wait()
    longest = longest or 0.4 * store.get(reference.id).seconds
    done, differences, phases, runs = 0, list[str](), Counter[str](), 0
    while done < kills or not runs:
        run, runs = store.create(config, "disturbed"), runs + 1
        while done < kills and kill_once(store, run, command, chance.uniform(0, longest), phases):
            done += 1
            differences += unreadable(RunFolder(run.folder))
        worker(store, run, command).wait()
        differences += compare(store, reference, store.get(run.id))
    seconds = round(time.monotonic() - started, 1)
    return {"kills": done, "runs": runs, "phases": dict(phases), "seconds": seconds, "differences": differences}


def worker(store: RunStore, run: RunRecord, command: Sequence[str]) -> subprocess.Popen[bytes]:
    """A worker on the run, as a process of its own."""
    with (run.folder / "worker.log").open("ab") as log:
        return subprocess.Popen([*command, run.id, "--root", str(store.root)], stdout=log, stderr=log, cwd=PROJECT)


def kill_once(store: RunStore, run: RunRecord, command: Sequence[str], after: float, phases: Counter[str]) -> bool:
    """Start a worker and kill it some time after it has claimed the run; False if the run was done by then."""
    attempts = store.get(run.id).attempts
    process = worker(store, run, command)
    while process.poll() is None and store.get(run.id).attempts == attempts:
        time.sleep(0.01)
    try:
        process.wait(timeout=after)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
    killed = process.wait() == -signal.SIGKILL
    record = store.get(run.id)
    if killed and record.state is RunState.LOST:
        phases[record.phase or "start"] += 1
    return killed


def unreadable(folder: RunFolder) -> list[str]:
    """Files under their final name that cannot be read."""
    found = []
    for file in folder.path.rglob("*.parquet"):
        try:
            pq.read_table(file)
        except Exception as error:
            found.append(f"{file.name} cannot be read: {error}")
    texts = [file for file in (folder.run_file, folder.results_file, folder.summary_file) if file.exists()]
    found += [f"{file.name} is cut short" for file in texts if not file.read_text("utf-8").endswith(("}\n", "]\n"))]
    return found


def compare(store: RunStore, reference: RunRecord, run: RunRecord) -> list[str]:
    """Everything in which the disturbed run differs from the undisturbed one."""
    if run.state is not RunState.DONE:
        return [f"The run ended as {run.state}: {run.error}"]
    ours, theirs = RunFolder(run.folder), RunFolder(reference.folder)
    return (
        _file_differences(ours, theirs) + _result_differences(ours, theirs) + _event_differences(store, reference, run)
    )


def _file_differences(ours: RunFolder, theirs: RunFolder) -> list[str]:
    names = {file.relative_to(theirs.path) for file in theirs.path.rglob("*.parquet")}
    others = {file.relative_to(ours.path) for file in ours.path.rglob("*.parquet")}
    found = [f"{name} is in one run only" for name in names ^ others]
    for name in sorted(names & others):
        one, other = (pq.read_table(folder.path / name).to_pandas() for folder in (ours, theirs))
        found += [] if one.equals(other) else [f"{name} differs"]
    models = [file.relative_to(theirs.path) for file in theirs.path.rglob("iteration-*.json")]
    found += [
        f"{name} differs" for name in models if (ours.path / name).read_text() != (theirs.path / name).read_text()
    ]
    return found


def _result_differences(ours: RunFolder, theirs: RunFolder) -> list[str]:
    one, other = (_timeless(folder.results()) for folder in (ours, theirs))
    return [f"results.json differs in {name}" for name in other if one.get(name) != other[name]]


def _timeless(value: Any) -> Any:
    """Results without times and memory, which vary between runs."""
    if isinstance(value, dict):
        left_out = ("seconds", "peak_rss_mb", "run")
        return {name: _timeless(one) for name, one in value.items() if name not in left_out}
    return [_timeless(one) for one in value] if isinstance(value, list) else value


def _event_differences(store: RunStore, reference: RunRecord, run: RunRecord) -> list[str]:
    events = store.events(run.id, limit=1_000_000)
    found = []
    if [event.sequence for event in events] != list(range(1, len(events) + 1)):
        found.append("sequence numbers have gaps")
    ours = Counter(key for event in events if (key := _identity(event.kind, event.record)))
    expected = store.events(reference.id, limit=1_000_000)
    theirs = Counter(key for event in expected if (key := _identity(event.kind, event.record)))
    found += [
        f"event {key} happened {ours[key]} times instead of {theirs[key]}"
        for key in ours | theirs
        if ours[key] != theirs[key]
    ]
    return found


def _identity(kind: str, record: dict[str, Any]) -> str | None:
    """What identifies an event; states and measured speeds are left out, since they differ between the two runs."""
    if kind in ("state", "speed"):
        return None
    parts = (record.get(name) for name in ("phase", "task", "method", "epoch", "iteration", "done"))
    return "/".join([kind, *(str(part) for part in parts if part is not None)])


if __name__ == "__main__":
    typer.run(main)
