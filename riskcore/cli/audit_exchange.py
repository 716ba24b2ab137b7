"""`audit import` and `audit export`: verdicts and pairs in files of this and of other tools."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from riskcore.cli.console import RUNS, AsJson, RunName, Runs, counted, print_json, say
from riskcore.cli.pairs import folder_of
from riskcore.errors import ConfigError

if TYPE_CHECKING:
    from riskcore.audit.exchange import BroughtVerdicts, ImportCounts
    from riskcore.audit.labels import LabelProgress

SHOWN = 5  # pairs that are named
Format = Annotated[str | None, typer.Option(help="splink, label-studio, argilla, zingg or csv; by default detected.")]


def import_verdicts(
    run: RunName,
    file: Annotated[Path, typer.Argument(help="A work list with verdicts, a file of labels, or one of another tool.")],
    format: Format = None,  # noqa: A002 - the option's name
    who: Annotated[str, typer.Option(help="The name for verdicts that the file has no name for.")] = "",
    runs: Runs = RUNS,
    as_json: AsJson = False,
) -> None:
    """Record the verdicts of a file; those already recorded are left as they are."""
    from riskcore.audit.exchange import bring_verdicts, record_import
    from riskcore.audit.labels import label_progress

    folder = folder_of(run, runs)
    brought = bring_verdicts(folder, file, format, who)
    counts = record_import(folder, brought)
    progress = label_progress(folder)
    if as_json:
        left_out = {"before": counts.before, "older": counts.older, "unknown": counts.unknown}
        print_json({"run": folder.path.name, "added": counts.added, **left_out, **progress_facts(progress)})
        return
    _say_recorded(brought, counts)
    if progress.labelled or progress.left:  # else nothing was drawn for labelling, and nothing is to be said of it
        so_far = f"{progress.matches:,} matches and {progress.non_matches:,} non-matches"
        say(f"Labelled so far: {so_far}. {progress.sentence}")


def _say_recorded(brought: BroughtVerdicts, counts: ImportCounts) -> None:
    say(f"{counted(counts.added, 'verdict')} recorded.")
    if counts.before:
        say(f"{counted(counts.before, 'verdict')} recorded before.")
    if counts.older:
        say(f"{counted(counts.older, 'verdict')} left out: the same person has judged the pair since.")
    if brought.unknown:
        named = ", ".join(brought.unknown[:SHOWN]) + (" ..." if len(brought.unknown) > SHOWN else "")
        say(f"{counted(counts.unknown, 'pair')} left out, which the run does not have: {named}")


def export_pairs(
    run: RunName,
    format: Annotated[str, typer.Option(help="splink, label-studio, argilla, zingg or csv.")],  # noqa: A002
    out: Annotated[Path, typer.Option(help="The file to write.")],
    what: Annotated[str, typer.Option(help="verdicts, or tasks: pairs to judge elsewhere.")] = "verdicts",
    pairs: Annotated[
        str, typer.Option(help="Which tasks: riskiest, drawn, audit, or a work list by its name or number.")
    ] = "riskiest",
    n: Annotated[int, typer.Option("--n", min=1, max=100_000, help="Tasks at most.")] = 100,
    blind: Annotated[bool, typer.Option("--blind", help="Leave out what the model says of the tasks.")] = False,
    runs: Runs = RUNS,
    as_json: AsJson = False,
) -> None:
    """Write the current verdicts, or pairs to judge, in the format of another tool."""
    from riskcore.audit import VerdictLog
    from riskcore.audit.assignment_sources import choose_tasks
    from riskcore.audit.exchange import export_tasks, export_verdicts
    from riskcore.runs import RunStore

    folder = folder_of(run, runs)
    log = VerdictLog(RunStore(folder.path.absolute().parent))
    if what == "verdicts":
        count = export_verdicts(folder, log.entries(folder.path.name), format, out)
    elif what == "tasks":
        wanted, hidden = choose_tasks(folder, pairs, log.entries(folder.path.name), n)
        count = export_tasks(folder, wanted, format, out, probabilities=not (hidden or blind))
    else:
        raise ConfigError(f"{what!r} cannot be written. Possible: verdicts, tasks.")
    head = log.head(folder.path.name)
    if as_json:
        state = {"entries": head.size, "head": head.digest}
        print_json({"run": folder.path.name, "what": what, "format": format, "count": count, "file": str(out), **state})
    else:
        say(f"{counted(count, what.removesuffix('s'))} in {out}, for {format}.")
        if head.size:
            say(f"Head of the verdict log, entry {head.size:,}: {head.digest}")


def progress_facts(progress: LabelProgress) -> dict[str, Any]:
    """The progress as numbers."""
    return {
        "matches": progress.matches,
        "non_matches": progress.non_matches,
        "unsure": progress.unsure,
        "left": progress.left,
        "more": progress.more,
    }
