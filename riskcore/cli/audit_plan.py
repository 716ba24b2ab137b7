"""`audit plan`: what the next verdicts on a run's labels will find, and what those given so far did find."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table as Grid

from riskcore.cli.console import RUNS, AsJson, RunName, Runs, console, counted, print_json, say
from riskcore.cli.pairs import folder_of

if TYPE_CHECKING:
    from riskcore.audit.estimate import Interval, RunPlan


def plan(
    run: RunName,
    n: Annotated[int, typer.Option("--n", min=0, max=1_000_000, help="Number of pairs to review next.")] = 100,
    method: Annotated[str | None, typer.Option(help="Whose labels. Default: risk+, else risk, else the first.")] = None,
    runs: Runs = RUNS,
    as_json: AsJson = False,
) -> None:
    """Plan a review: errors to expect in the next verdicts by ranking, F1 after them, and what was found so far."""
    from riskcore.audit.estimate import plan_review

    folder = folder_of(run, runs)
    found = plan_review(folder, n, method)
    if as_json:
        print_json({"run": folder.path.name, "n": n, "minutes": found.minutes(n), **found.to_dict()})
    else:
        _print(found, n)


def _print(found: RunPlan, n: int) -> None:
    grid = Grid("pairs by", "errors expected", "95 % interval", "F1 then", "95 % interval", box=None)
    for one in found.at(n):
        ends = f"{one.errors.low:.0f} to {one.errors.high:.0f}"
        grid.add_row(one.ranking, f"{one.errors.value:.1f}", ends, f"{100 * one.f1.value:.1f}", _ends(one.f1))
    console().print(grid)
    source = "by the audit" if found.f1_from == "audit" else "expected from the risk; there is no audit yet"
    say(f"F1 of the labels of {found.method} now: {100 * found.f1.value:.1f} ({_ends(found.f1)}), {source}.")
    say(f"{counted(n, 'more review')} of {found.left:,} pairs without a verdict: about {found.minutes(n):.0f} minutes.")
    if found.found:
        say(found.found[0].sentence)


def _ends(interval: Interval) -> str:
    return f"{100 * interval.low:.1f} to {100 * interval.high:.1f}"
