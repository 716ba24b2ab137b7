"""Several reviewers: how far they agree, who stands out, a blind second review, and conflicts to decide."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from pages.parts.audit import verdicts
from pages.parts.audit.drawn import records_of_pair
from pages.parts.audit.undo import SECOND_REVIEW, follow_from_fragment, undo_button, undo_last
from pages.parts.audit.verdict_bar import verdict_bar
from pages.parts.frame.actions import action, barred
from pages.parts.frame.errors import boundary
from pages.parts.frame.given import CONFLICTS, REVIEWERS, remember
from pages.parts.frame.page import reviewer, section
from pages.parts.frame.palette import VERDICTS
from pages.parts.frame.text import literal, number, percent, plural
from pages.parts.pairs.masks import note_with_disclosure, show_judged_records
from pages.parts.runs.run_files import stamp, types_of
from riskcore.access import Role
from riskcore.audit import Verdict
from riskcore.audit.agreement import (
    Agreement,
    Conflict,
    adjudication_note,
    agreement,
    conflicts,
)
from riskcore.audit.assignment_sources import second_review
from riskcore.audit.disclosure import summarize_disclosure
from riskcore.audit.draws import match_probability
from riskcore.audit.reviewer_check import ReviewerCheck, check_reviewers
from riskcore.columns import PAIR_ID
from riskcore.runs import RunFolder, RunRecord
from riskcore.runs.formats import read_pair_ids


@st.fragment
def show_reviewers(record: RunRecord) -> None:
    """The tab. A verdict draws only this again."""
    with boundary("reviewers"):
        follow_from_fragment()
        folder, entries = RunFolder(record.folder), verdicts.log().entries(record.id)
        if not entries:
            st.info(
                "There are no verdicts yet. Once two people have judged the same pairs, their agreement is shown here.",
                icon=":material/groups:",
            )
            return
        _show_agreement(agreement(entries))
        _show_checks(folder, entries)
        _show_disclosure(entries)
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


def _show_disclosure(entries: Sequence[Verdict]) -> None:
    """How often a masked value was needed; nothing where nothing was ever masked."""
    found = summarize_disclosure(entries)
    if not found:
        return
    everyone, *people = found
    section("Masked attributes", help="Verdicts given while attributes were masked, by what was revealed before them.")
    st.markdown(
        f"**{percent(everyone.needed / everyone.verdicts, 0)}** of {plural(everyone.verdicts, 'verdict')} needed a "
        f"reveal; {percent(everyone.disclosed, 0)} of the masked values were disclosed."
    )
    rows = [
        {
            "reviewer": one.who or "unknown",
            "verdicts": one.verdicts,
            "needed a reveal": 100 * one.needed / one.verdicts,
            "values disclosed": 100 * one.disclosed,
        }
        for one in people
    ]
    columns = {
        name: st.column_config.NumberColumn(format="%.0f %%") for name in ("needed a reveal", "values disclosed")
    }
    st.dataframe(pd.DataFrame(rows), hide_index=True, column_config=columns, placeholder="–", alt="reveals by reviewer")


def _show_conflicts(record: RunRecord, folder: RunFolder, found: Sequence[Conflict]) -> None:
    section("Conflicts", help="Pairs on which people disagree. Whoever decides one sees what both sides said.")
    left = [one for one in found if one.open]
    if not found:
        st.caption("No two people disagree on a pair.")
        return
    st.markdown(f"**{plural(len(left), 'conflict')}** to decide; {len(found) - len(left):,} decided.")
    if not left:
        return
    if st.session_state.get(SECOND_REVIEW):
        st.caption("While you judge blind, what others have said is not shown.")
        return
    asked = st.query_params.get("pair")  # after an undo
    one = next((one for one in left if one.pair_id == asked), left[0])
    said = [f"{VERDICTS[word].text}: {', '.join(who)}" for word, who in _said(one).items() if who]
    st.caption(literal(" · ".join(said), 400))
    types = {name: str(kind) for name, kind in types_of(folder).items()}
    show_judged_records(record.id, one.pair_id, *records_of_pair(folder, one.pair_id), types)
    row = st.container(horizontal=True)
    for word in ("match", "non-match"):
        row.button(
            f"Decide: {VERDICTS[word].text}",
            key=f"decide {word} {one.pair_id}",  # of this pair, so that a second click decides no other
            on_click=_decide,
            disabled=barred(_decide),
            args=(record.id, one.pair_id, word),
        )


def _said(one: Conflict) -> dict[str, tuple[str, ...]]:
    return {"match": one.match, "non-match": one.non_match, "unsure": one.unsure}


@action(Role.AUDITOR)
def _decide(run: str, pair: str, word: str) -> None:
    if not any(one.open and one.pair_id == pair for one in conflicts(verdicts.log().entries(run))):
        st.toast("This conflict is decided already.", icon=":material/gavel:")
        return
    note = note_with_disclosure(run, pair, adjudication_note())
    remember(verdicts.log().add(run, pair, word, note=note, who=reviewer()), CONFLICTS)
    st.toast(f"{VERDICTS[word].text} · decided", icon=":material/gavel:")


def _show_second_review(record: RunRecord, folder: RunFolder, entries: Sequence[Verdict]) -> None:
    section("Second review", help="You see neither the first verdict nor what the model says.")
    mine = reviewer()
    pairs = second_review(entries, [mine])
    if not pairs:
        st.caption(f"There is no pair that others have judged and {literal(mine, 60)} has not.")
        undo_button(record)
        return
    st.markdown(f"**{plural(len(pairs), 'pair')}** judged by others and not by {literal(mine, 60)}.")
    if not st.toggle("Judge them blind", key=SECOND_REVIEW):
        undo_button(record)
        return
    asked = st.query_params.get("pair")
    pair = asked if asked in pairs else pairs[0]
    verdict_bar(
        record.id,
        pair,
        None,
        give=lambda word: _give_second(record.id, pair, word),
        undo=lambda: undo_last(record, REVIEWERS),
        can_undo=verdicts.last_given(record.id) is not None,
    )
    types = {name: str(kind) for name, kind in types_of(folder).items()}
    show_judged_records(record.id, pair, *records_of_pair(folder, pair), types)


def _give_second(run: str, pair: str, word: str) -> None:
    verdicts.give(run, pair, word, REVIEWERS)
    st.query_params.pop("pair", None)
