"""A finished run made up in a moment, of any size, with the files and columns of a real one."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
from scipy import sparse

from riskcore.columns import SUMMARY_COLUMNS
from riskcore.config import RunConfig
from riskcore.evaluation import score_method
from riskcore.metrics.kinds import Metric
from riskcore.metrics.values import MetricMatrix
from riskcore.pair_ids import pair_id
from riskcore.risk import auroc, prior_model
from riskcore.risk.model import RiskModel
from riskcore.rules.firing import fire
from riskcore.rules.rule import Rule
from riskcore.rules.rule_set import RuleSet
from riskcore.runs import RunFolder, RunRecord, RunState, RunStore
from riskcore.runs.formats import FORMAT
from riskcore.runs.readers.label_rankings import all_label_rankings, shared_input
from riskcore.runs.readers.method_comparison import compare_methods
from riskcore.runs.sheet_files import write_sheets
from riskcore.storage.files import write_json, write_parquet, write_text

ATTRIBUTES = ("title", "authors", "year")
KINDS = (("title", "jaccard"), ("title", "cosine"), ("authors", "elements"), ("year", "differs"), ("year", "gap"))
RULES = (
    "title word overlap is above 0.6 -> match",
    "title TF-IDF similarity is above 0.8 -> match",
    "authors element similarity is above 0.7 and title word overlap is above 0.4 -> match",
    "title word overlap is at most 0.2 -> non-match",
    "authors element similarity is at most 0.3 -> non-match",
    "year differs -> non-match",
    "year differs by more than 1.5 -> non-match",
    "title TF-IDF similarity is at most 0.25 and year differs -> non-match",
)
HOSTILE = (
    "<script>window.hacked = true</script><img src=x onerror=window.hacked=true>",
    "# heading **bold** [link](javascript:alert(1)) `code` :red[x] :material/home:",
    r"$\frac{1}{0}$ $$\sum$$ \begin{matrix}",
    "שלום עולם \u202eevil\u202c مرحبا",
    "x" * 100_000,
)
WORDS = tuple("adaptive entity matching risk learning deep robust query index stream graph record cache".split())  # noqa: SIM905


def write_run(
    root: Path,
    pairs: int = 200,
    iterations: int = 4,
    *,
    truth: bool = True,
    hostile: bool = False,
    state: RunState = RunState.DONE,
    name: str = "made up",
    methods: tuple[str, ...] = ("risk", "risk+"),
    seed: int = 0,
    more_rules: int = 0,
    more_methods: tuple[str, ...] = (),
    first_ids: tuple[tuple[str, str], ...] = (),
) -> RunRecord:
    """Create a run under the root and fill its folder. `first_ids` are the record ids of its first pairs."""
    store, chance = RunStore(root), np.random.default_rng(seed)
    record = store.create(RunConfig(source=str(root / "source"), target=str(root / "target")), name)
    folder = RunFolder(record.folder)
    labels = (chance.random(pairs) < 0.25).astype(np.int8)
    matrix = _metrics(labels, chance)
    rules = _rules(matrix, labels, (*RULES, *_more(more_rules)))
    fired = fire(rules.rules, matrix)
    ids = np.array([*(pair_id(*one) for one in first_ids), *(f"a{n}:b{n}" for n in range(len(first_ids), pairs))])
    _write_static(folder, ids, matrix, rules, fired, labels if truth else None, hostile, chance)
    rows = [
        row for m in methods for row in _write_method(folder, m, ids, rules, fired, labels, iterations, truth, chance)
    ]
    write_json(folder.summary_file, rows)
    _write_results(folder, record.id, ids, labels, rows, truth, chance, more_methods)
    told = folder.results()["methods"]
    rankings = all_label_rankings(folder, shared_input(folder, None), told)
    write_json(folder.comparison_file, compare_methods(folder, told, rankings, fired))
    store.claim(record.id)
    if state is not RunState.RUNNING:
        store.finish(
            record.id, state, None if state is RunState.DONE else "The disk is full. Make room and resume.", 42.0
        )
    return store.get(record.id)


def _metrics(labels: np.ndarray, chance: np.random.Generator) -> MetricMatrix:
    alike = np.clip(0.18 + 0.6 * labels[:, None] + chance.normal(0, 0.2, (len(labels), 3)), 0, 1)
    gap = np.where(labels == 1, chance.random(len(labels)) < 0.1, chance.random(len(labels)) < 0.8)
    years = gap * chance.integers(1, 9, len(labels))
    values = np.column_stack([alike, gap, years]).astype(np.float32).round(4)
    values[chance.random(len(labels)) < 0.05, 3:] = np.nan
    return MetricMatrix(values, tuple(Metric(*kind) for kind in KINDS))


def _more(count: int) -> list[str]:
    """Rules that differ in their cuts, as a real search finds them."""
    return [
        f"title word overlap is at most {0.1 + 0.3 * place / count:.5f} and year differs -> non-match"
        for place in range(count)
    ]


def _rules(matrix: MetricMatrix, labels: np.ndarray, texts: tuple[str, ...]) -> RuleSet:
    rules = tuple(dict.fromkeys(Rule.parse(text) for text in texts))
    fired = fire(rules, matrix)
    support = np.maximum(np.asarray(fired.sum(axis=0), dtype=np.int64), 1)
    return RuleSet(rules, support, np.asarray(fired.T.astype(np.int64) @ labels.astype(np.int64)))


def _write_static(
    folder: RunFolder,
    ids: np.ndarray,
    matrix: MetricMatrix,
    rules: RuleSet,
    fired: sparse.csr_array,
    truth: np.ndarray | None,
    hostile: bool,
    chance: np.random.Generator,
) -> None:
    rows = np.arange(len(ids), dtype=np.int64)
    document = {
        "format": FORMAT,
        "run": folder.path.name,
        "name": "made up",
        "attributes": [{"name": n, "type": "name" if n != "year" else "number"} for n in ATTRIBUTES],
        "counts": {"train": 1000, "valid": 200, "target": len(ids)},
        "labels_used": ["source", "validation"],
        "seed": 0,
        "notices": [],
    }
    write_json(folder.run_file, document)
    write_text(folder.rules_file, rules.to_json())
    columns = {metric.key: matrix.values[:, place] for place, metric in enumerate(matrix.metrics)}
    write_parquet(folder.metrics_file, pa.table(columns))
    write_parquet(folder.pairs_file, pa.table({"row": rows, "pair_id": ids, **_records(len(ids), hostile, chance)}))
    by_rule = fired.tocsc().tocoo()
    write_parquet(
        folder.fired_file, pa.table({"row": by_rule.row.astype(np.int64), "rule": by_rule.col.astype(np.int32)})
    )
    if truth is not None:
        write_parquet(folder.truth_file, pa.table({"row": rows, "label": truth}))


def _records(pairs: int, hostile: bool, chance: np.random.Generator) -> dict[str, np.ndarray]:
    words = np.array(WORDS)
    pick = [words[chance.integers(0, len(words), pairs)] for _ in range(6)]
    left = [f"{a} {b} {c}" for a, b, c in zip(*pick[:3], strict=True)]
    right = [f"{a} {b} {c}" for a, b, c in zip(pick[0], pick[1], pick[3], strict=True)]
    if hostile:
        left[: len(HOSTILE)], right[: len(HOSTILE)] = HOSTILE, HOSTILE[::-1]
    years = chance.integers(1990, 2025, pairs)
    return {
        "left_title": left,
        "left_authors": pick[4],
        "left_year": years.astype(str),
        "right_title": right,
        "right_authors": pick[5],
        "right_year": [None if year % 7 == 0 else str(year + 1) for year in years],
    }


def _write_method(
    folder: RunFolder,
    method: str,
    ids: np.ndarray,
    rules: RuleSet,
    fired: sparse.csr_array,
    labels: np.ndarray,
    iterations: int,
    truth: bool,
    chance: np.random.Generator,
) -> list[dict]:
    """Scores and models of every iteration; the matcher improves by a step in each."""
    noise = chance.normal(0, 0.35, len(ids))
    first, before, flips, rows = None, None, np.zeros(len(ids), dtype=np.int32), []
    for iteration in range(iterations):
        model = _model(rules, iteration)
        pull = 0.25 + 0.5 * iteration / max(iterations - 1, 1)
        probability = np.clip(0.3 + pull * (labels - 0.35) + noise, 0.001, 0.999)
        scores = model.score(probability, fired)
        now = np.asarray(scores.label, dtype=np.int8)
        first, before = (now, now) if first is None else (first, before)
        flips = flips + (now != before)
        names = ("probability", "label", "mu", "sigma", "var_match", "var_non_match", "risk")
        table = {"row": np.arange(len(ids)), "pair_id": ids, **{name: getattr(scores, name) for name in names}}
        table |= {"flipped": now != first, "from_label": before, "flips": flips}
        write_parquet(folder.scores_file(method, iteration), pa.table(table))
        write_text(folder.model_file(method, iteration), model.to_json())
        rows.append(_summary(method, iteration, scores, labels, first, before, truth))
        before = now
    _write_sheets(folder, method, iterations - 1, probability, rules, fired, chance)
    return rows


def _write_sheets(folder, method, iteration, probability, rules, fired, chance) -> None:
    """Balance sheets of two voices that add up to the log-odds of the last iteration."""
    pairs, subjects = len(probability), (*ATTRIBUTES, "the whole record", "other candidates", "the scores brought")
    total = np.log(probability) - np.log1p(-probability)
    cells = np.zeros((pairs, 2, 1 + len(subjects)))
    cells[:, 0, 1:5] = chance.normal(0, 1, (pairs, 4))
    cells[:, 1, 1:4] = chance.normal(0, 0.5, (pairs, 3))
    cells[:, 0, 0] = total - cells.sum(axis=(1, 2)) + 0.25
    towards = cells[:, :, 1:].sum(axis=1) * np.where(total >= 0, 1, -1)[:, None]
    by_metric = np.zeros((pairs, len(KINDS)))
    by_metric[:, :3] = cells[:, 1, 1:4]
    terms = [{"rule": number, "weight": 0.2, "mean": 0.9} for number in range(len(rules))]
    sheets = SimpleNamespace(
        subjects=subjects,
        total=total,
        offset=np.full(pairs, -0.25),
        spoken=np.column_stack([total, total / 2]),
        cells=cells,
        by_metric=by_metric,
        rule_factor=np.full(pairs, 0.5),
        alone=cells.sum(axis=1) - np.eye(1, 1 + len(subjects)) * 0.25 if method == "risk" else None,
        leading=towards.argmax(axis=1),
        against=towards.argmin(axis=1),
        stability=chance.random(pairs),
    )
    facts = {
        "format": 1,
        "method": method,
        "iteration": iteration,
        "pairs": pairs,
        "of": pairs,
        "subjects": list(subjects),
        "voices": ["matcher", "linear model"],
        "weights": [1.0, 0.5],
        "metrics": [f"{name}.{kind}" for name, kind in KINDS],
        "rules": terms,
        "resamples": 20,
    }
    write_sheets(folder, np.arange(pairs), sheets, facts)


def _model(rules: RuleSet, iteration: int) -> RiskModel:
    model = prior_model([rule.text for rule in rules.rules], rules.match_rate, rules.support)
    weights = {rule.text: 0.2 + 0.15 * min(place, 9) + 0.05 * iteration for place, rule in enumerate(rules.rules)}
    return model.with_rules(weights=weights)


def _summary(method, iteration, scores, labels, first, before, truth) -> dict:
    now, wrong = scores.label, scores.label != labels
    row = dict.fromkeys(SUMMARY_COLUMNS) | {
        "method": method,
        "iteration": iteration,
        "labels_used": ["source", "validation"],
        "validation_f1": 0.6 + 0.05 * iteration,
        "flips": int((now != before).sum()),
        "mean_risk": float(scores.risk.mean()),
        "match_rate": float(now.mean()),
        "seconds": 1.5,
    }
    if not truth:
        return row
    found = score_method(labels, scores.probability)
    return row | {
        **{name: found[name] for name in ("f1", "precision", "recall")},
        "fixed": int(((first != labels) & ~wrong).sum()),
        "broken": int(((first == labels) & wrong).sum()),
        "mispredicted": int(wrong.sum()),
        "auroc_risk": auroc(scores.risk, wrong),
        "auroc_confidence": auroc(-np.abs(scores.probability - 0.5), wrong),
    }


def _write_results(folder, run, ids, labels, rows, truth, chance, more) -> None:
    methods = {"tradition": ["source"], "risk": ["source", "validation"], "forest": ["source", "validation"]}
    methods |= {name: ["source"] for name in more}
    columns = {
        name: np.clip(labels * (0.4 + 0.1 * place) + chance.normal(0.3, 0.25, len(ids)), 0, 1)
        for place, name in enumerate(methods)
    }
    write_parquet(folder.final_file, pa.table({"row": np.arange(len(ids)), "pair_id": ids, **columns}))
    scored = {}
    for name, used in methods.items():
        found = score_method(labels if truth else None, columns[name])
        scored[name] = {key: found[key] for key in ("f1", "precision", "recall")} | {"labels_used": used}
    document = {
        "run": run,
        "seconds": {"metrics": 1.0, "rules": 2.0, "risk": 30.0, "total": 42.0},
        "methods": scored,
        "risk": {"auroc": 0.9, "rivals": {"confidence": 0.8}, "mispredicted": 12, "top_1000_hits": 12},
        "iterations": [row for row in rows if row["method"] == "risk"],
        "rules": len(RULES),
        "peak_rss_mb": 400,
    }
    write_json(folder.results_file, json.loads(json.dumps(document, default=float)))


def frame_of(folder: Path) -> pd.DataFrame:
    """All scores of the latest iteration, for comparing with what a screen shows."""
    return pd.read_parquet(sorted((folder / "scores").glob("iteration-*.parquet"))[-1])
