"""The result of a run as files: every pair with its decision, the entities, the merged records, and what they are made
from. Commands, notebooks and screens export through here.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

from riskcore.audit.decisions import MATCH, AnswerFacts, answer_of, decisions, left_out, values_of
from riskcore.audit.export import ExportError
from riskcore.audit.merged import merged_records, with_attribute_names
from riskcore.audit.resolve import FREE, Resolution, resolve, suggest_constraint
from riskcore.audit.result_files import write_csv_chunks, write_parquet_chunks, write_workbook
from riskcore.audit.verdicts import Verdict, head_in, verdicts_in
from riskcore.columns import ENTITY_ID, LEFT_ENTITY, PAIR_ID, PART, RIGHT_ENTITY, VERDICT
from riskcore.errors import ConfigError
from riskcore.runs.candidate_files import is_self_join, read_records
from riskcore.runs.extra_columns import read_extra
from riskcore.runs.folder import RunFolder
from riskcore.storage.jsonable import jsonable
from riskcore.version import __version__

RESULT_FORMATS = ("csv", "parquet", "xlsx")
CHUNK = 50_000  # pairs whose records are read at a time
MOST_NAME = 60  # characters of the run's name in a file's name
SCORES = "scores_"  # before a column of a file of scores whose name the result has too
PAIRS, ENTITIES, MERGED, ABOUT = "pairs", "entities", "merged", "about"


@dataclasses.dataclass(frozen=True, eq=False)
class RunResult:
    """The decisions of a run under a constraint, its entities, and the facts about both."""

    answer: AnswerFacts
    constraint: str
    pairs: pd.DataFrame  # decisions; the index is the place of a pair's values
    resolution: Resolution | None  # None where no entities were asked for
    about: dict[str, Any]


@dataclasses.dataclass(frozen=True, eq=False)
class ResultTable:
    """A table to be written: how many rows it has, and its chunks, made when they are asked for."""

    rows: int
    chunks: Callable[[], Iterator[pd.DataFrame]]


@dataclasses.dataclass(frozen=True, eq=False)
class ExportedResult:
    """The files of an export, by what is in them, and the facts about it."""

    files: dict[str, Path]
    rows: dict[str, int]
    about: dict[str, Any]


def run_result(
    folder: RunFolder,
    method: str | None = None,
    constraint: str = FREE,
    *,
    verdicts: Mapping[str, Verdict] | None = None,
    truth: bool = False,
    entities: bool = True,
    decided: pd.DataFrame | None = None,
) -> RunResult:
    """Decide every pair of the run, apply the constraint (`auto`: the suggested one) and cluster the records.

    Without `entities`, and with no constraint, the decisions stay as they are: no match is dropped for the sake of an
    entity. `decided` are the method's `decisions` where the caller has them already.
    """
    answer = answer_of(folder, method)
    if decided is None:
        current = verdicts_in(folder.path) if verdicts is None else verdicts
        decided = decisions(folder, answer.method, current, values=False, truth=truth)
    self_join = is_self_join(folder)
    suggested, why = suggest_constraint(decided, self_join)
    found = None
    if entities or constraint != FREE:
        found = resolve(decided, constraint, self_join=self_join, records=read_records(folder))
    pairs = decided if found is None else found.pairs
    about = _about(folder, answer, pairs, found, suggested, why)
    return RunResult(answer, FREE if found is None else found.constraint, pairs, found, about)


def export_result(
    folder: RunFolder,
    out: Path | str | None = None,
    *,
    method: str | None = None,
    constraint: str = FREE,
    clusters: bool = False,
    merged: bool = False,
    matches_only: bool = False,
    all_columns: bool = False,
    format: str | None = None,  # noqa: A002 - the word of the command line
    truth: bool = False,
    extra: pd.DataFrame | None = None,
    verdicts: Mapping[str, Verdict] | None = None,
) -> ExportedResult:
    """Write the result. Without `out`, a file in the current folder whose name says what it is.

    `clusters` adds the entities, `merged` one record per entity, `all_columns` both records of each pair, `truth` the
    benchmark's labels. `extra` are further columns of pairs, by pair id: its index or its column `pair_id`. The columns
    of a file of scores that the run has kept are added in any case. A workbook has a sheet for each table; otherwise
    each is a file beside the pairs.
    """
    kind = _format(out, format)
    result = run_result(folder, method, constraint, verdicts=verdicts, truth=truth, entities=clusters or merged)
    names = (PAIRS, *([ENTITIES] if clusters else []), *([MERGED] if merged else []))
    files = _files(folder, result, out, kind, matches_only)
    tables = result_tables(
        folder, result, names, matches_only=matches_only, all_columns=all_columns, clusters=clusters, extra=extra
    )
    about = {**result.about, "matches_only": matches_only, "truth_included": truth}
    return write_tables(tables, files, kind, about)


def result_tables(
    folder: RunFolder,
    result: RunResult,
    names: Sequence[str] = (PAIRS, ENTITIES, MERGED),
    *,
    matches_only: bool = False,
    several_only: bool = False,
    all_columns: bool = False,
    clusters: bool = True,
    extra: pd.DataFrame | None = None,
) -> dict[str, ResultTable]:
    """The tables of the result, to be written. `several_only` leaves out entities of a single record."""
    tables = {}
    if PAIRS in names:
        pairs = _with_kept(_pair_columns(result, matches_only, clusters, extra), read_extra(folder))
        tables[PAIRS] = ResultTable(len(pairs), lambda: _chunks(folder, pairs, all_columns))
    if result.resolution is None:
        return tables
    entities = result.resolution.entities
    if several_only:
        entities = entities[entities["records"] > 1]
    if ENTITIES in names:
        tables[ENTITIES] = ResultTable(len(entities), lambda: _pieces(with_attribute_names(entities)))
    if MERGED in names:
        one_each = merged_records(entities)
        tables[MERGED] = ResultTable(len(one_each), lambda: _pieces(one_each))
    return tables


def write_tables(
    tables: Mapping[str, ResultTable], files: Mapping[str, Path], kind: str, about: Mapping[str, Any]
) -> ExportedResult:
    """Write each table into its file; all of them into the first table's file if it is a workbook."""
    rows = {name: table.rows for name, table in tables.items()}
    about = {**about, "rows": rows}
    if kind == "xlsx":
        first = next(iter(tables))
        sheets = {name.capitalize(): table.chunks() for name, table in tables.items()}
        write_workbook(files[first], {**sheets, "About": [about_table(about)]})
        return ExportedResult({first: files[first]}, rows, about)
    for name, table in tables.items():
        if kind == "csv":
            write_csv_chunks(files[name], table.chunks())
        else:
            facts = {"riskcore": json.dumps(about, ensure_ascii=False)}
            write_parquet_chunks(files[name], table.chunks(), facts)
    return ExportedResult({name: files[name] for name in tables}, rows, about)


def about_table(about: Mapping[str, Any]) -> pd.DataFrame:
    """The facts as a table of two columns."""
    rows = []
    for name, value in about.items():
        if isinstance(value, Mapping):
            rows += [(f"{name}: {key}", one) for key, one in value.items()]
        elif isinstance(value, list):
            rows += [(name, one) for one in value] or [(name, "none")]
        else:
            rows.append((name, value))
    return pd.DataFrame(rows, columns=["fact", "value"], dtype=object)


def _about(
    folder: RunFolder,
    answer: AnswerFacts,
    pairs: pd.DataFrame,
    found: Resolution | None,
    suggested: str,
    why: str,
) -> dict[str, Any]:
    description, log = folder.run(), head_in(folder.path)
    counts: dict[str, Any] = {
        "pairs": len(pairs),
        "matches": int((pairs["decision"] == MATCH).sum()),
        "verdicts": int(pairs[VERDICT].notna().sum()),
        **{f"{part} pairs": int(count) for part, count in pairs[PART].value_counts().items()},
        **{f"decided by {by}": int(count) for by, count in pairs["decided_by"].value_counts().items()},
    }
    if found is not None:
        sizes = found.entities.drop_duplicates(ENTITY_ID)["records"]
        counts |= {"matches dropped": len(found.dropped), "records": len(found.entities), "entities": len(sizes)}
        counts["entities of several records"] = int((sizes > 1).sum())
        counts["largest entity"] = int(sizes.max()) if len(sizes) else 0
    facts = {
        "run": folder.path.name,
        "name": description["name"],
        "method": answer.method,
        "kept_iteration": answer.iteration,
        "labels_used": list(answer.labels_used),
        "labels_used_in_words": answer.sentence,
        "constraint": FREE if found is None else found.constraint,
        "suggested_constraint": suggested,
        "suggested_because": why,
        "counts": counts,
        "contradictions": [] if found is None else [one.words for one in found.contradictions],
        "left_out": left_out(folder, pairs),
        "verdict_log": {"entries": log.size, "head": log.digest},
        "exported": datetime.now(UTC).isoformat(timespec="seconds"),
        "version": __version__,
    }
    document: dict[str, Any] = jsonable(facts)
    return document


def _pair_columns(result: RunResult, matches_only: bool, clusters: bool, extra: pd.DataFrame | None) -> pd.DataFrame:
    """The pairs of the export with their columns, but for the values of the records."""
    frame = result.pairs
    if not clusters:
        frame = frame.drop(columns=[LEFT_ENTITY, RIGHT_ENTITY], errors="ignore")
    if matches_only:
        frame = frame[frame["decision"] == MATCH]
    return frame if extra is None else _joined(frame, extra)


def _with_kept(frame: pd.DataFrame, kept: pd.DataFrame | None) -> pd.DataFrame:
    """The pairs with the columns of the scores that the run was made from, under other names where these are taken."""
    if kept is None:
        return frame
    taken = {name: f"{SCORES}{name}" for name in kept if name in frame or str(name).startswith(("left_", "right_"))}
    return _joined(frame, kept.rename(columns=taken))


def _joined(frame: pd.DataFrame, extra: pd.DataFrame) -> pd.DataFrame:
    """The pairs with further columns, by pair id."""
    keyed = extra.set_index(PAIR_ID) if PAIR_ID in extra else extra
    keyed = keyed.set_axis(keyed.index.astype(str), axis=0)
    if keyed.index.has_duplicates:
        again = keyed.index[keyed.index.duplicated()][0]
        raise ConfigError(f"extra has the pair {again!r} more than once. Keep one row for each pair.")
    taken = [str(name) for name in keyed if name in frame or str(name).startswith(("left_", "right_"))]
    if taken:
        raise ConfigError(f"extra has columns that the result has too: {', '.join(taken)}. Rename them.")
    found = keyed.reindex(frame[PAIR_ID].astype(str)).set_axis(frame.index, axis=0)
    texts = {name: _as_text(found[name]) for name in found if pd.api.types.is_object_dtype(found[name])}
    return pd.concat([frame, found.assign(**texts)], axis=1)


def _as_text(values: pd.Series) -> pd.Series:
    return values.map(lambda value: value if isinstance(value, str) else str(value), na_action="ignore")


def _chunks(folder: RunFolder, pairs: pd.DataFrame, all_columns: bool) -> Iterator[pd.DataFrame]:
    for chunk in _pieces(pairs):
        yield pd.concat([chunk, values_of(folder, chunk.index.to_numpy())], axis=1) if all_columns else chunk


def _pieces(frame: pd.DataFrame) -> Iterator[pd.DataFrame]:
    for start in range(0, max(1, len(frame)), CHUNK):
        yield frame.iloc[start : start + CHUNK]


def _format(out: Path | str | None, asked: str | None) -> str:
    ending = "" if out is None or Path(out).is_dir() else Path(out).suffix.lower().removeprefix(".")
    kind = asked or ending or RESULT_FORMATS[0]
    if kind not in RESULT_FORMATS:
        raise ExportError(f"{kind!r} is not a format of results. Possible: {', '.join(RESULT_FORMATS)}.")
    if ending and ending != kind:
        raise ExportError(f"{Path(out or '').name} does not end in .{kind}. Change the name or the format.")
    return kind


def _files(
    folder: RunFolder, result: RunResult, out: Path | str | None, kind: str, matches_only: bool
) -> dict[str, Path]:
    """Where each table goes."""
    words = {PAIRS: "matches" if matches_only else "pairs", ENTITIES: ENTITIES, MERGED: MERGED}
    if out is not None and not Path(out).is_dir():
        path = Path(out)
        if not path.parent.is_dir():
            raise ExportError(f"The folder {path.parent} does not exist. Create it first.")
        path = path if path.suffix else path.with_name(f"{path.name}.{kind}")
        beside = {name: path.with_name(f"{path.stem}-{name}{path.suffix}") for name in (ENTITIES, MERGED)}
        return {PAIRS: path, **beside}
    parent = Path(out or ".")
    return {table: parent / result_name(folder, result, word, kind) for table, word in words.items()}


def result_name(folder: RunFolder, result: RunResult, what: str, kind: str) -> str:
    """The name of a file: what is in it, the run, the method and the constraint."""
    name = _plain(folder.run()["name"])[:MOST_NAME]
    parts = (what, name, folder.path.name, _plain(result.answer.method), result.constraint)
    return f"{'-'.join(filter(None, parts))}.{kind}"


def _plain(text: str) -> str:
    """Text as part of a file's name on any system."""
    return re.sub(r"[^\w+.]+", "-", text).strip("-.")
