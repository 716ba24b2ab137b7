"""Labelling in a spreadsheet: the drawn pairs as a file, and the verdicts that come back in it."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

import streamlit as st

from pages.parts.frame.actions import action, barred, download, requires
from pages.parts.frame.page import reviewer
from pages.parts.frame.text import plural
from riskcore.access import Role
from riskcore.audit.exchange import BroughtVerdicts, record_import
from riskcore.audit.work_list import FORMATS, write_work_list
from riskcore.errors import ConfigError
from riskcore.runs import RunFolder
from riskcore.sandbox import calls, uploads

UPLOAD_MB = 50
KINDS = {
    "csv": ("CSV", "text/csv"),
    "xlsx": ("Excel", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
}


def show_work_list(run: str, folder: RunFolder) -> None:
    """Download the drawn pairs; upload them with verdicts."""
    st.caption("Fill in the column **verdict**: match, non-match or unsure (m, n, u). Empty cells are left out.")
    row = st.container(horizontal=True, gap="small")
    with row:
        for ending, (label, mime) in KINDS.items():
            download(
                None,
                label,
                partial(file_bytes, folder, ending, reviewer()),
                f"label-{run}.{ending}",
                mime,
                key=f"work list {ending}",
            )
    if words := st.session_state.pop(_said(run), None):
        st.success(words, icon=":material/check_circle:")
    with st.form(f"filled work list {run}", border=False):
        st.file_uploader(
            "Filled-in work list", type=[one[1:] for one in FORMATS], max_upload_size=UPLOAD_MB, key=_sent(run)
        )
        st.form_submit_button(
            "Import the verdicts",
            icon=":material/upload:",
            on_click=_import,
            args=(run, folder),
            disabled=barred(_import),
        )


def file_bytes(folder: RunFolder, ending: str, who: str) -> bytes:
    """The drawn pairs with this person's verdicts as a file, made on request."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / f"list.{ending}"
        write_work_list(folder, path, who=who)
        return path.read_bytes()


@requires(Role.AUDITOR)
def import_bytes(folder: RunFolder, name: str, content: bytes) -> int:
    """Record the verdicts of an uploaded file under this person's name; returns how many are new."""
    return record_import(folder, uploaded_verdicts(folder, name, content)).added


def uploaded_verdicts(folder: RunFolder, name: str, content: bytes) -> BroughtVerdicts:
    """The verdicts in an uploaded file. Messages name it as the person knows it."""
    with uploads.kept(name, content) as path:
        return calls.verdicts(folder.path, path, reviewer())


@action(Role.AUDITOR)
def _import(run: str, folder: RunFolder) -> None:
    file = st.session_state.get(_sent(run))
    if file is None:
        raise ConfigError("Choose a filled-in work list first.")
    added = import_bytes(folder, file.name, file.getvalue())
    new = f"{plural(added, 'verdict')} recorded." if added else "All verdicts of this file were recorded before."
    st.session_state[_said(run)] = new


def _sent(run: str) -> str:
    return f"work list file {run}"


def _said(run: str) -> str:
    return f"work list said {run}"
