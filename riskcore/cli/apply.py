"""`apply`: new records or pairs, scored with what a run answers with."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from riskcore.cli.block import showing
from riskcore.cli.console import RUNS, AsJson, RunName, Runs, counted, print_json, say
from riskcore.cli.pairs import folder_of
from riskcore.errors import ConfigError


def apply(
    run: RunName,
    new: Annotated[
        Path, typer.Argument(metavar="NEW", help="A table of new records, a file of pairs, or a folder of both.")
    ],
    out: Annotated[Path | None, typer.Option(help="The .csv, .parquet or .xlsx file to write.")] = None,
    method: Annotated[
        str | None, typer.Option(help="Whose answer; by default that of risk+, else of risk, else of the first method.")
    ] = None,
    side: Annotated[str, typer.Option(help="The side of the new records, left or right.")] = "right",
    top: Annotated[
        int | None, typer.Option(help="Best candidates of each new record and search; by default as block finds them.")
    ] = None,
    id_column: Annotated[
        str, typer.Option("--id", help="The column of ids in a table of new records; none numbers the rows.")
    ] = "id",
    matches_only: Annotated[bool, typer.Option("--matches-only", help="Leave out the non-matches.")] = False,
    scores: Annotated[
        Path | None, typer.Option(help="Scores of the new pairs, where the run's matcher is a file of scores.")
    ] = None,
    runs: Runs = RUNS,
    as_json: AsJson = False,
) -> None:
    """Score new records or pairs with exactly what the run answers with, and write every pair with its decision."""
    if out is None:
        raise ConfigError("--out is missing; give a file that ends in .csv, .parquet or .xlsx.")
    started = time.monotonic()
    folder = folder_of(run, runs)
    from riskcore.apply.apply import apply_to_file  # brings the engine

    with showing() as on_progress:
        done = apply_to_file(
            folder,
            new,
            out,
            method=method,
            side=side,
            top=top,
            id_column=id_column,
            matches_only=matches_only,
            scores=scores,
            on_progress=on_progress,
        )
    seconds = time.monotonic() - started
    if as_json:
        print_json({**done.about, "out": str(done.path), "seconds": round(seconds, 2)})
        return
    about, counts = done.about, done.about["counts"]
    kept = "" if about["kept_iteration"] is None else f", iteration {about['kept_iteration']}"
    say(f"{counted(done.rows, 'pair')} in {done.path}, decided by {about['method']}{kept} of run {about['run']}.")
    say(f"Matches: {counts['matches']:,} of {counted(counts['pairs'], 'pair')}.")
    say(f"New records: {counts['new records']:,}. It took {seconds:.1f} s.")
