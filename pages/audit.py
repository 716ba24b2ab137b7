"""Label drawn pairs; the reviewers' verdicts: progress, current verdicts, the complete log, undo and export."""

from functools import partial

import pandas as pd
import streamlit as st

from pages.parts.audit import verdicts
from pages.parts.audit.audit_tables import (
    AuditProgress,
    as_csv,
    as_html,
    as_parquet,
    audit_progress,
    current_table,
    export_rows,
    judged_rows,
    log_table,
)
from pages.parts.audit.contradiction_queue import show_contradiction_queue
from pages.parts.audit.desk import show_desk
from pages.parts.audit.estimate_view import show_estimate
from pages.parts.audit.exchange_view import show_exchange
from pages.parts.audit.labelling import show_labelling
from pages.parts.audit.plan_view import show_plan
from pages.parts.audit.reviewers import show_reviewers
from pages.parts.audit.undo import TAB, follow, undo_button
from pages.parts.audit.work_lists import offer_lists, show_work_lists
from pages.parts.frame.actions import barred, download
from pages.parts.frame.given import CONTRADICTIONS, WORK_LISTS
from pages.parts.frame.glossary import WORDS
from pages.parts.frame.navigation import SCREENS
from pages.parts.frame.page import open_page
from pages.parts.frame.tables import selected_row, table_height
from pages.parts.frame.text import percent, plural
from pages.parts.pairs.masks import choose_masks
from pages.parts.pairs.queue import score_columns
from pages.parts.runs.continue_run import offer_continue
from pages.parts.runs.run_files import page_of
from pages.parts.runs.run_picker import View, pick_scored, view_of
from pages.parts.runs.run_view import follow_to_end
from pages.parts.runs.score_columns import pairs_in
from riskcore.audit.log_check import LIMITS, LogCheck, check_log
from riskcore.runs import PairQuery, RunFolder, RunRecord
from riskcore.runs.readers.queries import NO_VERDICT

OVERRULED = (
    "Among the verdicts match and non-match. It says nothing of pairs that nobody has judged: the tab Estimate does."
)
LOG_PIXELS = {"no.": 60, "pair": 120, "verdict": 110, "note": 380, "reviewer": 130, "when (UTC)": 150}
TABS = ["Label", "Estimate", "Plan", WORK_LISTS, CONTRADICTIONS, "Verdicts", "Reviewers", "Log", "Export"]


def show_progress(view: View, done: AuditProgress) -> None:
    columns = st.columns(4)
    columns[0].metric("Pairs reviewed", f"{done.judged:,}", help=WORDS["verdict"])
    columns[1].metric("= Match · ≠ Non-match · ? Unsure", f"{done.match:,} · {done.non_match:,} · {done.unsure:,}")
    share = done.overruled / done.decided if done.decided else None
    columns[2].metric("Labels overruled", f"{done.overruled:,}", help="Verdicts that differ from the current label.")
    columns[3].metric("Share overruled", percent(share, 0), help=OVERRULED)
    st.progress(min(done.judged / max(done.total, 1), 1.0), text=f"{done.judged:,} of {done.total:,} pairs reviewed")
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    with row:
        left = page_of(view.folder, unjudged(view), verdicts.judged(view.run.id)).rows
        if len(left):
            st.page_link(
                SCREENS["pairs"].path,
                label="Judge the riskiest pair that is left",
                icon=SCREENS["pairs"].icon,
                query_params={**view.link, "verdict": "no verdict", "pair": str(left["pair_id"].iloc[0])},
            )
        if done.judged:
            offer_continue(view.run, "Continue training with these verdicts", "continue with verdicts")


def unjudged(view: View) -> PairQuery:
    return PairQuery(method=view.method, iteration=view.iteration, verdict=NO_VERDICT)


def show_current(view: View, rows: pd.DataFrame) -> None:
    if rows.empty:
        st.info(
            "There are no verdicts yet. Open the riskiest pair and press M for match, N for non-match or U for unsure.",
            icon=":material/keyboard:",
        )
        return
    table = current_table(rows)
    state = st.dataframe(
        table,
        key=f"verdicts {view.run.id}",
        hide_index=True,
        height=table_height(len(table), 420),
        selection_mode="single-row",
        on_select="rerun",
        column_config={**score_columns(), "note": st.column_config.TextColumn(width=300)},
        placeholder="–",
        alt="the current verdicts, riskiest pair first",
    )
    show_selected(view, table, selected_row(state))


def show_selected(view: View, table: pd.DataFrame, row: int | None) -> None:
    if row is None or row >= len(table):
        st.caption("Select a verdict to open its pair or to withdraw the verdict.")
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
            "Withdraw",
            icon=":material/undo:",
            on_click=verdicts.undo,
            args=(view.run.id, pair),
            disabled=pair not in verdicts.mine(view.run.id) or barred(verdicts.undo),
            help="Adds a withdrawal to the log; nothing is deleted. You can withdraw only your own verdicts.",
        )


def show_log_check(found: LogCheck) -> None:
    """Whether the log is as it was recorded, and what can and cannot be proven about that."""
    if found.problems:
        st.error("The log is not as it was recorded:", icon=":material/gpp_bad:")
        st.code("\n".join(found.problems), language=None, wrap_lines=True)
    else:
        st.caption(f"{plural(found.head.size, 'entry', 'entries')}, as they were recorded, as far as can be proven.")
    with st.expander("What is proven, and what is not", icon=":material/verified_user:"):
        for sentence in (*found.proven, *found.unproven, LIMITS):
            st.markdown(f"- {sentence}")
        st.caption("The head of the log; write it down elsewhere, and nobody can rewrite the log unnoticed:")
        st.code(found.head.digest, language=None)


def show_log(view: View) -> None:
    entries = verdicts.log().entries(view.run.id)
    if not entries:
        st.caption("The log is empty.")
        return
    show_log_check(check_log(verdicts.log().store, view.run.id))
    table = log_table(entries)
    st.dataframe(
        table,
        hide_index=True,
        height=table_height(len(table), 360),
        column_config={name: st.column_config.Column(width=pixels) for name, pixels in LOG_PIXELS.items()},
        placeholder="–",
        alt="all entries of the log, newest first",
    )


def show_export(view: View, rows: pd.DataFrame, done: AuditProgress) -> None:
    if rows.empty:
        st.caption("There are no verdicts to export yet.")
        return
    frame, name = export_rows(view, rows), f"verdicts-{view.run.id}"
    bar = st.container(horizontal=True, gap="medium")
    with bar:
        for label, data, ending, mime in (  # made on request: a report of many verdicts takes seconds
            ("CSV", partial(as_csv, frame), "csv", "text/csv"),
            ("Parquet", partial(as_parquet, frame), "parquet", "application/vnd.apache.parquet"),
            ("Printable report", partial(as_html, view, frame, done), "html", "text/html"),
        ):
            download(None, label, data, f"{name}.{ending}", mime, key=f"as {ending}")
    st.caption(
        "Each row has the verdict with note, reviewer and time, the scores, and both records. Cells that a "
        "spreadsheet would run as formulas are escaped."
    )


def show_verdicts(view: View, rows: pd.DataFrame, done: AuditProgress) -> None:
    show_progress(view, done)
    show_current(view, rows)


def show_tabs(record: RunRecord) -> None:
    """The tab that is open; the others cost nothing, and are up to date once they are opened."""
    asked = st.query_params.get("part")
    # Not bound to the address: a link to labelling would open the tab that was open last.
    tabs = st.tabs(TABS, default=asked if asked in TABS else None, key=TAB, on_change="rerun")
    label, estimate, plan, lists, against, current, reviewers, log, export = tabs
    if label.open:
        with label:
            show_labelling(record)
        return
    for tab, show in (
        (estimate, show_estimate),
        (plan, show_plan),
        (lists, show_work_lists),
        (against, show_contradiction_queue),
        (reviewers, show_reviewers),
    ):
        if tab.open:
            with tab:
                show(record)
            return
    view = view_of(record)
    if log.open:
        with log:
            show_log(view)
            undo_button(record)
        return
    judged = judged_rows(view, verdicts.current(record.id), records=bool(export.open))
    done = audit_progress(judged, pairs_in(view.folder, view.method, view.iteration))
    if current.open:
        with current:
            show_verdicts(view, judged, done)
            undo_button(record)
    elif export.open:
        with export:
            show_export(view, judged, done)
            show_exchange(record)
            undo_button(record)


with open_page("audit", "Label pairs, measure how good the labels are, share the work, and see every verdict."):
    follow("audit")
    record = pick_scored()
    if record is not None:
        show_desk()
        verdicts.ask_name()
        choose_masks(record.id, RunFolder(record.folder))
        offer_lists(record)
        follow_to_end(record)
        show_tabs(record)
