"""`audit`: pairs drawn for labelling as a work list, and verdicts from one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from riskcore.cli.console import RUNS, AsJson, RunName, Runs, counted, print_json, say
from riskcore.cli.pairs import folder_of

if TYPE_CHECKING:
    from riskcore.audit.labels import LabelProgress

app = typer.Typer(help="Label pairs of a target that has no labels, here or in a spreadsheet.", no_args_is_help=True)


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


@app.command("import")
def import_verdicts(
    run: RunName,
    file: Annotated[Path, typer.Argument(help="A work list with verdicts, or a file of labels.")],
    who: Annotated[str, typer.Option(help="The name to record the verdicts under.")] = "",
    runs: Runs = RUNS,
    as_json: AsJson = False,
) -> None:
    """Record the verdicts of a work list; those already recorded under the same name are left as they are."""
    from riskcore.audit.labels import label_progress
    from riskcore.audit.work_list import import_work_list

    folder = folder_of(run, runs)
    added = import_work_list(folder, file, who)
    progress = label_progress(folder)
    if as_json:
        print_json({"run": folder.path.name, "added": added, **progress_facts(progress)})
        return
    say(f"{counted(added, 'verdict')} recorded.")
    say(f"Labelled so far: {progress.matches:,} matches and {progress.non_matches:,} non-matches. {progress.sentence}")


def progress_facts(progress: LabelProgress) -> dict[str, int]:
    """The progress as numbers."""
    return {
        "matches": progress.matches,
        "non_matches": progress.non_matches,
        "unsure": progress.unsure,
        "left": progress.left,
        "more": progress.more,
    }
