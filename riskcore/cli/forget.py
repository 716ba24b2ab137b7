"""`runs forget`: delete the personal data of runs and keep their figures; and how these are shown."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from riskcore import logs
from riskcore.cli.backup import DATA, Data
from riskcore.cli.console import RUNS, AsJson, Runs, account, counted, print_json, say

if TYPE_CHECKING:
    from riskcore.operations.retention import Plan
    from riskcore.runs.retention import Retained


def forget(
    run: Annotated[list[str] | None, typer.Argument(metavar="[RUN]...", help="Ids or folders of runs.")] = None,
    older_than: Annotated[
        float | None, typer.Option(min=0, metavar="DAYS", help="Only runs that ended more days ago than this.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be deleted, and delete nothing.")] = False,
    keep_data: Annotated[bool, typer.Option("--keep-data", help="Keep the data sets that the runs were made from.")] = (
        False
    ),
    who: Annotated[str, typer.Option(help="The name to record; by default that of the account.")] = "",
    runs: Runs = RUNS,
    data: Data = DATA,
    as_json: AsJson = False,
) -> None:
    """Delete the personal data of runs for good: records, pairs, verdicts, notes, names, models; figures stay."""
    from riskcore.operations.retention import forget as forget_run
    from riskcore.operations.retention import plan_forgetting, runs_to_forget
    from riskcore.runs import RunStore

    store = RunStore(runs)
    plans = plan_forgetting(store, runs_to_forget(store, run or (), older_than), data, keep_data)
    for plan in plans:
        if not as_json:
            _tell(plan, dry_run)
        if not dry_run:
            forget_run(store, plan, data, who or account())
            logs.event("command", action="runs forget", who=who or account(), run=plan.run, outcome="done")
    if as_json:
        print_json({"deleted": not dry_run, "runs": [dataclasses.asdict(one) for one in plans]})
    elif not plans:
        say("There is no such run whose records are still there.")


def _tell(plan: Plan, dry_run: bool) -> None:
    size = f"{counted(plan.files, 'file')}, {plan.bytes / 1e6:,.1f} MB"
    judged = f"{counted(plan.verdicts, 'verdict')} of {plan.people:,} people"
    say(f"{plan.run}: {'would delete' if dry_run else 'deleting'} {size} and {judged}; figures stay.")
    for path in plan.data:
        say(f"  {'would delete' if dry_run else 'deleting'} {path}")
    for said in plan.data_kept:
        say(Text(f"  stays: {said}", style="yellow"))


def print_retained(found: Retained) -> None:
    """What is left of a run, as text."""
    say(Text(found.sentence, style="yellow"))
    for said in found.figure_sentences:
        say(said)


def shown_retained(folder: Path, as_json: bool) -> bool:
    """Whether the run's records were deleted; then its estimate is printed in place of a new one."""
    from riskcore.runs.retention import read_retained

    found = read_retained(folder)
    if found is None:
        return False
    if as_json:
        print_json({"run": found.run, "deleted": found.at, "estimate": found.estimate})
    else:
        print_retained(found)
    return True
