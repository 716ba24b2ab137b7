"""The command line, with a command for each screen. Commands import what they need when they run, so help is instant.

Exit codes: 0 done; 1 `data check` or `audit verify` found problems; 2 bad input or usage; 3 a run failed or was
cancelled. With `--json` one document goes to stdout and nothing else; progress and errors go to stderr.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from riskcore import logs
from riskcore.cli import (
    apply,
    audit,
    audit_exchange,
    audit_feedback,
    audit_lists,
    audit_plan,
    audit_sign,
    backup,
    bench,
    block,
    bring,
    compare,
    data,
    doctor,
    export,
    forget,
    pairs,
    run,
    runs,
    score,
    scored,
    serve,
    worker,
)
from riskcore.cli.console import Commands, say
from riskcore.version import __version__

app = typer.Typer(
    cls=Commands,
    name="riskcore",
    help="Find and repair the mistakes of deep entity matchers.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
data.app.command("bring")(bring.bring)
app.add_typer(data.app, name="data")
app.command("block")(block.block)
app.command("run")(run.run)
runs.app.command("forget")(forget.forget)
app.add_typer(runs.app, name="runs")
app.command("top")(pairs.top)
app.command("rules")(pairs.rules)
app.command("explain")(pairs.explain)
app.command("compare")(compare.compare)
audit.app.command("import")(audit_exchange.import_verdicts)
audit.app.command("export")(audit_exchange.export_pairs)
audit.app.command("assign")(audit_lists.assign_pairs)
audit.app.command("lists")(audit_lists.show_lists)
audit.app.command("plan")(audit_plan.plan)
audit.app.command("refit")(audit_feedback.refit)
audit.app.command("rule")(audit_feedback.rule)
audit.app.command("sign")(audit_sign.sign)
audit.app.command("dossier")(audit_sign.dossier)
audit.app.command("verify")(audit_sign.verify)
app.add_typer(audit.app, name="audit")
app.command("export")(export.export)
app.command("apply")(apply.apply)
app.command("score")(score.score)
app.add_typer(scored.app, name="scored")
app.add_typer(bench.app, name="bench")
app.command("serve")(serve.serve)
app.command("backup")(backup.backup)
app.command("restore")(backup.restore)
app.command("doctor")(doctor.doctor)
app.command("worker")(worker.worker)


def main() -> None:
    """Run the command line; characters that the terminal cannot show are written as escapes."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    logs.set_up()
    app()


@app.callback(invoke_without_command=True)
def _options(version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False) -> None:
    if version:
        say(__version__)
        raise typer.Exit
