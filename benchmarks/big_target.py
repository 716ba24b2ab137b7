"""Adapting on a sample of a large target: what it costs in F1, and what a million pairs take.

    python benchmarks/big_target.py quality --source DA --target DS --sample 1500
    python benchmarks/big_target.py size --pairs 1000000

`quality` adapts to all pairs and to a sample of them, and compares the F1 of `risk` and `risk+` over all target pairs.
Both start from the same trained matcher, which does not depend on the target pairs. `--full RUN` takes a finished run
on all pairs instead of making one. `size` generates a shifted bibliography of any size without labels but for a hundred
validation pairs, and runs on it with the default sample: seconds by phase, processor time, and memory at most.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import json
import resource
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from riskcore.blocking import block
from riskcore.config import BlockConfig, MatcherConfig, RunConfig, TuneConfig
from riskcore.data import find_sample
from riskcore.data.pairs import Table
from riskcore.evaluation.truth_scorer import TruthScorer
from riskcore.runs.bundle import contents
from riskcore.runs.folder import RunFolder
from riskcore.runs.store.run_store import RunStore
from riskcore.runs.worker.execute import execute, load_data
from riskcore.scale.score import score
from riskcore.scale.whole_target import scored_labels
from riskcore.storage.arrays import read_arrays
from riskcore.training.experiment import run_experiment

METHODS = ("risk", "risk+")
VALIDATION = 100  # labelled pairs of the generated target


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("quality", "size"))
    parser.add_argument("--source", type=Path)
    parser.add_argument("--target", type=Path)
    parser.add_argument("--map", action="append", default=[], metavar="SOURCE=TARGET")
    parser.add_argument("--split")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--floor", type=float)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--full", type=Path, help="the folder of a finished run on all pairs")
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--runs", type=Path, default=Path(tempfile.gettempdir()) / "big-target")
    asked = parser.parse_args()
    print(json.dumps(quality(asked) if asked.what == "quality" else size(asked), indent=2))


def quality(asked: argparse.Namespace) -> dict[str, Any]:
    """F1 over all target pairs, adapted to all of them and to a sample."""
    config = RunConfig(
        source=str(asked.source),
        target=None if asked.target is None else str(asked.target),
        attribute_map=tuple(asked.map),
        split=asked.split,
        methods=("tradition", *METHODS),
        seed=asked.seed,
    )
    full = asked.full or _run(asked.runs, _sampled(config, 0, None))[0]
    full = RunFolder(full)
    started = time.process_time()
    weights = read_arrays(full.bundle / contents.MATCHERS / f"{contents.START}.safetensors")
    engine = functools.partial(run_experiment, trained=weights)
    path, _ = _run(asked.runs, _sampled(config, asked.sample, asked.floor), engine)
    folder = RunFolder(path)
    results, before = folder.results(), full.results()
    assert results is not None
    assert before is not None
    assert results["target"] is not None
    truth = TruthScorer(load_data(config)[1].labels)
    found: dict[str, Any] = {"sample": results["target"]["sample"], "pairs": results["target"]["pairs"]}
    for method in METHODS:
        labels = _labels(folder, method)
        scores = truth.scores(labels)
        was = before["methods"][method]["f1"]
        found[method] = {
            "adapted to all": _percent(was),
            "adapted to a sample": _percent(scores["f1"]),
            "difference": round(_percent(scores["f1"]) - _percent(was), 2),
            "kept iteration": folder.kept(method),
        }
    cpu = round(time.process_time() - started, 1)
    return {**found, "seconds": results["seconds"], "cpu_seconds": cpu, "run": str(path), "full": str(full.path)}


def _labels(folder: RunFolder, method: str) -> np.ndarray:
    """The method's labels of all pairs."""
    return scored_labels(score(folder, folder.path / "scored" / method, folder.target_pairs_file, method=method).folder)


def _sampled(config: RunConfig, sample: int | None, floor: float | None) -> RunConfig:
    floor = config.adapt.sample_floor if floor is None else floor
    return dataclasses.replace(
        config, adapt=dataclasses.replace(config.adapt, target_sample=sample, sample_floor=floor)
    )


def _run(root: Path, config: RunConfig, engine: Any = None) -> tuple[Path, Any]:
    store = RunStore(root)
    run = store.create(config, "big target")
    print(f"run {run.id} in {run.folder}", file=sys.stderr)
    return run.folder, execute(store, run.id, engine=engine)


def _percent(share: float | None) -> float:
    assert share is not None
    return round(100 * share, 2)


def size(asked: argparse.Namespace) -> dict[str, Any]:
    """A run on a generated target of that many pairs."""
    target = asked.target or asked.runs / f"target-{asked.pairs}"
    if not target.exists():
        _generate(target, asked.pairs, asked.seed)
    tune = TuneConfig() if asked.epochs is None else TuneConfig(epochs=asked.epochs)
    config = RunConfig(
        source=str(find_sample("bibliography_clean").path),
        target=str(target),
        methods=("tradition", *METHODS),
        seed=asked.seed,
        tune=tune,
        matcher=MatcherConfig(),
    )
    config = _sampled(config, asked.sample, asked.floor)
    started, spent = time.monotonic(), _cpu()
    path, results = _run(asked.runs, config)
    return {
        "target": results.get("target"),
        "seconds": results["seconds"],
        "wall_seconds": round(time.monotonic() - started, 1),
        "cpu_seconds": round(_cpu() - spent, 1),
        "peak_rss_mb": results["peak_rss_mb"],
        "run": str(path),
    }


def _cpu() -> float:
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def _generate(folder: Path, pairs: int, seed: int) -> None:
    """Two tables of a bibliography and its scraped copy, the best candidates between them, and a few labels: a pair is
    a match where both records were made from one paper."""
    sys.path.insert(0, str(Path(__file__).parent.parent / "sample_data"))
    from bibliography import indexed
    from papers import Press
    from scrape import scraped

    top = 10
    count, rng = 1 + 6 * pairs // (10 * top), Random(seed)  # the best of either side overlap
    press = Press(rng, teams=max(110, count // 60))
    papers: list[Any] = []
    while len(papers) < count:
        papers += rng.choice((press.single, press.single, press.single, press.versions, press.sequel))()
    papers = papers[:count]
    names = ["title", "authors", "venue", "year"]
    left = pd.DataFrame([indexed(paper) for paper in papers], columns=names).astype("str")
    right = pd.DataFrame([scraped(rng, paper, True) for paper in papers], columns=names).astype("str")
    tables = [
        Table(name, np.array([f"{name}{row}" for row in range(count)], dtype=object), values)
        for name, values in (("a", left), ("b", right))
    ]
    found = block(tables[0], tables[1], BlockConfig(top=top))
    _write(folder, tables, found.left_rows, found.right_rows, pairs, seed)


def _write(folder: Path, tables: list[Table], left: np.ndarray, right: np.ndarray, pairs: int, seed: int) -> None:
    folder.mkdir(parents=True)
    for name, table in zip(("tableA", "tableB"), tables, strict=True):
        values = table.values.copy()
        values.insert(0, "id", table.ids)
        values.to_parquet(folder / f"{name}.parquet", index=False)
    order = np.random.default_rng(seed).permutation(len(left))[: pairs + VALIDATION]
    frame = pd.DataFrame({"ltable_id": tables[0].ids[left[order]], "rtable_id": tables[1].ids[right[order]]})
    frame["label"] = (left[order] == right[order]).astype(int)
    frame[:VALIDATION].to_parquet(folder / "valid.parquet", index=False)
    frame[VALIDATION:].to_parquet(folder / "test.parquet", index=False)


if __name__ == "__main__":
    main()
