"""Contradictions among the current decisions, as the screens read them: a list, and a line on the card of each pair."""

from __future__ import annotations

import streamlit as st

from pages.parts.audit import verdicts
from pages.parts.frame.navigation import SCREENS
from pages.parts.frame.text import literal, plural
from pages.parts.runs.run_files import stamp
from pages.parts.runs.run_picker import View
from pages.parts.runs.score_columns import pairs_in
from riskcore.audit import decisions
from riskcore.audit.contradictions import RankedContradiction, contradicting_pairs, find_contradictions, remains
from riskcore.runs import RunFolder
from riskcore.runs.candidate_files import is_self_join

SHOWN = 30
MOST_FOR_CARDS = 20_000  # pairs of a target whose cards name contradictions
HELP = (
    "Decisions that cannot all be right: two counterparts of one record where the data is one-to-one, or A = B, B = C "
    "and A not C. They find confident errors that no score of a single pair finds."
)


def show_contradictions(view: View) -> None:
    """The list, the surest first; each with a link to the queue, where its pairs are judged together."""
    found = contradictions_of(view)
    if not found:
        st.caption("No decisions contradict each other.")
        return
    st.markdown(f"**{plural(len(found), 'contradiction')}**, the surest first.", help=HELP)
    for one in found[:SHOWN]:
        row = st.container(horizontal=True, vertical_alignment="center")
        row.markdown(literal(one.words, 300), width="stretch")
        row.page_link(
            SCREENS["audit"].path,
            label="Judge",
            icon=":material/call_split:",
            query_params={"run": view.run.id, "part": "Contradictions", "pair": one.pairs[0]},
        )
    if len(found) > SHOWN:
        st.caption(f"The first {SHOWN} of {len(found):,}.")


def contradiction_words(view: View, pair: str) -> list[str]:
    """What the decision on a pair contradicts. Contradictions are looked for once per run, without the verdicts, and
    those that verdicts have resolved are left out: stepping from pair to pair must stay quick. Not among very many
    pairs."""
    if not _is_answer(view) or pairs_in(view.folder, view.method, view.iteration) > MOST_FOR_CARDS:
        return []
    among = _by_pair(str(view.folder.path), view.method, stamp(view.folder.results_file)).get(pair, [])
    if not among:
        return []
    words = {pair: one.verdict for pair, one in verdicts.current(view.run.id).items()}
    return [one.words for one in among if remains(one, words)]


def contradictions_of(view: View) -> list[RankedContradiction]:
    """Those of the method's answer with the verdicts so far; none for other iterations than the kept one."""
    return contradictions_in(view.run.id, view.folder, view.method) if _is_answer(view) else []


def contradictions_in(run: str, folder: RunFolder, method: str) -> list[RankedContradiction]:
    """Those among the decisions by a method's answer and the verdicts so far, the surest first."""
    return _found(str(folder.path), method, verdicts.log().size(run), stamp(folder.results_file))


def _is_answer(view: View) -> bool:
    return view.folder.results() is not None and view.folder.kept(view.method) == view.iteration


@st.cache_data(max_entries=8, ttl=900, show_spinner="Looking for contradictions …")
def _found(path: str, method: str, size: int, written: tuple[int, ...]) -> list[RankedContradiction]:
    folder = RunFolder(path)
    frame = decisions(folder, method, reasons=False, values=False)
    return find_contradictions(frame, self_join=is_self_join(folder))


@st.cache_data(max_entries=8, ttl=900, show_spinner=False)
def _by_pair(path: str, method: str, written: tuple[int, ...]) -> dict[str, list[RankedContradiction]]:
    folder = RunFolder(path)
    frame = decisions(folder, method, {}, reasons=False, values=False)
    return contradicting_pairs(find_contradictions(frame, self_join=is_self_join(folder)))
