"""How fast one-sided rules are found, compared with one decision stump per candidate, and whether the rules agree.

    python benchmarks/rules.py --data FOLDER --depth 2 --reference PATH --json

The reference is a Python file with `search(X, y, depth)` that returns {(fired rows as bytes, outcome): conditions}.
Without it only our own time is measured. `--dump DIR` writes metrics.npz (X, y) and the rows each rule fires on.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

sys.path.insert(0, str(Path(__file__).parent.parent))  # run as a script from anywhere

from benchmarks.arguments import DataOption, JsonOption, report
from riskcore.config import RuleConfig
from riskcore.data.reading import open_data
from riskcore.data.schema import infer_types
from riskcore.metrics.matrix import MetricSpace
from riskcore.metrics.values import MetricMatrix
from riskcore.rules.firing import fire
from riskcore.rules.generation import extract, prune
from riskcore.rules.rule import MATCH
from riskcore.rules.rule_set import RuleSet


def main(
    data: DataOption,
    depth: Annotated[int, typer.Option(help="Conditions in a rule.")] = 2,
    reference: Annotated[Path | None, typer.Option(help="A Python file with search(X, y, depth).")] = None,
    dump: Annotated[Path | None, typer.Option(help="Write metrics.npz and fired rows here.")] = None,
    repeats: Annotated[int, typer.Option(help="Runs of our search; the median counts.")] = 3,
    as_json: JsonOption = False,
) -> None:
    matrix, labels = _training_metrics(data)
    config = RuleConfig(depth=depth, match_impurity=0.1, non_match_impurity=0.1)  # as published
    extract(MetricMatrix(matrix.values[:50], matrix.metrics), labels[:50], config)  # compile
    seconds = float(np.median([_timed(lambda: extract(matrix, labels, config))[0] for _ in range(repeats)]))
    found = extract(matrix, labels, config)
    results: dict[str, Any] = {
        "pairs": len(matrix),
        "metrics": len(matrix.metrics),
        "depth": depth,
        "rules": len(found),
        "rules_after_pruning": len(prune(found)),
        "seconds": seconds,
    }
    if reference:
        theirs_seconds, theirs = _timed(lambda: _search_of(reference)(matrix.values, labels, depth))
        results |= {
            "reference_rules": len(theirs),
            "reference_seconds": theirs_seconds,
            "same_rules": set(theirs) == _fired_sets(found, matrix),
            "speedup": theirs_seconds / seconds,
        }
    if dump:
        _dump(dump, matrix, labels, found)
    report(results, as_json)


def _training_metrics(path: Path) -> tuple[MetricMatrix, np.ndarray]:
    data = open_data(path)
    tables = [data.left, data.right]
    space = MetricSpace.fit(infer_types(tables, data.left.attributes), tables)
    train = data.splits["train"]
    return space.transform(train), train.labels


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def _search_of(path: Path) -> Callable[..., dict[tuple[bytes, int], Any]]:
    spec = importlib.util.spec_from_file_location("reference", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise typer.BadParameter(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.search


def _fired_sets(found: RuleSet, matrix: MetricMatrix) -> set[tuple[bytes, int]]:
    fired = fire(found.rules, matrix).tocsc()
    columns = (np.ascontiguousarray(fired[:, [n]].toarray().ravel()).tobytes() for n in range(len(found)))
    return {(rows, int(rule.outcome == MATCH)) for rows, rule in zip(columns, found.rules, strict=True)}


def _dump(folder: Path, matrix: MetricMatrix, labels: np.ndarray, found: RuleSet) -> None:
    """metrics.npz with X and y; rules.jsonl with one rule a line: text, outcome, conditions, rows fired on."""
    folder.mkdir(parents=True, exist_ok=True)
    np.savez(folder / "metrics.npz", X=matrix.values, y=labels, metrics=[metric.key for metric in matrix.metrics])
    fired = fire(found.rules, matrix).tocsc()
    with (folder / "rules.jsonl").open("w", encoding="utf-8") as out:
        for number, rule in enumerate(found.rules):
            rows = fired.indices[fired.indptr[number] : fired.indptr[number + 1]]
            out.write(json.dumps({**rule.to_json(), "text": rule.text, "rows": sorted(rows.tolist())}) + "\n")


if __name__ == "__main__":
    typer.run(main)
