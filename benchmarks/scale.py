"""Scoring at size: pairs per second and core, memory, what a kill costs, and whether the labels stay the same.

python benchmarks/scale.py size --pairs 100000 --pairs 1000000 --pairs 10000000 [--run RUN] [--processes 2]
python benchmarks/scale.py labels RUN [RUN ...]
python benchmarks/scale.py kills --kills 10 [--run RUN] [--pairs 300000]

Without --run, a run of the bundled bibliographies is made first (a minute or two). `size` invents bibliographies as the
bundled ones were, 40 candidates for each record and side, blocked by riskcore itself; every size is scored by a command
of its own, whose memory is measured over all of its processes. `labels` scores each run's own target twice, with and
without leaving the matcher unasked, and compares both with `apply`.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import typer

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "sample_data")]

from benchmarks.arguments import JsonOption, report
from riskcore.apply.inputs import read_new
from riskcore.apply.records import Records
from riskcore.apply.scoring import score_pairs
from riskcore.blocking import block
from riskcore.columns import LEFT_ID, RIGHT_ID
from riskcore.config import BlockConfig, ScaleConfig
from riskcore.data.frames import table_from_frame
from riskcore.runs.bundle.read import open_bundle
from riskcore.runs.folder import RunFolder
from riskcore.scale.score import score

app = typer.Typer(add_completion=False)
COLUMNS = ("title", "authors", "venue", "year")
CANDIDATES = 40  # of each record
OWN_FILES = ("measured.json", "score.lock")  # of a folder of scored pairs: they tell how long it took
RunOption = Annotated[Path | None, typer.Option("--run", help="A finished run's folder.")]
WorkOption = Annotated[Path | None, typer.Option(help="Where to work; by default a folder that is removed at the end.")]


@app.command()
def size(
    pairs: Annotated[list[int], typer.Option(help="Pairs to score; repeatable.")],
    run: RunOption = None,
    processes: Annotated[int, typer.Option(help="Processes that score.")] = 2,
    work: WorkOption = None,
    as_json: JsonOption = False,
) -> None:
    """Score growing numbers of pairs."""
    with _workspace(work) as folder:
        chosen = run or _sample_run(folder)
        found: dict[str, Any] = {"load at the start": round(os.getloadavg()[0], 1), "processes": processes}
        for count in pairs:
            data = _bibliographies(folder / f"data-{count}", count)
            out = folder / f"scored-{count}"
            shutil.rmtree(out, ignore_errors=True)
            told, memory = _command(chosen, data, out, processes)
            measured, scored = told["measured"], told["pairs"]
            found[f"{scored:,} pairs"] = {
                "seconds": told["seconds"],
                "CPU seconds": measured["cpu_seconds"],
                "pairs per CPU second, in all": round(scored / measured["cpu_seconds"]),
                "pairs per second": round(scored / told["seconds"]),
                "memory of all processes, MB": round(memory),
                "matcher not asked, %": round(100 * told["unasked"] / scored, 1),
                "records": told["records"],
                "stored, MB": round(sum(file.stat().st_size for file in out.rglob("*") if file.is_file()) / 1e6),
            }
        report(found, as_json)


@app.command()
def labels(runs: list[Path], as_json: JsonOption = False) -> None:
    """Compare all labels of a run's target with those of `apply`, which asks the matcher about every pair."""
    found = {}
    for path in runs:
        run = RunFolder(path)
        with tempfile.TemporaryDirectory() as scratch:
            ids = pq.read_table(run.pairs_file, columns=[LEFT_ID, RIGHT_ID])
            pq.write_table(ids, Path(scratch) / "pairs.parquet")
            bundle = open_bundle(run)
            wanted = score_pairs(bundle, read_new(Path(scratch) / "pairs.parquet", Records(bundle)))
            row: dict[str, Any] = {"pairs": len(wanted)}
            for name, spare in (("spared", True), ("asked about all", False)):
                config = ScaleConfig(spare=spare)
                done = score(run, Path(scratch) / name, Path(scratch) / "pairs.parquet", config=config)
                answers = pq.read_table(done.folder.pairs_folder).to_pandas()
                row[f"{name}: other labels"] = int(((answers["label"] == 1) != wanted.matches).sum())
                exact = ~answers["bound"].to_numpy()
                away = np.abs(answers["probability"].to_numpy() - wanted.answers.probability)[exact]
                row[f"{name}: largest difference of an exact probability"] = float(away.max(initial=0.0))
                if spare:
                    row["matcher not asked, %"] = round(100 * done.facts["unasked"] / len(answers), 1)
                    lower = answers["risk"].to_numpy() < wanted.answers.risk - 1e-6
                    row["risks above what was said to be the most"] = int(lower.sum())
            found[run.run()["name"] or path.name] = row
    report(found, as_json)


@app.command()
def kills(
    kills: Annotated[int, typer.Option(help="Random moments at which the command is killed with all it started.")] = 10,
    pairs: Annotated[int, typer.Option(help="Pairs to score.")] = 300_000,
    run: RunOption = None,
    seed: Annotated[int, typer.Option(help="Of the moments.")] = 0,
    work: WorkOption = None,
    as_json: JsonOption = False,
) -> None:
    """Kill a scoring command again and again, and compare the bytes with one that was left alone."""
    draw = random.Random(seed)
    with _workspace(work) as folder:
        chosen = run or _sample_run(folder)
        data, whole, resumed = _bibliographies(folder / f"data-{pairs}", pairs), folder / "whole", folder / "resumed"
        for out in (whole, resumed):
            shutil.rmtree(out, ignore_errors=True)
        started = time.monotonic()
        _command(chosen, data, whole, 2)
        seconds, done, orphans = time.monotonic() - started, 0, 0
        for _ in range(kills):
            process = subprocess.Popen(_words(chosen, data, resumed, 2), stdout=subprocess.DEVNULL, cwd=ROOT)
            try:
                process.wait(draw.uniform(0.1, 0.6) * seconds)
                break  # it was done before
            except subprocess.TimeoutExpired:
                mine = _children(process.pid)
                process.send_signal(signal.SIGKILL)
                process.wait()
                done += 1
                orphans += len(_left(mine))
        _command(chosen, data, resumed, 2)
        same = _digests(whole) == _digests(resumed)
        report({"pairs": pairs, "kills": done, "processes left behind": orphans, "same bytes": same}, as_json)
    if not same or orphans:
        raise typer.Exit(1)


def _left(processes: list[int], seconds: float = 20.0) -> list[int]:
    """Those that do not end by themselves: one that is just starting finds out only then that it is alone."""
    end = time.monotonic() + seconds
    while (left := [one for one in processes if Path(f"/proc/{one}").exists()]) and time.monotonic() < end:
        time.sleep(0.5)
    return left


def _words(run: Path, data: Path, out: Path, processes: int) -> list[str]:
    options = ["--out", str(out), "--processes", str(processes), "--json"]
    return [sys.executable, "-m", "riskcore", "score", str(run), str(data), *options]


def _command(run: Path, data: Path, out: Path, processes: int) -> tuple[dict[str, Any], float]:
    """What the command tells, and the most memory that all of its processes had together, in MB: shared pages once."""
    process = subprocess.Popen(_words(run, data, out, processes), stdout=subprocess.PIPE, cwd=ROOT, text=True)
    assert process.stdout is not None
    most = 0.0
    while process.poll() is None:
        most = max(most, sum(_resident(one) for one in (process.pid, *_children(process.pid))))
        time.sleep(0.25)
    told = process.stdout.read()
    if process.returncode:
        raise typer.Exit(process.returncode)
    return json.loads(told), most / 1024


def _children(parent: int) -> list[int]:
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(parent)], capture_output=True, text=True, check=False)
    return [int(one) for one in found.stdout.split()]


def _resident(process: int) -> float:
    """Proportional set size in kB: what processes share counts in parts."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii").splitlines()
        return next(float(line.split()[1]) for line in lines if line.startswith("Pss:"))
    except (OSError, StopIteration):
        return 0.0


def _digests(folder: Path) -> dict[str, bytes]:
    files = [file for file in sorted(folder.rglob("*")) if file.is_file() and file.name not in OWN_FILES]
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def _bibliographies(folder: Path, pairs: int) -> Path:
    """Two tables and candidates of their records, about as many as wanted."""
    if (folder / "pairs.parquet").exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    records = max(200, pairs // CANDIDATES)
    left, right = _records(records)
    left.to_parquet(folder / "tableA.parquet", index=False)
    right.to_parquet(folder / "tableB.parquet", index=False)
    tables = [table_from_frame(name, frame, id="id") for name, frame in (("left", left), ("right", right))]
    config = BlockConfig(top=CANDIDATES // 2 + 5, max_per_record=CANDIDATES, threads=2)
    found = block(tables[0], tables[1], config)
    some = slice(0, pairs)
    ids = {LEFT_ID: tables[0].ids[found.left_rows[some]], RIGHT_ID: tables[1].ids[found.right_rows[some]]}
    pq.write_table(pa.table({name: pa.array(one, pa.string()) for name, one in ids.items()}), folder / "pairs.parquet")
    return folder


def _records(count: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A curated bibliography and what a scraper leaves of it, made as the bundled ones are."""
    from bibliography import indexed
    from papers import Press
    from scrape import scraped

    draw = random.Random(0)
    press = Press(draw, teams=max(110, count // 60))
    papers: list[Any] = []
    while len(papers) < count:
        papers += draw.choice((press.single, press.single, press.single, press.versions, press.sequel))()
    papers = papers[:count]
    left = pd.DataFrame([indexed(paper) for paper in papers], columns=COLUMNS)
    right = pd.DataFrame([scraped(draw, paper, True) for paper in papers], columns=COLUMNS)
    for name, frame in (("a", left), ("b", right)):
        frame.insert(0, "id", [f"{name}{row}" for row in range(count)])
    return left, right


def _sample_run(folder: Path) -> Path:
    """A run of the bundled bibliographies with `risk+`."""
    runs = folder / "runs"
    clean, scraped = (str(ROOT / "sample_data" / f"bibliography_{one}") for one in ("clean", "scraped"))
    command = [sys.executable, "-m", "riskcore", "run", "--source", clean, "--target", scraped, "--runs", str(runs)]
    command += ["--methods", "tradition,risk,risk+", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    return runs / json.loads(done.stdout)["run"]


@contextlib.contextmanager
def _workspace(given: Path | None) -> Iterator[Path]:
    """A folder to work in: the one that was given, or one that is removed at the end."""
    if given is not None:
        given.mkdir(parents=True, exist_ok=True)
        yield given
        return
    with tempfile.TemporaryDirectory() as made:
        yield Path(made)


if __name__ == "__main__":
    app()
