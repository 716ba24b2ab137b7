"""What verdicts on the riskiest pairs are worth for the pairs that are left, on runs whose truth is known.

A reviewer judges the riskiest pairs of a run, without mistakes. Then 100 more: in the run's order, in that of one
refit, and with a refit after every ten verdicts, as the queue does by itself.

    python benchmarks/feedback.py RUN_FOLDER ... [--methods risk+,tradition]
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from riskcore.audit.feedback import EVERY, read_metrics
from riskcore.evaluation import measure_calibration
from riskcore.risk import auroc
from riskcore.risk.verdict_refit import refit_risk
from riskcore.runs.folder import RunFolder
from riskcore.runs.formats import read_scores
from riskcore.runs.readers.label_rankings import read_columns, read_risks

JUDGED = (50, 100, 200)
NEXT = 100
HEAD = (
    "| run, method | wrong labels | judged | found in the next 100: run | one refit | refit every 10 "
    "| AUROC of the rest: run | refit | ECE, %: run | refit | errors expected in the next 100 (refit) |"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--methods", default="risk+,tradition")
    options = parser.parse_args()
    print(HEAD)
    print("|" + "---|" * (HEAD.count("|") - 1))
    for path in options.runs:
        for method in options.methods.split(","):
            simulate(RunFolder(path), method)


def simulate(folder: RunFolder, method: str) -> None:
    """Print a row for each number of verdicts."""
    truth = read_scores(folder.truth_file, ("label",))["label"]
    label = (read_columns(folder.final_file)[method] >= 0.5).astype(np.int8)
    risk, metrics, wrong = read_risks(folder)[method], read_metrics(folder), truth != label
    name = f"{folder.run()['name']}, {folder.run()['counts']['validation']:,} labels, `{method}`"
    order = np.argsort(-risk, kind="stable")
    for judged in JUDGED:
        rows, rest = np.sort(order[:judged]), order[judged:]
        again = refit_risk(risk, label, metrics, rows, truth[rows]).risk
        first = rest[np.argsort(-again[rest], kind="stable")][:NEXT]
        figures = [
            str(int(wrong[rest[:NEXT]].sum())),
            str(int(wrong[first].sum())),
            str(found_step_by_step(risk, label, metrics, truth, rows)),
            *(area(one[rest], wrong[rest]) for one in (risk, again)),
            *(calibration_error(one[rest], wrong[rest]) for one in (risk, again)),
            f"{again[first].sum():.0f}",
        ]
        print(f"| {name} | {int(wrong.sum())} | {judged} | {' | '.join(figures)} |", flush=True)


def calibration_error(risk: np.ndarray, wrong: np.ndarray) -> str:
    found = measure_calibration(wrong.astype(np.int8), risk).ece
    return "–" if found is None else f"{100 * found:.2f}"


def area(risk: np.ndarray, wrong: np.ndarray) -> str:
    found = auroc(risk, wrong)
    return "–" if found is None else f"{found:.3f}"


def found_step_by_step(
    risk: np.ndarray, label: np.ndarray, metrics: np.ndarray, truth: np.ndarray, rows: np.ndarray
) -> int:
    """Errors among the next 100 reviews where the queue is ranked again after every ten."""
    start = len(rows)
    while len(rows) < start + NEXT:
        again = refit_risk(risk, label, metrics, rows, truth[rows]).risk
        again[rows] = -1
        rows = np.sort(np.concatenate([rows, np.argsort(-again, kind="stable")[:EVERY]]))
    before = np.argsort(-risk, kind="stable")[:start]
    new = np.setdiff1d(rows, before)
    return int((truth[new] != label[new]).sum())


def seconds(pairs: int, verdicts: int, metrics: int = 60) -> float:
    """How long a refit takes."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(pairs, metrics)).astype(np.float32)
    label, rows = rng.integers(0, 2, pairs), rng.permutation(pairs)[:verdicts]
    started = time.perf_counter()
    refit_risk(rng.uniform(0.001, 0.6, pairs), label, values, rows, rng.integers(0, 2, verdicts))
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
    for size in (10_000, 100_000):
        print(f"{size:,} pairs, 200 verdicts: {seconds(size, 200):.2f} s; 1,000: {seconds(size, 1000):.2f} s")
