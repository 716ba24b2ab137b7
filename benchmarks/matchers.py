"""F1 of matchers trained on labels, on public data sets.

    python benchmarks/matchers.py --data ROOT [--sets DA,DS,AB,IA] [--matchers attention,hybrid] [--wide]
                                  [--seeds 3] [--split 2:2:6] [--tune '{"epochs": 10}'] [--json]

ROOT holds a workload folder per set. Without `--split` the official parts are used: train on train, choose
the epoch on valid, report on test. Seconds are processor seconds of one training, prediction not included.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.metrics import f1_score

sys.path.insert(0, str(Path(__file__).parent.parent))  # run as a script from anywhere

from riskcore.config import MatcherConfig, TuneConfig
from riskcore.data.reading import open_data
from riskcore.data.workload import TargetTruth, Workload, build_workload
from riskcore.matchers import Examples, create
from riskcore.metrics.matrix import MetricSpace
from riskcore.training.listeners import ConsoleProgress
from riskcore.training.supervised import train_on_labels

PUBLISHED = {"DA": 98.4, "DS": 94.7, "AB": 62.8, "IA": 88.0}  # DeepMatcher, official splits


def with_metrics(workload: Workload) -> list[np.ndarray]:
    """Metrics of source, validation and target pairs."""
    tables = (workload.source.left, workload.source.right, workload.target.left, workload.target.right)
    space = MetricSpace.fit(workload.attributes, tables)
    return [space.transform(pairs).values for pairs in (workload.source, workload.validation, workload.target)]


def one_training(
    workload: Workload, truth: TargetTruth, metrics: list, config: MatcherConfig, tune: TuneConfig, seed: int
) -> tuple[float, float]:
    """Test F1 in percent, and processor seconds of training."""
    parts = (workload.source, workload.validation, workload.target)
    train, validation, test = (Examples(pairs, values) for pairs, values in zip(parts, metrics, strict=True))
    matcher = create(config, workload.attributes)
    started = time.process_time()
    train_on_labels(matcher, train, validation, config=tune, seed=seed, listeners=[ConsoleProgress(sys.stderr)])
    seconds = time.process_time() - started
    return 100 * float(f1_score(truth.labels, matcher.predict_proba(test) >= 0.5)), seconds


def measure(options: argparse.Namespace) -> list[dict]:
    rows = []
    for name in options.sets.split(","):
        workload, truth = build_workload(open_data(options.data / name), split=options.split)
        metrics = with_metrics(workload) if options.wide else [None] * 3
        for kind in options.matchers.split(","):
            config = MatcherConfig.from_dict({"kind": kind, "wide": options.wide, **json.loads(options.matcher)})
            tune = TuneConfig.from_dict(json.loads(options.tune))
            runs = [one_training(workload, truth, metrics, config, tune, seed) for seed in range(options.seeds)]
            rows.append(_row(name, kind, options, runs))
            if not options.json:
                print(_line(rows[-1]), flush=True)
    return rows


def _row(name: str, kind: str, options: argparse.Namespace, runs: list[tuple[float, float]]) -> dict:
    scores, seconds = zip(*runs, strict=True)
    return {
        "set": name,
        "matcher": kind,
        "wide": options.wide,
        "split": options.split or "official",
        "f1": float(np.mean(scores)),
        "f1_by_seed": list(scores),
        "seconds": float(np.mean(seconds)),
        "published": None if options.split else PUBLISHED.get(name),
    }


def _line(row: dict) -> str:
    by_seed = " ".join(f"{score:.1f}" for score in row["f1_by_seed"])
    wide, published = "wide" if row["wide"] else "", row["published"] or "-"
    return (
        f"{row['set']:5s} {row['matcher']:10s} {wide:4s} {row['split']:8s} F1 {row['f1']:5.1f}  ({by_seed})  "
        f"published {published}  {row['seconds']:.0f} s"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", default="DA,DS,AB,IA")
    parser.add_argument("--matchers", default="attention,hybrid")
    parser.add_argument("--wide", action="store_true", help="metrics into the head")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--split", help="pool all pairs and split again, for example 2:2:6")
    parser.add_argument("--matcher", default="{}", help="further MatcherConfig settings, as JSON")
    parser.add_argument("--tune", default="{}", help="TuneConfig settings, as JSON")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = measure(options)
    if options.json:
        print(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
