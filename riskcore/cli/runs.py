"""`runs list|show|cancel|resume|delete`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table as Grid
from rich.text import Text

from riskcore.cli.console import RUNS, AsJson, RunName, Runs, console, number, print_json, say
from riskcore.cli.run import detached, print_results, work

if TYPE_CHECKING:
    from riskcore.runs.store.run_record import RunRecord
    from riskcore.runs.store.run_store import RunStore

app = typer.Typer(help="List runs, and show, cancel, resume or delete one.", no_args_is_help=True)


@app.command("list")
def list_runs(runs: Runs = RUNS, as_json: AsJson = False) -> None:
    """List all runs, newest first."""
    from riskcore.data.problems import visible
    from riskcore.runs import RunStore

    found = RunStore(runs).list()
    if as_json:
        print_json({"runs": [document(record) for record in found]})
        return
    grid = Grid("run", "name", "state", "phase", "started", "seconds", box=None)
    for one in found:
        started = "-" if one.started is None else one.started.astimezone().strftime("%Y-%m-%d %H:%M")
        name, phase = Text(visible(one.name)), one.phase or "-"
        grid.add_row(one.id, name, one.state.value, phase, started, number(one.seconds, ".0f"))
    if found:
        console().print(grid)
    else:
        say(f"There are no runs in {runs}.")


@app.command("show")
def show(run: RunName, runs: Runs = RUNS, as_json: AsJson = False) -> None:
    """Show the state and progress of a run, and its results once it is done."""
    from riskcore.data.problems import visible
    from riskcore.runs import RunFolder

    store, record = opened(run, runs)
    results = RunFolder(record.folder).results()
    last = [event.sequence for event in store.events(record.id, limit=1_000_000)][-1:]
    if as_json:
        print_json({**document(record), "events": sum(last), "results": results})
        return
    say(Text(f"{record.id}  {visible(record.name)}", style="bold"))
    where = f" ({record.phase} {record.done} of {record.total})" if record.phase and not record.state.over else ""
    stopping = ", asked to stop" if record.cancelling else ""
    say(f"{record.state.value}{where}{stopping}, {record.seconds:.0f} s, in {record.folder}")
    if record.error:
        say(Text(visible(record.error), style="red"))
    if results:
        print_results(results)


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
    """Resume a run that was cancelled, failed or lost, from its last checkpoint; blocks until done."""
    from riskcore.runs.worker import jobs

    store, record = opened(run, runs)
    if detach:
        jobs.resume(store, record.id)
        detached(record, as_json)
        return
    work(store, jobs.requeued(store, record.id), as_json)


@app.command("delete")
def delete(run: RunName, runs: Runs = RUNS, as_json: AsJson = False) -> None:
    """Remove a run with all its files, events and verdicts."""
    store, record = opened(run, runs)
    store.delete(record.id)
    if as_json:
        print_json({"run": record.id, "deleted": True})
    else:
        say(f"Run {record.id} is deleted.")


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


def document(record: RunRecord) -> dict[str, Any]:
    """A run as JSON."""
    moments = {"created": record.created, "started": record.started, "ended": record.ended}
    return {
        "run": record.id,
        "id": record.id,
        "name": record.name,
        "state": record.state.value,
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
