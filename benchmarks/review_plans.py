"""How often the intervals of a review plan hold what the review then finds, on finished runs whose truth is known.

    python benchmarks/review_plans.py RUNS [--reviews 400] [--methods risk+ tradition]

Each simulated review is of a random half of a run's target pairs, before any verdict and after an audit of 200 of them.
Planned are the errors in the next 20 to 500 pairs and F1 after them, the riskiest pairs first. Prints a line for each
run, method and number of verdicts: how often either interval held, in percent, and half the width of that of errors.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from riskcore.audit.estimate import StratumCounts, audit_design, next_pairs
from riskcore.audit.estimate.planner import DRAWS, review_curve
from riskcore.audit.estimate.recalibration import lines
from riskcore.audit.estimate.runs import labels_and_risk
from riskcore.runs.folder import RunFolder

SIZES = (20, 50, 100, 200, 500)
AUDITED = (0, 200)


def simulated(
    label: np.ndarray, risk: np.ndarray, truth: np.ndarray, audited: int, seed: int
) -> Iterator[tuple[int, bool, bool, float]]:
    """By size: whether the errors and F1 were in their intervals, and half the width of that of errors."""
    rows = np.random.default_rng(seed).permutation(len(label))[: len(label) // 2]
    known = drawn(label[rows], risk[rows], audited, seed) if audited else np.empty(0, dtype=np.int64)
    known, left = rows[known], np.delete(rows, known)
    told = lines(risk[known], label[known] != truth[known], DRAWS, seed)
    matches = int((truth[known] == 1).sum())
    plans = review_curve(label[left], risk[left], SIZES, {}, told, reviewed_matches=matches, seed=seed)
    order = left[np.argsort(-risk[left], kind="stable")]
    for plan in plans[: len(SIZES)]:
        first, rest = order[: plan.reviewed], order[plan.reviewed :]
        decided = np.concatenate([truth[known], truth[first], label[rest]])
        real = np.concatenate([truth[known], truth[first], truth[rest]])
        f1 = 2 * int((decided & real).sum()) / max(int(decided.sum() + real.sum()), 1)
        yield (
            plan.reviewed,
            int((label[first] != truth[first]).sum()) in plan.errors,
            f1 in plan.f1,
            plan.errors.half_width,
        )


def drawn(label: np.ndarray, risk: np.ndarray, size: int, seed: int) -> np.ndarray:
    """The pairs of an audit's first draw."""
    strata = audit_design(label, risk)
    sides = zip(strata.side.tolist(), strata.pairs.tolist(), strata.risk.tolist(), strict=True)
    counts = [StratumCounts(*one) for one in sides]
    return next_pairs(strata, counts, np.zeros(len(label), dtype=bool), size, seed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, help="a folder of finished runs with truth")
    parser.add_argument("--reviews", type=int, default=400)
    parser.add_argument("--methods", nargs="*", default=["risk+", "tradition"])
    asked = parser.parse_args()
    print("| target | labels | verdicts before |" + "".join(f" next {n} |" for n in SIZES))
    print("|---" * (3 + len(SIZES)) + "|")
    for path in sorted(asked.runs.glob("*/results.json")):
        folder = RunFolder(path.parent)
        truth = pq.read_table(folder.truth_file).column("label").to_numpy().astype(np.int8)
        for method in asked.methods:
            label, risk = labels_and_risk(folder, method)
            for audited in AUDITED:
                found = [list(simulated(label, risk, truth, audited, seed)) for seed in range(asked.reviews)]
                held = np.array([[one[1:] for one in row] for row in found]).mean(0)
                cells = "".join(f" {100 * e:.0f}, {100 * f:.0f} (±{width:.0f}) |" for e, f, width in held)
                print(f"| {folder.run()['name']} | {method} | {audited} |{cells}", flush=True)


if __name__ == "__main__":
    main()
