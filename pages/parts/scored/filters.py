"""The filters of a scored set: widgets whose values are kept in the address, and the query they make."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.parts.frame.address import choose
from pages.parts.frame.glossary import WORDS
from pages.parts.frame.palette import of_label
from riskcore.scale.queries import ASKED, BOUND, EXACT, UNASKED, ScoredQuery

PAGE_SIZE = 50
ANY = "any"
LABELS = {ANY: None, "match": 1, "non-match": 0}
ASKING = {
    ANY: "(any)",
    EXACT: "exact risk",
    BOUND: "largest possible risk",
    ASKED: "matcher was asked",
    UNASKED: "matcher was not asked",
}
ORDERS: dict[str, tuple[str, bool]] = {
    "riskiest": ("risk", True),
    "safest": ("risk", False),
    "probable": ("probability", True),
    "improbable": ("probability", False),
}
_ORDER_WORDS = {
    "riskiest": "highest risk first",
    "safest": "lowest risk first",
    "probable": "highest probability first",
    "improbable": "lowest probability first",
}
ASKING_HELP = (
    "The matcher is asked only where its word can still turn the label. Elsewhere the risk is the largest that the "
    "label can have, and the probability the one nearest to the other label."
)
_LONGEST_SEARCH = 200


def filter_bar() -> ScoredQuery:
    """Draw the filters; the query of the requested page."""
    first = st.columns([2, 3, 3, 5])
    label = choose(first[0], "Label", list(LABELS), "label", ANY, words=_label, help=WORDS["match"], then=start_over)
    asking = choose(
        first[1], "Matcher", list(ASKING), "asking", ANY, words=ASKING.__getitem__, help=ASKING_HELP, then=start_over
    )
    order = choose(
        first[2], "Order", list(ORDERS), "order", "riskiest", words=_ORDER_WORDS.__getitem__, then=start_over
    )
    first[3].text_input(
        "Search in records",
        max_chars=_LONGEST_SEARCH,
        placeholder="part of a value, a record's id, or a pair as left:right",
        **_bound("find"),
    )
    second = st.columns(2, gap="large")
    second[0].slider("Risk", 0.0, 1.0, (0.0, 1.0), 0.01, help=WORDS["risk"], **_bound("risks"))
    second[1].slider("Probability", 0.0, 1.0, (0.0, 1.0), 0.01, help=WORDS["probability"], **_bound("probabilities"))
    risk, probability = _range("risks"), _range("probabilities")
    sort, descending = ORDERS[order]
    return ScoredQuery(
        sort=sort,
        descending=descending,
        label=LABELS[label],
        risk_min=risk[0],
        risk_max=risk[1],
        probability_min=probability[0],
        probability_max=probability[1],
        asking=None if asking == ANY else asking,
        text=(st.session_state.get("find") or "").strip() or None,
        page=requested_page(),
        page_size=PAGE_SIZE,
    )


def filter_words(query: ScoredQuery) -> str:
    """The filters in words; "" where none is set."""
    parts = []
    if query.label is not None:
        parts.append(f"labelled {of_label(query.label).word}")
    if query.asking is not None:
        parts.append(ASKING[query.asking])
    for name, low, high in (
        ("risk", query.risk_min, query.risk_max),
        ("probability", query.probability_min, query.probability_max),
    ):
        if low is not None or high is not None:
            parts.append(f"{name} {low or 0:g} to {1 if high is None else high:g}")
    if query.text:
        parts.append(f"with “{query.text}”")
    return ", ".join(parts)


def requested_page() -> int:
    """The page in the address; 1 where that is not a page number."""
    text = st.query_params.get("page", "1")
    return int(text) if text.isascii() and text.isdigit() and 0 < len(text) < 10 and int(text) > 0 else 1


def start_over() -> None:
    """A changed filter makes a different queue: return to its first page, without a pair."""
    for name in ("page", "pair"):
        st.query_params.pop(name, None)


def clear() -> None:
    """Take every filter away."""
    for name in ("label", "asking"):
        st.query_params.pop(name, None)
    st.session_state["find"] = ""  # a widget that is bound to the address puts there what it has
    for name in ("risks", "probabilities"):
        st.session_state[name] = (0.0, 1.0)
    start_over()


def _label(name: str) -> str:
    return "(any)" if name == ANY else of_label(LABELS[name] or 0).text


def _bound(key: str) -> dict[str, Any]:
    return {"key": key, "bind": "query-params", "on_change": start_over}


def _range(key: str) -> tuple[float | None, float | None]:
    low, high = st.session_state.get(key) or (0.0, 1.0)
    return (low if low > 0 else None), (high if high < 1 else None)
