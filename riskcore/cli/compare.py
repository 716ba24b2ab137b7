"""`compare`: methods side by side, in one run or over several."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table as Grid
from rich.text import Text

from riskcore.cli.console import RUNS, AsJson, Runs, console, number, percent, print_json
from riskcore.errors import ConfigError

if TYPE_CHECKING:
    from riskcore.runs import RunFolder

BASE = "tradition"


def compare(
    run: Annotated[list[str], typer.Argument(metavar="RUN...", help="Ids or folders of finished runs.")],
    runs: Runs = RUNS,
    as_json: AsJson = False,
) -> None:
    """Methods of one or several runs: scores, pairs fixed and broken against tradition, means over runs."""
    from riskcore.cli.pairs import folder_of

    found = [compared(folder_of(one, runs)) for one in run]
    document = {"runs": found, "methods": means(found)}
    if as_json:
        print_json(document)
    else:
        _print(document)


def compared(folder: RunFolder) -> dict[str, Any]:
    """One run: each method's scores, and what it changed against tradition."""
    results, made_from = folder.results(), folder.run()
    if results is None:
        raise ConfigError(f"Run {folder.path.name} is not done: there is nothing to compare yet.")
    changes = _changes(folder)
    methods = {name: {**row, **changes.get(name, {})} for name, row in results["methods"].items()}
    config = made_from["config"]
    facts = {"source": config["source"], "target": config["target"], "seed": made_from["seed"]}
    return {"run": folder.path.name, "name": made_from["name"], **facts, "methods": methods}


def means(found: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Per method the mean and spread of its F1 over the runs that know it."""
    names = dict.fromkeys(name for one in found for name in one["methods"])
    rows = {}
    for name in names:
        scores = [one["methods"][name]["f1"] for one in found if name in one["methods"]]
        known = [score for score in scores if score is not None]
        mean = statistics.fmean(known) if known else None
        spread = statistics.stdev(known) if len(known) > 1 else None
        rows[name] = {"runs": len(known), "f1_mean": mean, "f1_deviation": spread}
    return rows


def _changes(folder: RunFolder) -> dict[str, dict[str, Any]]:
    """Pairs fixed and broken by each method against tradition, with the exact McNemar test."""
    import pyarrow.parquet as pq

    from riskcore.evaluation import compare_labels

    final = pq.read_table(folder.final_file)
    if BASE not in final.column_names:
        return {}
    truth = pq.read_table(folder.truth_file).column("label").to_numpy() if folder.has_truth else None
    labels = {name: (final.column(name).to_numpy() >= 0.5).astype("int8") for name in final.column_names[2:]}
    rows = {}
    for name, label in labels.items():
        change = compare_labels(truth, labels[BASE], label)
        counts = {"flipped": len(change.flipped), "fixed": change.counts.fixed, "broken": change.counts.broken}
        rows[name] = {**counts, "p_value": change.p_value, "f1_change_interval": change.f1_change_interval}
    return rows


def _print(document: dict[str, Any]) -> None:
    from riskcore.cli.run import print_lacked
    from riskcore.data.problems import visible

    grid = Grid("run", "method", "F1", "precision", "recall", "fixed", "broken", "p", box=None)
    for one in document["runs"]:
        for name, row in one["methods"].items():
            scores = (number(percent(row[field]), ".2f") for field in ("f1", "precision", "recall"))
            counts = (number(row.get(field), ".0f") for field in ("fixed", "broken"))
            title = Text(f"{one['run']} {visible(one['name'])}")
            grid.add_row(title, name, *scores, *counts, number(row.get("p_value"), ".3g"))
    console().print(grid)
    for one in document["runs"]:
        print_lacked(one["methods"])
    if len(document["runs"]) > 1:
        over = Grid("method", "runs", "mean F1", "deviation", box=None)
        for name, row in document["methods"].items():
            figures = (number(percent(row[field]), ".2f") for field in ("f1_mean", "f1_deviation"))
            over.add_row(name, str(row["runs"]), *figures)
        console().print(over)
