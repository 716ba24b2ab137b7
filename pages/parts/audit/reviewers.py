"""Several reviewers: how far they agree, who stands out, a blind second review, and conflicts to decide."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from pages.parts.audit import verdicts
from pages.parts.audit.drawn import records_of
from pages.parts.audit.verdict_bar import verdict_bar
from pages.parts.frame.errors import boundary, guarded
from pages.parts.frame.page import reviewer, section
from pages.parts.frame.palette import VERDICTS
from pages.parts.frame.text import literal, number, percent, plural
from pages.parts.pairs.pair_card import show_both
from pages.parts.runs.run_files import stamp, types_of
from riskcore.audit import Verdict
from riskcore.audit.agreement import (
    Agreement,
    Conflict,
    adjudication_note,
    agreement,
    conflicts,
    independent,
)
from riskcore.audit.draws import match_probability
from riskcore.audit.reviewer_check import ReviewerCheck, check_reviewers
from riskcore.columns import PAIR_ID
from riskcore.runs import RunFolder, RunRecord
from riskcore.runs.formats import read_pair_ids
from riskcore.runs.readers.pair_detail import row_of

_SECOND = "second review"


@st.fragment
def show_reviewers(record: RunRecord) -> None:
    """The tab. A verdict draws only this again."""
    with boundary("reviewers"):
        folder, entries = RunFolder(record.folder), verdicts.log().entries(record.id)
        if not entries:
            st.info(
                "There are no verdicts yet. Once two people have judged the same pairs, their agreement is shown here.",
                icon=":material/groups:",
            )
            return
        _show_agreement(agreement(entries))
        _show_checks(folder, entries)
        _show_conflicts(record, folder, conflicts(entries))
        _show_second_review(record, folder, entries)


def _show_agreement(found: Agreement) -> None:
    section("Agreement", help="Cohen's kappa of two people and Fleiss' kappa of all: 1 is perfect, 0 is chance.")
    st.markdown(found.sentence)
    if found.unsure:
        st.caption(f"{percent(found.unsure_share)} of the verdicts are “unsure”; they are kept apart.")
    rows = [
        {
            "reviewers": " and ".join(one.people),
            "pairs in common": one.measured.pairs,
            "agreement": 100 * one.measured.agreement,
            "kappa": one.measured.kappa,
            "95 % interval": ""
            if one.measured.kappa is None
            else f"{number(one.measured.low)} to {number(one.measured.high)}",
        }
        for one in found.between
    ]
    if rows:
        columns = {
            "agreement": st.column_config.NumberColumn(format="%.0f %%"),
            "kappa": st.column_config.NumberColumn(format="%.2f"),
        }
        st.dataframe(
            pd.DataFrame(rows), hide_index=True, column_config=columns, placeholder="–", alt="agreement of reviewers"
        )


def _show_checks(folder: RunFolder, entries: Sequence[Verdict]) -> None:
    """Reviewers who disagree with everybody else far more often than the others do."""
    found = _checks(str(folder.path), len(entries), stamp(folder.results_file), entries)
    flagged = [one for one in found if one.flagged_at is not None]
    for one in flagged:
        st.warning(
            f"**{literal(one.who or 'a reviewer without a name', 60)}** disagrees with the other reviewers and the "
            f"evidence far more often than they do: about {percent(one.error_rate, 0)} of the verdicts, against "
            f"{percent(one.others_error_rate, 0)}. Look at these verdicts together before you use them.",
            icon=":material/person_alert:",
        )


@st.cache_data(max_entries=16, ttl=900, show_spinner=False)
def _checks(path: str, size: int, written: tuple[int, ...], _entries: Sequence[Verdict]) -> tuple[ReviewerCheck, ...]:
    """Entries are only added: their number says whether anything has changed."""
    folder = RunFolder(path)
    likely, ids = match_probability(folder), read_pair_ids(folder.pairs_file).column(PAIR_ID).to_pylist()
    judged = {entry.pair_id for entry in _entries}
    expected = {pair: float(p) for pair, p in zip(ids, likely, strict=True) if pair in judged}
    return tuple(check_reviewers(_entries, expected))


def _show_conflicts(record: RunRecord, folder: RunFolder, found: Sequence[Conflict]) -> None:
    section("Conflicts", help="Pairs on which people disagree. Whoever decides one sees what both sides said.")
    left = [one for one in found if one.adjudicated is None]
    if not found:
        st.caption("No two people disagree on a pair.")
        return
    st.markdown(f"**{plural(len(left), 'conflict')}** to decide; {len(found) - len(left):,} decided.")
    if not left:
        return
    one = left[0]
    said = [f"{VERDICTS[word].text}: {', '.join(who)}" for word, who in _said(one).items() if who]
    st.caption(literal(" · ".join(said), 400))
    types = {name: str(kind) for name, kind in types_of(folder).items()}
    show_both(one.pair_id, *records_of(folder, row_of(folder, one.pair_id)), types)
    row = st.container(horizontal=True)
    for word in ("match", "non-match"):
        row.button(
            f"Decide: {VERDICTS[word].text}",
            key=f"decide {word}",
            on_click=_decide,
            args=(record.id, one.pair_id, word),
        )


def _said(one: Conflict) -> dict[str, tuple[str, ...]]:
    return {"match": one.match, "non-match": one.non_match, "unsure": one.unsure}


@guarded
def _decide(run: str, pair: str, word: str) -> None:
    verdicts.log().add(run, pair, word, note=adjudication_note(), who=reviewer())
    st.toast(f"{VERDICTS[word].text} · decided", icon=":material/gavel:")


def _show_second_review(record: RunRecord, folder: RunFolder, entries: Sequence[Verdict]) -> None:
    section("Second review", help="You see neither the first verdict nor what the model says.")
    mine = reviewer()
    pairs = to_review_again(entries, mine)
    if not pairs:
        st.caption(f"There is no pair that others have judged and {literal(mine, 60)} has not.")
        return
    st.markdown(f"**{plural(len(pairs), 'pair')}** judged by others and not by {literal(mine, 60)}.")
    if not st.toggle("Judge them blind", key=_SECOND):
        return
    pair = pairs[0]
    verdict_bar(
        record.id,
        pair,
        None,
        give=lambda word: verdicts.give(record.id, pair, word, None),
        undo=lambda: verdicts.undo_last(record.id),
        can_undo=verdicts.last_given(record.id) is not None,
    )
    types = {name: str(kind) for name, kind in types_of(folder).items()}
    show_both(pair, *records_of(folder, row_of(folder, pair)), types)


def to_review_again(entries: Sequence[Verdict], who: str) -> list[str]:
    """Pairs that others have judged on their own and this person has not, in an order that tells nothing of them."""
    open_pairs = [pair for pair, people in independent(entries).items() if who not in people]
    return sorted(open_pairs, key=lambda pair: hashlib.sha256(f"{who}\0{pair}".encode()).digest())
