"""`export`: the result of a run as files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from riskcore.cli.console import RUNS, AsJson, RunName, Runs, counted, print_json, say
from riskcore.cli.pairs import folder_of

if TYPE_CHECKING:
    from riskcore.audit.result import ExportedResult

_CONSTRAINTS = "free, one-to-one, one-to-many, many-to-one, or auto for the one that the data suggest"


def export(
    run: RunName,
    out: Annotated[Path | None, typer.Option(help="The file to write, or a folder for it.")] = None,
    method: Annotated[
        str | None, typer.Option(help="Whose answer; by default that of risk+, else of risk, else of the first method.")
    ] = None,
    clusters: Annotated[bool, typer.Option("--clusters", help="Add every record with its entity.")] = False,
    merged: Annotated[bool, typer.Option("--merged", help="Add one merged record for each entity.")] = False,
    constraint: Annotated[str, typer.Option(help=f"How many matches a record may have: {_CONSTRAINTS}.")] = "free",
    matches_only: Annotated[bool, typer.Option("--matches-only", help="Leave out the non-matches.")] = False,
    all_columns: Annotated[bool, typer.Option("--all-columns", help="Add both records of each pair.")] = False,
    form: Annotated[
        str | None, typer.Option("--format", help="csv, parquet or xlsx; by default as --out ends.")
    ] = None,
    truth: Annotated[bool, typer.Option("--truth", help="Add the benchmark's labels of the target pairs.")] = False,
    runs: Runs = RUNS,
    as_json: AsJson = False,
) -> None:
    """Write the result: a decision on every candidate pair of the target, entities, and merged records."""
    from riskcore.audit.result import export_result

    done = export_result(
        folder_of(run, runs),
        out,
        method=method,
        constraint=constraint,
        clusters=clusters,
        merged=merged,
        matches_only=matches_only,
        all_columns=all_columns,
        format=form,
        truth=truth,
    )
    if as_json:
        print_json({**done.about, "files": {name: str(path) for name, path in done.files.items()}})
    else:
        _print(done)


def _print(done: ExportedResult) -> None:
    about, counts, log = done.about, done.about["counts"], done.about["verdict_log"]
    for name, path in done.files.items():
        say(f"{counted(done.rows[name], 'row')} of {name} are in {path}.")
    say(f"Matches: {counts['matches']:,} of {counted(counts['pairs'], 'pair')}.")
    say(about["labels_used_in_words"])
    if "entities" in counts:
        say(f"Constraint: {about['constraint']}. Matches dropped: {counts['matches dropped']:,}.")
        several = counts["entities of several records"]
        say(f"Entities: {counts['entities']:,}, of which {several:,} have several records.")
    if about["suggested_constraint"] != about["constraint"]:
        say(f"The data suggest {about['suggested_constraint']}. {about['suggested_because']}")
    if log["entries"]:
        say(f"Head of the verdict log, entry {log['entries']:,}: {log['head']}")
    for sentence in (*about["left_out"], *(f"Contradiction: {one}" for one in about["contradictions"])):
        say(sentence)
