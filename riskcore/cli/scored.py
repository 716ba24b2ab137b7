"""`scored list|add|forget|top|export`: sets of pairs that `riskcore score` has written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.table import Table as Grid
from rich.text import Text

from riskcore.cli.block import showing
from riskcore.cli.console import RUNS, AsJson, Runs, console, counted, print_json, say, shortened

if TYPE_CHECKING:
    from riskcore.scale.folder import ScoredFolder
    from riskcore.scale.queries import ScoredQuery

app = typer.Typer(help="List sets of scored pairs; register one for the dashboard; export pairs.", no_args_is_help=True)
SetName = Annotated[str, typer.Argument(metavar="SET", help="The name of a scored set, or its folder.")]
Label = Annotated[Literal["match", "non-match"] | None, typer.Option(help="Only pairs with this label.")]
Search = Annotated[str | None, typer.Option(help="Only pairs of records that contain this text, or the id of a pair.")]
Least = Annotated[float | None, typer.Option(min=0, max=1, help="Only pairs with at least this risk.")]
Most = Annotated[float | None, typer.Option(min=0, max=1, help="Only pairs with at most this risk.")]


@app.command("list")
def list_scored(runs: Runs = RUNS, as_json: AsJson = False) -> None:
    """List the scored sets of a project."""
    from riskcore.scale.known import default_place, known_scored

    found = known_scored(runs)
    if as_json:
        print_json({"sets": [{"name": one.name, "folder": str(one.folder.path), "facts": one.facts} for one in found]})
        return
    grid = Grid("set", "pairs", "matches", "run", "method", "folder", box=None)
    for one in found:
        facts = one.facts
        cells = ["-"] * 4 if facts is None else [
            f"{facts['pairs']:,}", f"{facts['matches']:,}", facts["run"], facts["method"]
        ]  # fmt: skip
        grid.add_row(Text(one.name), *cells, Text(str(one.folder.path)))
    if found:
        console().print(grid)
    else:
        say(f"There are no scored sets in {default_place(runs)}, and none is registered.")


@app.command("add")
def add(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A folder that `score` has written.")],
    runs: Runs = RUNS,
) -> None:
    """Register a scored set that lies elsewhere, so that the dashboard shows it."""
    from riskcore.scale.known import register_scored

    say(f"The dashboard shows {folder} as {register_scored(runs, folder)}.")


@app.command("forget")
def forget(name: SetName, runs: Runs = RUNS) -> None:
    """Forget a registered set. Its files stay."""
    from riskcore.scale.known import forget_scored

    say(f"{name} is forgotten. Its files are still in {forget_scored(runs, name)}.")


@app.command("top")
def top(
    name: SetName,
    n: Annotated[int, typer.Option("--n", min=1, max=1_000, help="Number of pairs.")] = 50,
    label: Label = None,
    text: Search = None,
    runs: Runs = RUNS,
    as_json: AsJson = False,
) -> None:
    """Print the riskiest pairs of a scored set."""
    from riskcore.scale.queries import ScoredQuery
    from riskcore.scale.reading import read_page

    found = read_page(_opened(name, runs), ScoredQuery(label=_number(label), text=text, page_size=n))
    rows: list[dict[str, Any]] = found.rows.astype(object).where(found.rows.notna(), None).to_dict("records")
    if as_json:
        print_json({"total": found.total, "pairs": rows})
        return
    grid = Grid("pair", "label", "probability", "risk", "reasons", box=None)
    for row in rows:
        bound = "≤ " if row["bound"] else ""
        grid.add_row(
            Text(str(row["pair_id"])),
            "match" if row["label"] else "non-match",
            f"{row['probability']:.2f}",
            f"{bound}{row['risk']:.2f}",
            Text(shortened(row["reasons"] or "", 80)),
        )
    console().print(grid)
    say(f"{counted(found.total, 'pair')} in all.")


@app.command("export")
def export(
    name: SetName,
    out: Annotated[Path, typer.Option(help="The file to write; its ending, .csv or .parquet, says how.")],
    matches_only: Annotated[bool, typer.Option("--matches-only", help="Leave out the non-matches.")] = False,
    label: Label = None,
    text: Search = None,
    risk_min: Least = None,
    risk_max: Most = None,
    all_columns: Annotated[bool, typer.Option("--all-columns", help="Add both records of each pair.")] = False,
    runs: Runs = RUNS,
    as_json: AsJson = False,
) -> None:
    """Write the pairs of a scored set, all or those that meet the filters, without holding them in memory."""
    from riskcore.scale.exporting import export_pairs
    from riskcore.scale.queries import ScoredQuery

    wanted = 1 if matches_only else _number(label)
    query: ScoredQuery = ScoredQuery(label=wanted, text=text, risk_min=risk_min, risk_max=risk_max)
    with showing() as on_progress:
        pairs = export_pairs(
            _opened(name, runs),
            out,
            query,
            values=all_columns,
            on_progress=lambda done, share: on_progress(f"{done:,} pairs", share),
        )
    if as_json:
        print_json({"pairs": pairs, "file": str(out)})
    else:
        say(f"{counted(pairs, 'pair')} in {out}.")


def _opened(name: str, runs: Path) -> ScoredFolder:
    """A set by its name or its folder."""
    from riskcore.scale.folder import ScoredFolder
    from riskcore.scale.known import find_scored

    folder = ScoredFolder(Path(name))
    found = folder if folder.is_complete else find_scored(runs, name).folder
    found.facts()
    return found


def _number(label: str | None) -> int | None:
    return None if label is None else int(label == "match")
