"""`backup` and `restore`: a project as one file, and the project of such a file."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from riskcore import logs
from riskcore.cli.console import RUNS, AsJson, Runs, account, counted, print_json, say
from riskcore.paths import DATA_VARIABLE, default_data

if TYPE_CHECKING:
    from riskcore.operations.backup import BackupFacts

Data = Annotated[Path, typer.Option("--data", envvar=DATA_VARIABLE, help="The folder of data sets and uploads.")]
DATA = default_data()


def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE.zip", help="The file to write; it must not be there yet.")],
    run: Annotated[list[str] | None, typer.Option("--run", help="Only this run and its data; repeat it.")] = None,
    with_keys: Annotated[
        bool, typer.Option("--with-keys", help="Include the key that seals verdict logs: then keep the file apart.")
    ] = False,
    runs: Runs = RUNS,
    data: Data = DATA,
    as_json: AsJson = False,
) -> None:
    """Write the whole project into one file: store, run folders, data sets; while runs train and people judge."""
    from riskcore.operations.backup import write_backup
    from riskcore.runs import RunStore

    found = write_backup(RunStore(runs), file, data, run, with_keys)
    logs.event("backup", who=account(), outcome="done", seconds=found.seconds, bytes=found.bytes, count=len(found.runs))
    if as_json:
        print_json(dataclasses.asdict(found))
        return
    say(f"{found.file}: {found.bytes / 1e6:,.1f} MB in {found.seconds:.1f} s.")
    say(f"{counted(len(found.runs), 'run')}, {found.verdicts:,} verdicts, {counted(found.files, 'file')}.")
    if found.unfinished:
        say(f"Not done when the backup was made, to be resumed after it is restored: {', '.join(found.unfinished)}.")
    _tell_left_out(found)
    say(f"Digest: {found.digest}")
    say("Keep the digest apart from the file: whoever alters the file could compute a new one.")


def _tell_left_out(found: BackupFacts) -> None:
    for path in found.outside:
        say(Text(f"Not in the backup, since it lies elsewhere: {path}", style="yellow"))
    for run in found.without_folder:
        say(
            Text(f"Run {run} has no folder any more: only what the store knows of it is in the backup.", style="yellow")
        )
    if found.with_keys:
        say("The key that seals verdict logs is in the file: keep it where nobody can reach both file and store.")
    else:
        say("The key that seals verdict logs is not in the file. Back up the seal folder apart, or use --with-keys.")


def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE.zip", help="A file that `riskcore backup` has written.")],
    runs: Runs = RUNS,
    data: Data = DATA,
    as_json: AsJson = False,
) -> None:
    """Restore a backup into an empty or new folder of runs; all of it is verified before anything is written."""
    from riskcore.operations.restore import restore_backup

    found = restore_backup(file, runs, data)
    logs.event("restore", who=account(), outcome="done", seconds=found.seconds, count=len(found.runs))
    if as_json:
        print_json(dataclasses.asdict(found))
        return
    say(f"{counted(len(found.runs), 'run')} of {found.made} (Riskcore {found.version}) in {found.root}.")
    say(f"{found.verdicts:,} entries of verdict logs, {counted(found.files, 'file')}, {found.seconds:.1f} s.")
    if found.data is not None:
        say(f"Data sets are in {found.data}.")
    if found.unfinished:
        say(f"Not done when the backup was made; `riskcore runs resume` continues them: {', '.join(found.unfinished)}.")
    for name in found.damaged:
        say(Text(f"Damaged before the backup was made: {name}. `riskcore runs repair` may help.", style="yellow"))
    say(found.keys)
