"""The queue of pairs by risk, each with its reason, and the card of one pair with its balance sheet and its verdict."""

import dataclasses

import streamlit as st

from pages.parts.audit import verdicts
from pages.parts.audit.assign_form import offer_assignment
from pages.parts.audit.contradictions_view import contradiction_words, show_contradictions
from pages.parts.audit.desk import show_desk
from pages.parts.audit.feedback_banner import show_feedback
from pages.parts.audit.list_queue import following_list, of_list, show_list_line
from pages.parts.audit.undo import follow, follow_from_fragment, undo_button, undo_last
from pages.parts.audit.verdict_bar import verdict_bar
from pages.parts.frame.actions import download
from pages.parts.frame.errors import boundary
from pages.parts.frame.given import QUEUE
from pages.parts.frame.page import open_page
from pages.parts.frame.text import literal, plural
from pages.parts.pairs.blind import blind_rows, is_blind, show_blind_records
from pages.parts.pairs.error_kinds_view import show_error_kinds
from pages.parts.pairs.filters import filter_bar, narrowed_by, requested_page, show_order
from pages.parts.pairs.masks import choose_masks, hidden, masked, show_judged_records
from pages.parts.pairs.pair_card import show_pair, show_reasons, show_truth
from pages.parts.pairs.queue import QueuePosition, position_of, queue_csv
from pages.parts.pairs.queue_list import queue_rows, show_queue_list
from pages.parts.pairs.reasons import flip_marks, why
from pages.parts.pairs.saved_filters_view import show_saved_filters
from pages.parts.runs.proposals import only_proposes, warn_of_proposals
from pages.parts.runs.run_files import detail_of, page_of, reasons_on, rules_of, subjects_of, types_of
from pages.parts.runs.run_picker import View, pick_view
from pages.parts.tour.banner import show_tour
from riskcore.audit import Verdict
from riskcore.rules.sentences import rule_sentence
from riskcore.runs import PairPage, PairQuery

# From this width on, the list stays beside the card; below it, the card has the page to itself.
SPLIT = """<style>
div:has(>.st-key-queue_beside){display:none}
@media (min-width:1600px){div:has(>.st-key-queue_beside){display:block;flex:0 0 25rem !important;width:25rem !important;
 min-width:25rem;position:sticky;top:3.6rem}
.st-key-queue_beside{max-height:calc(100vh - 5rem);overflow-y:auto}}
div:has(>.st-key-card_pane){min-width:0;flex:1 1 0 !important}
</style>"""


def show_queue(view: View, query: PairQuery, page: PairPage) -> None:
    bar = st.columns([3, 2, 2, 2, 2], vertical_alignment="center")
    bar[0].markdown(f"**{plural(page.total, 'pair')}** · page {page.page} of {page.pages:,}")
    with bar[4]:
        undo_button(view.run, QUEUE, "stretch")
    if not page.total:
        st.info("No pairs match these filters. Change or clear them.", icon=":material/filter_alt_off:")
        return
    icon = ":material/play_arrow:"
    if bar[1].button("Open the first pair", type="primary", icon=icon, shortcut="O", width="stretch"):
        open_pair(page.rows["pair_id"].iloc[0])
        st.rerun()
    if not is_blind(query):
        with bar[2]:
            offer_download(view, query)
        with bar[3]:
            offer_assignment(view, query)
    show_rows(view, query, page)
    if page.pages > 1:
        paging = f"paging {view.run.id} {page.page} {page.pages}"
        st.pagination(page.pages, default=page.page, key=paging, on_change=turn_page, args=(paging,))
    st.caption(
        "Select a row, or press O, to open a pair. The address contains run, filters and page, so you can share it."
    )


def show_rows(view: View, query: PairQuery, page: PairPage, opened: str | None = None) -> None:
    """The rows of a page, each with its reason; beside a card, without the records. In blind order, records alone."""
    if is_blind(query):
        rows = blind_rows(page.rows, view.folder.attributes(), opened, masked(view.run.id))
        show_queue_list(rows, "blind queue", open_pair, bool(opened))
        return
    reasons = reasons_on(view.folder, view.method, view.iteration, page.rows, masked(view.run.id))
    flips = flip_marks(view, page.rows, only_proposes(view.folder))
    rows = queue_rows(page.rows, view.folder.attributes(), reasons, flips, opened, masked(view.run.id))
    beside = opened is not None
    show_queue_list(rows, "queue beside" if beside else "queue", open_pair, narrow=beside)


def offer_download(view: View, query: PairQuery) -> None:
    hidden = masked(view.run.id)
    download(
        None,
        "Download",
        lambda: queue_csv(view.folder, query, verdicts.current(view.run.id), hidden),
        f"pairs-{view.run.id}.csv",
        "text/csv",
        width="stretch",
        help="The first 10,000 pairs of this queue as CSV, with scores and both records.",
    )


def open_pair(pair: str | None, page: int | None = None) -> None:
    """Put a pair into the address, or take it out to show the queue."""
    verdicts.may_return()
    if pair is None:
        st.query_params.pop("pair", None)
    else:
        st.query_params["pair"] = pair
    if page is not None:
        st.query_params["page"] = str(page)


def turn_page(key: str) -> None:
    st.query_params["page"] = str(st.session_state[key])


def show_card(view: View, query: PairQuery, pair: str, position: QueuePosition, judged: dict[str, Verdict]) -> None:
    """The card of a pair; in blind order, its records and the verdict bar alone."""
    step_bar(position)
    detail = detail_of(view.folder, pair, view.method, view.iteration, position.row)
    if is_blind(query):
        show_blind_records(view, detail)
        judge(view, pair, position, judged)
        return
    found = why(view, detail, hidden(view.run.id, pair))
    show_pair(view, detail, found, only_proposes(view.folder))
    types = {name: str(kind) for name, kind in types_of(view.folder).items()}
    show_judged_records(view.run.id, pair, detail.left, detail.right, types)
    show_truth(detail)
    for words in contradiction_words(view, pair):
        st.warning(literal(words, 300), icon=":material/call_split:")
    judge(view, pair, position, judged)
    show_reasons(view, detail, found)


def judge(view: View, pair: str, position: QueuePosition, judged: dict[str, Verdict]) -> None:
    verdict_bar(
        view.run.id,
        pair,
        judged.get(pair),
        give=lambda word: verdicts.give(view.run.id, pair, word, QUEUE, position.next, position.next_page),
        undo=lambda: undo_last(view.run, QUEUE),
        can_undo=verdicts.last_given(view.run.id) is not None,
    )


def step_bar(position: QueuePosition) -> None:
    bar = st.columns([2, 2, 2, 4], vertical_alignment="center")
    bar[0].button(
        "Previous",
        icon=":material/arrow_back:",
        shortcut="K",
        width="stretch",
        disabled=position.previous is None,
        on_click=open_pair,
        args=(position.previous, position.previous_page),
    )
    bar[1].button(
        "Next",
        icon=":material/arrow_forward:",
        shortcut="J",
        width="stretch",
        disabled=position.next is None,
        on_click=open_pair,
        args=(position.next, position.next_page),
    )
    bar[2].button("Queue", icon=":material/list:", shortcut="Q", width="stretch", on_click=open_pair, args=(None,))
    bar[3].markdown(position.words)


@st.fragment
def browse(view: View, query: PairQuery, with_card: bool) -> None:
    """The queue, or one pair's card with the queue beside it. Stepping through pairs and pages redraws only this."""
    with boundary("pairs"):
        follow_from_fragment()
        verdicts.catch_up()
        pair = st.query_params.get("pair")
        if (pair is not None) is not with_card:
            st.rerun()  # the filters fold and unfold with the change
        show_list_line(view)
        if not is_blind(query):
            show_feedback(view, with_card)
        judged = verdicts.judged(view.run.id, own=is_blind(query))
        if pair is None:
            show_queue(view, query, page_of(view.folder, dataclasses.replace(query, page=requested_page()), judged))
            return
        position = position_of(view.folder, query, requested_page(), pair, judged)
        position = following_list(view, position, pair)
        page = page_of(view.folder, dataclasses.replace(query, page=position.page), judged)
        st.html(SPLIT)
        with st.container(horizontal=True, gap="medium", vertical_alignment="top"):
            with st.container(key="queue_beside"):
                show_rows(view, query, page, pair)
            with st.container(key="card_pane"):
                show_card(view, query, pair, position, judged.verdicts)


with open_page("pairs", "The pairs whose labels are most likely to be wrong, each with its reason."):
    show_tour()
    follow("pairs")
    view = pick_view()
    if view is not None:
        show_desk()
        verdicts.ask_name()
        choose_masks(view.run.id, view.folder)
        warn_of_proposals(view.run)
        with_card = "pair" in st.query_params
        texts = tuple(rule_sentence(rule) for rule in rules_of(view.folder).rules)
        with st.expander("Filters", expanded=not with_card, icon=":material/filter_alt:"):
            subjects, above = subjects_of(view.folder), st.container()
            query = filter_bar(view, texts, subjects, verdicts.tagged(view.run.id))
            with above:
                show_saved_filters(view, subjects)
        narrowed_by(view, query)
        query = of_list(view, query)
        show_order(view, query)
        if not with_card and not is_blind(query):
            kinds = st.expander("Errors by kind", icon=":material/category:", key="error kinds", on_change="rerun")
            if kinds.open:
                with kinds:
                    show_error_kinds(view, verdicts.current(view.run.id))
            against = st.expander(
                "Contradictions", icon=":material/call_split:", key="contradictions", on_change="rerun"
            )
            if against.open:
                with against:
                    show_contradictions(view)
        browse(view, query, with_card)
