"""What the process apart can be asked to do. Each task is a function of plain values; nothing else runs there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq

from riskcore.audit.exchange import BroughtVerdicts, bring_verdicts
from riskcore.data.bring.arrange import arrange
from riskcore.data.bring.files import BroughtFile, ReadOptions, read_file, unpacked
from riskcore.data.bring.found_candidates import (
    CANDIDATES_FILE,
    candidate_preview,
    fitting,
    found_candidates,
    has_found_candidates,
)
from riskcore.data.bring.plan import Plan
from riskcore.data.bring.roles import Recognised, recognise
from riskcore.data.bring.scores import ScoreColumns, detect_columns, scores_of
from riskcore.data.bring.summary import summarised
from riskcore.data.figures import DataFigures, data_figures
from riskcore.data.reading import open_data
from riskcore.data.scored_pairs import Coverage, coverage
from riskcore.errors import MatcherError
from riskcore.runs.folder import RunFolder
from riskcore.storage.files import write_parquet

Tell = Callable[
    [Path], None
]  # is told each file before it is read: the last one named is the one that broke the process
Options = Mapping[str, ReadOptions]


def figures(tell: Tell, path: Path) -> DataFigures:
    tell(path)
    return data_figures(path)


def unpack(tell: Tell, paths: Sequence[Path], folder: Path) -> list[Path]:
    found: list[Path] = []
    for path in paths:
        tell(path)
        found += unpacked([path], folder)
    return found


def look(tell: Tell, paths: Sequence[Path], options: Options) -> tuple[tuple[BroughtFile, ...], tuple[Recognised, ...]]:
    """Summaries of the files, and what those that can be used seem to be."""
    files = _read(tell, paths, options)
    roles = recognise([file for file in files if file.text is not None])
    return tuple(summarised(file) for file in files), roles


def write_set(
    tell: Tell, paths: Sequence[Path], options: Options, plan: Plan, folder: Path, replace: bool, keep_candidates: bool
) -> None:
    files = _read(tell, paths, options)
    kept = found_candidates(folder) if keep_candidates else None
    arrange(files, plan, folder, replace=replace, candidates=kept)


def look_at_scores(tell: Tell, path: Path) -> tuple[BroughtFile, ScoreColumns | None]:
    """A summary of the file, and what its columns seem to mean; None where that is not known."""
    tell(path)
    file = read_file(path)
    try:
        found = None if file.text is None else detect_columns(file)
    except MatcherError:
        found = None
    return summarised(file), found


def cover(tell: Tell, path: Path, meaning: ScoreColumns, target: Path) -> Coverage:
    tell(path)
    scores = scores_of(read_file(path), meaning)
    tell(target)
    return coverage(scores, open_data(target))


def has_candidates(tell: Tell, path: Path) -> bool:
    tell(path)
    return has_found_candidates(path)


def preview_candidates(tell: Tell, path: Path, pairs: Path, names: Sequence[str]) -> pd.DataFrame:
    tell(path)
    return candidate_preview(path, pairs, names)


def accept_candidates(tell: Tell, path: Path, pairs: Path) -> None:
    tell(path)
    write_parquet(path / CANDIDATES_FILE, fitting(pq.read_table(pairs), open_data(path)))


def verdicts(tell: Tell, run: Path, path: Path, who: str) -> BroughtVerdicts:
    tell(path)
    return bring_verdicts(RunFolder(run), path, who=who)


def _read(tell: Tell, paths: Sequence[Path], options: Options) -> list[BroughtFile]:
    found = []
    for path in paths:
        tell(path)
        found.append(read_file(path, options.get(path.name)))
    return found


TASKS: dict[str, Callable[..., Any]] = {
    one.__name__: one
    for one in (
        figures, unpack, look, write_set, look_at_scores, cover, has_candidates, preview_candidates,
        accept_candidates, verdicts,
    )
}  # fmt: skip
