"""How well risk finds a matcher's mistakes, against confidence, ensemble uncertainty, trust score and static rules.

    python benchmarks/ranking.py --data ROOT --workload DA2DS --seeds 5 --json

ROOT holds a folder per data set. A workload is `SOURCE2TARGET` (all of the source; the target's valid and test), or
a data set with a split and a training share: `AB:2:2:6`, `DS:2:2:6:0.1`. The matcher is trained once per seed; the
ensemble of the uncertainty ranking is all seeds' matchers. Intervals are paired bootstraps, 95 %.
"""

from __future__ import annotations

import dataclasses
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

sys.path.insert(0, str(Path(__file__).parent.parent))  # run as a script from anywhere

from benchmarks.arguments import JsonOption, report
from riskcore.config import MatcherConfig, RunConfig
from riskcore.data.reading import open_data
from riskcore.data.workload import TargetTruth, Workload, build_workload
from riskcore.evaluation import confusion
from riskcore.matchers import create
from riskcore.risk import compare
from riskcore.risk.baselines import (
    Ranking,
    class_distances,
    confidence,
    learned_risk,
    static_rules,
    trust_score,
    uncertainty,
)
from riskcore.risk.fit import fit_risk_model
from riskcore.training.evidence import Evidence
from riskcore.training.gather import gather
from riskcore.training.listeners import ConsoleProgress
from riskcore.training.supervised import train_on_labels

CORA_NAMES = {"author": "authors"}  # the name in the other bibliographies


@dataclasses.dataclass(frozen=True, eq=False)
class Trained:
    """One seed: the evidence, the trained matcher's output on validation and target pairs, the truth."""

    evidence: Evidence
    validated: np.ndarray
    probability: np.ndarray
    truth: np.ndarray


def main(
    data: Annotated[Path, typer.Option("--data", help="A folder with a folder per data set.")],
    workload: Annotated[str, typer.Option(help="DA2DS, AB:2:2:6, DS:2:2:6:0.1 ...")] = "DA2DS",
    seeds: Annotated[int, typer.Option(help="Number of matchers to train, with seeds from 0.")] = 5,
    matcher: Annotated[str, typer.Option(help="A matcher's name.")] = "hybrid",
    as_json: JsonOption = False,
) -> None:
    config = RunConfig(matcher=MatcherConfig(kind=matcher))
    runs = [_train(data, workload, dataclasses.replace(config, seed=seed)) for seed in range(seeds)]
    rows = [_seed_row(runs, seed, config) for seed in range(seeds)]
    report({"workload": workload, "matcher": matcher, "mean": _means(rows), "seeds": rows}, as_json)


def _workload(root: Path, name: str, seed: int) -> tuple[Workload, TargetTruth]:
    source, _, rest = name.partition(":")
    if rest:
        *ratio, share = rest.split(":") if rest.count(":") == 3 else (*rest.split(":"), "1")
        return build_workload(open_data(root / source), split=":".join(ratio), train_fraction=float(share), seed=seed)
    source, _, target = name.partition("2")
    names = CORA_NAMES if source == "CORA" else {new: old for old, new in CORA_NAMES.items()}
    mapped = names if "CORA" in (source, target) else {}
    return build_workload(open_data(root / source), open_data(root / target), attribute_map=mapped, seed=seed)


def _train(root: Path, name: str, config: RunConfig) -> Trained:
    workload, truth = _workload(root, name, 0)  # the same pairs for every seed, so that matchers form an ensemble
    evidence = gather(workload, config)
    matcher = create(config.matcher, workload.attributes)
    train_on_labels(
        matcher,
        evidence.source.examples,
        evidence.validation.examples,
        seed=config.seed,
        listeners=[ConsoleProgress(sys.stderr)],
    )
    validated, probability = (matcher.predict_proba(part.examples) for part in (evidence.validation, evidence.target))
    return Trained(evidence, validated, probability, truth.labels)


def _seed_row(runs: list[Trained], seed: int, config: RunConfig) -> dict[str, Any]:
    run = runs[seed]
    label = run.probability >= 0.5
    started = time.perf_counter()
    rankings = _rankings(run, runs, config, seed)
    row: dict[str, Any] = {"f1": confusion(run.truth, label).f1, "wrong": int((label != run.truth).sum())}
    for one in compare(rankings, label != run.truth, config=config.risk, seed=seed):
        row[one.name] = {
            "auroc": one.auroc, "interval": one.interval, "lead": one.lead, "lead_interval": one.lead_interval,
            "errors_in_1000": one.errors_found.get(1000),
        }  # fmt: skip
    return {**row, "seconds": time.perf_counter() - started}


def _rankings(run: Trained, runs: list[Trained], config: RunConfig, seed: int) -> list[Ranking]:
    evidence, label = run.evidence, run.probability >= 0.5
    fired, validation = evidence.target.fired, evidence.validation
    model = fit_risk_model(evidence.prior, validation.fired, run.validated, validation.labels, config.risk, seed).model
    source = evidence.source
    distances = class_distances(source.metrics.values, source.labels, evidence.target.metrics.values, config.risk)
    rankings = [
        learned_risk(model, run.probability, fired),
        confidence(run.probability),
        static_rules(evidence.prior, run.probability, fired),
        trust_score(distances, label),
    ]
    if len(runs) > 1:
        rankings.append(uncertainty(np.vstack([one.probability for one in runs])))
    return rankings


def _means(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Mean AUROC of each ranking over the seeds, and how far risk leads it."""
    names = [name for name, value in rows[0].items() if isinstance(value, dict)]
    return {
        "f1": float(np.mean([row["f1"] for row in rows])),
        "auroc": {name: float(np.mean([row[name]["auroc"] for row in rows])) for name in names},
        "lead": {name: float(np.mean([row[name]["lead"] for row in rows])) for name in names[1:]},
        "lead_excludes_0": {name: all(row[name]["lead_interval"][0] > 0 for row in rows) for name in names[1:]},
    }


if __name__ == "__main__":
    typer.run(main)
