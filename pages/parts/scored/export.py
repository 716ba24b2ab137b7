"""Exporting scored pairs from the screen: a process of its own writes the file; a small one can be downloaded."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import streamlit as st

from pages.parts.frame.actions import action, barred, download
from pages.parts.frame.errors import boundary
from pages.parts.frame.text import ago, literal, plural
from pages.parts.scored.filters import filter_words
from pages.parts.scored.set_picker import ScoredView
from riskcore.access import Role
from riskcore.scale.export_jobs import AskedExport, ExportJob, exports_of, start_export
from riskcore.scale.folder import ScoredFolder
from riskcore.scale.queries import ScoredQuery, count_pairs

DOWNLOAD_MB = 100  # a browser's download is held in the web server's memory: larger files stay on disk
FILTERED, MATCHES, ALL = "as filtered", "matches only", "all pairs"
_FORMATS = {"csv": "text/csv", "parquet": "application/vnd.apache.parquet"}


def show_export(view: ScoredView, query: ScoredQuery) -> None:
    """What to write, and the files so far."""
    cells = st.columns([2, 4, 3, 3], vertical_alignment="bottom")
    kind = cells[0].segmented_control("Format", list(_FORMATS), default="csv", required=True, key="scored format")
    choices = (FILTERED, MATCHES, ALL) if query.narrows else (ALL, MATCHES)
    rows = cells[1].segmented_control("Pairs", choices, default=choices[0], required=True, key="scored rows")
    values = cells[2].toggle("Both records of each pair", key="scored values")
    wanted = _wanted(query, rows or ALL)
    pairs = count_pairs(view.folder, wanted)
    cells[3].button(
        f"Write {plural(pairs, 'pair')}",
        icon=":material/save:",
        on_click=_write,
        args=(view.folder, kind or "csv", bool(values), wanted),
        disabled=barred(_write) or not pairs,
        width="stretch",
    )
    st.caption(
        f"The file is written on the server, in the order in which the pairs came, without holding them in memory. "
        f"Up to {DOWNLOAD_MB} MB it can be downloaded here; a larger one stays where it is. "
        "`riskcore scored export` writes the same. Cells that a spreadsheet would run as formulas are escaped in csv."
    )
    _show_jobs(view.folder)


def _wanted(query: ScoredQuery, rows: str) -> ScoredQuery:
    if rows == FILTERED:
        return dataclasses.replace(query, page=1)
    return ScoredQuery(label=1) if rows == MATCHES else ScoredQuery()


@action(Role.AUDITOR)
def _write(folder: ScoredFolder, kind: str, values: bool, query: ScoredQuery) -> None:
    filters: dict[str, Any] = dataclasses.asdict(query)
    start_export(folder, AskedExport(kind, values, filters, filter_words(query) or ALL))


@action(Role.AUDITOR)
def _stop(job: ExportJob) -> None:
    job.cancel()


@action(Role.AUDITOR)
def _remove(job: ExportJob) -> None:
    job.remove()


def _show_jobs(folder: ScoredFolder) -> None:
    jobs = exports_of(folder)
    if any(job.going_on for job in jobs):
        _ticking(str(folder.path))
    for job in jobs:
        if not job.going_on:
            _show_finished(job)


@st.fragment(run_every=1.0)
def _ticking(path: str) -> None:
    with boundary("scored"):
        going_on = [job for job in exports_of(ScoredFolder(Path(path))) if job.going_on]
        if not going_on:
            st.rerun()
        for job in going_on:
            pairs, share = job.progress
            row = st.columns([8, 2], vertical_alignment="center")
            row[0].progress(min(max(share, 0.0), 1.0), f"{literal(job.asked.words)}: {plural(pairs, 'pair')} written")
            row[1].button(
                "Stop",
                icon=":material/stop:",
                key=f"stop {job.folder.name}",
                on_click=_stop,
                args=(job,),
                disabled=barred(_stop),
            )


def _show_finished(job: ExportJob) -> None:
    asked, pairs = job.asked, job.pairs
    with st.container(border=True):
        row = st.columns([7, 3, 2], vertical_alignment="center")
        if pairs is None:
            row[0].markdown(f"**{literal(asked.words, 300)}** was not written, {ago(job.started)}.")
            st.code(job.error or "", language=None, wrap_lines=True)
        else:
            megabytes = job.file.stat().st_size / 1e6
            row[0].markdown(
                f"**{plural(pairs, 'pair')}** ({literal(asked.words, 300)}), {asked.kind}, {megabytes:,.1f} MB, "
                f"{ago(job.started)}."
            )
            if megabytes <= DOWNLOAD_MB:
                name = f"scored-{job.scored.path.name}.{asked.kind}"
                key = f"scored file {job.folder.name}"
                download(row[1], "Download", job.file.read_bytes, name, _FORMATS[asked.kind], key=key)
            else:
                row[1].caption("Too large for a download.")
                st.code(str(job.file), language=None, wrap_lines=True)
        row[2].button(
            "Remove",
            icon=":material/delete:",
            key=f"remove {job.folder.name}",
            on_click=_remove,
            args=(job,),
            type="tertiary",
            disabled=barred(_remove),
        )
