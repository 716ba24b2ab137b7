"""What commands print: text and JSON to stdout, progress and errors to stderr, exit codes. Record text is never read as
markup."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text
from typer.core import TyperGroup

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
            raise typer.Exit(_code(error)) from None
        except KeyboardInterrupt:
            say(Text("Stopped."), to_stderr=True)
            raise typer.Exit(STOPPED) from None


def _code(error: RiskcoreError) -> int:
    from riskcore.runs.store.run_record import RunFailedError

    return STOPPED if isinstance(error, RunFailedError | CancelledError) else BAD_INPUT


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
