"""`runs list|show|cancel|resume|delete|rescue|check|repair`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table as Grid
from rich.text import Text

from riskcore import logs
from riskcore.cli.console import RUNS, AsJson, RunName, Runs, account, console, counted, number, print_json, say
from riskcore.cli.detached import detached, place_document
from riskcore.cli.forget import print_retained
from riskcore.cli.run import print_results, work

if TYPE_CHECKING:
    from riskcore.runs.folder import RunFolder
    from riskcore.runs.readers.queue import QueuePlace
    from riskcore.runs.store.run_record import RunRecord
    from riskcore.runs.store.run_store import RunStore
    from riskcore.storage.checksums import FolderCheck

app = typer.Typer(
    help="List runs; show, cancel, resume or delete one; rescue those that the store lost; check and repair files.",
    no_args_is_help=True,
)


@app.command("list")
def list_runs(runs: Runs = RUNS, as_json: AsJson = False) -> None:
    """List all runs, newest first."""
    from riskcore.data.problems import visible
    from riskcore.runs import RunStore, look
    from riskcore.runs.readers.queue import queue_places

    store = RunStore(runs)
    look(store)
    found = store.list()
    places = queue_places(store, found)
    if as_json:
        print_json({"runs": [document(record, places.get(record.id)) for record in found]})
        return
    grid = Grid("run", "name", "state", "phase", "started", "seconds", box=None)
    for one in found:
        started = "-" if one.started is None else one.started.astimezone().strftime("%Y-%m-%d %H:%M")
        name, phase = Text(visible(one.name)), one.phase or "-"
        place, state = places.get(one.id), one.state.value
        state += f", {place.words}" if place is not None else ", its worker is starting" if one.starting else ""
        grid.add_row(one.id, name, state, phase, started, number(one.seconds, ".0f"))
    if found:
        console().print(grid)
    else:
        say(f"There are no runs in {runs}.")


@app.command("show")
def show(run: RunName, runs: Runs = RUNS, as_json: AsJson = False) -> None:
    """Show the state and progress of a run, and its results once it is done."""
    from riskcore.data.problems import visible
    from riskcore.runs import RunFolder, look
    from riskcore.runs.readers.queue import place_of
    from riskcore.runs.retention import read_retained
    from riskcore.runs.sample_files import sample_sentence

    store, record = opened(run, runs)
    if record.queued:
        look(store)
        record = store.get(record.id)
    place = place_of(store, record.id) if record.queued else None
    results = RunFolder(record.folder).results()
    last = [event.sequence for event in store.events(record.id, limit=1_000_000)][-1:]
    folder = RunFolder(record.folder)
    retained = read_retained(folder.path)
    start = folder.run().get("continues") if folder.run_file.exists() else None
    if as_json:
        print_json(
            {
                **document(record, place),
                "events": sum(last),
                "continues": start,
                "results": results,
                "retained": None if retained is None else retained.to_json(),
            }
        )
        return
    say(Text(f"{record.id}  {visible(record.name)}", style="bold"))
    where = f" ({record.phase} {record.done} of {record.total})" if record.phase and not record.state.over else ""
    stopping = ", asked to stop" if record.cancelling else ""
    where = f" ({place.words})" if place is not None else where
    say(f"{record.state.value}{where}{stopping}, {record.seconds:.0f} s, in {record.folder}")
    if record.error:
        say(Text(visible(record.error), style="red"))
    if retained is not None:
        print_retained(retained)
    elif start is not None:
        say(f"continues {start['run']} from iteration {start['iteration']} of {start['method']}")
        _tell_changes(folder)
    if sample := sample_sentence(folder):
        say(sample)
    if results:
        print_results(results)


def _tell_changes(folder: RunFolder) -> None:
    """What continuing has changed, once the run is done."""
    from riskcore.audit.continuing import compare_with_parent

    found = compare_with_parent(folder)
    if found is None:
        return
    say(f"{found.changed:,} of {found.pairs:,} labels differ, {found.to_match:,} of these are matches now")
    if found.f1_before is not None and found.f1_after is not None:
        say(f"F1 on these pairs: {100 * found.f1_before:.2f} before, {100 * found.f1_after:.2f} now")


@app.command("cancel")
def cancel(run: RunName, runs: Runs = RUNS, as_json: AsJson = False) -> None:
    """Ask a run to stop; its progress is kept."""
    from riskcore.runs.worker import jobs

    store, record = opened(run, runs)
    jobs.cancel(store, record.id)
    _tell(store, record.id, as_json, "is asked to stop")


@app.command("resume")
def resume(
    run: RunName,
    detach: Annotated[bool, typer.Option("--detach", help="Run in a separate process and return at once.")] = False,
    runs: Runs = RUNS,
    as_json: AsJson = False,
) -> None:
    """Resume a run that was cancelled, failed or lost, from its last checkpoint; blocks until done, without waiting
    for other runs. With --detach it waits for its turn."""
    from riskcore.runs.worker import jobs

    store, record = opened(run, runs)
    if detach:
        jobs.resume(store, record.id)
        detached(store, record, as_json)
        return
    work(store, jobs.requeued(store, record.id), as_json)


@app.command("delete")
def delete(
    run: RunName,
    who: Annotated[str, typer.Option(help="The name to record; by default that of the account.")] = "",
    runs: Runs = RUNS,
    as_json: AsJson = False,
) -> None:
    """Remove a run with all its files, events and verdicts; who deleted it, and when, is kept."""
    store, record = opened(run, runs)
    store.delete(record.id, who or account())
    logs.event("command", action="runs delete", who=who or account(), run=record.id, outcome="done")
    if as_json:
        print_json({"run": record.id, "deleted": True})
    else:
        say(f"Run {record.id} is deleted.")


@app.command("rescue")
def rescue(runs: Runs = RUNS, as_json: AsJson = False) -> None:
    """Take run folders that the store does not know into it, with their verdicts: after the store was lost."""
    from riskcore.audit.journal import restore_verdicts
    from riskcore.errors import RiskcoreError
    from riskcore.runs import RunStore
    from riskcore.runs.rescue import rescue_runs

    store, rows = RunStore(runs), []
    for one in rescue_runs(store):
        problem, restored = one.problem, 0
        if problem is None:
            try:
                restored = restore_verdicts(store, one.run)
            except RiskcoreError as error:
                problem = str(error)
        rows.append({"run": one.run, "verdicts": restored, "problem": problem})
        if not as_json:
            say(f"{one.run}: {problem or 'taken into the store, with ' + counted(restored, 'verdict') + '.'}")
    if as_json:
        print_json({"rescued": rows})
    elif not rows:
        say(f"The store knows every run in {runs}.")


@app.command("check")
def check(run: RunName, runs: Runs = RUNS, as_json: AsJson = False) -> None:
    """Read every file of a run and compare it with its checksum; exits with 1 if one is damaged or missing."""
    from riskcore.audit.journal import journal_problems
    from riskcore.storage.checksums import LIST, check_folder

    store, record = opened(run, runs)
    found, journal = check_folder(record.folder), journal_problems(store, record.id)
    if as_json:
        print_json({"run": record.id, "sound": found.sound and not journal, **asdict(found), "journal": journal})
    else:
        for name in found.damaged:
            say(Text(f"damaged: {name}", style="red"))
        for name in found.missing:
            say(Text(f"missing: {name}", style="red"))
        for line in found.damaged_lines:
            say(Text(f"damaged: line {line:,} of {LIST}, the list of checksums", style="red"))
        for problem in journal:
            say(Text(problem, style="red"))
        _sum_up(record, found)
    if not found.sound or journal:
        raise typer.Exit(1)


def _sum_up(record: RunRecord, found: FolderCheck) -> None:
    if found.listed is None:
        say(f"Run {record.id} was recorded before files had checksums: they cannot be checked.")
        return
    if found.unlisted:
        say(f"{counted(len(found.unlisted), 'file')} without a checksum: {', '.join(found.unlisted)}")
    size = f"{counted(found.listed, 'file')}, {found.bytes_read / 1e6:,.1f} MB"
    repairing = f"`riskcore runs repair {record.id}` repairs what it can."
    cure = "They are as they were written." if found.sound else repairing
    say(f"Checked {size}. {cure}")


@app.command("repair")
def repair(run: RunName, runs: Runs = RUNS, as_json: AsJson = False) -> None:
    """Compute the damaged and missing files of a finished run again; blocks until done.

    A file is replaced only by one that is the same to the byte as the file that was recorded. Exits with 3 if files
    are left that could not be repaired.
    """
    from riskcore.runs.worker.repair import repair_run

    store, record = opened(run, runs)
    found = repair_run(store, record.id)
    if as_json:
        print_json({"run": record.id, **asdict(found)})
    else:
        for name in found.repaired:
            say(f"repaired: {name}")
        for name in found.removed:
            say(f"removed: {name}, which a finished run does not need")
        for name, reason in found.left.items():
            say(Text(f"still damaged: {name}. {reason}", style="red"))
        if not (found.repaired or found.removed or found.left):
            say(f"No file of run {record.id} is damaged.")
    if found.left:
        raise typer.Exit(3)


def opened(run: str, root: Path) -> tuple[RunStore, RunRecord]:
    """The run of that id under the root, or the run whose folder that path is, with its store."""
    from riskcore.runs import RunNotFoundError, RunStore

    store = RunStore(root)
    try:
        return store, store.get(run)
    except RunNotFoundError:
        if not Path(run).is_dir():
            raise
    elsewhere = RunStore(Path(run).absolute().parent)
    return elsewhere, elsewhere.get(run)


def document(record: RunRecord, place: QueuePlace | None = None) -> dict[str, Any]:
    """A run as JSON; `place` is that of a run in the queue."""
    moments = {"created": record.created, "started": record.started, "ended": record.ended}
    return {
        "run": record.id,
        "id": record.id,
        "name": record.name,
        "state": record.state.value,
        "queue": place_document(place),
        "cancelling": record.cancelling,
        "phase": record.phase,
        "done": record.done,
        "total": record.total,
        **{name: None if at is None else at.isoformat() for name, at in moments.items()},
        "seconds": record.seconds,
        "attempts": record.attempts,
        "pid": record.pid,
        "error": record.error,
        "folder": str(record.folder),
        "source": record.config.source,
        "target": record.config.target,
        "seed": record.config.seed,
    }


def _tell(store: RunStore, run: str, as_json: bool, what: str) -> None:
    record = store.get(run)
    if as_json:
        print_json(document(record))
    else:
        say(f"Run {record.id} {what if not record.state.over else f'is {record.state.value}'}.")
