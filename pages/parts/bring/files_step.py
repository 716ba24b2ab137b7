"""Step 1: the files, and how each was read."""

from __future__ import annotations

import streamlit as st

from pages.parts.bring import staging
from pages.parts.bring.staging import Bring
from pages.parts.bring.steps import show_buttons, show_preview
from pages.parts.data.set_view import problem_table
from pages.parts.frame.text import literal, plural
from riskcore.data.bring.csv_form import DELIMITERS, ENCODINGS
from riskcore.data.bring.files import CSV, UPLOADS, XLSX, BroughtFile, ReadOptions
from riskcore.errors import ConfigError
from riskcore.sandbox import calls

UPLOAD_MB = 200
HELP = (
    "Two tables, or one whose duplicates you want to find. Candidate pairs or labels may be in files of their own. "
    "Names of files and columns, delimiters and encodings do not matter."
)


def upload() -> None:
    """Before the first step: choose the files."""
    calls.get_ready()
    st.markdown(
        "Bring **two tables** to match, or **one table** to find duplicates in. If you have candidate pairs or labels, "
        "bring them too, in files of their own or in one file of pairs."
    )
    with st.form("bring files", border=False):
        files = st.file_uploader(
            "Files", type=list(UPLOADS), accept_multiple_files=True, max_upload_size=UPLOAD_MB, help=HELP
        )
        st.caption("csv, tsv or txt with any delimiter and encoding, xlsx, parquet, or zip archives of these.")
        if st.form_submit_button("Read the files", type="primary", icon=":material/upload:"):
            if not files:
                raise ConfigError("Choose at least one file.")
            staging.begin(files)
            st.rerun()


def show(bring: Bring) -> None:
    files = bring.files()
    st.markdown("This is how the files were read. If a preview looks wrong, correct how the file is read.")
    for reason in bring.refused:
        st.error(literal(reason, 400), icon=":material/block:")
    for file in files:
        with st.container(border=True):
            _show_file(bring, file)
    usable = [file for file in files if file.text is not None]
    if show_buttons(
        bring, None if usable else "None of these files can be read. Correct how they are read, or start over."
    ):
        bring.step = 1
        st.rerun()


def _show_file(bring: Bring, file: BroughtFile) -> None:
    row = st.columns([6, 2], vertical_alignment="center")
    row[0].markdown(
        f"**{literal(file.name, 80)}** · {literal(file.form.words, 80)} · {plural(file.records, 'row')}, "
        f"{plural(len(file.columns), 'column')}"
    )
    with row[1].popover("Correct", icon=":material/tune:", width="stretch", disabled=file.form.kind not in (CSV, XLSX)):
        _correct(bring, file)
    if file.problems:
        st.error(f"{plural(len(file.problems), 'problem')} in this file.", icon=":material/error:")
        st.dataframe(problem_table(file.problems), hide_index=True, placeholder="–")
    show_preview(file)


def _correct(bring: Bring, file: BroughtFile) -> None:
    """Other ways to read the file."""
    key = f"read {file.name}"
    if file.form.kind == XLSX:
        sheets = list(file.form.sheets)
        at = sheets.index(file.form.sheet) if file.form.sheet in sheets else None
        chosen = ReadOptions(sheet=st.selectbox("Sheet", sheets, index=at, key=f"{key} sheet"))
        now = ReadOptions(sheet=file.form.sheet)
    else:
        delimiters, encodings = list(DELIMITERS), list(ENCODINGS)
        if file.form.encoding not in encodings:
            encodings.append(str(file.form.encoding))
        delimiter = st.selectbox(
            "Delimiter",
            delimiters,
            index=delimiters.index(file.form.delimiter) if file.form.delimiter in delimiters else None,
            format_func=lambda one: DELIMITERS[one],
            key=f"{key} delimiter",
        )
        encoding = st.selectbox(
            "Encoding",
            encodings,
            index=encodings.index(str(file.form.encoding)),
            format_func=lambda one: ENCODINGS.get(one, one),
            key=f"{key} encoding",
        )
        chosen, now = ReadOptions(delimiter, encoding), ReadOptions(file.form.delimiter, file.form.encoding)
    if st.button("Read again", key=f"{key} again", disabled=chosen == now, type="primary"):
        bring.options[file.name] = chosen
        bring.forget_choices()
        st.rerun()
