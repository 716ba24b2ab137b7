"""`top`, `rules` and `explain`: which labels are likely wrong, and why."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.table import Table as Grid
from rich.text import Text

from riskcore.cli.console import (
    RUNS,
    AsJson,
    Iteration,
    Method,
    RunName,
    Runs,
    console,
    number,
    print_json,
    say,
    shortened,
)
from riskcore.errors import StorageError

if TYPE_CHECKING:
    import pandas as pd

    from riskcore.risk import Explanation
    from riskcore.risk.balance import BalanceSheet
    from riskcore.runs import PairDetail, RunFolder
    from riskcore.runs.readers.pair_reasons import PairReason

Out = Annotated[Path | None, typer.Option(help="Write to this .csv, .parquet or .html file instead.")]
Order = Literal["risk", "gain", "random"]
_TITLES: dict[Order, str] = {"risk": "Riskiest pairs", "gain": "Pairs worth most", "random": "Random pairs"}
LEAST_PART = 0.005  # log-odds: below it a contribution reads 0.00
LEAST_WEIGHT = 0.0005  # below it every figure of a rule reads 0.000
CELL_CHARS = 60  # of a value in a table of text
_RECORDS = (("fired", "support"), ("purity", "purity"))  # columns of validation and source that hold the same


def folder_of(run: str, root: Path, figures: bool = False) -> RunFolder:
    """The folder of a run, by id under the root or by path. Unless `figures` are enough, one whose records were deleted
    under retention is refused."""
    from riskcore.runs import RunFolder, RunNotFoundError
    from riskcore.runs.retention import refuse_forgotten

    for path in (root / run, Path(run).absolute()):
        if (path / "run.json").is_file():
            if not figures:
                refuse_forgotten(path)
            return RunFolder(path)
    name = shortened(run)
    raise RunNotFoundError(f"There is no run {name!r} in {root} that has begun. `runs list` shows the runs there.")


def top(
    run: RunName,
    n: Annotated[int, typer.Option("--n", min=1, max=10_000, help="Number of pairs.")] = 50,
    flipped: Annotated[bool, typer.Option("--flipped", help="Only pairs whose label was changed.")] = False,
    by: Annotated[Order, typer.Option("--by", help="Riskiest first, most expected gain first, or random.")] = "risk",
    method: Method = "risk",
    iteration: Iteration = None,
    out: Out = None,
    runs: Runs = RUNS,
    as_json: AsJson = False,
) -> None:
    """Show the pairs whose label is most likely wrong, riskiest first, or those where a verdict gains most."""
    from riskcore.runs import PairQuery, query_pairs

    folder = folder_of(run, runs)
    shown = folder.iteration(method, iteration)
    query = PairQuery(method=method, iteration=shown, sort=by, flipped=True if flipped else None, page_size=n)
    page = query_pairs(folder, query, _verdicts(folder))
    if out is not None:
        _export(page.rows, out, f"{_TITLES[by]} of {folder.path.name}", as_json)
    elif as_json:
        print_json({"run": folder.path.name, "total": page.total, "pairs": records(page.rows)})
    else:
        _print_pairs(page.rows)


def rules(
    run: RunName,
    method: Method = "risk",
    iteration: Iteration = None,
    out: Out = None,
    runs: Runs = RUNS,
    as_json: AsJson = False,
) -> None:
    """Show every rule with its record on source and target, and its weight in the risk model."""
    from riskcore.runs import rule_table

    folder = folder_of(run, runs)
    rules = rule_table(folder, method, folder.iteration(method, iteration))
    if out is not None:
        _export(rules, out, f"Rules of {folder.path.name}", as_json)
    elif as_json:
        print_json({"run": folder.path.name, "rules": records(rules)})
    else:
        _print_rules(rules.sort_values("weight", ascending=False))


def explain(
    run: RunName,
    pair: Annotated[str, typer.Argument(help="ltable_id:rtable_id, or the pair file's id.")],
    method: Method = "risk",
    iteration: Iteration = None,
    runs: Runs = RUNS,
    as_json: AsJson = False,
) -> None:
    """Explain a pair: the reason in words, its balance sheet, and what each rule that fired adds to the risk."""
    from riskcore.runs import explain_detail, pair_detail, pair_history
    from riskcore.runs.readers.pair_reasons import attribute_types, reason_of_sheet
    from riskcore.runs.readers.pair_sheet import sheet_of_detail

    folder = folder_of(run, runs)
    shown = folder.iteration(method, iteration)
    detail = pair_detail(folder, pair, method, shown)
    found = explain_detail(folder, detail, method, shown)
    sheet = sheet_of_detail(folder, detail, method, shown)
    reason = None if sheet is None else reason_of_sheet(detail, attribute_types(folder), sheet)
    if as_json:
        history = records(pair_history(folder, pair, method))
        contributions = [dataclasses.asdict(one) for one in found.contributions]
        known = {"run": folder.path.name, **dataclasses.asdict(detail), **detail.scores}
        told = None if sheet is None or reason is None else _balance(sheet, reason)
        print_json(_plain({**known, "balance": told, "contributions": contributions, "history": history}))
    else:
        _print_pair(detail, found, sheet, reason)


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """A table as JSON, missing values as null."""
    found: list[dict[str, Any]] = _plain(frame.to_dict("records"))
    return found


def _plain(value: Any) -> Any:
    from riskcore.storage.jsonable import jsonable

    return jsonable(value)


def _verdicts(folder: RunFolder) -> Mapping[str, Any]:
    """The current verdicts. A run can be read without its store; then there are none."""
    from riskcore.audit import verdicts_in

    try:
        return verdicts_in(folder.path)
    except StorageError as error:
        say(f"Verdicts are left out. {error}", to_stderr=True)
        return {}


def _export(frame: pd.DataFrame, out: Path, title: str, as_json: bool) -> None:
    from riskcore.audit import export_frame

    export_frame(frame, out, title)
    if as_json:
        print_json({"file": str(out), "rows": len(frame)})
    else:
        say(f"{len(frame):,} rows are in {out}.")


def _print_pairs(rows: pd.DataFrame) -> None:
    grid = Grid("pair", "label", "p", "risk", "left", "right", box=None)
    for row in rows.to_dict("records"):
        sides = [_record(row, side) for side in ("left_", "right_")]
        label = "match" if row["label"] == 1 else "non-match"
        figures = (f"{row['probability']:.3f}", f"{row['risk']:.3f}")
        grid.add_row(_cell(row["pair_id"]), f"{label}{' *' if row['flipped'] else ''}", *figures, *sides)
    console().print(grid)
    if rows["flipped"].any():
        say("* the label was changed by adaptive training")


def _print_rules(rules: pd.DataFrame) -> None:
    from riskcore.rules.rule import Rule
    from riskcore.rules.sentences import rule_sentence

    grid = Grid("rule", "weight", "learned from", "purity", "target", "purity", "conflicts", box=None)
    for row in rules.to_dict("records"):
        taught = row["learned_from"] == "validation"  # by validation pairs: the source lacks the attribute
        fired, purity = (row[f"validation_{name}"] if taught else row[f"source_{other}"] for name, other in _RECORDS)
        source = (f"{int(fired):,}{' validation' if taught else ''}", number(purity))
        target = (f"{row['target_fired']:,}", number(row["target_purity"]), f"{row['conflicts']:,}")
        sentence = f"{rule_sentence(Rule.parse(row['text']))} -> {row['outcome']}"
        grid.add_row(_cell(sentence, 200), number(row["weight"]), *source, *target)
    console().print(grid)


def _balance(sheet: BalanceSheet, reason: PairReason) -> dict[str, Any]:
    """The balance sheet as JSON: contributions in log-odds that add up to `log_odds`."""
    return {
        "log_odds": sheet.total,
        "says": "match" if sheet.says_match else "non-match",
        "because": reason.because,
        "although": reason.although,
        "difference": reason.difference,
        "stability": sheet.stability,
        "before": sheet.prior,
        "subjects": sheet.by_subject,
        "voices": {voice.name: voice.total for voice in sheet.voices},
        "matcher": sheet.matcher_alone,
    }


def _print_sheet(sheet: BalanceSheet, reason: PairReason) -> None:
    says = "match" if sheet.says_match else "non-match"
    say(Text(f"The evidence says {says}: {reason.words}", style="bold"))
    grid = Grid("log-odds, above 0 towards a match", "", box=None)
    rows = {"before comparing": sheet.prior, **sheet.by_subject, "together": sheet.total}
    for name, value in rows.items():
        if abs(value) >= LEAST_PART or name == "together":
            grid.add_row(_cell(name), f"{value:+.2f}")
    console().print(grid)


def _print_pair(detail: PairDetail, found: Explanation, sheet: BalanceSheet | None, reason: PairReason | None) -> None:
    records_grid = Grid("attribute", "left", "right", box=None)
    for name, value in detail.left.items():
        records_grid.add_row(_cell(name), _cell(value, 400), _cell(detail.right.get(name), 400))
    console().print(records_grid)
    label = "match" if found.label == 1 else "non-match"
    truth = "" if detail.truth is None else f", in truth {'match' if detail.truth == 1 else 'non-match'}"
    figures = f"value at risk by the rules {found.risk:.3f}, mu {found.mu:.3f}, sigma {found.sigma:.3f}"
    risk = f"risk {detail.scores['risk']:.3f}, probability {found.probability:.3f}"
    if sheet is not None and reason is not None:
        _print_sheet(sheet, reason)
    say(Text(f"{label}{truth}; {risk}; {figures}", style="bold"))
    from riskcore.rules.rule import Rule
    from riskcore.rules.sentences import rule_sentence

    grid = Grid(
        "contribution", "mean", "weight", "share of mu", "share of variance", "value at risk falls by", box=None
    )
    weighty = [one for one in found.contributions if one.weight >= LEAST_WEIGHT]
    for one in weighty:
        source = _cell("the matcher" if one.rule is None else rule_sentence(Rule.parse(one.rule)), 200)
        shares = (one.mean, one.weight, one.mu_share, one.variance_share, one.drop)
        grid.add_row(source, *(number(share) for share in shares))
    console().print(grid)
    if len(weighty) < len(found.contributions):
        say(f"{len(found.contributions) - len(weighty):,} more rules fire, with a weight that rounds to 0.")


def _record(row: dict[str, Any], side: str) -> Text:
    values = [value for name, value in row.items() if name.startswith(side) and isinstance(value, str)]
    return _cell(" | ".join(values))


def _cell(value: Any, chars: int = CELL_CHARS) -> Text:
    """Record text for a table: on one line, cut short, with invisible characters written out, never markup."""
    from riskcore.data.problems import visible

    text = value if isinstance(value, str) else "-"
    return Text(visible(text[:chars]) + ("…" if len(text) > chars else ""))
