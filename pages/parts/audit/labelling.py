"""Labelling: draw pairs, judge one at a time with one key a verdict, and start the run that learns from them.

The model's label, probability, risk and rules are left out: whoever sees them judges them, and not the records.
"""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from pages.parts.audit import verdicts
from pages.parts.audit.drawn import drawn_rows, progress_of, records_of
from pages.parts.audit.guideline_pane import show_guideline
from pages.parts.audit.undo import follow_from_fragment, undo_button, undo_last
from pages.parts.audit.verdict_bar import verdict_bar
from pages.parts.audit.work_list_files import show_work_list
from pages.parts.frame.actions import action, barred
from pages.parts.frame.errors import boundary
from pages.parts.frame.given import LABEL
from pages.parts.frame.navigation import SCREENS
from pages.parts.frame.palette import MATCH, NON_MATCH, UNSURE
from pages.parts.frame.text import plural
from pages.parts.pairs.masks import show_judged_records
from pages.parts.runs.run_picker import choose_run
from pages.parts.runs.run_start import start_adapting
from riskcore.access import Role
from riskcore.audit import Verdict
from riskcore.audit.draws import DEFAULT_SIZE, draw_pairs
from riskcore.audit.labels import LabelProgress
from riskcore.runs import RunFolder, RunRecord, RunState
from riskcore.runs.readers.time_left import sizes_of

MORE = 50  # pairs of a further draw
MOST = 100_000
SECONDS_EACH = 6  # of a person with a pair, for the first estimate


@st.fragment
def show_labelling(record: RunRecord) -> None:
    """The tab. A verdict draws only this again."""
    with boundary("label"):
        follow_from_fragment()
        folder = RunFolder(record.folder)
        if record.state is not RunState.DONE:
            st.info("Pairs can be drawn once the run is done.", icon=":material/hourglass_empty:")
            return
        rows = drawn_rows(folder)
        pair = _label(record, folder, rows) if rows else None
        left, right = st.columns([7, 3], gap="large")
        with left:
            if pair is not None:
                show_judged_records(record.id, pair, *records_of(folder, rows[pair]))
            elif rows:
                _all_judged(record, len(rows))
            else:
                _first_draw(record, folder)
                undo_button(record)
        with right:
            show_guideline(record.id, folder)
            if rows:
                with st.expander("Label in a spreadsheet", icon=":material/table:"):
                    show_work_list(record.id, folder)
                with st.expander("Draw more pairs", icon=":material/add:", expanded=pair is None):
                    _draw_form(record, folder, len(rows), MORE)


def _first_draw(record: RunRecord, folder: RunFolder) -> None:
    begun = progress_of(folder, record.id, verdicts.log())
    if begun.labelled:
        st.markdown("**Label some more pairs, for another run that learns from all labels.**")
        st.markdown(
            f"This run began with {plural(begun.matches, 'match', 'matches')} and "
            f"{plural(begun.non_matches, 'non-match', 'non-matches')}. {begun.sentence}"
        )
    else:
        st.markdown("**Label some pairs, so that the matcher can be adapted to this data.**")
    st.markdown(
        "The pairs are drawn from the whole range: likely matches, likely non-matches, and those in between, so that "
        "both kinds come up. You judge one at a time, with one key each. What the model says about them is not shown, "
        "so that it cannot influence you."
    )
    _draw_form(record, folder, 0, MORE if begun.labelled else DEFAULT_SIZE, primary=True)


def _draw_form(record: RunRecord, folder: RunFolder, drawn: int, usual: int, primary: bool = False) -> None:
    """How many pairs to draw; `?draw=50` suggests another number than the usual."""
    sizes = sizes_of(folder)
    free = (sizes.target if sizes is not None else MOST) - drawn
    if free < 1:
        st.caption("All pairs of the target are drawn.")
        return
    most = min(free, MOST)
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="small")
    size = row.number_input(
        "Pairs to draw", 1, most, min(_asked(usual), most), step=10, key=f"draw size {record.id} {drawn}", width=150
    )
    row.button(
        f"Draw {plural(int(size), 'pair')}",
        key="draw",
        icon=":material/casino:",
        type="primary" if primary else "secondary",
        on_click=_draw,
        args=(folder, int(size)),
        disabled=barred(_draw),
    )
    if primary:
        minutes = max(1, round(size * SECONDS_EACH / 60))
        st.caption(f"About {plural(minutes, 'minute')} of judging. You can stop at any time and go on later.")


def _asked(usual: int) -> int:
    """The number of pairs in the address, if it is one."""
    text = st.query_params.get("draw", "")
    return int(text) if text.isascii() and text.isdigit() and 1 <= int(text[:7]) <= MOST else usual


@action(Role.AUDITOR)
def _draw(folder: RunFolder, size: int) -> None:
    draw_pairs(folder, size)
    st.query_params.pop("draw", None)
    st.query_params.pop("pair", None)


def _label(record: RunRecord, folder: RunFolder, rows: Mapping[str, int]) -> str | None:
    """Progress and the verdict bar over the whole width; returns the pair to judge, None if all are judged."""
    judged = verdicts.current(record.id)
    _show_progress(record, progress_of(folder, record.id, verdicts.log()), len(rows))
    pair = _current(rows, judged)
    if pair is not None:
        verdict_bar(
            record.id,
            pair,
            verdicts.mine(record.id).get(pair),
            give=lambda word: _give(record.id, pair, word),
            undo=lambda: undo_last(record, LABEL),
            can_undo=verdicts.last_given(record.id) is not None,
        )
    return pair


def _all_judged(record: RunRecord, drawn: int) -> None:
    st.success(f"All {plural(drawn, 'drawn pair')} are judged.", icon=":material/check_circle:")
    undo_button(record, LABEL)


def _show_progress(record: RunRecord, progress: LabelProgress, drawn: int) -> None:
    """Counts, the bar, whether it is enough, and the way on."""
    judged = drawn - progress.left
    columns = st.columns([2, 2.2, 1.3, 4, 3], vertical_alignment="top", gap="medium")
    for column, mark, count, many in (
        (columns[0], MATCH, progress.matches, "Matches so far"),
        (columns[1], NON_MATCH, progress.non_matches, "Non-matches so far"),
        (columns[2], UNSURE, progress.unsure, "Unsure"),
    ):
        column.metric(f"{mark.sign} {many}", f"{count:,}")
    with columns[3]:
        st.progress(judged / max(drawn, 1), text=f"**{judged:,} of {drawn:,}** drawn pairs judged")
        st.caption(progress.sentence)
    if progress.usable and columns[4].button(
        "Adapt with these labels",
        type="primary",
        icon=":material/model_training:",
        key="adapt",
        width="stretch",
        disabled=barred(start_adapting),
    ):
        run = start_adapting(record)
        choose_run(run)
        st.switch_page(SCREENS["fine_tuning"].path, query_params={"run": run})


def _current(rows: Mapping[str, int], judged: Mapping[str, Verdict]) -> str | None:
    """The pair that the address names, as after an undo; else the first without a verdict."""
    asked = st.query_params.get("pair")
    return asked if asked in rows else next((pair for pair in rows if pair not in judged), None)


def _give(run: str, pair: str, word: str) -> None:
    verdicts.give(run, pair, word, LABEL)
    st.query_params.pop("pair", None)
