"""Contradictions among the current decisions: a list of its own, and a line on the card of each pair in one."""

from __future__ import annotations

import streamlit as st

from pages.parts.frame.text import literal, plural
from pages.parts.runs.run_files import stamp
from pages.parts.runs.run_picker import View, store
from pages.parts.runs.score_columns import pairs_in
from riskcore.audit import VerdictLog, decisions
from riskcore.audit.contradictions import RankedContradiction, contradicting_pairs, find_contradictions
from riskcore.runs import RunFolder
from riskcore.runs.candidate_files import is_self_join

SHOWN = 30
MOST_FOR_CARDS = 20_000  # pairs of a target whose cards name contradictions
HELP = (
    "Decisions that cannot all be right: two counterparts of one record where the data is one-to-one, or A = B, B = C "
    "and A not C. They find confident errors that no score of a single pair finds."
)


def show_contradictions(view: View) -> None:
    """The list, the surest first; a button opens a pair."""
    found = contradictions_of(view)
    if not found:
        st.caption("No decisions contradict each other.")
        return
    st.markdown(f"**{plural(len(found), 'contradiction')}**, the surest first.", help=HELP)
    for number, one in enumerate(found[:SHOWN]):
        row = st.container(horizontal=True, vertical_alignment="center")
        row.markdown(literal(one.words, 300), width="stretch")
        for pair in one.pairs[:3]:
            row.button(
                literal(pair, 40), key=f"contradiction {number} {pair}", on_click=_open, args=(pair,), type="tertiary"
            )
    if len(found) > SHOWN:
        st.caption(f"The first {SHOWN} of {len(found):,}.")


def contradiction_words(view: View, pair: str) -> list[str]:
    """What the model's decision on a pair contradicts. It is looked for once per run, without the verdicts: stepping
    from pair to pair must stay quick; and not among very many pairs."""
    if not _is_answer(view) or pairs_in(view.folder, view.method, view.iteration) > MOST_FOR_CARDS:
        return []
    return _words(str(view.folder.path), view.method, stamp(view.folder.results_file)).get(pair, [])


def contradictions_of(view: View) -> list[RankedContradiction]:
    """Those of the method's answer with the verdicts so far; none for other iterations than the kept one."""
    if not _is_answer(view):
        return []
    size, written = VerdictLog(store()).size(view.run.id), stamp(view.folder.results_file)
    return _found(str(view.folder.path), view.method, size, written)


def _is_answer(view: View) -> bool:
    return view.folder.results() is not None and view.folder.kept(view.method) == view.iteration


@st.cache_data(max_entries=8, ttl=900, show_spinner="Looking for contradictions …")
def _found(path: str, method: str, size: int, written: tuple[int, ...]) -> list[RankedContradiction]:
    folder = RunFolder(path)
    frame = decisions(folder, method, reasons=False, values=False)
    return find_contradictions(frame, self_join=is_self_join(folder))


@st.cache_data(max_entries=8, ttl=900, show_spinner=False)
def _words(path: str, method: str, written: tuple[int, ...]) -> dict[str, list[str]]:
    folder = RunFolder(path)
    frame = decisions(folder, method, {}, reasons=False, values=False)
    return contradicting_pairs(find_contradictions(frame, self_join=is_self_join(folder)))


def _open(pair: str) -> None:
    st.query_params["pair"] = pair
