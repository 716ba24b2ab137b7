"""Tomorrow's records: new records scored with what the run answers with, in a process of its own."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages.parts.frame.actions import action, barred, download
from pages.parts.frame.errors import boundary
from pages.parts.frame.page import section
from pages.parts.frame.text import ago, literal, plural
from pages.parts.results.downloads import MIME
from riskcore.access import Role
from riskcore.apply.jobs import Asked, Job, jobs_of, start_job
from riskcore.audit.result import RESULT_FORMATS
from riskcore.data.bring.files import UPLOADS
from riskcore.errors import ConfigError
from riskcore.runs import RunFolder
from riskcore.runs.bundle.contents import BundleFacts, read_facts
from riskcore.sandbox import calls

UPLOAD_MB = 200
MATCHES, ALL = "matches only", "all pairs"
LOOKS_PER_SECOND = 1.0
SIDES = {"right": "Right table", "left": "Left table"}


def show_tomorrow(folder: RunFolder, method: str) -> None:
    """What to score, and the answers so far."""
    section("Tomorrow's records")
    facts = read_facts(folder.bundle)
    if facts is None:
        st.info(
            "This run cannot score new records: it was recorded before runs stored what they answer with. Run again.",
            icon=":material/info:",
        )
        return
    if method not in facts["methods"]:
        able = ", ".join(facts["methods"])
        st.info(f"{method} cannot score new records. Methods that can: {able}.", icon=":material/info:")
        return
    columns = ", ".join(one["column"] for one in facts["attributes"])
    st.markdown(
        f"Score new records with exactly what **{literal(method)}** answers with: nothing is trained, and no label is "
        "used. Candidates are found among the records of this run. A file of pairs, or a zip of tables and pairs, is "
        "scored as it is."
    )
    st.caption(f"The file needs the columns {literal(columns, 400)} and an id.")
    _ask(folder, method, facts)
    _show_jobs(folder)
    st.caption("Millions of pairs are scored on the command line (`riskcore score`) and shown on Scored sets.")


def _ask(folder: RunFolder, method: str, facts: BundleFacts) -> None:
    with st.form("tomorrow", border=True):
        st.file_uploader("New records", type=list(UPLOADS), max_upload_size=UPLOAD_MB, key="tomorrow file")
        row = st.columns([3, 3, 2, 2], vertical_alignment="top")
        row[0].segmented_control("Format", RESULT_FORMATS, default="csv", required=True, key="tomorrow format")
        row[1].segmented_control("Rows", (MATCHES, ALL), default=ALL, required=True, key="tomorrow rows")
        if not facts["self_join"]:
            row[2].selectbox(
                "They belong to the",
                tuple(SIDES),
                format_func=_side,
                key="tomorrow side",
                help="They are compared with the run's records of the other table.",
            )
        row[3].text_input("Column of ids", "id", key="tomorrow id", max_chars=200, help="none numbers the rows")
        st.form_submit_button(
            "Score new records",
            icon=":material/play_arrow:",
            on_click=_start,
            args=(str(folder.path), method),
            disabled=barred(_start),
        )


def _side(side: str) -> str:
    return SIDES[side]


@action(Role.OPERATOR)
def _start(path: str, method: str) -> None:
    file = st.session_state.get("tomorrow file")
    if file is None:
        raise ConfigError("There is no file to score. Choose one with new records, then press the button again.")
    asked = Asked(
        Path(file.name).name,
        method,
        st.session_state.get("tomorrow side") or "right",
        st.session_state.get("tomorrow format") or "csv",
        st.session_state.get("tomorrow rows") == MATCHES,
        (st.session_state.get("tomorrow id") or "id").strip(),
    )
    content = file.getvalue()
    calls.check_upload(asked.name, content)
    start_job(RunFolder(path), content, asked)


@action(Role.OPERATOR)
def _stop(job: Job) -> None:
    job.cancel()


@action(Role.OPERATOR)
def _remove(job: Job) -> None:
    job.remove()


def _show_jobs(folder: RunFolder) -> None:
    """The answers so far, the latest first; those that are being worked out tick by themselves."""
    jobs = jobs_of(folder)
    if any(job.going_on for job in jobs):
        _ticking(str(folder.path))
    for job in jobs:
        if not job.going_on:
            _show_finished(job)


@st.fragment(run_every=1 / LOOKS_PER_SECOND)
def _ticking(path: str) -> None:
    with boundary("results"):
        going_on = [job for job in jobs_of(RunFolder(path)) if job.going_on]
        if not going_on:
            st.rerun()
        for job in going_on:
            what, share = job.progress
            row = st.columns([8, 2], vertical_alignment="center")
            row[0].progress(min(max(share, 0.0), 1.0), f"{literal(job.asked.name)}: {literal(what)}")
            row[1].button(
                "Stop",
                icon=":material/stop:",
                key=f"stop {job.folder.name}",
                on_click=_stop,
                args=(job,),
                disabled=barred(_stop),
            )


def _show_finished(job: Job) -> None:
    asked, about, error = job.asked, job.about, job.error
    with st.container(border=True):
        row = st.columns([7, 3, 2], vertical_alignment="center")
        if about is None:
            row[0].markdown(f"**{literal(asked.name)}** was not scored, {ago(job.started)}.")
            st.code(error or "", language=None, wrap_lines=True)
        else:
            counts = about["counts"]
            row[0].markdown(
                f"**{literal(asked.name)}**: {plural(counts['matches'], 'match', 'matches')} among "
                f"{plural(counts['pairs'], 'pair')}, {plural(counts['new records'], 'new record')}, by "
                f"{literal(about['method'])}, {ago(job.started)}."
            )
            download(
                row[1],
                f"Answers · {plural(counts['rows'], 'row')}",
                job.answers.read_bytes,
                _file_name(job),
                MIME[asked.kind],
                key=f"answers {job.folder.name}",
            )
        row[2].button(
            "Remove",
            icon=":material/delete:",
            key=f"remove {job.folder.name}",
            on_click=_remove,
            args=(job,),
            type="tertiary",
            disabled=barred(_remove),
        )


def _file_name(job: Job) -> str:
    """A name that says what is in the file: filter, the scored file, the run and the method."""
    asked = job.asked
    plain = "".join(char if char.isalnum() or char in "-_" else "-" for char in Path(asked.name).stem)[:60]
    what = "matches" if asked.matches_only else "pairs"
    return f"{what}-of-{plain}-{job.run.path.name}-{asked.method}.{asked.kind}"
