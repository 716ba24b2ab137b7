"""The queue of the riskiest pairs, and one pair's card with its reasons and its verdict."""

import dataclasses
from collections.abc import Sequence

import streamlit as st

from pages.parts.audit import verdicts
from pages.parts.frame.link_table import chosen_row, table_height
from pages.parts.frame.page import boundary, open_page
from pages.parts.frame.palette import VERDICTS
from pages.parts.frame.text import literal, plural
from pages.parts.pairs.filters import filter_bar, page_asked
from pages.parts.pairs.pair_card import explain, show_pair, show_reasons, voices_of
from pages.parts.pairs.queue import Place, place_of, queue_csv, queue_table, score_columns
from pages.parts.runs.run_files import detail_of, page_of, rules_of, subjects_of
from pages.parts.runs.run_picker import View, pick_view
from riskcore.runs import PairPage, PairQuery


def show_queue(view: View, query: PairQuery, page: PairPage) -> None:
    bar = st.columns([4, 2, 2], vertical_alignment="center")
    bar[0].markdown(f"**{plural(page.total, 'pair')}** · page {page.page} of {page.pages:,}")
    if not page.total:
        st.info("No pair meets these filters. Widen them, or clear the search.", icon=":material/filter_alt_off:")
        return
    ids = list(page.rows["pair_id"])
    if bar[1].button("Open the first", type="primary", icon=":material/play_arrow:", shortcut="O", width="stretch"):
        open_pair(ids[0])
        st.rerun()
    with bar[2]:
        offer_download(view, query)
    key = f"queue {view.run.id} {query} {page.page}"
    st.dataframe(
        queue_table(page.rows, view.folder.attributes()),
        key=key,
        hide_index=True,
        height=table_height(len(ids), 620),
        selection_mode=["single-row", "single-cell"],
        on_select=lambda: open_selected(key, ids),
        column_config=score_columns(view.folder.attributes()),
        placeholder="–",
        alt=f"{len(ids)} pairs, riskiest first, with label, flip and the values of both records",
    )
    if page.pages > 1:
        paging = f"paging {view.run.id} {page.page} {page.pages}"
        st.pagination(page.pages, default=page.page, key=paging, on_change=turn_page, args=(paging,))
    st.caption("Select a row, or press O, to open a pair. The address keeps run, filters and page: share it as a link.")


def offer_download(view: View, query: PairQuery) -> None:
    st.download_button(
        "Download",
        data=lambda: queue_csv(view.folder, query, verdicts.as_words(verdicts.current(view.run.id))),
        file_name=f"pairs-{view.run.id}.csv",
        mime="text/csv",
        icon=":material/download:",
        on_click="ignore",
        width="stretch",
        help="The first 10,000 pairs of this queue as csv, with scores and both records.",
    )


def open_selected(key: str, ids: Sequence[str]) -> None:
    row = chosen_row(st.session_state[key])
    if row is not None and row < len(ids):
        open_pair(ids[row])


def open_pair(pair: str | None, page: int | None = None) -> None:
    """Show this pair, or the queue again; the address says so."""
    if pair is None:
        st.query_params.pop("pair", None)
    else:
        st.query_params["pair"] = pair
    if page is not None:
        st.query_params["page"] = str(page)


def turn_page(key: str) -> None:
    st.query_params["page"] = str(st.session_state[key])


def show_card(view: View, pair: str, place: Place, judged: dict) -> None:
    steps(place)
    detail = detail_of(view.folder, pair, view.method, view.iteration, place.row)
    explanation = explain(view, detail)
    voices = voices_of(view, detail, explanation)
    show_pair(detail, voices)
    judge(view, pair, place, judged)
    show_reasons(view, detail, explanation, voices)


def steps(place: Place) -> None:
    bar = st.columns([2, 2, 2, 4], vertical_alignment="center")
    bar[0].button(
        "Previous",
        icon=":material/arrow_back:",
        shortcut="K",
        width="stretch",
        disabled=place.previous is None,
        on_click=open_pair,
        args=(place.previous, place.previous_page),
    )
    bar[1].button(
        "Next",
        icon=":material/arrow_forward:",
        shortcut="J",
        width="stretch",
        disabled=place.next is None,
        on_click=open_pair,
        args=(place.next, place.next_page),
    )
    bar[2].button("Queue", icon=":material/list:", shortcut="Q", width="stretch", on_click=open_pair, args=(None,))
    bar[3].markdown(place.words)


def judge(view: View, pair: str, place: Place, judged: dict) -> None:
    held = judged.get(pair)
    with st.container(border=True):
        columns = st.columns([2, 2, 2, 2, 4], vertical_alignment="bottom")
        keys = {"match": "M", "non-match": "U", "unsure": "N"}
        for column, (word, mark) in zip(columns, VERDICTS.items(), strict=False):
            column.button(
                f"{mark.sign} {mark.word.capitalize()}",
                shortcut=keys[word],
                width="stretch",
                type="primary" if held is not None and held.verdict == word else "secondary",
                on_click=verdicts.give,
                args=(view.run.id, pair, word, place.next, place.next_page),
            )
        columns[3].button(
            "Undo",
            icon=":material/undo:",
            shortcut="Z",
            width="stretch",
            disabled=verdicts.last_given(view.run.id) is None,
            on_click=verdicts.undo_last,
            args=(view.run.id,),
            help="Withdraws your last verdict and returns to its pair.",
        )
        columns[4].text_input(
            "Note",
            key=verdicts.note_key(view.run.id, pair),
            placeholder="why, for whoever comes after you",
            max_chars=500,
            label_visibility="collapsed",
        )
        if held is not None:
            by = literal(held.who, 60) or "someone"
            st.caption(f"Judged {VERDICTS[held.verdict].text} by {by} on {held.at:%Y-%m-%d %H:%M} UTC.")
        else:
            st.caption("Are the two records the same thing? A verdict takes you to the next pair.")


@st.fragment
def browse(view: View, query: PairQuery, with_card: bool) -> None:
    """The queue or one pair's card. From pair to pair, and from page to page, only this is drawn again."""
    with boundary("pairs"):
        pair = st.query_params.get("pair")
        if (pair is not None) is not with_card:
            st.rerun()  # the filters open and close with the change
        judged = verdicts.current(view.run.id)
        words = verdicts.as_words(judged)
        if pair is None:
            show_queue(view, query, page_of(view.folder, dataclasses.replace(query, page=page_asked()), words))
        else:
            show_card(view, pair, place_of(view.folder, query, page_asked(), pair, words), judged)


with open_page("pairs", "The pairs most likely to be labelled wrong, each with the rules that say why."):
    view = pick_view()
    if view is not None:
        verdicts.ask_name()
        with_card = "pair" in st.query_params
        texts = tuple(rule.text for rule in rules_of(view.folder).rules)
        with st.expander("Filters", expanded=not with_card, icon=":material/filter_alt:"):
            query = filter_bar(view, texts, subjects_of(view.folder))
        browse(view, query, with_card)
