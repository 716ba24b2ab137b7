"""`audit`: pairs drawn for labelling or measuring as a work list, and how good the labels are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table as Grid

from riskcore.cli.audit_outside import draw_outside_list, print_with_missed, with_recapture
from riskcore.cli.console import RUNS, AsJson, RunName, Runs, console, counted, print_json, say
from riskcore.cli.forget import shown_retained
from riskcore.cli.pairs import folder_of
from riskcore.errors import ConfigError

if TYPE_CHECKING:
    from riskcore.audit.estimate import Estimate
    from riskcore.runs.folder import RunFolder

app = typer.Typer(
    help="Label pairs of a target without labels, and measure how good its labels are.", no_args_is_help=True
)


@app.command()
def sample(
    run: RunName,
    out: Annotated[Path, typer.Option(help="The work list to write: .csv, .parquet or .xlsx.")],
    n: Annotated[int, typer.Option("--n", min=1, max=100_000, help="Number of pairs to draw.")] = 100,
    seed: Annotated[int | None, typer.Option(min=0, help="Of the draw; by default it follows from the run's.")] = None,
    again: Annotated[bool, typer.Option("--again", help="Write all pairs drawn so far, without a new draw.")] = False,
    runs: Runs = RUNS,
    as_json: AsJson = False,
) -> None:
    """Draw pairs for labelling and write them as a work list, whose column `verdict` is to be filled in."""
    from riskcore.audit.draws import draw_pairs, draws_of
    from riskcore.audit.work_list import check_work_list, write_work_list

    folder = folder_of(run, runs)
    check_work_list(out)  # before anything is drawn
    number = len(draws_of(folder)) if again else draw_pairs(folder, n, seed).number
    rows = write_work_list(folder, out, None if again else number)
    if as_json:
        print_json({"run": folder.path.name, "draw": number, "pairs": rows, "file": str(out)})
        return
    say(f"{counted(rows, 'pair')} of draw {number} are in {out}.")
    say("Fill in the column verdict: match, non-match or unsure (m, n, u).")
    say(f"Then: riskcore audit import {run} {out} and riskcore run --labels {run}")


@app.command()
def estimate(
    run: RunName,
    method: Annotated[str | None, typer.Option(help="Whose labels. Default: risk+, else risk, else the first.")] = None,
    draw: Annotated[int | None, typer.Option(min=1, max=100_000, help="Draw this many more pairs to judge.")] = None,
    out: Annotated[Path | None, typer.Option(help="The work list of this draw: .csv, .parquet or .xlsx.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Of the draw; by default it follows from the run's.")] = None,
    half_width: Annotated[float, typer.Option(min=0.001, max=0.5, help="How far the interval may reach.")] = 0.02,
    outside: Annotated[bool, typer.Option("--outside", help="Look at pairs that are no candidates.")] = False,
    runs: Runs = RUNS,
    as_json: AsJson = False,
) -> None:
    """Estimate precision, recall and F1 of a run's labels from verdicts on drawn pairs; or draw pairs for that."""
    from riskcore.audit.estimate import estimate_run, verdicts_needed

    folder = folder_of(run, runs, figures=draw is None and not outside)
    if shown_retained(folder.path, as_json):
        return
    if (draw is None) != (out is None):
        raise ConfigError("--draw and --out belong together: pairs are drawn to be judged in a file. Give both.")
    if draw is not None and out is not None:
        (draw_outside_list if outside else _draw_audit)(folder, run, draw, out, seed, as_json)
        return
    found = estimate_run(folder, method)
    found = with_recapture(folder, found) if outside else found
    more = verdicts_needed(found.strata, half_width)
    if as_json:
        print_json({"run": folder.path.name, **found.to_dict(), "half_width": half_width, "more": more})
    else:
        _print_estimate(found, half_width, more)
        print_with_missed(found)


def _draw_audit(folder: RunFolder, run: str, size: int, out: Path, seed: int | None, as_json: bool) -> None:
    from riskcore.audit.estimate import draw_audit
    from riskcore.audit.estimate.work_list import write_audit_list
    from riskcore.audit.work_list import check_work_list

    check_work_list(out)  # before anything is drawn
    facts = draw_audit(folder, size, seed)
    rows = write_audit_list(folder, out, facts.number)
    if as_json:
        print_json({"run": folder.path.name, "draw": facts.number, "pairs": rows, "file": str(out)})
        return
    say(f"{counted(rows, 'pair')} of audit {facts.number} are in {out}.")
    say("Fill in the column verdict from the top: match, non-match or unsure (m, n, u).")
    say(f"Then: riskcore audit import {run} {out} and riskcore audit estimate {run}")


def _print_estimate(found: Estimate, half_width: float, more: int) -> None:
    grid = Grid("", "estimate", "95 % interval", box=None)
    for name, words in (("precision", "precision"), ("recall", "recall"), ("f1", "F1")):
        one = getattr(found, name)
        grid.add_row(words, f"{100 * one.value:.1f}", f"{100 * one.low:.1f} to {100 * one.high:.1f}")
    console().print(grid)
    say(f"Labels of {found.method}, from {counted(found.verdicts, 'verdict')} on drawn pairs of {found.pairs:,}.")
    if found.unsure:
        say(f"{counted(found.unsure, 'pair')} unsure ({found.unsure_share:.0%}): the intervals count them either way.")
    if found.open:
        say(f"{counted(found.open, 'drawn pair')} without a verdict yet.")
    if found.waiting:
        waiting = counted(found.waiting, "verdict")
        say(f"{waiting} out of turn: counted once all pairs before them in their draw are judged.")
    if found.known:
        say(f"{counted(found.known, 'pair')} judged before the first draw, counted as they are.")
    if found.left_out:
        say(f"{counted(found.left_out, 'pair')} left out: training has used their labels.")
    if more:
        say(f"About {more:,} more verdicts for F1 within {100 * half_width:g} points either way.")
    else:
        say(f"F1 is known within {100 * half_width:g} points either way: you can stop.")
