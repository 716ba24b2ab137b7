"""`bench`: the paper's evaluation on any folder of data sets. Resumable; every cell in a process of its own."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table as Grid

from riskcore.cli.console import STOPPED, AsJson, console, counted, number, percent, print_json, say
from riskcore.errors import ConfigError

if TYPE_CHECKING:
    from riskcore.bench.plan.cells import Cell
    from riskcore.bench.plan.plans import Wish
    from riskcore.bench.run.pool import Told
    from riskcore.bench.run.tables import Row
    from riskcore.config import RunConfig

app = typer.Typer(help="Reproduce the paper's evaluation, cell by cell.", no_args_is_help=True)
OUT = Path("bench")

Data = Annotated[Path, typer.Option(help="The folder that holds a folder for each data set.")]
Workload = Annotated[
    list[str] | None, typer.Option(help="Folder names, such as DA, or two, such as DA2DS; repeatable.")
]
Map = Annotated[list[str] | None, typer.Option("--map", metavar="SOURCE=TARGET", help="Attributes called differently.")]
Seeds = Annotated[int, typer.Option(min=1, help="How many seeds, from 0 on.")]
Methods = Annotated[str | None, typer.Option(help="Separated by commas; all unless told.")]
Matchers = Annotated[list[str] | None, typer.Option("--matcher", help="hybrid, ditto and so on; repeatable.")]
Fractions = Annotated[list[float] | None, typer.Option("--fraction", help="Share of the training part; repeatable.")]
Splits = Annotated[list[str] | None, typer.Option("--split", help="Ratio such as 2:2:6; repeatable.")]
Sizes = Annotated[list[str] | None, typer.Option("--size", help="Validation pairs, or all; repeatable.")]
Ablations = Annotated[bool, typer.Option("--ablations", help="Also risk with each of its parts taken away.")]
Jobs = Annotated[int | None, typer.Option(min=1, help="Cells at a time; one per core unless told.")]
Keep = Annotated[bool, typer.Option("--keep", help="Accept results that older code has left.")]
Config = Annotated[Path | None, typer.Option(help="A JSON file of settings; see `run`.")]
Out = Annotated[Path, typer.Option(help="Where results are kept, and found again.")]


@app.command()
def shift(
    data: Data,
    workload: Workload = None,
    attribute_map: Map = None,
    seeds: Seeds = 5,
    methods: Methods = None,
    matcher: Matchers = None,
    ablations: Ablations = False,
    jobs: Jobs = None,
    keep: Keep = False,
    config: Config = None,
    out: Out = OUT,
    as_json: AsJson = False,
) -> None:
    """Train on one data set, adapt to another: DA2DS, DA2CORA, CORA2DS, CORA2DA, DS2DA, DS2CORA."""
    wish = _wish(data, workload, attribute_map, seeds, methods, matcher, config, ablations=ablations)
    _run("shift", wish, out, jobs, keep, as_json)


@app.command("same-source")
def same_source(
    data: Data,
    workload: Workload = None,
    fraction: Fractions = None,
    split: Splits = None,
    seeds: Seeds = 5,
    methods: Methods = None,
    matcher: Matchers = None,
    ablations: Ablations = False,
    jobs: Jobs = None,
    keep: Keep = False,
    config: Config = None,
    out: Out = OUT,
    as_json: AsJson = False,
) -> None:
    """Train and adapt within one data set, with more and with less to train on."""
    parts: dict[str, Any] = {"fractions": tuple(fraction or ()), "splits": tuple(split or ())}
    wish = _wish(data, workload, None, seeds, methods, matcher, config, ablations=ablations, **parts)
    _run("same-source", wish, out, jobs, keep, as_json)


@app.command("validation-size")
def validation_size(
    data: Data,
    workload: Workload = None,
    attribute_map: Map = None,
    size: Sizes = None,
    fraction: Fractions = None,
    split: Splits = None,
    seeds: Seeds = 5,
    methods: Methods = None,
    matcher: Matchers = None,
    jobs: Jobs = None,
    keep: Keep = False,
    config: Config = None,
    out: Out = OUT,
    as_json: AsJson = False,
) -> None:
    """The same workload with fewer and with more labelled validation pairs."""
    parts: dict[str, Any] = {"fractions": tuple(fraction or ()), "splits": tuple(split or ())}
    wish = _wish(data, workload, attribute_map, seeds, methods, matcher, config, sizes=_sizes(size or []), **parts)
    _run("validation-size", wish, out, jobs, keep, as_json)


@app.command()
def report(
    out: Out = OUT,
    to: Annotated[
        Path | None, typer.Option(help="The page to write; report.md beside the results unless told.")
    ] = None,
    images: Annotated[bool, typer.Option("--images/--no-images", help="Draw static images with Chromium.")] = True,
    as_json: AsJson = False,
) -> None:
    """Tables and figures of all results, next to the paper's figures."""
    from riskcore.bench.report.write import publish

    page = publish(out, to or out / "report.md", images)
    for notice in page.notices:
        say(notice, to_stderr=True)
    if as_json:
        print_json({"page": str(page.file), "figures": [str(file) for file in page.figures], "against": page.against})
    else:
        say(f"{page.file}, {counted(len(page.figures), 'figure')} in {out / 'figures'}")


def _sizes(texts: list[str]) -> tuple[int | None, ...]:
    wrong = [text for text in texts if text != "all" and not (text.isdecimal() and int(text))]
    if wrong:
        raise ConfigError(f"--size is {wrong[0]!r}; it must be a number of validation pairs, or all.")
    return tuple(None if text == "all" else int(text) for text in texts)


def _wish(
    data: Path,
    workload: list[str] | None,
    attribute_map: list[str] | None,
    seeds: int,
    methods: str | None,
    matcher: list[str] | None,
    config: Path | None,
    ablations: bool = False,
    **parts: Any,
) -> Wish:
    from riskcore.bench.plan.ablations import ABLATIONS
    from riskcore.bench.plan.plans import Wish
    from riskcore.cli.run import settings_of

    base = settings_of(config)
    _check(base, matcher)
    return Wish(
        data=data,
        workloads=tuple(workload or ()),
        attribute_map=tuple(attribute_map or ()),
        seeds=seeds,
        methods=tuple(part.strip() for part in (methods or "").split(",") if part.strip()),
        matchers=tuple(matcher or ()),
        ablations=tuple(ABLATIONS) if ablations else (),
        base=base,
        **parts,
    )


def _check(base: RunConfig, matchers: list[str] | None) -> None:
    """Misspelt names stop here, not in every cell."""
    from riskcore.registry import MATCHERS

    for kind in (*(matchers or ()), base.matcher.kind):
        _ = MATCHERS[kind]  # refuses an unknown name


def _run(bench: str, wish: Wish, out: Path, jobs: int | None, keep: bool, as_json: bool) -> None:
    from riskcore.bench.plan.plans import plan
    from riskcore.bench.run.benchmark import ToDo, run_benchmark
    from riskcore.bench.run.documents import unreadable
    from riskcore.cli.bench_progress import showing_cells

    cells, notices = plan(bench, wish)
    for notice in (*notices, *unreadable(out)):
        say(notice, to_stderr=True)
    todo, jobs = ToDo.of(cells, out, keep), jobs or os.cpu_count() or 1
    say(f"{counted(len(cells), 'cell')}, {todo.finished:,} of them done before; results in {out}", to_stderr=True)
    with showing_cells(todo.outlook(jobs)) as hear:
        rows, failed = run_benchmark(bench, todo, out, jobs, hear)
    _report(*_of_these(cells, rows), failed, out, as_json)
    if failed:
        raise typer.Exit(STOPPED)


def _of_these(cells: list[Cell], rows: list[Row]) -> tuple[list[Row], list[str]]:
    """The rows that the cells ask for, made with their settings and data; a notice of the group's others."""
    from riskcore.bench.run.averaging import left_out
    from riskcore.bench.run.stamps import data_stamp, shared_stamp

    groups = {cell.group: (shared_stamp(cell.config), data_stamp(cell.config)) for cell in cells}
    some = [row for row in rows if _group(row) in groups]
    same = [(row["shared_stamp"], row["data_stamp"]) == groups[_group(row)] for row in some]
    others = [row for row, agrees in zip(some, same, strict=True) if not agrees]
    asked = {(*cell.group, cell.seed, *entry) for cell in cells for entry in cell.entries}
    found = [row for row, agrees in zip(some, same, strict=True) if agrees and _entry(row) in asked]
    return found, left_out(others)


def _entry(row: Row) -> tuple[Any, ...]:
    return (*_group(row), row["seed"], row["method"], row["ablation"])


def _group(row: Row) -> tuple[str, ...]:
    return tuple(row[name] for name in ("bench", "workload", "variant", "matcher"))


def _report(rows: list[Row], left: list[str], failed: list[Told], out: Path, as_json: bool) -> None:
    from riskcore.bench.run.tables import summary

    errors = [{"cell": told.cell.title, "error": told.error} for told in failed]
    if as_json:
        print_json({"out": str(out), "summary": summary(rows), "left_out": left, "failed": errors})
    else:
        _print_means(summary(rows))
    older = sum(not row["current"] for row in rows)
    for notice in (*left, *([f"{older:,} of these results come from other code or libraries."] if older else [])):
        say(notice, to_stderr=True)
    for told in failed:
        say(f"{told.cell.title} failed: {told.error}", to_stderr=True)


def _print_means(rows: list[Row]) -> None:
    grid = Grid("workload", "variant", "matcher", "method", "seeds", "F1", "+-", "unseen F1", "seconds", box=None)
    for row in rows:
        method = row["method"] + (f" ({row['ablation']})" if row["ablation"] else "")
        scores = [number(percent(row[name]), ".2f") for name in ("f1_mean", "f1_deviation", "unseen_f1_mean")]
        head = (row["workload"], row["variant"], row["matcher"], method, str(row["seeds"]))
        grid.add_row(*head, *scores, number(row["seconds_mean"], ".1f"))
    console().print(grid)
