"""Judging a group of pairs at once: first a sample of it one by one, then the same verdict for the others.

What a model says is left out, as it is where pairs are labelled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from pages.parts.frame.actions import action, barred
from pages.parts.frame.given import GROUP, remember
from pages.parts.frame.page import reviewer
from pages.parts.frame.palette import VERDICTS
from pages.parts.frame.text import plural
from pages.parts.pairs.masks import note_with_disclosure, show_judged_records
from pages.parts.runs.run_picker import View, store
from riskcore.access import Role
from riskcore.audit import Verdict, VerdictLog
from riskcore.audit.error_kinds import ErrorKind
from riskcore.audit.group_review import SAMPLE, GroupReview, review_group
from riskcore.audit.verdicts import MAX_AT_ONCE, SAMPLED, bulk_note
from riskcore.runs.readers.pair_detail import pair_records


def show_group(view: View, kind: ErrorKind, verdicts: Mapping[str, Verdict]) -> None:
    """The next pair of the sample; once all are judged, what that allows."""
    key = f"{view.run.id} {kind.text}"
    review = review_group(view.folder, kind.conditions, verdicts, int(st.session_state.get(f"sample {key}", SAMPLE)))
    if review.next is not None:
        _show_next(view, review, review.next, verdicts, key)
    elif review.agreed is not None:
        _offer_rest(view, review, review.agreed, key)
    else:
        _say_why_not(review)
    _offer_withdrawal(view, review, key)


def _show_next(view: View, review: GroupReview, pair: str, verdicts: Mapping[str, Verdict], key: str) -> None:
    st.progress(
        review.judged / len(review.sample),
        text=f"{review.judged} of {plural(len(review.sample), 'sampled pair')} judged. Do both records refer to the "
        "same entity?",
    )
    left, right = pair_records(view.folder, review.sample[pair])
    show_judged_records(view.run.id, pair, left, right)
    columns = st.columns([2, 2, 2, 2, 4])
    for column, (word, mark) in zip(columns, VERDICTS.items(), strict=False):
        column.button(
            f"{mark.sign} {mark.word.capitalize()}",
            key=f"{word} {key} {pair}",  # of this pair, so that a second click judges no other
            width="stretch",
            on_click=_judge,
            args=(view.run.id, pair, word),
            disabled=barred(_judge),
        )
    own = [verdicts[one] for one in review.sample if one in verdicts and verdicts[one].who == reviewer()]
    last = max(own, key=lambda one: one.number, default=None)
    columns[3].button(
        "Undo",
        key=f"undo {key}",
        icon=":material/undo:",
        width="stretch",
        disabled=last is None or barred(_undo),
        on_click=_undo,
        args=(view.run.id, "" if last is None else last.pair_id),
        help="Withdraws your last verdict on a pair of this sample.",
    )


def _offer_rest(view: View, review: GroupReview, agreed: str, key: str) -> None:
    sampled, others = len(review.sample), review.unjudged
    said = f"**All {sampled} sampled pairs are {VERDICTS[agreed].text}.**" if sampled > 1 else "**The pair is judged.**"
    if not others:
        st.markdown(f"{said} No other pair of this group is without a verdict.")
        return
    st.markdown(
        f"{said} Up to {100 * review.most_different:.0f} % of the group may still differ (95 % confidence); a larger "
        "sample lowers that."
    )
    count = min(len(others), MAX_AT_ONCE)
    which = (
        f"the other {plural(count, 'pair')}" if count == len(others) else f"{count:,} of {len(others):,} other pairs"
    )
    row = st.container(horizontal=True, vertical_alignment="center")
    with row.popover(f"Record {agreed} for {which} of this group", icon=":material/done_all:"):
        st.markdown(
            f"This records **{plural(count, 'verdict')}** “{agreed}” in your name, each with the note "
            f"“{bulk_note(sampled, agreed)}”. Pairs that have a verdict keep it."
        )
        st.button(
            f"Record {plural(count, 'verdict')}",
            key=f"record {key}",
            type="primary",
            on_click=_record,
            args=(view.run.id, others[:count], agreed, sampled),
            disabled=barred(_record),
        )
    row.button(f"Sample {SAMPLE} more", key=f"more {key}", on_click=_sample_more, args=(f"sample {key}", sampled))
    if review.held_back:
        held = plural(review.held_back, "pair")
        verb = "is" if review.held_back == 1 else "are"
        st.caption(f"{held} drawn for labelling or the estimate {verb} left to be judged alone.")


def _say_why_not(review: GroupReview) -> None:
    if not review.sample:
        st.caption("Every pair of this group was judged at once.")
        return
    counts = ", ".join(f"{count} {VERDICTS[word].text}" for word, count in review.counts.items())
    st.info(
        f"The sampled pairs do not agree ({counts}), so the others cannot be judged at once. Open the queue of this "
        "group and judge them one by one.",
        icon=":material/rule:",
    )


def _offer_withdrawal(view: View, review: GroupReview, key: str) -> None:
    own = {pair: one.number for pair, one in review.bulk.items() if one.who == reviewer()}
    if not own:
        return
    newest = dict(sorted(own.items(), key=lambda item: -item[1])[:MAX_AT_ONCE])
    st.button(
        f"Withdraw these {plural(len(newest), 'bulk verdict')}",
        key=f"withdraw {key}",
        icon=":material/undo:",
        on_click=_withdraw,
        args=(view.run.id, newest),
        disabled=barred(_withdraw),
        help="Your verdicts on pairs of this group that were recorded at once. The log keeps them, as withdrawn.",
    )


@action(Role.AUDITOR)
def _judge(run: str, pair: str, word: str) -> None:
    remember(
        VerdictLog(store()).add(run, pair, word, note=note_with_disclosure(run, pair, SAMPLED), who=reviewer()), GROUP
    )
    st.toast(f"{VERDICTS[word].text} · saved", icon=":material/save:")


@action(Role.AUDITOR)
def _undo(run: str, pair: str) -> None:
    VerdictLog(store()).undo(run, pair, who=reviewer())
    st.toast("Verdict withdrawn", icon=":material/undo:")


@action(Role.AUDITOR)
def _record(run: str, pairs: Sequence[str], word: str, sampled: int) -> None:
    added = VerdictLog(store()).add_many(run, pairs, word, bulk_note(sampled, word), reviewer())
    for entry in added[-1:]:  # one undo withdraws all of them
        remember(entry, GROUP)
    st.toast(f"{plural(len(added), 'verdict')} {VERDICTS[word].text} · saved", icon=":material/save:")


@action(Role.AUDITOR)
def _withdraw(run: str, numbers: Mapping[str, int]) -> None:
    withdrawn = VerdictLog(store()).undo_many(run, numbers, reviewer())
    st.toast(f"{plural(len(withdrawn), 'verdict')} withdrawn", icon=":material/undo:")


def _sample_more(state: str, size: int) -> None:
    st.session_state[state] = size + SAMPLE
