"""How fast pairs become metrics, against a plain loop over the same scalar scorers, and how the cost grows.

    python benchmarks/metrics.py --data FOLDER --json

`speedup` is batched against plain on the same pairs in one run; `growth` is the cost per pair at the largest size
over the cost at the smallest, on random pairs of the folder's records.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

sys.path.insert(0, str(Path(__file__).parent.parent))  # run as a script from anywhere

from benchmarks.arguments import DataOption, JsonOption, report
from benchmarks.scalar_metrics import pair_metrics
from riskcore.data.pairs import Pairs
from riskcore.data.reading import open_data
from riskcore.data.schema import infer_types
from riskcore.metrics.matrix import MetricSpace

SIZES = (10_000, 30_000, 100_000, 300_000)


def main(
    data: DataOption,
    as_json: JsonOption = False,
    plain_pairs: Annotated[int, typer.Option(help="Pairs for the plain loop; 0 for all.")] = 0,
    repeats: Annotated[int, typer.Option(help="Runs of the batched code; the median counts.")] = 3,
) -> None:
    pairs = _all_pairs(data)
    tables = [pairs.left, pairs.right]
    space = MetricSpace.fit(infer_types(tables, pairs.left.attributes), tables)
    compile_seconds = _seconds(space, pairs.take(slice(0, 100)))
    batched = float(np.median([_seconds(space, pairs) for _ in range(repeats)]))
    plain, worst = _plain_loop(space, pairs.take(slice(0, plain_pairs or None)))
    growth = {size: _seconds(space, _random_pairs(pairs, size)) / size for size in SIZES}
    report(
        {
            "pairs": len(pairs),
            "metrics": len(space.metrics),
            "batched_seconds": batched,
            "pairs_per_second": len(pairs) / batched,
            "microseconds_per_pair": 1e6 * batched / len(pairs),
            "plain_microseconds_per_pair": 1e6 * plain,
            "speedup": plain * len(pairs) / batched,
            "largest_difference": worst,
            "compile_seconds": compile_seconds,
            "microseconds_per_pair_by_size": {size: 1e6 * cost for size, cost in growth.items()},
            "growth": growth[SIZES[-1]] / growth[SIZES[0]],
        },
        as_json,
    )


def _all_pairs(path: Path) -> Pairs:
    data = open_data(path)
    parts = list(data.splits.values())
    rows = [np.concatenate([getattr(part, side) for part in parts]) for side in ("left_rows", "right_rows", "ids")]
    return Pairs(data.left, data.right, *rows)


def _random_pairs(pairs: Pairs, size: int) -> Pairs:
    """Random pairs of the records in the folder's candidate pairs, so that values are as long as there."""
    rng = np.random.default_rng(size)
    left, right = rng.choice(pairs.left_rows, size), rng.choice(pairs.right_rows, size)
    return Pairs(pairs.left, pairs.right, left, right, np.arange(size).astype(str).astype(object))


def _seconds(space: MetricSpace, pairs: Pairs) -> float:
    start = time.perf_counter()
    space.transform(pairs)
    return time.perf_counter() - start


def _plain_loop(space: MetricSpace, pairs: Pairs) -> tuple[float, float]:
    """Seconds per pair of the plain loop, and the largest difference between its values and the batched ones."""
    records = [pairs.record(pair) for pair in range(len(pairs))]
    start = time.perf_counter()
    rows = [pair_metrics(space, left, right) for left, right in records]
    seconds = (time.perf_counter() - start) / len(pairs)
    batched = space.transform(pairs).values[:, : len(rows[0])]  # without leads, which need the whole tables
    difference = np.abs(np.round(np.array(rows, dtype=float), 4) - batched)
    return seconds, float(np.nanmax(difference))


if __name__ == "__main__":
    typer.run(main)
