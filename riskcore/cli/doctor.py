"""`doctor`: whether everything on a server is as it should be, in one line for each check."""

from __future__ import annotations

import dataclasses

import typer
from rich.text import Text

from riskcore.cli.backup import DATA, Data
from riskcore.cli.console import FOUND_ERRORS, RUNS, AsJson, Runs, print_json, say

_COLOURS = {"ok": "green", "warning": "yellow", "error": "bold red"}


def doctor(runs: Runs = RUNS, data: Data = DATA, as_json: AsJson = False) -> None:
    """Check store, disk, workers, versions, permissions, sign-in and seal; exits with 1 if there is an error."""
    from riskcore.operations.doctor import examine, worst
    from riskcore.operations.finding import Level

    found = examine(runs, data)
    if as_json:
        print_json({"worst": worst(found).value, "findings": [dataclasses.asdict(one) for one in found]})
    else:
        for one in found:
            cure = f" {one.cure}" if one.cure else ""
            ended = one.said if one.said.endswith(".") else f"{one.said}."
            say(Text(f"{one.level.value:<8}", style=_COLOURS[one.level.value]) + Text(f"{one.check}: {ended}{cure}"))
    if worst(found) is Level.ERROR:
        raise typer.Exit(FOUND_ERRORS)
