"""`compare`: methods side by side, in one run or over several."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

import typer
from rich.table import Table as Grid
from rich.text import Text

from riskcore.cli.console import RUNS, AsJson, Runs, console, number, percent, print_json
from riskcore.errors import ConfigError

if TYPE_CHECKING:
    from riskcore.runs import RunFolder

_CHANGE = ("flipped", "fixed", "broken", "p_value", "f1_change_interval")


class ComparedRun(TypedDict):
    """One run: each method's row of the results, and what it changed against tradition."""

    run: str
    name: str
    source: str
    target: str | None
    seed: int
    methods: dict[str, dict[str, Any]]


class MeanScores(TypedDict):
    """One method over several runs: how many have its F1, and its mean and standard deviation."""

    runs: int
    f1_mean: float | None
    f1_deviation: float | None


class RunsCompared(TypedDict):
    """What `compare --json` prints."""

    runs: list[ComparedRun]
    methods: dict[str, MeanScores]


def compare(
    run: Annotated[list[str], typer.Argument(metavar="RUN...", help="Ids or folders of finished runs.")],
    runs: Runs = RUNS,
    as_json: AsJson = False,
) -> None:
    """Compare the methods of one or several runs: scores, pairs fixed and broken against tradition, means over runs."""
    from riskcore.cli.pairs import folder_of

    found = [compared(folder_of(one, runs, figures=True)) for one in run]
    document: RunsCompared = {"runs": found, "methods": means(found)}
    if as_json:
        print_json(document)
    else:
        _print(document)


def compared(folder: RunFolder) -> ComparedRun:
    """The run's results beside its stored comparison."""
    from riskcore.runs.readers.method_comparison import comparison

    results, made_from = folder.results(), folder.run()
    if results is None:
        raise ConfigError(f"Run {folder.path.name} is not done: there is nothing to compare yet.")
    changes = comparison(folder)["changes"]
    methods = {name: {**row, **_change(changes.get(name))} for name, row in results["methods"].items()}
    config = made_from["config"]
    return {
        "run": folder.path.name,
        "name": made_from["name"],
        "source": config["source"],
        "target": config["target"],
        "seed": made_from["seed"],
        "methods": methods,
    }


def means(found: list[ComparedRun]) -> dict[str, MeanScores]:
    """The mean and standard deviation of each method's F1, over the runs that have it."""
    names = dict.fromkeys(name for one in found for name in one["methods"])
    rows: dict[str, MeanScores] = {}
    for name in names:
        scores = [one["methods"][name]["f1"] for one in found if name in one["methods"]]
        known = [score for score in scores if score is not None]
        mean = statistics.fmean(known) if known else None
        spread = statistics.stdev(known) if len(known) > 1 else None
        rows[name] = {"runs": len(known), "f1_mean": mean, "f1_deviation": spread}
    return rows


def _change(change: Mapping[str, Any] | None) -> dict[str, Any]:
    """Pairs fixed and broken against tradition, with the exact McNemar test; None for tradition itself."""
    return dict.fromkeys(_CHANGE) if change is None else {field: change[field] for field in _CHANGE}


def _print(document: RunsCompared) -> None:
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
        for name, mean in document["methods"].items():
            figures = (number(percent(figure), ".2f") for figure in (mean["f1_mean"], mean["f1_deviation"]))
            over.add_row(name, str(mean["runs"]), *figures)
        console().print(over)
