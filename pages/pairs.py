"""The queue of pairs by risk, and the card of one pair with its reasons and its verdict."""

import dataclasses
from collections.abc import Sequence

import streamlit as st

from pages.parts.audit import verdicts
from pages.parts.audit.verdict_bar import verdict_bar
from pages.parts.frame.errors import boundary
from pages.parts.frame.page import open_page
from pages.parts.frame.tables import selected_row, table_height
from pages.parts.frame.text import plural
from pages.parts.pairs.filters import filter_bar, requested_page
from pages.parts.pairs.pair_card import show_pair, show_reasons
from pages.parts.pairs.queue import QueuePosition, position_of, queue_csv, queue_table, score_columns
from pages.parts.pairs.reasons import explain, reasons_of
from pages.parts.runs.proposals import only_proposes, warn_of_proposals
from pages.parts.runs.run_files import detail_of, page_of, rules_of, subjects_of
from pages.parts.runs.run_picker import View, pick_view
from riskcore.audit import Verdict
from riskcore.runs import PairPage, PairQuery


def show_queue(view: View, query: PairQuery, page: PairPage) -> None:
    bar = st.columns([4, 2, 2], vertical_alignment="center")
    bar[0].markdown(f"**{plural(page.total, 'pair')}** · page {page.page} of {page.pages:,}")
    if not page.total:
        st.info("No pairs match these filters. Change or clear them.", icon=":material/filter_alt_off:")
        return
    ids = list(page.rows["pair_id"])
    icon = ":material/play_arrow:"
    if bar[1].button("Open the first pair", type="primary", icon=icon, shortcut="O", width="stretch"):
        open_pair(ids[0])
        st.rerun()
    with bar[2]:
        offer_download(view, query)
    key = f"queue {view.run.id} {query} {page.page}"
    st.dataframe(
        queue_table(page.rows, view.folder.attributes(), only_proposes(view.folder)),
        key=key,
        hide_index=True,
        height=table_height(len(ids), 620),
        selection_mode=["single-row", "single-cell"],
        on_select=lambda: open_selected(key, ids),
        column_config=score_columns(view.folder.attributes()),
        placeholder="–",
        alt=f"{len(ids)} pairs with risk, label, flip, verdict and the values of both records",
    )
    if page.pages > 1:
        paging = f"paging {view.run.id} {page.page} {page.pages}"
        st.pagination(page.pages, default=page.page, key=paging, on_change=turn_page, args=(paging,))
    st.caption(
        "Select a row, or press O, to open a pair. The address contains run, filters and page, so you can share it."
    )


def offer_download(view: View, query: PairQuery) -> None:
    st.download_button(
        "Download",
        data=lambda: queue_csv(view.folder, query, verdicts.as_words(verdicts.current(view.run.id))),
        file_name=f"pairs-{view.run.id}.csv",
        mime="text/csv",
        icon=":material/download:",
        on_click="ignore",
        width="stretch",
        help="The first 10,000 pairs of this queue as CSV, with scores and both records.",
    )


def open_selected(key: str, ids: Sequence[str]) -> None:
    row = selected_row(st.session_state[key])
    if row is not None and row < len(ids):
        open_pair(ids[row])


def open_pair(pair: str | None, page: int | None = None) -> None:
    """Put a pair into the address, or take it out to show the queue."""
    if pair is None:
        st.query_params.pop("pair", None)
    else:
        st.query_params["pair"] = pair
    if page is not None:
        st.query_params["page"] = str(page)


def turn_page(key: str) -> None:
    st.query_params["page"] = str(st.session_state[key])


def show_card(view: View, pair: str, position: QueuePosition, judged: dict[str, Verdict]) -> None:
    step_bar(position)
    detail = detail_of(view.folder, pair, view.method, view.iteration, position.row)
    explanation = explain(view, detail)
    reasons = reasons_of(view, detail, explanation)
    show_pair(detail, reasons, only_proposes(view.folder))
    verdict_bar(
        view.run.id,
        pair,
        judged.get(pair),
        give=lambda word: verdicts.give(view.run.id, pair, word, position.next, position.next_page),
        undo=lambda: verdicts.undo_last(view.run.id),
        can_undo=verdicts.last_given(view.run.id) is not None,
    )
    show_reasons(view, detail, explanation, reasons)


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
    """The queue or one pair's card. Stepping through pairs and pages redraws only this."""
    with boundary("pairs"):
        pair = st.query_params.get("pair")
        if (pair is not None) is not with_card:
            st.rerun()  # the filters fold and unfold with the change
        judged = verdicts.current(view.run.id)
        words = verdicts.as_words(judged)
        if pair is None:
            show_queue(view, query, page_of(view.folder, dataclasses.replace(query, page=requested_page()), words))
        else:
            show_card(view, pair, position_of(view.folder, query, requested_page(), pair, words), judged)


with open_page("pairs", "The pairs whose labels are most likely to be wrong, each with its reasons."):
    view = pick_view()
    if view is not None:
        verdicts.ask_name()
        warn_of_proposals(view.run)
        with_card = "pair" in st.query_params
        texts = tuple(rule.text for rule in rules_of(view.folder).rules)
        with st.expander("Filters", expanded=not with_card, icon=":material/filter_alt:"):
            query = filter_bar(view, texts, subjects_of(view.folder))
        browse(view, query, with_card)
