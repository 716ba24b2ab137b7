"""How often the 95 % intervals of F1 and of its change hold the true value, on simulated independent pairs.

python benchmarks/intervals.py [--json] [--samples 4000] [--seed 0]
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from riskcore.evaluation import f1_change_interval
from riskcore.evaluation.scores import Confusion

MATCHES = (27, 108, 1000)  # a quarter of the pairs
F1 = (0.7, 0.8, 0.9, 0.95, 0.98, 0.99)
MISSED = (0.2, 0.5, 0.8)  # share of the errors that are missed matches
# Recall and false positive rate before; shares of the errors fixed; shares of matches and non-matches broken.
CHANGES = (
    (0.6, 0.1, 0.6, 0.02, 0.01),
    (0.8, 0.05, 0.5, 0.02, 0.01),
    (0.9, 0.03, 0.5, 0.03, 0.01),
    (0.9, 0.03, 0.2, 0.02, 0.007),
    (0.95, 0.01, 0.5, 0.01, 0.005),
    (0.97, 0.01, 0.5, 0.01, 0.003),
)


def f1_coverage(matches: int, f1: float, missed: float, samples: int, chance: np.random.Generator) -> float:
    errors = 2 * (1 - f1) / (f1 + 2 * missed * (1 - f1))  # per match
    shares = np.array([1 - missed * errors, (1 - missed) * errors, missed * errors]) / 4
    drawn = chance.multinomial(4 * matches, [*shares, 1 - shares.sum()], size=samples)
    counts, times = np.unique(drawn, axis=0, return_counts=True)
    found = [Confusion(*row).f1_interval() for row in counts.tolist()]
    hits = sum(int(n) for ends, n in zip(found, times, strict=True) if ends and ends[0] <= f1 <= ends[1])
    return hits / samples


def change_coverage(matches: int, change: tuple[float, ...], samples: int, chance: np.random.Generator) -> float:
    recall, alarms, fixed, lost, raised = change
    of_others = np.array([(1 - alarms) * (1 - raised), (1 - alarms) * raised, alarms * fixed, alarms * (1 - fixed)])
    of_matches = np.array([(1 - recall) * (1 - fixed), (1 - recall) * fixed, recall * lost, recall * (1 - lost)])
    shares = np.concatenate([0.75 * of_others, 0.25 * of_matches])  # by truth, label before, label after
    cells, hits = shares.reshape(2, 2, 2), 0
    before, after = (2 * of[1, 1] / (2 * of[1, 1] + of[0, 1] + of[1, 0]) for of in (cells.sum(2), cells.sum(1)))
    for seed, counts in enumerate(chance.multinomial(4 * matches, shares, size=samples)):
        truth, was, now = (np.repeat(np.arange(8) >> bit & 1, counts) for bit in (2, 1, 0))
        ends = f1_change_interval(truth, was, now, seed=seed)
        hits += ends is not None and ends[0] <= after - before <= ends[1]
    return hits / samples


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--samples", type=int, default=4000, help="samples per setting; a quarter for changes")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    chance, rows = np.random.default_rng(asked.seed), []
    for matches in MATCHES:
        settings = itertools.product(F1, MISSED)
        of_f1 = [f1_coverage(matches, *setting, asked.samples, chance) for setting in settings]
        of_change = [change_coverage(matches, change, max(asked.samples // 4, 1), chance) for change in CHANGES]
        for what, found in (("F1", of_f1), ("change of F1", of_change)):
            row: dict[str, Any] = {"interval": what, "matches": matches, "mean": float(np.mean(found))}
            rows.append({**row, "lowest": min(found), "highest": max(found)})
    if asked.json:
        print(json.dumps({"samples": asked.samples, "seed": asked.seed, "coverage": rows}))
        return
    for row in rows:
        print("{interval:>12}  {matches:>5} matches  mean {mean:.3f}  {lowest:.3f} to {highest:.3f}".format(**row))


if __name__ == "__main__":
    main()
