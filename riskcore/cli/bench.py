"""`bench`: the paper's evaluation on any folder of data sets. Resumable; every cell in a process of its own."""

from __future__ import annotations

import functools
import inspect
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table as Grid

from riskcore.cli.console import STOPPED, AsJson, console, counted, number, percent, print_json, say
from riskcore.errors import ConfigError

if TYPE_CHECKING:
    from riskcore.bench.audit.missed import MissedRow
    from riskcore.bench.audit.table import AuditRow, NeededRow
    from riskcore.bench.plan.cells import Cell, CellGroup
    from riskcore.bench.plan.plans import BenchRequest
    from riskcore.bench.run.pool import CellEvent
    from riskcore.bench.run.schema import MeanRow, Row
    from riskcore.config import RunConfig

app = typer.Typer(help="Reproduce the paper's evaluation, cell by cell.", no_args_is_help=True)
OUT = Path("bench")

Data = Annotated[Path, typer.Option(help="The folder that contains one folder per data set.")]
Workload = Annotated[
    list[str] | None, typer.Option(help="A folder, such as DA, or two folders, such as DA2DS; repeatable.")
]
Map = Annotated[
    list[str] | None,
    typer.Option("--map", metavar="SOURCE=TARGET", help="Attributes with different names; repeatable."),
]
Seeds = Annotated[int, typer.Option(min=1, help="Number of seeds, counted from 0.")]
Methods = Annotated[str | None, typer.Option(help="Methods, separated by commas. Default: all.")]
Matchers = Annotated[list[str] | None, typer.Option("--matcher", help="hybrid, ditto and so on; repeatable.")]
Fractions = Annotated[list[float] | None, typer.Option("--fraction", help="Share of the training part; repeatable.")]
Splits = Annotated[list[str] | None, typer.Option("--split", help="Ratio such as 2:2:6; repeatable.")]
Sizes = Annotated[list[str] | None, typer.Option("--size", help="Number of validation pairs, or all; repeatable.")]
Ablations = Annotated[bool, typer.Option("--ablations", help="Also run risk with each of its parts removed.")]
Jobs = Annotated[int | None, typer.Option(min=1, help="Cells at a time. Default: one per core.")]
Keep = Annotated[bool, typer.Option("--keep", help="Accept results of older code.")]
Config = Annotated[Path | None, typer.Option(help="A JSON file of settings; see `run`.")]
Out = Annotated[Path, typer.Option(help="The folder of results; those already there are reused.")]


def _benchmark(
    bench: str,
    data: Data,
    workload: Workload = None,
    attribute_map: Map = None,
    size: Sizes = None,
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
    """What all benchmarks do, with every option that one of them has."""
    from riskcore.bench.plan.ablations import ABLATIONS
    from riskcore.bench.plan.plans import BenchRequest
    from riskcore.cli.run import settings_of

    base = settings_of(config)
    _check(base, matcher)
    request = BenchRequest(
        data=data,
        workloads=tuple(workload or ()),
        attribute_map=tuple(attribute_map or ()),
        seeds=seeds,
        methods=tuple(part.strip() for part in (methods or "").split(",") if part.strip()),
        matchers=tuple(matcher or ()),
        fractions=tuple(fraction or ()),
        splits=tuple(split or ()),
        sizes=_sizes(size or []),
        ablations=tuple(ABLATIONS) if ablations else (),
        base=base,
    )
    _run(bench, request, out, jobs, keep, as_json)


def _add_command(bench: str, words: str, without: tuple[str, ...]) -> None:
    """A command with the options of `_benchmark`, except those that this benchmark cannot use."""

    @functools.wraps(_benchmark)
    def command(**options: Any) -> None:
        _benchmark(bench, **options)

    signature = inspect.signature(_benchmark, eval_str=True)
    offered = [one for name, one in signature.parameters.items() if name not in ("bench", *without)]
    command.__signature__ = signature.replace(parameters=offered)  # type: ignore[attr-defined]
    app.command(bench, help=words)(command)


_add_command(
    "shift",
    "Train on one data set, adapt to another: DA2DS, DA2CORA, CORA2DS, CORA2DA, DS2DA, DS2CORA.",
    without=("size", "fraction", "split"),
)
_add_command(
    "same-source",
    "Train and adapt within one data set, with different amounts of training data.",
    without=("attribute_map", "size"),
)
_add_command(
    "validation-size",
    "The same workload with fewer and with more labelled validation pairs.",
    without=("ablations",),
)


@app.command()
def report(
    out: Out = OUT,
    to: Annotated[
        Path | None, typer.Option(help="The page to write. Default: report.md in the folder of results.")
    ] = None,
    images: Annotated[bool, typer.Option("--images/--no-images", help="Draw static images with Chromium.")] = True,
    as_json: AsJson = False,
) -> None:
    """Write tables and figures of all results, next to the paper's figures."""
    from riskcore.bench.report.write import write_report

    page = write_report(out, to or out / "report.md", images)
    for notice in page.notices:
        say(notice, to_stderr=True)
    if as_json:
        print_json({"page": str(page.file), "figures": [str(file) for file in page.figures], "against": page.against})
    else:
        say(f"{page.file}, {counted(len(page.figures), 'figure')} in {out / 'figures'}")


@app.command()
def audit(
    runs: Annotated[
        list[Path], typer.Option("--runs", help="A finished run with truth, or a folder of such runs; repeatable.")
    ],
    audits: Annotated[int, typer.Option(min=10, help="Simulated audits of each set of labels.")] = 2000,
    methods: Methods = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the simulations.")] = 0,
    warps: Annotated[bool, typer.Option("--warps/--no-warps", help="Also with risks made wrong on purpose.")] = True,
    needed: Annotated[bool, typer.Option("--needed/--no-needed", help="Also the verdicts for 2 points.")] = True,
    blocker: Annotated[
        str | None, typer.Option(metavar="METRIC", help="Also recall with misses of a blocker by this metric.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Simulate audits of labels whose truth is known: do the intervals cover, and how narrow are they?"""
    from riskcore.bench.audit.missed import missed_row
    from riskcore.bench.audit.simulate import WARPS
    from riskcore.bench.audit.table import METHODS, audit_rows, finished_runs, likeness_of, needed_row, populations

    chosen = tuple(part.strip() for part in (methods or "").split(",") if part.strip()) or METHODS
    rows, more, missed = [], [], []
    for path in finished_runs(runs):
        for one in populations(path, chosen):
            say(f"{path.name}: {one.name}, {one.method}", to_stderr=True)
            kinds = WARPS if warps else WARPS[:1]
            rows += list(audit_rows(path.name, one, audits, warps=kinds, seed=seed))
            if needed:
                more.append(needed_row(path.name, one, max(10, audits // 20), seed))
            if blocker is not None:
                missed.append(missed_row(path.name, one, likeness_of(path, blocker), audits, seed))
    if as_json:
        print_json({"audits": audits, "rows": rows, "needed": more, "missed": missed})
    else:
        _print_audits(rows, more, missed)


def _print_audits(rows: list[AuditRow], needed: list[NeededRow], missed: list[MissedRow]) -> None:
    from riskcore.bench.audit.table import coverage_shares

    names = ("target", "labels", "risk", "verdicts", "measure", "truth", "coverage", "RMSE ratio", "+-", "width ratio")
    grid = Grid(*names, box=None)
    for row in rows:
        head = (row["target"], row["method"], row["risk"], str(row["verdicts"]), row["measure"])
        shares = (number(percent(row[name]), ".1f") for name in ("truth", "coverage"))
        ratio, width = (number(row[name], ".2f") for name in ("rmse_ratio", "width_ratio"))
        grid.add_row(*head, *shares, ratio, number(percent(row["half_width"]), ".2f"), width)
    console().print(grid)
    for risk in dict.fromkeys(row["risk"] for row in rows):
        count = coverage_shares([row for row in rows if row["risk"] == risk])
        say(
            f"Risk {risk}: {count['within']:,} of {counted(count['lines'], 'line')} cover in 93 to 97 % of the audits, "
            f"{count['above']:,} in more ({count['still']:,} of these hardly vary), {count['below']:,} in fewer."
        )
    for one in needed:
        counts = [f"{count:,}" if count else "more than measured" for count in (one["design"], one["random"])]
        say(f"{one['target']}, {one['method']}: F1 within 2 points after {counts[0]} verdicts, at random {counts[1]}.")
    for lost in missed:
        covered, reach, ignored = (100 * lost[name] for name in ("coverage", "half_width", "ignored"))
        say(
            f"{lost['target']}, {lost['method']}: blocking missed {lost['missed']:,} matches, so recall is "
            f"{100 * lost['recall']:.1f}; {covered:.1f} % of the intervals cover it (+- {reach:.1f}), and "
            f"{ignored:.1f} % of those that look at candidates only."
        )


def _sizes(texts: list[str]) -> tuple[int | None, ...]:
    wrong = [text for text in texts if text != "all" and not (text.isdecimal() and int(text))]
    if wrong:
        raise ConfigError(f"--size is {wrong[0]!r}; it must be a number of validation pairs above 0, or all.")
    return tuple(None if text == "all" else int(text) for text in texts)


def _check(base: RunConfig, matchers: list[str] | None) -> None:
    """Refuse misspelt matchers before any cell runs."""
    from riskcore.registry import MATCHERS

    for kind in (*(matchers or ()), base.matcher.kind):
        _ = MATCHERS[kind]  # refuses an unknown name


def _run(bench: str, request: BenchRequest, out: Path, jobs: int | None, keep: bool, as_json: bool) -> None:
    from riskcore.bench.plan.plans import plan
    from riskcore.bench.run.benchmark import RemainingWork, run_benchmark
    from riskcore.bench.run.documents import unreadable
    from riskcore.cli.bench_progress import showing_cells

    cells, notices = plan(bench, request)
    for notice in (*notices, *unreadable(out)):
        say(notice, to_stderr=True)
    remaining, jobs = RemainingWork.of(cells, out, keep), jobs or os.cpu_count() or 1
    say(f"{counted(len(cells), 'cell')}, {remaining.finished:,} already done; results in {out}", to_stderr=True)
    with showing_cells(remaining.time_left(jobs)) as on_event:
        rows, failed = run_benchmark(bench, remaining, out, jobs, on_event)
    _report(*_requested_rows(cells, rows), failed, out, as_json)
    if failed:
        raise typer.Exit(STOPPED)


def _requested_rows(cells: list[Cell], rows: list[Row]) -> tuple[list[Row], list[str]]:
    """The rows of these cells, made with their settings and data; and a notice of the others in their groups."""
    from riskcore.bench.run.averaging import left_out
    from riskcore.bench.run.stamps import data_stamp, shared_stamp

    groups = {cell.group: (shared_stamp(cell.config), data_stamp(cell.config)) for cell in cells}
    some = [row for row in rows if _group(row) in groups]
    same = [row for row in some if (row["shared_stamp"], row["data_stamp"]) == groups[_group(row)]]
    requested = {(*cell.group, cell.seed, *entry) for cell in cells for entry in cell.entries}
    return [row for row in same if _entry(row) in requested], left_out(row for row in some if row not in same)


def _entry(row: Row) -> tuple[Any, ...]:
    return (*_group(row), row["seed"], row["method"], row["ablation"])


def _group(row: Row) -> CellGroup:
    return row["bench"], row["workload"], row["variant"], row["matcher"]


def _report(rows: list[Row], left: list[str], failed: list[CellEvent], out: Path, as_json: bool) -> None:
    from riskcore.bench.run.tables import summary

    errors = [{"cell": event.cell.title, "error": event.error} for event in failed]
    if as_json:
        print_json({"out": str(out), "summary": summary(rows), "left_out": left, "failed": errors})
    else:
        _print_means(summary(rows))
    older = sum(not row["current"] for row in rows)
    for notice in (*left, *([f"{older:,} of these results come from other code or libraries."] if older else [])):
        say(notice, to_stderr=True)
    for event in failed:
        say(f"{event.cell.title} failed: {event.error}", to_stderr=True)


def _print_means(rows: list[MeanRow]) -> None:
    grid = Grid("workload", "variant", "matcher", "method", "seeds", "F1", "+-", "unseen F1", "seconds", box=None)
    for row in rows:
        method = row["method"] + (f" ({row['ablation']})" if row["ablation"] else "")
        means = (row["f1_mean"], row["f1_deviation"], row["unseen_f1_mean"])
        scores = [number(percent(one), ".2f") for one in means]
        head = (row["workload"], row["variant"], row["matcher"], method, str(row["seeds"]))
        grid.add_row(*head, *scores, number(row["seconds_mean"], ".1f"))
    console().print(grid)
