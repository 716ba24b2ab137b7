"""The door: what the screens ask of brought files, each answered by a limited process of its own.

A file that broke its process is never read again: an upload is moved aside, and a data set that lies where its owner
put it is remembered until its files change (`quarantine`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from riskcore.audit.exchange.bring import BroughtVerdicts
from riskcore.data.bring.files import BroughtFile, ReadOptions
from riskcore.data.bring.plan import Plan
from riskcore.data.bring.roles import Recognised
from riskcore.data.bring.scores import ScoreColumns
from riskcore.data.figures import DataFigures
from riskcore.data.scored_pairs import Coverage
from riskcore.sandbox import quarantine, uploads
from riskcore.sandbox.errors import ReadingError
from riskcore.sandbox.process import SANDBOX


def get_ready() -> None:
    """Start what reads files while a person still chooses one."""
    SANDBOX.get_ready()


def figures(path: Path) -> DataFigures:
    """Read and check a data set."""
    found: DataFigures = _run("figures", path)
    return found


def unpack(paths: Sequence[Path], folder: Path) -> list[Path]:
    """The files, and in place of each archive the tables in it, which are written into the folder."""
    found: list[Path] = _run("unpack", list(paths), folder)
    return found


def look(
    paths: Sequence[Path], options: Mapping[str, ReadOptions]
) -> tuple[tuple[BroughtFile, ...], tuple[Recognised, ...]]:
    """Summaries of uploaded files, and what those that can be used seem to be."""
    found: tuple[tuple[BroughtFile, ...], tuple[Recognised, ...]] = _run("look", list(paths), dict(options))
    return found


def write_set(
    paths: Sequence[Path],
    options: Mapping[str, ReadOptions],
    plan: Plan,
    folder: Path,
    *,
    replace: bool = False,
    keep_candidates: bool = False,
) -> None:
    """Write the data set that the plan makes of the files; see `arrange`."""
    _run("write_set", list(paths), dict(options), plan, folder, replace, keep_candidates)


def look_at_scores(path: Path) -> tuple[BroughtFile, ScoreColumns | None]:
    """A summary of a file of scores, and what its columns seem to mean."""
    found: tuple[BroughtFile, ScoreColumns | None] = _run("look_at_scores", path)
    return found


def cover(path: Path, meaning: ScoreColumns, target: Path) -> Coverage:
    """Which pairs of a data set the scores in a file cover."""
    found: Coverage = _run("cover", path, meaning, target)
    return found


def has_candidates(path: Path) -> bool:
    """Whether a data set has candidates that were found for it."""
    return bool(_run("has_candidates", path))


def preview_candidates(path: Path, pairs: Path, names: Sequence[str]) -> pd.DataFrame:
    """The first of the pairs that blocking found for a data set, with these attributes."""
    found: pd.DataFrame = _run("preview_candidates", path, pairs, list(names))
    return found


def accept_candidates(path: Path, pairs: Path) -> None:
    """Make the found pairs the candidates of a data set."""
    _run("accept_candidates", path, pairs)


def verdicts(run: Path, path: Path, who: str) -> BroughtVerdicts:
    """The verdicts in an uploaded file, without recording any."""
    found: BroughtVerdicts = _run("verdicts", run, path, who)
    return found


def check_upload(name: str, content: bytes) -> None:
    """Read an uploaded table, or archive of tables, before another process does; raises what breaks the limits."""
    with uploads.kept(name, content) as path:
        look(unpack([path], path.parent), {})


def _run(task: str, *arguments: Any) -> Any:
    for path in _paths(arguments):
        quarantine.refuse(path)
    try:
        return SANDBOX.run(task, *arguments)
    except ReadingError as error:
        if error.file is not None:
            quarantine.take(error.file, str(error))
        raise


def _paths(arguments: Sequence[Any]) -> list[Path]:
    listed = [one for given in arguments if isinstance(given, list) for one in given]
    return [one for one in (*arguments, *listed) if isinstance(one, Path)]
