"""The queue's filters: widgets whose values live in the address, and the query they make."""

from __future__ import annotations

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
VERDICTS = {ANY: None, "not judged": "none", "= match": "match", "≠ non-match": "non-match", "? unsure": "unsure"}
ANSWERS = {ANY: None, "✗ wrong": True, "✓ right": False}
SORTS = {
    "risk": "highest risk first",
    "probability": "highest probability first",
    "sigma": "least sure first",
    "flips": "most often flipped first",
    "row": "in the order of the data",
}
_LONGEST_SEARCH = 200
_ANSWERS_HELP = "This target has labels. They were given to no method; here they can be used to look back."


def filter_bar(view: View, texts: tuple[str, ...], attributes: list[str]) -> PairQuery:
    """Draw the filters; returns the first page of what they ask for."""
    has_truth = view.folder.has_truth
    first = st.columns([2, 2, 2, 2, 3] if has_truth else [2, 2, 2, 3])
    first[0].selectbox("Label", list(LABELS), help=WORDS["match"], **_bound("label"))
    first[1].selectbox("Flip", FLIPS, help=f"{WORDS['flipped']} {WORDS['flipped back']}", **_bound("flip"))
    first[2].selectbox("Verdict", list(VERDICTS), help=WORDS["verdict"], **_bound("verdict"))
    if has_truth:
        first[3].selectbox("Benchmark says", list(ANSWERS), help=_ANSWERS_HELP, **_bound("answer"))
    first[-1].text_input(
        "Search in records", max_chars=_LONGEST_SEARCH, placeholder="part of a value or a pair's id", **_bound("text")
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


def _bound(key: str) -> dict[str, object]:
    return {"key": key, "bind": "query-params", "on_change": start_over}


def start_over() -> None:
    """A changed filter is another queue: back to its first page, and to no pair."""
    for name in ("page", "pair"):
        st.query_params.pop(name, None)


def _query(view: View, rule: int | None, sort: str) -> PairQuery:
    state = st.session_state
    flip, attribute = (state.get(name) or ANY for name in ("flip", "attribute"))
    low, high = state.get("risk") or (0.0, 1.0)
    answer = ANSWERS.get(state.get("answer") or ANY) if view.folder.has_truth else None
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
        wrong=answer,
        verdict=VERDICTS.get(state.get("verdict") or ANY),
        page_size=PAGE_SIZE,
    )


def active_filters(query: PairQuery) -> int:
    """How many filters narrow the queue."""
    fields = ("label", "flipped", "rule", "attribute", "risk_min", "risk_max", "text", "wrong", "verdict")
    narrowed = sum(getattr(query, field) is not None for field in fields)
    return narrowed + (query.flipped is None and query.flipped_back is not None)


def page_asked() -> int:
    """The page of the address; whatever is no page number is the first."""
    text = st.query_params.get("page", "1")
    return int(text) if text.isascii() and text.isdigit() and 0 < len(text) < 8 and int(text) > 0 else 1
