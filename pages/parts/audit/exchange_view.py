"""Other tools: verdicts and pairs as their files, and verdicts from them, which are looked at before they count."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pandas as pd
import streamlit as st

from pages.parts.audit import verdicts
from pages.parts.audit.work_list_files import UPLOAD_MB, uploaded_verdicts
from pages.parts.frame.actions import action, barred, download
from pages.parts.frame.errors import boundary
from pages.parts.frame.page import section
from pages.parts.frame.palette import VERDICTS
from pages.parts.frame.text import literal, plural
from riskcore.access import Role
from riskcore.audit.assigned import AssignmentError, lists_of
from riskcore.audit.assignment_sources import AUDIT, DRAWN, RISKIEST, SOURCES, choose_tasks
from riskcore.audit.exchange import (
    BroughtVerdicts,
    ImportCounts,
    export_tasks,
    export_verdicts,
    preview_import,
    record_import,
)
from riskcore.errors import ConfigError
from riskcore.runs import RunFolder, RunRecord, RunState

TOOLS = {
    "splink": ("Splink", "csv", "text/csv"),
    "label-studio": ("Label Studio", "json", "application/json"),
    "argilla": ("Argilla", "json", "application/json"),
    "zingg": ("Zingg", "csv", "text/csv"),
    "csv": ("Spreadsheet (csv)", "csv", "text/csv"),
}
UPLOADS = ("csv", "json", "jsonl", "xlsx", "parquet")
WHAT = {"verdicts": "Current verdicts", "tasks": "Pairs to judge"}
MOST_TASKS, USUAL = 10_000, 100
SHOWN = 10  # verdicts of a preview
NAMED = 5


@st.fragment
def show_exchange(record: RunRecord) -> None:
    """Both directions. Nothing here draws the rest of the screen again but recording verdicts."""
    with boundary("exchange"):
        folder = RunFolder(record.folder)
        section("Other tools", help="Files for Splink, Label Studio, Argilla and Zingg, with every field.")
        if record.state is not RunState.DONE:
            st.caption("Verdicts and pairs can be exchanged once the run is done.")
            return
        _show_writing(record, folder)
        section("Bring verdicts", help="From one of these tools, or a filled-in work list. The format is recognised.")
        _show_reading(record, folder)


def _show_writing(record: RunRecord, folder: RunFolder) -> None:
    columns = st.columns([3, 3, 4, 2], vertical_alignment="bottom")
    tool = columns[0].selectbox("Tool", list(TOOLS), format_func=lambda one: TOOLS[one][0], key="exchange tool")
    what = columns[1].selectbox("What to write", list(WHAT), format_func=WHAT.__getitem__, key="exchange what")
    entries = verdicts.log().entries(record.id)
    pairs: list[str] = []
    blind = True
    if what == "tasks":
        lists = {str(one.number): f"Work list: {one.name}" for one in lists_of(folder) if one.open}
        sources = {name: SOURCES[name].words[:1].upper() + SOURCES[name].words[1:] for name in (RISKIEST, DRAWN, AUDIT)}
        words = {**sources, **lists}
        wanted = columns[2].selectbox("Which pairs", list(words), format_func=words.__getitem__, key="exchange pairs")
        n = columns[3].number_input("At most", 1, MOST_TASKS, USUAL, key="exchange n")
        try:
            pairs, blind = choose_tasks(folder, wanted, entries, int(n))
        except AssignmentError as error:
            st.caption(literal(str(error), 300))
            return
        st.caption(f"{plural(len(pairs), 'pair')}, {'without' if blind else 'with'} what the model says of them.")
    elif not entries:
        st.caption("There are no verdicts to write yet.")
        return
    label, ending, mime = TOOLS[tool]
    download(
        None,
        f"Download for {label}" if tool != "csv" else "Download",
        partial(_file_bytes, record.id, folder, tool, ending, pairs, blind, what),
        f"{what}-{record.id}-{tool}.{ending}",
        mime,
        key="exchange download",
    )


def _file_bytes(run: str, folder: RunFolder, tool: str, ending: str, pairs: list[str], blind: bool, what: str) -> bytes:
    """The file, made on request."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / f"file.{ending}"
        if what == "tasks":
            export_tasks(folder, pairs, tool, path, probabilities=not blind)
        else:
            export_verdicts(folder, verdicts.log().entries(run), tool, path)
        return path.read_bytes()


def _show_reading(record: RunRecord, folder: RunFolder) -> None:
    if words := st.session_state.pop(_said(record.id), None):
        st.success(words, icon=":material/check_circle:")
    found: BroughtVerdicts | None = st.session_state.get(_looked_at(record.id))
    if found is not None:
        _show_preview(record, folder, found)
        return
    with st.form(f"brought {record.id}", border=False):
        st.file_uploader("A file with verdicts", type=list(UPLOADS), max_upload_size=UPLOAD_MB, key=_sent(record.id))
        st.form_submit_button(
            "Look at it",
            icon=":material/upload:",
            on_click=_look,
            args=(record.id, folder),
            disabled=barred(_look),
        )
    st.caption("Nothing is recorded before you have seen what is in it.")


def _show_preview(record: RunRecord, folder: RunFolder, found: BroughtVerdicts) -> None:
    counts = preview_import(folder, found)
    st.markdown(f"**{literal(found.file, 80)}** has {preview_words(found, counts)}")
    rows = [
        {
            "pair": one.pair_id,
            "verdict": VERDICTS[one.verdict].text,
            "note": one.note,
            "reviewer": one.who,
            "when (UTC)": "" if one.at is None else f"{one.at:%Y-%m-%d %H:%M}",
        }
        for one in found.verdicts[:SHOWN]
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True, placeholder="–", alt="the first verdicts of the file")
    row = st.container(horizontal=True)
    row.button(
        f"Record {plural(counts.added, 'verdict')}",
        type="primary",
        icon=":material/save:",
        disabled=not counts.added or barred(_record),
        on_click=_record,
        args=(record.id, folder, found),
    )
    row.button("Discard", icon=":material/close:", on_click=_forget, args=(record.id,))


def preview_words(found: BroughtVerdicts, counts: ImportCounts) -> str:
    """What a file has and what would come of it, in a sentence or two."""
    people = _people(found.people)
    words = [f"{plural(len(found.verdicts), 'verdict')} by {people}."]
    left_out = (
        (counts.before, "recorded before"),
        (counts.older, "older than what the same person has said since"),
    )
    words += [f"{count:,} {why}." for count, why in left_out if count]
    if found.unknown:
        named = ", ".join(literal(pair, 40) for pair in found.unknown[:NAMED])
        more = " …" if len(found.unknown) > NAMED else ""
        words.append(f"{plural(counts.unknown, 'pair')} unknown to this run: {named}{more}.")
    return " ".join(words)


def _people(counts: Mapping[str, int]) -> str:
    names = [literal(who or "nobody named", 60) for who in list(counts)[:NAMED]]
    if len(counts) > NAMED:
        names.append(f"{len(counts) - NAMED:,} others")
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


@action(Role.OPERATOR)
def _look(run: str, folder: RunFolder) -> None:
    file = st.session_state.get(_sent(run))
    if file is None:
        raise ConfigError("Choose a file with verdicts first.")
    st.session_state[_looked_at(run)] = uploaded_verdicts(folder, file.name, file.getvalue())


@action(Role.OPERATOR)
def _record(run: str, folder: RunFolder, found: BroughtVerdicts) -> None:
    added = record_import(folder, found).added
    _forget(run)
    st.session_state[_said(run)] = f"{plural(added, 'verdict')} recorded."


def _forget(run: str) -> None:
    st.session_state.pop(_looked_at(run), None)


def _sent(run: str) -> str:
    return f"brought file {run}"


def _looked_at(run: str) -> str:
    return f"brought verdicts {run}"


def _said(run: str) -> str:
    return f"brought said {run}"
