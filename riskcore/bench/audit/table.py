"""The table of simulated audits: coverage, error and width by set, labels, risk and number of verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypedDict

import numpy as np

from riskcore.audit.estimate.measures import MEASURES
from riskcore.audit.estimate.runs import labels_and_risk
from riskcore.bench.audit.simulate import (
    SIZES,
    WARPS,
    Intervals,
    Population,
    design_audits,
    random_audits,
    warped,
)
from riskcore.errors import ConfigError
from riskcore.runs.folder import RunFolder
from riskcore.storage.parquet import column_names, load_columns

TO_HALF_WIDTH = 0.02
STEPS = (50, 75, 100, 125, 150, 175, 200, 225, 250, 275, 300, 350, 400, 500, 600, 800)  # where it is looked for
METHODS = ("risk+", "tradition")
WANTED = (0.93, 0.97)  # coverage of a 95 % interval, as far as simulations and small numbers let it be told
STILL = (
    6  # half widths are this many times the spread of the value: audits hardly differ, so all of them cover, or none
)


class AuditRow(TypedDict):
    """One line: a measure of one set of labels after so many verdicts, over all simulated audits."""

    run: str
    target: str
    method: str
    risk: str
    verdicts: int
    measure: str
    truth: float
    coverage: float
    random_coverage: float  # of simple random sampling
    rmse: float
    rmse_ratio: float  # to simple random sampling
    half_width: float
    width_ratio: float
    bias: float


class CoverageShares(TypedDict):
    """How many lines have the coverage that was promised."""

    lines: int
    within: int
    above: int
    below: int
    still: int  # of those above: lines in which all audits come out almost the same
    lowest: float


class NeededRow(TypedDict):
    """After how many verdicts half of the audits know F1 within 2 points either way; None if not within the steps."""

    run: str
    target: str
    method: str
    design: int | None
    random: int | None


def finished_runs(runs: Sequence[Path]) -> list[Path]:
    """The folders with truth among these: runs, or folders of runs."""
    inside = [one for path in runs for one in ([path] if (path / "run.json").exists() else sorted(path.glob("*/")))]
    found = [path for path in inside if RunFolder(path).has_truth and RunFolder(path).results() is not None]
    if not found:
        named = ", ".join(str(path) for path in runs)
        raise ConfigError(f"There is no finished run with truth in {named}. Name a run's folder or a folder of runs.")
    return found


def populations(path: Path, methods: Sequence[str] = METHODS) -> Iterator[Population]:
    """The labels of a run's methods that have known truth."""
    folder = RunFolder(path)
    truth = load_columns(folder.truth_file, columns=["label"]).column("label").to_numpy()
    config = folder.run()["config"]
    target = Path(str(config.get("target") or config.get("source"))).name
    for method in methods:
        if method in (folder.results() or {"methods": {}})["methods"]:
            label, risk = labels_and_risk(folder, method)
            known = truth >= 0
            yield Population(target, method, label[known], risk[known], truth[known].astype(np.int8))


def audit_rows(
    run: str,
    population: Population,
    audits: int,
    sizes: Sequence[int] = SIZES,
    warps: Sequence[str] = WARPS,
    seed: int = 0,
) -> Iterator[AuditRow]:
    """The lines of one set of labels."""
    true = population.true_measures()
    sizes = [size for size in sizes if size < len(population.label)]
    plain = {size: random_audits(population, size, audits, seed) for size in sizes}
    for warp in warps:
        found = design_audits(population, warped(population, warp, seed), sizes, audits, seed)
        for size in sizes:
            for measure in MEASURES:
                yield {
                    "run": run,
                    "target": population.name,
                    "method": population.method,
                    "risk": warp,
                    "verdicts": size,
                    "measure": measure,
                    "truth": true[measure],
                    **_figures(found[size], plain[size], measure, true[measure]),  # type: ignore[typeddict-item]
                }


def coverage_shares(rows: Sequence[AuditRow]) -> CoverageShares:
    """Lines with coverage within, above and below what is wanted."""
    low, high = WANTED
    above = [row for row in rows if row["coverage"] > high]
    below = sum(row["coverage"] < low for row in rows)
    spreads = [np.sqrt(max(0.0, row["rmse"] ** 2 - row["bias"] ** 2)) for row in above]
    return {
        "lines": len(rows),
        "within": len(rows) - len(above) - below,
        "above": len(above),
        "below": below,
        "still": sum(STILL * spread < row["half_width"] for spread, row in zip(spreads, above, strict=True)),
        "lowest": min((row["coverage"] for row in rows), default=float("nan")),
    }


def likeness_of(path: Path, metric: str) -> np.ndarray:
    """A metric of the target pairs of known truth, as a cheap likeness; missing values count as 0."""
    folder = RunFolder(path)
    names = column_names(folder.metrics_file)
    if metric not in names:
        raise ConfigError(f"Run {path.name} has no metric {metric!r}. It has: {', '.join(names)}.")
    truth = load_columns(folder.truth_file, columns=["label"]).column("label").to_numpy()
    values = load_columns(folder.metrics_file, columns=[metric]).column(metric).to_numpy()
    return np.asarray(np.nan_to_num(values.astype(np.float64)))[truth >= 0]


def needed_row(run: str, population: Population, audits: int, seed: int = 0) -> NeededRow:
    """How many verdicts it takes until the middle audit's F1 is known within 2 points either way."""
    steps = [step for step in STEPS if step < len(population.label)]
    found = design_audits(population, population.risk, steps, audits, seed, batch=25)
    plain = {step: random_audits(population, step, audits, seed) for step in range(50, len(population.label), 50)}
    return {
        "run": run,
        "target": population.name,
        "method": population.method,
        "design": _first(found),
        "random": _first(plain),
    }


def _first(found: dict[int, Intervals]) -> int | None:
    widths = {size: float(np.median(one["f1"][2] - one["f1"][1])) / 2 for size, one in found.items()}
    return next((size for size, half in sorted(widths.items()) if half <= TO_HALF_WIDTH), None)


def _figures(found: Intervals, plain: Intervals, measure: str, true: float) -> dict[str, float]:
    value, low, high = found[measure]
    other, other_low, other_high = plain[measure]
    rmse, other_rmse = (float(np.sqrt(((one - true) ** 2).mean())) for one in (value, other))
    slack = 1e-12  # an interval of width 0 at the truth covers it
    return {
        "coverage": float(((low <= true + slack) & (true <= high + slack)).mean()),
        "random_coverage": float(((other_low <= true + slack) & (true <= other_high + slack)).mean()),
        "rmse": rmse,
        "rmse_ratio": rmse / other_rmse,
        "half_width": float((high - low).mean()) / 2,
        "width_ratio": float((high - low).mean() / (other_high - other_low).mean()),
        "bias": float((value - true).mean()),
    }
