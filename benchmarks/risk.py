"""Time and memory of scoring, what-if and fitting, on synthetic pairs that are generated from a seed.

python benchmarks/risk.py [--json] [--pairs 1000000] [--rules 300] [--fired 10] [--seed 0]
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from riskcore.risk import RiskModel, explain_pairs, prior_model

REPEATS = 5


def firing(pairs: int, rules: int, fired: float, chance: np.random.Generator) -> sparse.csr_array:
    """About `fired` rules per pair, each rule as likely as any other."""
    counts = np.minimum(chance.poisson(fired, size=pairs), rules)
    pointers = np.concatenate([[0], np.cumsum(counts)])
    columns = chance.integers(rules, size=pointers[-1], dtype=np.int32)
    ones = np.ones(pointers[-1], dtype=np.uint8)
    matrix = sparse.csr_array((ones, columns, pointers.astype(np.int32)), shape=(pairs, rules))
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix


def synthetic_model(rules: int, chance: np.random.Generator) -> RiskModel:
    mean = np.where(chance.random(rules) < 0.5, chance.uniform(0, 0.1, rules), chance.uniform(0.9, 1, rules))
    return prior_model([f"rule {i}" for i in range(rules)], mean, chance.integers(5, 500, size=rules))


def seconds(work: Callable[[], Any]) -> dict[str, float]:
    """Median and worst of a few repetitions, the first included."""
    taken = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return {"median_s": statistics.median(taken), "worst_s": max(taken)}


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def bench_scoring(pairs: int, rules: int, fired: float, seed: int) -> dict[str, Any]:
    chance = np.random.default_rng(seed)
    model, matrix, x = synthetic_model(rules, chance), firing(pairs, rules, fired, chance), chance.beta(0.3, 0.3, pairs)
    before = peak_mb()
    scoring = seconds(lambda: model.score(x, matrix).top(1000))

    def what_if() -> np.ndarray:
        decided = model.with_rules(muted=model.rules[:3], pinned=model.rules[3:5], weights={model.rules[5]: 0.7})
        return decided.score(x, matrix).top(1000)

    rows = model.score(x, matrix).top(1000)
    return {
        "pairs": pairs,
        "rules": rules,
        "fired_per_pair": matrix.nnz / pairs,
        "score_and_top_1000": scoring,
        "what_if_and_top_1000": seconds(what_if),
        "explain_1000": seconds(lambda: explain_pairs(model, x[rows], matrix[rows])),
        "inputs_peak_mb": before,
        "peak_mb": peak_mb(),
    }


def bench_fit(pairs: int, rules: int, fired: float, seed: int) -> dict[str, Any]:
    """Validation pairs on which the rules are right more often than the matcher."""
    from riskcore.risk import fit_risk_model

    chance = np.random.default_rng(seed)
    model, matrix = synthetic_model(rules, chance), firing(pairs, rules, fired, chance)
    evidence = matrix @ (model.mean - 0.5) / np.maximum(matrix.sum(axis=1), 1)
    truth = (evidence + chance.normal(0, 0.05, pairs) > 0.1).astype(np.int8)
    x = np.clip(truth + chance.normal(0, 0.45, pairs), 0, 1)
    start = time.perf_counter()
    result = fit_risk_model(model, matrix, x, truth, seed=seed)
    return {
        "pairs": pairs,
        "rules": rules,
        "fired_per_pair": matrix.nnz / pairs,
        "mispredicted": int(((x >= 0.5) != truth).sum()),
        "seconds": time.perf_counter() - start,
        "steps": len(result.history),
        "first_loss": result.history[0]["ranking_loss"],
        "last_loss": result.history[-1]["ranking_loss"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one JSON document instead of lines")
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--rules", type=int, default=300)
    parser.add_argument("--fired", type=float, default=10)
    parser.add_argument("--validation-pairs", type=int, default=5000)
    parser.add_argument("--validation-rules", type=int, default=700)
    parser.add_argument("--validation-fired", type=float, default=25)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    results = {
        "scoring": bench_scoring(args.pairs, args.rules, args.fired, args.seed),
        "fit": bench_fit(args.validation_pairs, args.validation_rules, args.validation_fired, args.seed),
    }
    if args.json:
        print(json.dumps(results, indent=1))
        return
    for part, figures in results.items():
        for name, value in figures.items():
            print(f"{part}  {name}: {value}")


if __name__ == "__main__":
    main()
