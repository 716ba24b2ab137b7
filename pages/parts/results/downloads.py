"""The result as files: what is in them is chosen here, and each is made when its button is pressed."""

from __future__ import annotations

import dataclasses
import tempfile
from functools import partial
from pathlib import Path

import streamlit as st

from pages.parts.frame.actions import download
from pages.parts.frame.page import section
from pages.parts.frame.text import duration, plural
from pages.parts.results.run_results import ResultKey, result_of
from riskcore.audit.decisions import MATCH, truth_at
from riskcore.audit.result import (
    ENTITIES,
    MERGED,
    PAIRS,
    RESULT_FORMATS,
    RunResult,
    result_name,
    result_tables,
    write_tables,
)
from riskcore.audit.result_files import MOST_ROWS
from riskcore.columns import ENTITY_ID, TRUTH

MATCHES, ALL = "matches only", "all"
ROWS_PER_SECOND = 8_000  # of a workbook, on an ordinary machine
LONG = 10  # seconds; a wait that is announced
MIME = {
    "csv": "text/csv",
    "parquet": "application/vnd.apache.parquet",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
TITLES = {PAIRS: "Pairs", ENTITIES: "Entities", MERGED: "Merged records"}


@dataclasses.dataclass(frozen=True)
class FileChoice:
    """What a file of the result has in it."""

    kind: str = "csv"
    matches_only: bool = True
    all_columns: bool = False
    truth: bool = False


def show_downloads(key: ResultKey) -> None:
    """Format, filter and columns, then a button for each file."""
    result = result_of(key)
    section("Download")
    choice = _choose(key)
    rows = file_rows(result, choice)
    tables = [PAIRS, ENTITIES, MERGED] if result.resolution is not None else [PAIRS]
    bar = st.container(horizontal=True, gap="medium", vertical_alignment="center")
    if choice.kind == "xlsx" and max(rows[name] for name in tables) > MOST_ROWS:
        st.info(
            f"A workbook holds {MOST_ROWS:,} rows, and this result has more. Choose csv or parquet, or matches only.",
            icon=":material/info:",
        )
        return
    files = [tuple(tables)] if choice.kind == "xlsx" else [(name,) for name in tables]
    with bar:
        for some in files:
            title = "Workbook" if choice.kind == "xlsx" else TITLES[some[0]]
            download(
                None,
                f"{title} · {_counted(rows, some)}",
                partial(file_bytes, key, some, choice),
                file_name(key, some, choice),
                MIME[choice.kind],
                key=f"download {title}",
            )
    st.caption(file_words(choice, result))
    seconds = sum(rows.values()) / ROWS_PER_SECOND
    if choice.kind == "xlsx" and seconds > LONG:
        st.caption(f"A workbook of this size takes about {duration(seconds)} to make; csv and parquet are faster.")


def _choose(key: ResultKey) -> FileChoice:
    columns = st.columns([3, 3, 3, 3], vertical_alignment="bottom")
    kind = columns[0].segmented_control("Format", RESULT_FORMATS, default="csv", required=True, key="file format")
    rows = columns[1].segmented_control("Rows", (MATCHES, ALL), default=MATCHES, required=True, key="file rows")
    values = columns[2].toggle("Both records of each pair", key="file values", value=True)
    truth = False
    if key.folder.has_truth:
        truth = columns[3].toggle(
            "The benchmark's truth", key="file truth", help="Never decides, and is left out unless you ask for it."
        )
    return FileChoice(kind or "csv", rows != ALL, bool(values), bool(truth))


def file_rows(result: RunResult, choice: FileChoice) -> dict[str, int]:
    """How many rows each table would have."""
    pairs = int((result.pairs["decision"] == MATCH).sum()) if choice.matches_only else len(result.pairs)
    if result.resolution is None:
        return {PAIRS: pairs}
    records = result.resolution.entities
    if choice.matches_only:
        records = records[records["records"] > 1]
    return {PAIRS: pairs, ENTITIES: len(records), MERGED: int(records[ENTITY_ID].nunique())}


def file_name(key: ResultKey, tables: tuple[str, ...], choice: FileChoice) -> str:
    """A name that says what is in the file: filter, table, run, method and constraint."""
    if len(tables) > 1:
        what = "result-matches" if choice.matches_only else "result-all"
    elif tables[0] == PAIRS:
        what = "matches" if choice.matches_only else "pairs-all"
    else:
        what = f"{tables[0]}-matched" if choice.matches_only else f"{tables[0]}-all"
    what += "-with-truth" if choice.truth and PAIRS in tables else ""
    return result_name(key.folder, result_of(key), what, choice.kind)


def file_bytes(key: ResultKey, tables: tuple[str, ...], choice: FileChoice) -> bytes:
    """The file itself."""
    result, folder = result_of(key), key.folder
    if choice.truth:
        truth = truth_at(folder, result.pairs.index.to_numpy())
        result = dataclasses.replace(result, pairs=result.pairs.assign(**{TRUTH: truth}))
    made = result_tables(
        folder,
        result,
        tables,
        matches_only=choice.matches_only,
        several_only=choice.matches_only,
        all_columns=choice.all_columns,
    )
    about = {**result.about, "matches_only": choice.matches_only, "truth_included": choice.truth}
    with tempfile.TemporaryDirectory() as place:
        files = {name: Path(place) / f"{name}.{choice.kind}" for name in tables}
        done = write_tables(made, files, choice.kind, about)
        return next(iter(done.files.values())).read_bytes()


def file_words(choice: FileChoice, result: RunResult) -> str:
    """What the files have in them, in words."""
    pairs = "Pairs: the matches" if choice.matches_only else "Pairs: every candidate pair"
    if result.resolution is None:
        return f"{pairs}."
    rest = "those of several records" if choice.matches_only else "all, also those of one record"
    return (
        f"{pairs}. Entities and merged records: {rest}. Method {result.answer.method}, constraint {result.constraint}, "
        "as shown above. Cells that a spreadsheet would run as formulas are escaped in csv and xlsx."
    )


def _counted(rows: dict[str, int], tables: tuple[str, ...]) -> str:
    return plural(sum(rows[name] for name in tables), "row")
