"""A finished run applied to new records or pairs, from files or frames; the answers as a file or a frame."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from riskcore.apply.candidates import RIGHT_SIDE, candidates_between, candidates_of
from riskcore.apply.inputs import pairs_of, read_new
from riskcore.apply.records import Records
from riskcore.apply.scoring import Applied, score_pairs
from riskcore.audit.export import ExportError
from riskcore.audit.result import RESULT_FORMATS, about_table
from riskcore.audit.result_files import write_csv_chunks, write_parquet_chunks, write_workbook
from riskcore.data.frames import from_frames, table_from_frame
from riskcore.data.pairs import Pairs
from riskcore.data.text_file import ID
from riskcore.errors import ConfigError
from riskcore.matchers.external import ExternalMatcher
from riskcore.runs.bundle.read import Bundle, open_bundle
from riskcore.runs.folder import RunFolder
from riskcore.version import __version__

OnShare = Callable[[str, float], None]  # what is being done, and the share of all that is over
_FINDING = 0.2  # share of the work: finding candidates


@dataclasses.dataclass(frozen=True, eq=False)
class AppliedFile:
    """Where the answers are, and the facts about them."""

    path: Path
    rows: int
    about: dict[str, Any]


def apply_to_file(
    folder: RunFolder,
    new: Path | str,
    out: Path | str,
    *,
    method: str | None = None,
    side: str = RIGHT_SIDE,
    top: int | None = None,
    id_column: str = ID,
    matches_only: bool = False,
    scores: Path | None = None,
    on_progress: OnShare | None = None,
) -> AppliedFile:
    """Score what is at `new` and write the answers to `out`, whole or not at all: csv, parquet or xlsx by its ending.

    `side` says on which side the records of a table stand, `top` how many candidates each search finds for a record.
    `scores` are those of the new pairs, where the run's matcher is a file of scores.
    """
    file, tell = _checked(Path(out)), on_progress or _silent
    bundle = open_bundle(folder)
    name, _ = bundle.method(method)  # before the data is read
    matcher = None if scores is None else _given_scores(bundle, scores)
    records = Records(bundle)
    tell("reading", 0.0)
    pairs = read_new(Path(new), records, side, top, id_column, lambda what, share: tell(what, _FINDING * share))
    if matcher is not None:
        matcher.fit_ids([pairs])  # before they are scored in chunks

    def scored(done: int, total: int) -> None:
        tell("scoring", min(1.0, _FINDING + (1 - _FINDING) * done / max(1, total)))

    found = score_pairs(bundle, pairs, name, matcher=matcher, on_progress=scored)
    rows = np.flatnonzero(found.matches) if matches_only else np.arange(len(found))
    about = _about(bundle, found, Path(new).name, rows, matches_only)
    _write(found, rows, file, about)
    return AppliedFile(file, len(rows), about)


def apply_frames(
    folder: RunFolder,
    left: pd.DataFrame,
    right: pd.DataFrame | None = None,
    pairs: pd.DataFrame | None = None,
    *,
    method: str | None = None,
    side: str = RIGHT_SIDE,
    top: int | None = None,
    id: str = ID,  # noqa: A002  (the name of the column)
) -> pd.DataFrame:
    """The answers on new records (`left` alone) or on pairs of two frames, or of one, as a frame. Candidates of two
    frames are found between them if there are no `pairs`."""
    bundle = open_bundle(folder)
    records = Records(bundle)
    return score_pairs(bundle, _framed(records, left, right, pairs, side, top, id), method).frame()


def _framed(
    records: Records,
    left: pd.DataFrame,
    right: pd.DataFrame | None,
    pairs: pd.DataFrame | None,
    side: str,
    top: int | None,
    id_column: str,
) -> Pairs:
    config = records.bundle.config.data
    if pairs is not None:
        return pairs_of(records, from_frames(left, right, pairs, id=id_column, config=config))
    table = table_from_frame("left", left, id=id_column, config=config)
    if right is None:
        return candidates_of(records, table, side, top)
    return candidates_between(records, table, table_from_frame("right", right, id=id_column, config=config), top)


def _given_scores(bundle: Bundle, scores: Path) -> ExternalMatcher:
    kind = bundle.config.matcher.kind
    if kind != ExternalMatcher.kind:
        raise ConfigError(f"Run {bundle.facts['run']} has a matcher of its own, {kind}. Leave the scores out.")
    config = dataclasses.replace(bundle.config.matcher, scores=str(scores))
    return ExternalMatcher(config, tuple(bundle.attributes.values()))


def _checked(out: Path) -> Path:
    """The file to write, before anything is read."""
    if out.suffix.lower().removeprefix(".") not in RESULT_FORMATS:
        endings = ", ".join(f".{one}" for one in RESULT_FORMATS)
        raise ExportError(f"{out.name} has no known ending. Use one of {endings}.")
    if not out.parent.is_dir():
        raise ExportError(f"The folder {out.parent} does not exist. Create it first.")
    return out


def _write(found: Applied, rows: np.ndarray, file: Path, about: dict[str, Any]) -> None:
    kind = file.suffix.lower()
    if kind == ".csv":
        write_csv_chunks(file, found.chunks(rows))
    elif kind == ".parquet":
        write_parquet_chunks(file, found.chunks(rows), {"riskcore": json.dumps(about, ensure_ascii=False)})
    else:
        write_workbook(file, {"Pairs": found.chunks(rows), "About": [about_table(about)]})


def _about(bundle: Bundle, found: Applied, new: str, rows: np.ndarray, matches_only: bool) -> dict[str, Any]:
    _, facts = bundle.method(found.method)
    known = [len(table) for table in bundle.tables]
    added = [len(table) - count for table, count in zip((found.pairs.left, found.pairs.right), known, strict=True)]
    return {
        "run": bundle.facts["run"],
        "name": bundle.facts["name"],
        "new": new,
        "method": found.method,
        "kept_iteration": found.iteration,
        "labels_used": facts["labels_used"],
        "counts": {
            "pairs": len(found),
            "matches": int(found.matches.sum()),
            "rows": len(rows),
            "new records": added[0] if bundle.facts["self_join"] else sum(added),
        },
        "matches_only": matches_only,
        "applied": datetime.now(UTC).isoformat(timespec="seconds"),
        "version": __version__,
    }


def _silent(what: str, share: float) -> None:
    """No progress is shown."""
