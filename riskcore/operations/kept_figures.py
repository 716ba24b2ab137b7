"""What stays of a run when its records are deleted: figures, counts and hashes, written into a new folder.

Only what is named here is kept; everything else of a run's folder goes. Pairs are their rows from then on, people are
numbers in the order of their first verdict, and moments are days.
"""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from riskcore.audit.agreement import agreement
from riskcore.audit.estimate import audits_of, estimate_run
from riskcore.audit.sign_off import as_figures, sign_offs
from riskcore.audit.verdicts import Verdict
from riskcore.columns import PAIR_ID, ROW
from riskcore.errors import RiskcoreError
from riskcore.runs.folder import RunFolder
from riskcore.runs.formats import read_pair_ids
from riskcore.runs.retention import VERDICTS
from riskcore.storage.files import read_json, write_json, write_parquet
from riskcore.storage.parquet import load_columns

# Figures of training and of rules; they name attributes, and no value. All else is left out.
_FILES = ("summary.json", "comparison.json", "rules.json", "rules-validation.json", "truth.parquet")
_FOLDERS = ("models",)
# Fields with values of records, or with sentences that may quote them.
_LEFT_OUT: dict[str, dict[str, Any]] = {"run.json": {"notices": []}, "results.json": {"doubted_labels": []}}
_OF_SIGN_OFF = (
    "number", "at", "method", "iteration", "pairs", "matches", "labels", "entries", "head", "verdicts", "people",
    "estimate", "files", "fingerprint", "truth_fingerprint", "code", "versions",
)  # fmt: skip


def write_kept_files(folder: RunFolder, place: Path, entries: Sequence[Verdict]) -> None:
    """The files that stay, into a new folder."""
    for name in _FILES:
        if (folder.path / name).is_file():
            shutil.copyfile(folder.path / name, place / name)
    for name in _FOLDERS:
        if (folder.path / name).is_dir():
            shutil.copytree(folder.path / name, place / name)
    for name, left_out in _LEFT_OUT.items():
        if (folder.path / name).is_file():
            write_json(place / name, {**read_json(folder.path / name), **left_out})
    for file in sorted((folder.path / "scores").rglob("*.parquet")):
        _write_scores(file, place / file.relative_to(folder.path))
    if entries:
        write_parquet(place / VERDICTS, _verdict_table(folder, entries))


def figures_of(folder: RunFolder, entries: Sequence[Verdict]) -> dict[str, Any]:
    """The estimate, the agreement, and the figures of sign-offs, as JSON."""
    names = pseudonyms(entries)
    nameless = [dataclasses.replace(one, who=names[one.who]) for one in entries]
    return {
        "estimate": _estimate(folder),
        "agreement": as_figures(agreement(nameless)) if nameless else None,
        "sign_offs": [_sign_off_figures(one.to_json(), names) for one in sign_offs(folder)],
    }


def pseudonyms(entries: Sequence[Verdict]) -> dict[str, str]:
    """A number for each person."""
    people = dict.fromkeys(one.who for one in entries)
    return {who: f"reviewer {number}" for number, who in enumerate(people, start=1)}


def _estimate(folder: RunFolder) -> Any:
    """The estimate of the answer's labels; None without an audit, or where it cannot be made any more."""
    try:
        return as_figures(estimate_run(folder)) if audits_of(folder) else None
    except RiskcoreError as error:
        return {"sentence": f"The estimate could not be made when the records were deleted: {type(error).__name__}."}


def _sign_off_figures(signed: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    kept = {name: signed[name] for name in _OF_SIGN_OFF}
    people = {names.get(who, "another reviewer"): count for who, count in signed["people"].items()}
    return {**kept, "at": str(signed["at"])[:10], "people": people}


def _write_scores(file: Path, target: Path) -> None:
    """Scores with the row in place of the pair's id, which is made of the ids of two records."""
    table = load_columns(file)
    if PAIR_ID in table.column_names:
        rows = table.column(ROW) if ROW in table.column_names else pa.array(range(len(table)), pa.int32())
        place = table.column_names.index(PAIR_ID)
        table = table.set_column(place, PAIR_ID, rows.cast(pa.large_string()))
    write_parquet(target, table.replace_schema_metadata(None))


def _verdict_table(folder: RunFolder, entries: Sequence[Verdict]) -> pa.Table:
    """Every entry of the log: its number, the pair's row (-1 if it is no target pair), verdict, reviewer and day."""
    rows: dict[str, int] = {}
    if folder.pairs_file.is_file():
        ids = read_pair_ids(folder.pairs_file).column(PAIR_ID).to_pylist()
        rows = {pair: row for row, pair in enumerate(ids)}
    names = pseudonyms(entries)
    days = [datetime.combine(one.at.astimezone(UTC).date(), datetime.min.time(), UTC) for one in entries]
    return pa.table(
        {
            "number": pa.array([one.number for one in entries], pa.int64()),
            ROW: pa.array([rows.get(one.pair_id, -1) for one in entries], pa.int64()),
            "verdict": pa.array([one.verdict for one in entries], pa.string()),
            "reviewer": pa.array([names[one.who] for one in entries], pa.string()),
            "day": pa.array(days, pa.timestamp("s", "UTC")),
        }
    )
