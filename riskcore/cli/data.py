"""`data check`, `data profile` and `data download`. `data bring` is in a module of its own."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table as Grid
from rich.text import Text

from riskcore.cli.console import FOUND_ERRORS, AsJson, console, counted, print_json, say
from riskcore.paths import DATA_VARIABLE, default_data

if TYPE_CHECKING:
    from riskcore.data.problems import Problem
    from riskcore.data.profile import DataProfile
    from riskcore.data.uses import Use

DATA = default_data()
_COLOURS = {"error": "bold red", "warning": "yellow"}

app = typer.Typer(help="Check, profile and download data sets.", no_args_is_help=True)


@app.command("check")
def check(
    path: Annotated[Path, typer.Argument(help="A folder with tableA.csv, or a csv or parquet file of pairs.")],
    as_json: AsJson = False,
) -> None:
    """Show what a data set holds, and everything that is wrong with it. Exits with 1 if it cannot be used."""
    from riskcore.data.profile import profile
    from riskcore.data.reading import inspect_data
    from riskcore.data.uses import possible_uses

    data, problems = inspect_data(path)
    if any(problem.kind in ("path_missing", "not_a_data_set") for problem in problems):
        from riskcore.data.problems import DataFormatError

        raise DataFormatError(problems)
    figures = profile(data) if data is not None else None
    uses = possible_uses(data) if data is not None else ()
    if as_json:
        document = _check_document(path, figures, problems)
        print_json({**document, "uses": [one.to_dict() for one in uses]})
    else:
        _print_check(path, figures, problems)
        print_uses(uses)
    if data is None:
        raise typer.Exit(FOUND_ERRORS)


@app.command("profile")
def show_profile(
    path: Annotated[Path, typer.Argument(help="A folder with tableA.csv, or a csv or parquet file of pairs.")],
    as_json: AsJson = False,
) -> None:
    """Show the figures of a data set: records, attributes with their types, splits with their match rates."""
    from riskcore.data import open_data
    from riskcore.data.profile import profile

    figures = profile(open_data(path))
    if as_json:
        print_json({"path": str(path), **figures.to_dict()})
    else:
        _print_figures(figures)


@app.command("download")
def download_set(
    name: Annotated[str, typer.Argument(help="A public data set, such as DBLP-ACM.")],
    to: Annotated[Path, typer.Option(envvar=DATA_VARIABLE, help="The folder to put it in.")] = DATA,
    sha256: Annotated[str | None, typer.Option(help="Refuse the archive unless it has this SHA-256.")] = None,
    base_url: Annotated[str | None, typer.Option(help="Another server for the archives, such as a mirror.")] = None,
    as_json: AsJson = False,
) -> None:
    """Download a public benchmark set by name, unpack it safely, and record where it came from."""
    from rich.progress import Progress

    from riskcore.data.download import download

    with Progress(console=console(to_stderr=True), transient=True) as bar:
        task = bar.add_task("downloading", total=None)
        folder = download(
            name,
            to,
            base_url=base_url,
            sha256=sha256,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    if as_json:
        source = json.loads((folder / "source.json").read_text(encoding="utf-8"))
        print_json({"folder": str(folder), **source})
    else:
        say(Text(f"{folder} is ready. Check it with: riskcore data check {folder}"))


def _check_document(path: Path, figures: DataProfile | None, problems: list[Problem]) -> dict[str, Any]:
    return {
        "path": str(path),
        "usable": figures is not None,
        "data": figures.to_dict() if figures else None,
        "errors": _count(problems, "error"),
        "warnings": _count(problems, "warning"),
        "problems": [problem.to_dict() for problem in problems],
    }


def _count(problems: list[Problem], severity: str) -> int:
    return sum(problem.count for problem in problems if problem.severity == severity)


def _print_check(path: Path, figures: DataProfile | None, problems: list[Problem]) -> None:
    from riskcore.data.problems import visible

    if figures is not None:
        _print_figures(figures)
    for problem in problems:
        say(Text(f"{problem.severity} ", style=_COLOURS[problem.severity]) + Text(f"[{problem.kind}] {problem}"))
    usable = "can be used" if figures is not None else "cannot be used"
    counts = ", ".join(counted(_count(problems, severity), severity) for severity in _COLOURS)
    say(Text(f"{visible(str(path))} {usable}: {counts}.", style="bold"))


def print_uses(uses: Sequence[Use]) -> None:
    """What is possible with a data set, a line for each use."""
    for use in uses:
        say(Text("yes " if use.possible else "no  ", style="green" if use.possible else "yellow") + Text(str(use)))


def _print_figures(figures: DataProfile) -> None:
    from riskcore.data.problems import shown

    records = ", ".join(f"{name} {count:,}" for name, count in figures.records.items())
    say(Text(f"records: {records}{' (self-join)' if figures.self_join else ''}"))
    attributes = Grid("attribute", "type", "missing left", "missing right", box=None)
    for attribute in figures.attributes:
        rates = (f"{rate:.1%}" for rate in (attribute.missing_left, attribute.missing_right))
        attributes.add_row(Text(shown(attribute.name)[1:-1]), attribute.type, *rates)
    splits = Grid("split", "pairs", "matches", "match rate", "unlabelled", box=None)
    for split in figures.splits:
        rate = "unknown" if split.match_rate is None else f"{split.match_rate:.1%}"
        splits.add_row(split.name, f"{split.pairs:,}", f"{split.matches:,}", rate, f"{split.unlabelled:,}")
    for grid in (attributes, splits):
        console().print(grid)
    say(Text(f"fingerprint: {figures.fingerprint}"))
