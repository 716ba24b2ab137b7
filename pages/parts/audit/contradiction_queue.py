"""The queue of contradictions: one at a time with all its pairs, judged until it is none any more; then the next."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from pages.parts.audit import verdicts
from pages.parts.audit.contradictions_view import HELP, contradictions_in
from pages.parts.audit.undo import follow_from_fragment, undo_button, undo_last
from pages.parts.audit.verdict_bar import verdict_bar
from pages.parts.frame.errors import boundary
from pages.parts.frame.given import CONTRADICTIONS
from pages.parts.frame.page import section
from pages.parts.frame.palette import VERDICTS
from pages.parts.frame.text import literal, percent, plural
from pages.parts.pairs.masks import hidden, show_judged_records
from pages.parts.pairs.pair_card import show_both
from pages.parts.runs.run_files import stamp, types_of
from riskcore.audit import Verdict, decisions
from riskcore.audit.contradictions import RankedContradiction, unseen_pairs
from riskcore.audit.decisions import BY_LABEL, BY_MODEL, BY_VERDICT, answer_of, values_of
from riskcore.columns import LEFT, PAIR_ID, RIGHT
from riskcore.runs import RunFolder, RunRecord, RunState

TOGETHER = 6  # pairs of a contradiction that are shown at once
_SKIPPED = "contradictions skipped"
_BY = {BY_MODEL: "by the model", BY_VERDICT: "by a verdict", BY_LABEL: "by the label that was given"}


@st.fragment
def show_contradiction_queue(record: RunRecord) -> None:
    """The tab. A verdict draws only this again."""
    with boundary("contradictions"):
        follow_from_fragment()
        section("Contradictions", help=HELP)
        if record.state is not RunState.DONE:
            st.info("Contradictions can be judged once the run is done.", icon=":material/hourglass_empty:")
            return
        folder = RunFolder(record.folder)
        judged = verdicts.current(record.id)
        found = contradictions_in(record.id, folder, answer_of(folder).method)
        left = [one for one in found if unseen_pairs(one, judged)]
        seen = [one for one in found if not unseen_pairs(one, judged)]
        _show_open(record, folder, left, judged, bool(found))
        _show_seen(seen)


def _show_open(
    record: RunRecord, folder: RunFolder, left: list[RankedContradiction], judged: dict[str, Verdict], any_found: bool
) -> None:
    if not left:
        words = "Every contradiction has been judged." if any_found else "No decisions contradict each other."
        st.success(words, icon=":material/check_circle:")
        undo_button(record, CONTRADICTIONS)
        return
    run = record.id
    asked = st.query_params.get("pair")
    one, place = _current(run, left, asked)
    row = st.container(horizontal=True, vertical_alignment="center", gap="medium")
    row.markdown(f"**{plural(len(left), 'contradiction')}** to judge, the surest first", width="stretch")
    if len(left) > 1:
        row.button(
            "Skip",
            icon=":material/skip_next:",
            shortcut="J",
            on_click=_skip,
            args=(run, one.pairs, len(left)),
            help="The next contradiction; this one comes back at the end.",
        )
    st.warning(
        f"{literal(one.words, 400)} At least one of these decisions is wrong with a probability of about "
        f"{percent(one.score, 0)}.",
        icon=":material/call_split:",
    )
    if place:
        st.caption(f"{plural(place, 'contradiction')} skipped.")
    _show_pairs(record, folder, one, judged, asked)


def _current(run: str, left: list[RankedContradiction], asked: str | None) -> tuple[RankedContradiction, int]:
    """The one with the pair in the address, else the first that was not skipped; and how many were."""
    skipped = st.session_state.get(_key(run), [])
    again = [one for one in left if one.pairs in skipped]
    order = [*(one for one in left if one.pairs not in skipped), *again]
    return next((one for one in order if asked in one.pairs), order[0]), len(again)


def _skip(run: str, pairs: tuple[str, ...], left: int) -> None:
    """Put a contradiction at the end; once all were skipped, begin again."""
    skipped = [one for one in st.session_state.get(_key(run), []) if one != pairs] + [pairs]
    st.session_state[_key(run)] = [] if len(skipped) >= left else skipped
    st.query_params.pop("pair", None)


def _show_pairs(
    record: RunRecord, folder: RunFolder, one: RankedContradiction, judged: dict[str, Verdict], asked: str | None
) -> None:
    """All its pairs; the keys are for one of them, the first that nobody has judged."""
    run, unseen = record.id, unseen_pairs(one, judged)
    pair = asked if asked in one.pairs else unseen[0]
    verdict_bar(
        run,
        pair,
        judged.get(pair),
        give=lambda word: _give(run, pair, word),
        undo=lambda: undo_last(record, CONTRADICTIONS),
        can_undo=verdicts.last_given(run) is not None,
    )
    shown = [pair, *(other for other in one.pairs if other != pair)][:TOGETHER]
    rows = _rows(str(folder.path), tuple(shown), verdicts.log().size(run), stamp(folder.results_file))
    types = {name: str(kind) for name, kind in types_of(folder).items()}
    for number, row in enumerate(rows):
        with st.container(border=True):
            _show_pair(run, row, number == 0, types)
    if len(one.pairs) > TOGETHER:
        st.caption(f"{plural(len(one.pairs) - TOGETHER, 'more pair')} of this contradiction, not shown yet.")


def _show_pair(run: str, row: pd.Series, is_judged_now: bool, types: dict[str, str]) -> None:
    pair, word = str(row[PAIR_ID]), VERDICTS[row["decision"]]
    sure = "" if pd.isna(row["probability"]) else f", probability of a match {percent(row['probability'], 0)}"
    head = st.container(horizontal=True, vertical_alignment="center")
    now = " · **your verdict is for this pair**" if is_judged_now else ""
    by = _BY.get(row["decided_by"], row["decided_by"])
    head.markdown(f"**{literal(pair, 80)}** · {word.text} {by}{sure}{now}", width="stretch")
    if not is_judged_now:
        head.button("Judge this pair", key=f"judge {pair}", type="tertiary", on_click=_choose, args=(pair,))
    left, right = (
        {str(name).removeprefix(side): value for name, value in row.items() if str(name).startswith(side)}
        for side in (LEFT, RIGHT)
    )
    some = [name for name in left if _text(left[name]) or _text(right.get(name))]  # several pairs must fit one screen
    both = [{name: _text(of.get(name)) for name in some} for of in (left, right)]
    if is_judged_now:
        show_judged_records(run, pair, both[0], both[1], types)
    else:
        show_both(pair, both[0], both[1], types, hidden(run, pair))


def _text(value: object) -> str | None:
    return None if value is None or pd.isna(value) else str(value)


def _show_seen(seen: Sequence[RankedContradiction]) -> None:
    """People have judged every pair of these, and they contradict each other all the same: exceptions, or mistakes."""
    if not seen:
        return
    with st.expander(f"Judged, and still contradicting ({len(seen):,})", icon=":material/fact_check:"):
        st.caption(
            "Each pair of these has a verdict. They may be exceptions that are true; if not, change a verdict under "
            "Verdicts. Results lists contradictions between what people decided."
        )
        for one in seen[:TOGETHER]:
            st.markdown(literal(one.words, 400))


def _choose(pair: str) -> None:
    st.query_params["pair"] = pair


def _give(run: str, pair: str, word: str) -> None:
    verdicts.give(run, pair, word, CONTRADICTIONS)
    st.query_params.pop("pair", None)


def _key(run: str) -> str:
    return f"{_SKIPPED} {run}"


@st.cache_data(max_entries=32, ttl=900, show_spinner=False)
def _rows(path: str, pairs: tuple[str, ...], size: int, written: tuple[int, ...]) -> list[pd.Series]:
    """The decisions on these pairs with both records, in this order."""
    folder = RunFolder(path)
    frame = decisions(folder, reasons=False, values=False)
    frame = frame[frame[PAIR_ID].isin(pairs)]
    found = pd.concat([frame, values_of(folder, frame.index.to_numpy())], axis=1).set_index(PAIR_ID, drop=False)
    return [found.loc[pair] for pair in pairs]
