"""What commands print: text and JSON to stdout, progress and errors to stderr, exit codes. Record text is never read as
markup."""

from __future__ import annotations

import getpass
import json
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text
from typer.core import TyperGroup

from riskcore import logs
from riskcore.errors import CancelledError, RiskcoreError
from riskcore.paths import RUNS_VARIABLE, default_runs

FOUND_ERRORS, BAD_INPUT, STOPPED = 1, 2, 3
PLAIN_WIDTH = 160  # of tables where there is no terminal to ask

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
Runs = Annotated[Path, typer.Option("--runs", envvar=RUNS_VARIABLE, help="The folder that holds all runs.")]
RunName = Annotated[str, typer.Argument(metavar="RUN", help="A run's id, or its folder.")]
Method = Annotated[str, typer.Option(help="A method with iterations, such as risk or risk+.")]
Iteration = Annotated[int | None, typer.Option(min=0, help="Which iteration; by default the kept one.")]
RUNS = default_runs()


class Commands(TyperGroup):
    """Turns every error made on purpose into one clear message and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except RiskcoreError as error:
            say(Text("Error: ", style="bold red") + Text(str(error)), to_stderr=True)
            logs.event("command", action=_command(ctx), outcome="failed", error=logs.error_name(error))
            raise typer.Exit(_code(error)) from None
        except OSError as error:
            if error.filename is None:  # not about a file that was named, such as a closed pipe
                raise
            path = shortened(repr(error.filename))
            say(Text("Error: ", style="bold red") + Text(f"{path}: {error.strerror}. Check the name."), to_stderr=True)
            raise typer.Exit(BAD_INPUT) from None
        except KeyboardInterrupt:
            say(Text("Stopped."), to_stderr=True)
            raise typer.Exit(STOPPED) from None


def _command(ctx: Any) -> str:
    """The words of the command that ran, without its arguments."""
    words = [ctx.invoked_subcommand]
    group = ctx.command.commands.get(ctx.invoked_subcommand)
    if hasattr(group, "commands"):
        words += [one for one in sys.argv[1:] if one in group.commands][:1]
    return " ".join(str(one) for one in words if one)


def shortened(text: str, most: int = 200) -> str:
    """A name as a message shows it: its beginning, if it is long."""
    return text if len(text) <= most else f"{text[:most]}…"


def _code(error: RiskcoreError) -> int:
    from riskcore.runs.store.run_record import RunFailedError

    return STOPPED if isinstance(error, RunFailedError | CancelledError) else BAD_INPUT


def account() -> str:
    """The name of the account that runs this; a container's user often has a number only."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"user {os.getuid()}"


def console(to_stderr: bool = False) -> Console:
    # Made at each use: tests and embedding programs replace the streams.
    found = Console(stderr=to_stderr, highlight=False, markup=False, emoji=False)
    if not found.is_terminal:
        found.width = PLAIN_WIDTH
    return found


def say(text: Text | str, to_stderr: bool = False) -> None:
    console(to_stderr).print(Text(text) if isinstance(text, str) else text, soft_wrap=True)


def print_json(document: Any) -> None:
    sys.stdout.write(json.dumps(document, indent=2, allow_nan=False) + "\n")


def counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def number(value: float | None, form: str = ".3f") -> str:
    """A figure for a table; a dash if it is unknown."""
    return "-" if value is None or value != value else format(value, form)


def percent(share: float | None) -> float | None:
    return None if share is None else 100 * share
