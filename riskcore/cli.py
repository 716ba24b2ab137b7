"""The command line: a twin for each screen. Commands import what they need when they run, so that help is instant.

Exit codes: 0 done; 1 `data check` found errors; 2 bad input or usage. With `--json` one document goes to stdout
and nothing else; progress and errors go to stderr. Record text is never taken as markup.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text
from typer.core import TyperGroup

from riskcore import __version__
from riskcore.errors import ConfigError, DataFormatError, RiskcoreError

if TYPE_CHECKING:
    from riskcore.data.problems import Problem
    from riskcore.data.profile import DataProfile

APP_SCRIPT = Path(__file__).resolve().parent.parent / "app.py"
FOUND_ERRORS, BAD_INPUT = 1, 2
_COLOURS = {"error": "bold red", "warning": "yellow"}


class _Commands(TyperGroup):
    """Turns every error made on purpose into one clear message and exit code 2."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except RiskcoreError as error:
            _say(Text("Error: ", style="bold red") + Text(str(error)), to_stderr=True)
            raise typer.Exit(BAD_INPUT) from None


app = typer.Typer(
    cls=_Commands,
    name="riskcore",
    help="Find and repair the mistakes of deep entity matchers.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
data_app = typer.Typer(help="Check and fetch data sets.", no_args_is_help=True)
app.add_typer(data_app, name="data")

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]


def main() -> None:
    """Run the command line; characters that the terminal cannot show are written as escapes."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    app()


@app.callback(invoke_without_command=True)
def _options(version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False) -> None:
    if version:
        _say(Text(__version__))
        raise typer.Exit


@data_app.command("check")
def check(
    path: Annotated[Path, typer.Argument(help="A folder with tableA.csv, or a csv or parquet file of pairs.")],
    as_json: AsJson = False,
) -> None:
    """Show what a data set holds, and everything that is wrong with it. Exits with 1 if it cannot be used."""
    from riskcore.data.dataset import inspect_data
    from riskcore.data.profile import profile

    data, problems = inspect_data(path)
    if any(problem.kind in ("path_missing", "not_a_data_set") for problem in problems):
        raise DataFormatError(problems)
    figures = profile(data) if data is not None else None
    if as_json:
        _print_json(_check_document(path, figures, problems))
    else:
        _print_check(path, figures, problems)
    if data is None:
        raise typer.Exit(FOUND_ERRORS)


@data_app.command("download")
def download_set(
    name: Annotated[str, typer.Argument(help="A public data set, such as DBLP-ACM.")],
    to: Annotated[Path, typer.Option(help="The folder to put it in.")] = Path("data"),
    sha256: Annotated[str | None, typer.Option(help="Refuse the archive unless it has this SHA-256.")] = None,
    base_url: Annotated[str | None, typer.Option(help="Another home of the archives, such as a mirror.")] = None,
    as_json: AsJson = False,
) -> None:
    """Fetch a public benchmark set by name, unpack it safely, and note where it came from."""
    from rich.progress import Progress

    from riskcore.data.download import download

    with Progress(console=_console(to_stderr=True), transient=True) as bar:
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
        _print_json({"folder": str(folder), **source})
    else:
        _say(Text(f"{folder} is ready. Check it with: python -m riskcore data check {folder}"))


@app.command("serve")
def serve(
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="8501 unless Streamlit is told otherwise.")] = None,
) -> None:
    """Start the screens in a browser, on this machine only unless Streamlit's own settings say otherwise."""
    if not APP_SCRIPT.is_file():
        raise ConfigError(f"{APP_SCRIPT} is not there: the screens start from a copy of the project.")
    # The address comes from the environment, so that the server stays private whatever folder it is started in.
    os.environ.setdefault("STREAMLIT_SERVER_ADDRESS", "localhost")
    os.environ.setdefault("STREAMLIT_SERVER_SHOW_EMAIL_PROMPT", "false")
    os.environ.setdefault("STREAMLIT_BROWSER_GATHER_USAGE_STATS", "false")
    command = [sys.executable, "-m", "streamlit", "run", str(APP_SCRIPT)]
    os.execv(sys.executable, command + (["--server.port", str(port)] if port else []))


def _console(to_stderr: bool = False) -> Console:
    # Made at each use: tests and embedding programs replace the streams.
    return Console(stderr=to_stderr, highlight=False, markup=False, emoji=False)


def _say(text: Text, to_stderr: bool = False) -> None:
    _console(to_stderr).print(text, soft_wrap=True)


def _print_json(document: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(document, indent=2) + "\n")


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
        _say(Text(f"{problem.severity} ", style=_COLOURS[problem.severity]) + Text(f"[{problem.kind}] {problem}"))
    verdict = "can be used" if figures is not None else "cannot be used"
    counts = ", ".join(_plural(_count(problems, severity), severity) for severity in _COLOURS)
    _say(Text(f"{visible(str(path))} {verdict}: {counts}.", style="bold"))


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _print_figures(figures: DataProfile) -> None:
    from riskcore.data.problems import shown

    records = ", ".join(f"{name} {count:,}" for name, count in figures.records.items())
    _say(Text(f"records: {records}{' (self-join)' if figures.self_join else ''}"))
    attributes = Grid("attribute", "type", "missing left", "missing right", box=None)
    for attribute in figures.attributes:
        rates = (f"{rate:.1%}" for rate in (attribute.missing_left, attribute.missing_right))
        attributes.add_row(Text(shown(attribute.name)[1:-1]), attribute.type, *rates)
    splits = Grid("split", "pairs", "matches", "match rate", "unlabelled", box=None)
    for split in figures.splits:
        rate = "unknown" if split.match_rate is None else f"{split.match_rate:.1%}"
        splits.add_row(split.name, f"{split.pairs:,}", f"{split.matches:,}", rate, f"{split.unlabelled:,}")
    for grid in (attributes, splits):
        _console().print(grid)
    _say(Text(f"fingerprint: {figures.fingerprint}"))
