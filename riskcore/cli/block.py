"""`block`: candidate pairs of two tables, or of one."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table as Grid
from rich.text import Text

from riskcore.cli.console import AsJson, console, number, print_json, say
from riskcore.errors import ConfigError

if TYPE_CHECKING:
    import numpy as np

    from riskcore.blocking import BlockReport
    from riskcore.blocking.steps import OnProgress
    from riskcore.data.pairs import Table
    from riskcore.data.problems import ProblemLog
    from riskcore.data.text_file import TextFile

_LINE_SECONDS = 10.0

Known = tuple["np.ndarray", "np.ndarray"]


def block(
    left: Annotated[Path, typer.Argument(metavar="A", help="A csv or parquet table, or a folder with tableA.csv.")],
    right: Annotated[
        Path | None, typer.Argument(metavar="[B]", help="The other table; without it, pairs within A.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The parquet file to write the pairs to.")] = None,
    top: Annotated[int | None, typer.Option(help="Best candidates of each record and search.")] = None,
    attribute: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Search only this attribute; repeatable.")
    ] = None,
    key: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Equal values of it always make a pair; repeatable.")
    ] = None,
    known: Annotated[
        Path | None, typer.Option(help="Known matches: ltable_id, rtable_id and, optionally, label. For recall only.")
    ] = None,
    left_id: Annotated[str, typer.Option(help="The id column of A.")] = "id",
    right_id: Annotated[str, typer.Option(help="The id column of B.")] = "id",
    threads: Annotated[int | None, typer.Option(help="Threads of the search.")] = None,
    as_json: AsJson = False,
) -> None:
    """Find the pairs of records worth comparing. Started again after an interruption, it goes on where it stopped."""
    from riskcore.blocking import block_to_file, report
    from riskcore.config import BlockConfig

    if out is None or out.suffix != ".parquet":
        raise ConfigError(f"--out is {'missing' if out is None else out}; give a file that ends in .parquet.")
    given: dict[str, Any] = {
        "top": top,
        "attributes": tuple(attribute or ()),
        "keys": tuple(key or ()),
        "threads": threads,
    }
    config = BlockConfig(**{name: value for name, value in given.items() if value is not None})
    started = time.monotonic()
    tables, matches = _read(left, right, known, (left_id, right_id))
    with showing() as on_progress:
        candidates = block_to_file(tables[0], tables[1], config, out, on_progress)
        found = report(candidates, tables[0], tables[1], matches, config)
    seconds = time.monotonic() - started
    if as_json:
        print_json({"out": str(out), "seconds": round(seconds, 2), **found.to_dict()})
    else:
        _print(found, out, seconds)


def _read(
    left: Path, right: Path | None, known: Path | None, ids: tuple[str, str]
) -> tuple[tuple[Table, Table | None], Known | None]:
    """The tables, the second None in a self-join, and the rows of known matches. Raises with every problem found."""
    from riskcore.config import DataConfig
    from riskcore.data.problems import DataFormatError, ProblemLog

    config = DataConfig()
    log = ProblemLog(config.examples_per_problem)
    if left.is_dir() and right is None:
        tables, matches = _folder(left, log)
    else:
        first = _table(left, ids[0], log)
        tables, matches = (first, None if right is None else _table(right, ids[1], log)), None
    if known is not None and tables[0] is not None:
        matches = _known(known, tables[0], tables[1] or tables[0], log)
    if log.has_errors or tables[0] is None or (right is not None and tables[1] is None):
        raise DataFormatError([problem for problem in log.problems if problem.severity == "error"])
    return (tables[0], tables[1]), matches


def _folder(folder: Path, log: ProblemLog) -> tuple[tuple[Table | None, Table | None], Known | None]:
    """The two tables of a workload folder, and the matches among its labelled pairs."""
    import numpy as np

    from riskcore.data.folder import TABLES
    from riskcore.data.labels import SPLITS

    files = {stem: _find(folder, stem) for stem in (*TABLES, *SPLITS)}
    if files[TABLES[0]] is None:
        cure = "Give two tables, or a folder that holds tableA.csv."
        log.add("missing_file", "The folder has no tableA.", cure, str(folder / "tableA.csv"))
        return (None, None), None
    left, right = (None if file is None else _table(file, "id", log) for file in (files[stem] for stem in TABLES))
    if left is None or (files[TABLES[1]] is not None and right is None):
        return (left, right), None
    if right is not None and np.array_equal(left.ids, right.ids) and left.values.equals(right.values):
        right = None
    found = [
        _known(file, left, right or left, log, labelled=True) for stem in SPLITS if (file := files[stem]) is not None
    ]
    if not sum(len(one[0]) for one in found):
        return (left, right), None
    return (left, right), (np.concatenate([one[0] for one in found]), np.concatenate([one[1] for one in found]))


def _find(folder: Path, stem: str) -> Path | None:
    from riskcore.data.tables import FORMATS

    found = [path for suffix in FORMATS if (path := folder / f"{stem}{suffix}").is_file()]
    return found[0] if found else None


def _table(path: Path, id_column: str, log: ProblemLog) -> Table | None:
    from riskcore.config import DataConfig
    from riskcore.data.folder import read_table

    file = _text_file(path, log)
    if file is None:
        return None
    return read_table(path.stem, _with_id(file, id_column), log, DataConfig())


def _text_file(path: Path, log: ProblemLog) -> TextFile | None:
    from riskcore.config import DataConfig
    from riskcore.data.problems import visible
    from riskcore.data.tables import FORMATS, read_text_file

    if not path.exists():
        log.add("path_missing", "There is nothing here.", "Check the path.", visible(str(path)))
    elif path.suffix not in FORMATS:
        cure = f"Give a file that ends in {' or '.join(FORMATS)}."
        log.add("not_a_data_set", "This is not a table that can be read.", cure, visible(str(path)))
    else:
        return read_text_file(path, log, DataConfig())
    return None


def _with_id(file: TextFile, column: str) -> TextFile:
    """The file with this column as its id. What was called id before is not needed and left out."""
    from riskcore.data.text_file import ID

    if column == ID:
        return file
    if column not in file.names:
        shown = ", ".join(file.names[:10])
        raise ConfigError(f"{file.name} has no column {column!r} for the ids. It has: {shown}.")
    kept = file.columns.drop_columns([ID]) if ID in file.names else file.columns
    names = [ID if name == column else name for name in kept.column_names]
    return dataclasses.replace(file, columns=kept.rename_columns(names))


def _known(path: Path, left: Table, right: Table, log: ProblemLog, labelled: bool = False) -> Known:
    """Rows of the matches in a file of pairs: those with label 1. Where there are no labels, all of them match, unless
    it is a file that should have labels."""
    import numpy as np

    from riskcore.config import DataConfig
    from riskcore.data.folder import LEFT_ID, RIGHT_ID, rows_of
    from riskcore.data.labels import LABEL, read_labels
    from riskcore.data.text_file import missing_columns

    nothing = np.empty(0, dtype=np.int64)
    file = _text_file(path, log)
    if file is None or missing_columns(file, (LEFT_ID, RIGHT_ID), log):
        return nothing, nothing
    rows = [rows_of(file, column, table, log) for column, table in ((LEFT_ID, left), (RIGHT_ID, right))]
    kept = (rows[0] >= 0) & (rows[1] >= 0)
    if LABEL in file.names or labelled:
        kept &= read_labels(file, log, DataConfig()) == 1
    return rows[0][kept], rows[1][kept]


@contextlib.contextmanager
def showing() -> Iterator[OnProgress]:
    """Yields the function that shows how far the work is and how much time is left: a bar, or a line now and then."""
    from riskcore.runs.readers.time_left import seconds_left, time_left_text

    started = time.monotonic()

    def left(share: float) -> str:
        seconds = seconds_left(time.monotonic() - started, share)
        return "" if seconds is None else time_left_text(seconds)

    screen = console(to_stderr=True)
    if not screen.is_terminal:
        yield _Lines(left)
        return
    figures = TextColumn("{task.percentage:>3.0f} %  {task.fields[left]}")
    with Progress(TextColumn("{task.description}"), BarColumn(), figures, console=screen, transient=True) as bar:
        task = bar.add_task("reading", total=1.0, left="")
        yield lambda what, share: bar.update(task, completed=share, description=what, left=left(share))


class _Lines:
    """A line every ten seconds."""

    def __init__(self, left: Callable[[float], str]) -> None:
        self._left, self._last = left, time.monotonic()

    def __call__(self, what: str, share: float) -> None:
        if time.monotonic() - self._last >= _LINE_SECONDS:
            self._last = time.monotonic()
            remaining = self._left(share)
            say(f"{100 * share:3.0f} %  {what}{', ' if remaining else ''}{remaining}", to_stderr=True)


def _print(found: BlockReport, out: Path, seconds: float) -> None:
    grid = Grid("", "records", "pairs per record", "at most", "without any", box=None)
    for name, side in (("A", found.left), ("B", found.right)):
        grid.add_row(name, f"{side.records:,}", f"{side.mean:.1f}", f"{side.most:,}", f"{side.without:.1%}")
    console().print(grid)
    for kind, count in found.found_by.items():
        say(f"{count:,} pairs found by {kind}")
    ratio = found.reduction_ratio
    say(f"{found.pairs:,} of {found.possible:,} possible pairs; {number(ratio and 100 * ratio, '.3f')} % are left out")
    say(_recall_text(found))
    say(Text(f"{out}: {found.pairs:,} pairs in {seconds:.1f} s", style="bold"))


def _recall_text(found: BlockReport) -> str:
    if found.recall is not None:
        share = found.recall.share
        if share is None:
            return "No known match to compare with."
        return f"{found.recall.found:,} of {found.recall.matches:,} known matches are among them: {share:.2%}"
    estimate = found.estimate
    if estimate is None or estimate.found is None or estimate.low is None or estimate.high is None:
        return f"Share of matches found: {'not known' if estimate is None else estimate.reason}"
    interval = f"{estimate.low:.1%} to {estimate.high:.1%}"
    return f"Estimated share of matches found: {estimate.found:.1%} ({interval}). {estimate.reason}"
