"""Time of paged reads over a synthetic run: a page, filters by rule, text and verdict, one pair, the rule table.

python benchmarks/queries.py [--pairs 1000000] [--rules 300] [--fired 10] [--seed 0] [--json]
"""

from __future__ import annotations

import dataclasses
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import typer
from scipy import sparse

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.arguments import JsonOption, report
from benchmarks.risk import firing
from riskcore.data.pairs import LabelledPairs, Pairs, Table
from riskcore.evaluation.truth_scorer import TruthScorer
from riskcore.matchers import Examples
from riskcore.metrics.kinds import Metric
from riskcore.metrics.values import MetricMatrix
from riskcore.risk import prior_model
from riskcore.rules.rule import Condition, Rule
from riskcore.rules.rule_set import RuleSet
from riskcore.runs import PairQuery, RunFolder, pair_detail, pair_history, query_pairs, rule_table
from riskcore.runs.evidence_files import write_evidence, write_pairs, write_truth
from riskcore.runs.formats import FORMAT
from riskcore.runs.worker.score_writer import ScoreWriter
from riskcore.storage.files import write_json
from riskcore.training.evidence import Evidence, EvidencePart
from riskcore.training.results import IterationRow, IterationScores

REPEATS = 5
ATTRIBUTES = ("title", "authors", "venue", "year")


def main(
    pairs: Annotated[int, typer.Option(help="Target pairs.")] = 1_000_000,
    rules: Annotated[int, typer.Option(help="Rules.")] = 300,
    fired: Annotated[float, typer.Option(help="Rules that fire on a pair, on average.")] = 10,
    seed: Annotated[int, typer.Option(help="Of the synthetic run.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Make a run and read from it."""
    with tempfile.TemporaryDirectory() as place:
        folder, took = RunFolder(place), time.perf_counter()
        synthetic_run(folder, pairs, rules, fired, np.random.default_rng(seed))
        found: dict[str, Any] = {"pairs": pairs, "made_in_seconds": round(time.perf_counter() - took, 1)}
        found["bytes"] = sum(file.stat().st_size for file in Path(place).rglob("*") if file.is_file())
        verdicts = {f"{row}:{row}": "match" for row in range(0, pairs, max(pairs // 1000, 1))}
        questions: dict[str, Callable[[], Any]] = {
            "first page": lambda: query_pairs(folder, PairQuery()),
            "last page": lambda: query_pairs(folder, PairQuery(page=10**9)),
            "flipped": lambda: query_pairs(folder, PairQuery(flipped=True)),
            "flipped back": lambda: query_pairs(folder, PairQuery(flipped_back=True)),
            "wrong": lambda: query_pairs(folder, PairQuery(wrong=True)),
            "rule": lambda: query_pairs(folder, PairQuery(rule=7)),
            "attribute": lambda: query_pairs(folder, PairQuery(attribute="year")),
            "text": lambda: query_pairs(folder, PairQuery(text="wavelet 4711")),
            "verdict": lambda: query_pairs(folder, PairQuery(verdict="match"), verdicts),
            "no verdict": lambda: query_pairs(folder, PairQuery(verdict="none"), verdicts),
            "all filters": lambda: query_pairs(folder, PairQuery(label=1, rule=7, flipped=True, risk_min=0.3)),
            "pair": lambda: pair_detail(folder, f"{pairs // 2}:{pairs // 2}"),
            "history": lambda: pair_history(folder, f"{pairs // 2}:{pairs // 2}"),
            "rule table": lambda: rule_table(folder),
        }
        found |= {f"seconds, {name}": timed(question) for name, question in questions.items()}
    report(found, as_json)


def timed(question: Callable[[], Any]) -> float:
    """Median of several calls, including the first: the files are in the system's cache either way."""
    times = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        question()
        times.append(time.perf_counter() - started)
    return round(statistics.median(times), 4)


def synthetic_run(folder: RunFolder, pairs: int, rules: int, fired: float, chance: np.random.Generator) -> None:
    """Two iterations over random pairs of random records."""
    table = _table(pairs, chance)
    rows = np.arange(pairs)
    target = Pairs(table, table, rows, rows, np.array([f"{row}:{row}" for row in rows], dtype=object))
    write_pairs(folder, target)
    truth = (chance.random(pairs) < 0.2).astype(np.int8)
    write_truth(folder, truth)
    matrix = firing(pairs, rules, fired, chance)
    found = _rules(rules)
    model = prior_model([rule.key for rule in found.rules], found.match_rate, found.support)
    metrics = MetricMatrix(chance.random((pairs, 20)).astype(np.float32), _metrics())
    labelled = LabelledPairs(table, table, rows, rows, target.ids, truth)
    part = _SyntheticPart(Examples(labelled), metrics, found, matrix=matrix)
    write_evidence(folder, Evidence(part, part, part, None, found, model))
    writer, probability = ScoreWriter(folder, target.ids, TruthScorer(truth)), chance.random(pairs)
    for iteration in range(2):
        scores = model.score(np.clip(probability + 0.1 * iteration, 0, 1), matrix)
        match_rate = float(scores.label.mean())
        row: IterationRow = {"iteration": iteration, "validation_f1": None, "match_rate": match_rate}
        writer.write(IterationScores("risk", iteration, scores, model, row))
    write_json(folder.run_file, {"format": FORMAT, "attributes": [{"name": name} for name in ATTRIBUTES]})


@dataclasses.dataclass(frozen=True, eq=False)
class _SyntheticPart(EvidencePart):
    """Pairs on which rules fire at random, not by their metrics."""

    matrix: sparse.csr_array = dataclasses.field(kw_only=True)

    @cached_property
    def fired(self) -> sparse.csr_array:
        return self.matrix


def _table(records: int, chance: np.random.Generator) -> Table:
    words = np.array(["wavelet", "query", "index", "stream", "graph", "join", "cache", "lock", "tree", "hash"])
    texts = {}
    for name in ATTRIBUTES:
        drawn = words[chance.integers(len(words), size=(3, records))]
        texts[name] = [
            f"{a} {b} {c} {n}" for a, b, c, n in zip(*drawn, chance.integers(10_000, size=records), strict=True)
        ]
    return Table("synthetic", np.arange(records).astype(str).astype(object), pd.DataFrame(texts, dtype="str"))


def _metrics() -> tuple[Metric, ...]:
    kinds = ("edit", "jaccard", "cosine", "containment", "lcs")
    return tuple(Metric(attribute, kind) for attribute in ATTRIBUTES for kind in kinds)


def _rules(count: int) -> RuleSet:
    metrics = _metrics()
    rules = tuple(
        Rule((Condition(metrics[n % 20].attribute, metrics[n % 20].kind, ">", (n + 1) / (count + 2)),), "match")
        for n in range(count)
    )
    return RuleSet(rules, np.full(count, 100), np.full(count, 95))


if __name__ == "__main__":
    typer.run(main)
