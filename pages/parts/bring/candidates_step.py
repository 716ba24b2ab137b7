"""Step 4: candidate pairs, those brought or those found by blocking."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from pages.parts.bring import blocking_job
from pages.parts.bring.staging import Bring
from pages.parts.bring.steps import show_buttons
from pages.parts.data.figures import figures_of
from pages.parts.frame.actions import barred
from pages.parts.frame.errors import boundary
from pages.parts.frame.text import duration, number, percent, plural, short
from riskcore.data.figures import DataFigures
from riskcore.data.uses import TO_DECIDE
from riskcore.sandbox import calls

TOP = 5
_PREVIEW = 20


def show(bring: Bring) -> None:
    assert bring.written is not None
    has_pairs = find_candidates(bring.written)
    if not has_pairs:
        st.caption("You can also go on and find candidates later: the data set is saved.")
    if show_buttons(bring, primary=has_pairs):
        bring.step = 4
        st.rerun()


def find_candidates(path: str) -> bool:
    """Show or find the candidates of a data set; returns whether it has any."""
    figures = figures_of(path)
    splits = () if figures.profile is None else figures.profile.splits
    pairs = sum(split.pairs for split in splits if split.name in TO_DECIDE)
    if pairs:
        st.success(f"The data set has {plural(pairs, 'candidate pair')}.", icon=":material/check_circle:")
        _show_pairs(figures)
        return True
    st.markdown(
        "Comparing every record with every other would take too long. **Candidates** are the pairs worth comparing: "
        "for each record, those whose text is most alike. A match that is no candidate is lost: see what may be missed."
    )
    state = blocking_job.state(path)
    if state is None or state.name == "failed":
        if state is not None:
            st.error("The search failed. The message below says why.", icon=":material/error:")
            st.code(short(state.words, 2_000), language=None, wrap_lines=True)
        _form(path, figures)
    elif state.name == "running":
        _watch(path)
    elif state.report is not None:
        _offer(path, figures, state.report)
    return False


def _form(path: str, figures: DataFigures) -> None:
    names = [] if figures.profile is None else [attribute.name for attribute in figures.profile.attributes]
    with st.form("find candidates"):
        row = st.columns([2, 3, 3])
        top = row[0].number_input(
            "Candidates per record",
            1,
            100,
            TOP,
            help="More find more matches, and take more time to decide.",
        )
        keys = row[1].multiselect(
            "Equal values always make a pair", names, help="Exact keys, such as a product code or an e-mail address."
        )
        attributes = row[2].multiselect("Search only these attributes", names, placeholder="all")
        if st.form_submit_button(
            "Find candidates",
            type="primary",
            icon=":material/search:",
            disabled=barred(blocking_job.start),
        ):
            blocking_job.start(path, int(top), keys, attributes)
            st.rerun()


@st.fragment(run_every=1.0)
def _watch(path: str) -> None:
    """The progress of the search; it goes on when the browser is closed."""
    with boundary("candidates"):
        state = blocking_job.state(path)
        if state is None or state.name != "running":
            st.rerun(scope="app")
            return
        st.progress(state.share, f"Searching for candidates, {duration(state.seconds)} so far.")
        if st.button("Stop", icon=":material/stop:", disabled=barred(blocking_job.cancel)):
            blocking_job.cancel(path)
            st.rerun(scope="app")


def _offer(path: str, figures: DataFigures, report: dict[str, Any]) -> None:
    """What was found, with a preview, to be used or searched anew."""
    sides = report["left"], report["right"]
    row = st.columns(4)
    row[0].metric("Candidate pairs", f"{report['pairs']:,}")
    per = " / ".join(number(side["mean"], 1) for side in (sides[:1] if sides[0] == sides[1] else sides))
    row[1].metric("Pairs per record", per, help="Left and right table; the largest has " + f"{sides[0]['most']:,}.")
    row[2].metric(
        "Pairs left out", percent(report["reduction_ratio"], 2), help=f"Of {report['possible']:,} possible pairs."
    )
    _show_recall(row[3], report)
    without = [side["without"] for side in sides]
    if max(without) > 0:
        st.caption(
            f"{percent(without[0])} of the left and {percent(without[1])} of the right records have no candidate."
        )
    st.dataframe(_preview(path, figures), hide_index=True, placeholder="–", height=320)
    buttons = st.columns([3, 3, 6])
    stays = barred(blocking_job.accept)
    if buttons[0].button(
        "Use these candidates", type="primary", icon=":material/check:", width="stretch", disabled=stays
    ):
        blocking_job.accept(path)
        st.rerun()
    if buttons[1].button("Search again", icon=":material/refresh:", width="stretch", disabled=stays):
        blocking_job.cancel(path)
        st.rerun()


def _show_recall(place: Any, report: dict[str, Any]) -> None:
    recall, estimate = report["recall"], report["estimate"]
    if recall is not None:
        words = f"{recall['found']:,} of {recall['matches']:,} known matches are among the candidates."
        place.metric("Known matches found", percent(recall["share"]), help=words)
    elif estimate is not None and estimate["found"] is not None:
        interval = f"{percent(estimate['low'])} to {percent(estimate['high'])}. {estimate['reason']}"
        place.metric("Matches found, estimated", percent(estimate["found"]), help=interval)
    else:
        reason = "" if estimate is None else estimate["reason"]
        place.metric("Matches found, estimated", "not known", help=reason)


def _preview(path: str, figures: DataFigures) -> pd.DataFrame:
    """The first pairs with three attributes of their records."""
    pairs = blocking_job.pairs_file(path)
    names = () if figures.profile is None else tuple(one.name for one in figures.profile.attributes[:3])
    return _read_preview(path, str(pairs), pairs.stat().st_mtime_ns, names)


@st.cache_data(max_entries=4, show_spinner="Reading the candidates …", show_time=True)
def _read_preview(path: str, pairs: str, stamp: int, names: tuple[str, ...]) -> pd.DataFrame:
    return calls.preview_candidates(Path(path), Path(pairs), names)


def _show_pairs(figures: DataFigures) -> None:
    for name, frame in figures.previews.items():
        if name in {f"{split} pairs" for split in TO_DECIDE}:
            st.dataframe(frame.head(_PREVIEW), hide_index=True, placeholder="–")
            return
