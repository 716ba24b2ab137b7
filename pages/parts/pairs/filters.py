"""The queue's filters: widgets whose values are kept in the address, and the query they make."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.parts.frame.address import choose
from pages.parts.frame.glossary import WORDS
from pages.parts.frame.text import short
from pages.parts.runs.run_picker import View
from riskcore.runs import PairQuery

PAGE_SIZE = 50
ANY = "(any)"
LABELS = {ANY: None, "= match": 1, "≠ non-match": 0}
FLIPS = (ANY, "⇄ flipped", "↺ flipped back", "never flipped")
VERDICTS = {ANY: None, "no verdict": "none", "= match": "match", "≠ non-match": "non-match", "? unsure": "unsure"}
CORRECTNESS = {ANY: None, "✗ wrong": True, "✓ correct": False}
SORTS = {
    "risk": "highest risk first",
    "probability": "highest probability first",
    "sigma": "most uncertain first",
    "flips": "most flips first",
    "row": "order of the data",
}
_LONGEST_SEARCH = 200
_CORRECTNESS_HELP = "Whether the label agrees with the benchmark's. No method was given the benchmark's labels."


def filter_bar(view: View, texts: tuple[str, ...], attributes: list[str]) -> PairQuery:
    """Draw the filters; returns the query of the first page."""
    has_truth = view.folder.has_truth
    first = st.columns([2, 2, 2, 2, 3] if has_truth else [2, 2, 2, 3])
    first[0].selectbox("Label", list(LABELS), help=WORDS["match"], **_bound("label"))
    first[1].selectbox("Flip", FLIPS, help=f"{WORDS['flipped']} {WORDS['flipped back']}", **_bound("flip"))
    first[2].selectbox("Verdict", list(VERDICTS), help=WORDS["verdict"], **_bound("verdict"))
    if has_truth:
        first[3].selectbox("Correctness", list(CORRECTNESS), help=_CORRECTNESS_HELP, **_bound("answer"))
    first[-1].text_input(
        "Search in records", max_chars=_LONGEST_SEARCH, placeholder="part of a value or pair id", **_bound("text")
    )
    second = st.columns([3, 2, 2, 2])
    rule = choose(
        second[0],
        "Rule",
        [ANY, *map(str, range(len(texts)))],
        "rule",
        ANY,
        words=lambda n: n if n == ANY else short(texts[int(n)], 120),
        help=WORDS["rule"],
        then=start_over,
    )
    second[1].selectbox("Attribute", [ANY, *attributes], format_func=lambda n: short(n, 60), **_bound("attribute"))
    second[2].slider("Risk", 0.0, 1.0, (0.0, 1.0), 0.01, help=WORDS["risk"], **_bound("risk"))
    sort = choose(second[3], "Order", list(SORTS), "sort", "risk", words=SORTS.__getitem__, then=start_over)
    return _query(view, None if rule == ANY else int(rule), sort)


def _bound(key: str) -> dict[str, Any]:
    return {"key": key, "bind": "query-params", "on_change": start_over}


def start_over() -> None:
    """A changed filter makes a different queue: return to its first page, without a pair."""
    for name in ("page", "pair"):
        st.query_params.pop(name, None)


def _query(view: View, rule: int | None, sort: str) -> PairQuery:
    state = st.session_state
    flip, attribute = (state.get(name) or ANY for name in ("flip", "attribute"))
    low, high = state.get("risk") or (0.0, 1.0)
    wrong = CORRECTNESS.get(state.get("answer") or ANY) if view.folder.has_truth else None
    return PairQuery(
        method=view.method,
        iteration=view.iteration,
        sort=sort,
        descending=sort != "row",
        label=LABELS.get(state.get("label") or ANY),
        flipped={"⇄ flipped": True, "never flipped": False}.get(flip),
        flipped_back={"↺ flipped back": True, "never flipped": False}.get(flip),
        rule=rule,
        attribute=None if attribute == ANY else attribute,
        risk_min=low if low > 0 else None,
        risk_max=high if high < 1 else None,
        text=(state.get("text") or "").strip() or None,
        wrong=wrong,
        verdict=VERDICTS.get(state.get("verdict") or ANY),
        page_size=PAGE_SIZE,
    )


def requested_page() -> int:
    """The page in the address; 1 where that is not a page number."""
    text = st.query_params.get("page", "1")
    return int(text) if text.isascii() and text.isdigit() and 0 < len(text) < 8 and int(text) > 0 else 1
