"""How good is it now: pairs that a design has drawn, judged blind with one key each, and a meter that follows.

The estimate is made again after every tenth verdict, not after each: looking at every one would invite stopping at the
luckiest.
"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from pages.parts.audit import verdicts
from pages.parts.audit.drawn import audited_rows, audits_written, records_of
from pages.parts.audit.outside_view import outside_is_open, show_outside, show_with_missed
from pages.parts.audit.undo import follow_from_fragment, undo_button, undo_last
from pages.parts.audit.verdict_bar import verdict_bar
from pages.parts.frame.actions import action, barred
from pages.parts.frame.errors import boundary
from pages.parts.frame.given import ESTIMATE
from pages.parts.frame.page import section
from pages.parts.frame.text import percent, plural
from pages.parts.pairs.masks import show_judged_records
from pages.parts.runs.run_files import types_of
from riskcore.access import Role
from riskcore.audit.estimate import Estimate, Interval, audits_of, draw_audit, enough, estimate_run, verdicts_needed
from riskcore.audit.verdicts import is_bulk
from riskcore.runs import RunFolder, RunRecord, RunState

FIRST, MORE = 100, 50  # pairs of a draw
WITHIN = 0.02  # the width that the meter counts down to
BATCH = 10  # verdicts after which the estimate is made again
FEWEST = 20  # verdicts before anything is shown
_draw = action(Role.AUDITOR)(draw_audit)


@st.fragment
def show_estimate(record: RunRecord) -> None:
    """The tab. A verdict draws only this again."""
    with boundary("estimate"):
        follow_from_fragment()
        folder = RunFolder(record.folder)
        if record.state is not RunState.DONE:
            st.info("The labels can be audited once the run is done.", icon=":material/hourglass_empty:")
            return
        if not audits_of(folder):
            _first_draw(folder)
            undo_button(record)
            return
        if outside_is_open():
            show_outside(record, folder)
            return
        rows = audited_rows(folder)
        judged = {pair for pair, one in verdicts.current(record.id).items() if not is_bulk(one)}
        left = [pair for pair in rows if pair not in judged]
        _show_meter(record, folder, len(rows) - len(left))
        if left or st.query_params.get("pair") in rows:
            _judge(record, folder, rows, left)
        else:
            st.success(f"All {plural(len(rows), 'drawn pair')} are judged.", icon=":material/check_circle:")
            undo_button(record, ESTIMATE)
        with st.expander("Draw more pairs", icon=":material/add:", expanded=not left):
            _draw_form(folder, MORE)


def _first_draw(folder: RunFolder) -> None:
    section("How good are these labels?")
    st.markdown(
        "Judge some pairs, and precision, recall and F1 of the labels are estimated with 95 % intervals. The pairs are "
        "drawn so that few verdicts say much: more where labels are risky, some everywhere. What the model says about "
        "them is not shown. Verdicts that you give elsewhere are not counted as if they were drawn."
    )
    _draw_form(folder, FIRST, primary=True)


def _draw_form(folder: RunFolder, usual: int, primary: bool = False) -> None:
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="small")
    size = row.number_input("Pairs to draw", 10, 10_000, usual, step=10, key=f"audit size {usual}", width=150)
    row.button(
        f"Draw {plural(int(size), 'pair')}",
        key="draw audit",
        icon=":material/casino:",
        type="primary" if primary else "secondary",
        on_click=_draw,
        args=(folder, int(size)),
        disabled=barred(_draw),
    )


def _judge(record: RunRecord, folder: RunFolder, rows: dict[str, int], left: list[str]) -> None:
    """One pair, and nothing of what a model says."""
    asked = st.query_params.get("pair")
    pair = asked if asked in rows else left[0]
    verdict_bar(
        record.id,
        pair,
        verdicts.mine(record.id).get(pair),
        give=lambda word: _give(record.id, pair, word),
        undo=lambda: undo_last(record, ESTIMATE),
        can_undo=verdicts.last_given(record.id) is not None,
    )
    types = {name: str(kind) for name, kind in types_of(folder).items()}
    show_judged_records(record.id, pair, *records_of(folder, rows[pair]), types)


def _give(run: str, pair: str, word: str) -> None:
    verdicts.give(run, pair, word, ESTIMATE)
    st.query_params.pop("pair", None)


def _show_meter(record: RunRecord, folder: RunFolder, judged: int) -> None:
    rows = len(audited_rows(folder))
    st.progress(judged / max(rows, 1), text=f"**{judged:,} of {rows:,}** drawn pairs judged")
    if judged < FEWEST:
        st.caption(f"The first estimate is shown after {FEWEST} verdicts.")
        return
    size = verdicts.log().size(record.id)
    found, more = _estimated(str(folder.path), audits_written(folder), size - size % BATCH if judged < rows else size)
    if found.waiting:
        st.caption(
            f"{plural(found.waiting, 'verdict')} out of turn: they count once all pairs before them in their draw are "
            "judged. Pairs that were judged elsewhere may have been chosen because they looked wrong."
        )
    if found.verdicts + found.unsure < FEWEST:
        st.caption(f"The first estimate is shown after {FEWEST} verdicts that count.")
        return
    for column, (name, one) in zip(st.columns(4), _figures(found).items(), strict=False):
        column.metric(name, percent(one.value), help="Labels used: verdicts on drawn pairs.")
        column.caption(f"{percent(one.low)} to {percent(one.high)}")
    st.markdown(_words(found, more))
    if found.with_missed is not None:
        show_with_missed(found.with_missed)
    if found.unsure:
        st.caption(f"{plural(found.unsure, 'pair')} unsure: the intervals count them either way.")
    with st.expander("Where the verdicts are", icon=":material/table_rows:"):
        table = [
            {"label": one.label, "mean risk": one.risk, "pairs": one.pairs, "judged": one.judged, "wrong": one.errors}
            for one in found.strata
        ]
        columns = {"mean risk": st.column_config.NumberColumn(format="%.3f")}
        st.dataframe(pd.DataFrame(table), hide_index=True, column_config=columns, placeholder="–", alt="strata")


def _figures(found: Estimate) -> dict[str, Interval]:
    return {"F1": found.f1, "Precision": found.precision, "Recall": found.recall}


def _words(found: Estimate, more: int) -> str:
    points = f"±{100 * WITHIN:.0f} points"
    if enough(found, WITHIN):
        return f"The interval of F1 is within {points}, from {plural(found.verdicts, 'verdict')}: you may stop here."
    return f"From {plural(found.verdicts, 'verdict')}. About **{more:,}** more for {points} of F1."


@st.cache_data(max_entries=16, ttl=900, show_spinner="Estimating …")
def _estimated(path: str, written: tuple[int, ...], size: int) -> tuple[Estimate, int]:
    """The estimate, and about how many more verdicts it takes; `size` is that of the log when it is made again."""
    found = estimate_run(RunFolder(path))
    return found, verdicts_needed(found.strata, WITHIN)
