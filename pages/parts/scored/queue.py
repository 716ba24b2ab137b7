"""A page of scored pairs as the list that Top-risk pairs has, and the way through its pages."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pandas as pd
import streamlit as st

from pages.parts.frame.palette import of_label
from pages.parts.pairs.headline import likely_words
from pages.parts.pairs.queue_list import QueueRow, record_text, sentence, show_queue_list
from pages.parts.scored.filters import clear
from pages.parts.scored.set_picker import ScoredView
from riskcore.runs.readers.pair_reasons import pair_reason
from riskcore.scale.queries import ScoredQuery
from riskcore.scale.reading import ScoredPage

OpenPair = Callable[[str], None]


def show_page(view: ScoredView, query: ScoredQuery, page: ScoredPage, open_pair: OpenPair) -> None:
    """The page's pairs, how many there are, and other pages."""
    bar = st.columns([6, 3], vertical_alignment="center")
    of = f" of {view.facts['pairs']:,}" if query.narrows else ""
    bar[0].markdown(
        f"**{page.total:,}{of} {'pair' if page.total == 1 else 'pairs'}** · page {page.page:,} of {page.pages:,}"
    )
    if query.narrows:
        bar[1].button("Show all pairs", icon=":material/close:", type="tertiary", on_click=clear, key="all scored")
    if not page.total:
        words = "No pairs match these filters. Change or clear them." if query.narrows else "This set has no pairs."
        st.info(words, icon=":material/filter_alt_off:")
        return
    show_queue_list(scored_rows(view, page.rows), "scored queue", open_pair)
    if page.pages > 1:
        paging = f"scored paging {view.name} {page.page} {page.pages}"
        st.pagination(page.pages, default=page.page, key=paging, on_change=_turn_page, args=(paging,))
    st.caption(
        f"Select a row to open a pair. The address contains the set, the filters and the page, so you can share it. "
        f"The riskiest pairs, {view.facts['settings'].get('reasons', 0):,} at most, have reasons from the start; "
        "any other is explained when you ask."
    )


def scored_rows(view: ScoredView, rows: pd.DataFrame) -> list[QueueRow]:
    """Pairs as the list shows them, without the values of hidden attributes."""
    found = []
    for row in rows.to_dict("records"):
        label, risk = int(row["label"]), float(row["risk"])
        likely, says = likely_words(label, risk)
        found.append(
            QueueRow(
                id=str(row["pair_id"]),
                risk=risk_text(risk, bool(row["bound"])),
                share=round(100 * risk, 1),
                label=of_label(label).text,
                verdict="" if row["asked"] else "matcher not asked",
                likely=likely,
                tone={True: "m", False: "n"}.get(says, "") if says is not None else "",
                reason=row_reason(view, row),
                left=record_text(row, "left_", view.facts["attributes"], view.hidden),
                right=record_text(row, "right_", view.facts["attributes"], view.hidden),
            )
        )
    return found


def risk_text(risk: float, bound: bool) -> str:
    """A risk with two digits; one that is the largest possible is rounded up, so that it still is."""
    return f"≤ {math.ceil(100 * risk - 1e-9) / 100:.2f}" if bound else f"{risk:.2f}"


def row_reason(view: ScoredView, row: dict[str, Any]) -> str:
    """The stored reason, where it is more than a probability; else the difference that a person names first."""
    stored = row.get("reasons")
    if isinstance(stored, str) and not view.hidden and not stored.startswith(f"{view.facts['method']} gives "):
        return sentence(stored)
    left, right = ({name: _text(row.get(side + name)) for name in view.visible_types} for side in ("left_", "right_"))
    difference = pair_reason(left, right, view.visible_types, False, "", "", None).difference
    return sentence(difference or "the values hardly differ")


def _text(value: Any) -> str | None:
    return None if pd.isna(value) else str(value)


def _turn_page(key: str) -> None:
    st.query_params["page"] = str(st.session_state[key])
