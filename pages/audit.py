"""What reviewers decided: progress, standing verdicts, the whole log, undo, and export."""

from functools import partial

import pandas as pd
import streamlit as st

from pages.parts.audit import verdicts
from pages.parts.audit.audit_tables import (
    Progress,
    as_csv,
    as_html,
    as_parquet,
    export_rows,
    judged_rows,
    log_table,
    progress,
    standing_table,
)
from pages.parts.frame.glossary import WORDS
from pages.parts.frame.link_table import chosen_row, table_height
from pages.parts.frame.navigation import SCREENS
from pages.parts.frame.page import open_page
from pages.parts.frame.text import percent, plural
from pages.parts.pairs.queue import score_columns
from pages.parts.runs.run_picker import View, pick_view
from pages.parts.runs.score_columns import pairs_in


def show_progress(view: View, done: Progress) -> None:
    columns = st.columns(4)
    columns[0].metric("Judged", f"{done.judged:,}", help=WORDS["verdict"])
    columns[1].metric("= match · ≠ non-match · ? unsure", f"{done.match:,} · {done.non_match:,} · {done.unsure:,}")
    share = done.overruled / done.decided if done.decided else None
    columns[2].metric("Matcher overruled", f"{done.overruled:,}", help="Verdicts that differ from the current label.")
    columns[3].metric("Share overruled", percent(share, 0), help="Of the pairs decided. Labels used: your verdicts.")
    st.progress(min(done.judged / max(done.total, 1), 1.0), text=f"{done.judged:,} of {done.total:,} pairs judged")
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    with row:
        st.page_link(
            SCREENS["pairs"].path,
            label="Judge the riskiest pair that is left",
            icon=SCREENS["pairs"].icon,
            query_params={**view.link, "verdict": "not judged"},
        )


def show_standing(view: View, rows: pd.DataFrame) -> None:
    if rows.empty:
        st.info(
            "No verdict yet. Open the riskiest pair and press M for match, U for non-match or N for unsure.",
            icon=":material/keyboard:",
        )
        return
    table = standing_table(rows)
    state = st.dataframe(
        table,
        key=f"standing {view.run.id}",
        hide_index=True,
        height=table_height(len(table), 420),
        selection_mode="single-row",
        on_select="rerun",
        column_config={**score_columns(), "note": st.column_config.TextColumn(width=220)},
    )
    show_chosen(view, table, chosen_row(state))


def show_chosen(view: View, table: pd.DataFrame, row: int | None) -> None:
    if row is None or row >= len(table):
        st.caption("Select a verdict to open its pair or to take it back.")
        return
    pair = str(table["pair"].iloc[row])
    bar = st.container(horizontal=True, vertical_alignment="center", gap="medium")
    with bar:
        st.page_link(
            SCREENS["pairs"].path,
            label="Open the pair",
            icon=SCREENS["pairs"].icon,
            query_params={**view.link, "pair": pair},
        )
        st.button(
            "Take back",
            icon=":material/undo:",
            on_click=verdicts.undo,
            args=(view.run.id, pair),
            disabled=pair not in verdicts.mine(view.run.id),
            help="Adds a withdrawal to the log; nothing is erased. Only your own verdicts.",
        )


def show_log(view: View) -> None:
    entries = verdicts.log().entries(view.run.id)
    if not entries:
        st.caption("Nothing was said yet.")
        return
    problems = verdicts.log().verify(view.run.id)
    if problems:
        st.error("The log was changed behind its back:", icon=":material/gpp_bad:")
        st.code("\n".join(problems), language=None)
    else:
        st.caption(
            f"{plural(len(entries), 'entry', 'entries')}, each sealed with the one before it. Nothing was changed."
        )
    st.dataframe(log_table(entries), hide_index=True, height=360)


def show_export(view: View, rows: pd.DataFrame, done: Progress) -> None:
    if rows.empty:
        st.caption("There is nothing to export yet.")
        return
    frame, name = export_rows(view, rows), f"verdicts-{view.run.id}"
    bar = st.container(horizontal=True, gap="medium")
    with bar:
        for label, data, ending, mime in (  # made once asked for: a report of many verdicts takes seconds
            ("Csv", partial(as_csv, frame), "csv", "text/csv"),
            ("Parquet", partial(as_parquet, frame), "parquet", "application/vnd.apache.parquet"),
            ("Report to print", partial(as_html, view, frame, done), "html", "text/html"),
        ):
            st.download_button(
                label, data, f"{name}.{ending}", mime, icon=":material/download:", on_click="ignore", key=f"as {ending}"
            )
    st.caption("Verdict, note, who and when, scores, and both records. Cells that a spreadsheet would run are escaped.")


with open_page("audit", "What reviewers decided. Verdicts are only ever added, with name and time."):
    view = pick_view()
    if view is not None:
        verdicts.ask_name()
        judged = judged_rows(view, verdicts.current(view.run.id))
        done = progress(judged, pairs_in(view.folder, view.method, view.iteration))
        show_progress(view, done)
        standing, log, export = st.tabs(["Verdicts", "Log", "Export"])
        with standing:
            show_standing(view, judged)
        with log:
            show_log(view)
        with export:
            show_export(view, judged, done)
