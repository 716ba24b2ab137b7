"""The queue's filters: widgets whose values are kept in the address, and the query they make."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.parts.frame.address import choose
from pages.parts.frame.glossary import WORDS
from pages.parts.frame.text import literal, short
from pages.parts.pairs.blind import CAPTION, asks_blind, is_blind
from pages.parts.pairs.error_kinds_view import kind_from_address
from pages.parts.runs.run_files import gain_of, leading_counts
from pages.parts.runs.run_picker import View
from riskcore.columns import GAIN, RANDOM
from riskcore.rules.sentences import condition_sentence
from riskcore.runs import PairQuery

PAGE_SIZE = 50
ANY = "(any)"
LABELS = {ANY: None, "= match": 1, "≠ non-match": 0}
FLIPS = (ANY, "⇄ flipped", "↺ flipped back", "never flipped")
VERDICTS = {ANY: None, "no verdict": "none", "= match": "match", "≠ non-match": "non-match", "? unsure": "unsure"}
CORRECTNESS = {ANY: None, "✗ wrong": True, "✓ correct": False}
SORTS = {
    "risk": "highest risk first",
    GAIN: "most expected gain first",
    RANDOM: "random and blind",
    "probability": "highest probability first",
    "sigma": "most uncertain first",
    "flips": "most flips first",
    "row": "order of the data",
}
NARROWING = ("kind", "probability", "evidence")  # set by links from elsewhere, not by a widget
# Widgets that are bound to the address: lists with their options (None: the run's attributes), texts and ranges.
CHOICES: dict[str, tuple[str, ...] | None] = {
    "label": tuple(LABELS),
    "flip": FLIPS,
    "verdict": tuple(VERDICTS),
    "answer": tuple(CORRECTNESS),
    "attribute": None,
}
TEXTS = ("text",)
RANGES = {"risk": (0.0, 1.0)}
_RANGE = re.compile(r"(\d(?:\.\d{1,6})?)-(\d(?:\.\d{1,6})?)")
_LONGEST_SEARCH = 200
_CORRECTNESS_HELP = "Whether the label agrees with the benchmark's. No method was given the benchmark's labels."


def filter_bar(
    view: View, texts: tuple[str, ...], attributes: list[str], tagged: Mapping[str, tuple[str, ...]]
) -> PairQuery:
    """Draw the filters; returns the query of the first page. `tagged` has the pairs of every tag."""
    if asks_blind():
        return blind_filter_bar(view)
    has_truth = view.folder.has_truth
    first = st.columns([2] * (3 + bool(has_truth) + bool(tagged)) + [3])
    first[0].selectbox("Label", list(LABELS), help=WORDS["match"], **_bound("label"))
    first[1].selectbox("Flip", FLIPS, help=f"{WORDS['flipped']} {WORDS['flipped back']}", **_bound("flip"))
    first[2].selectbox("Verdict", list(VERDICTS), help=WORDS["verdict"], **_bound("verdict"))
    if has_truth:
        first[3].selectbox("Correctness", list(CORRECTNESS), help=_CORRECTNESS_HELP, **_bound("answer"))
    tag = _choose_tag(first[-2], tagged) if tagged else None
    first[-1].text_input(
        "Search in records", max_chars=_LONGEST_SEARCH, placeholder="part of a value or pair id", **_bound("text")
    )
    second = st.columns([3, 2, 2, 2, 2])
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
    counts = leading_counts(view.folder, view.method, view.iteration)
    reason = choose(
        second[1],
        "Reason",
        [ANY, *counts],
        "reason",
        ANY,
        words=lambda n: n if n == ANY else f"{short(n.replace('_', ' '), 60)} ({counts[n]:,})",
        help=WORDS["leading reason"],
        then=start_over,
    )
    second[2].selectbox("Attribute", [ANY, *attributes], format_func=lambda n: short(n, 60), **_bound("attribute"))
    second[3].slider("Risk", 0.0, 1.0, (0.0, 1.0), 0.01, help=WORDS["risk"], **_bound("risk"))
    sort = _choose_order(second[4])
    query = _query(view, None if rule == ANY else int(rule), None if reason == ANY else reason, sort)
    return query if tag is None else dataclasses.replace(query, pairs=tagged[tag])


def blind_filter_bar(view: View) -> PairQuery:
    """The filters that tell nothing of a label."""
    columns = st.columns([2, 4, 3])
    # Not `verdict`: the widget of that name, which knows the verdicts of others, owns it.
    own = choose(columns[0], "Your verdict", list(VERDICTS)[:2], "own", ANY, help=WORDS["verdict"], then=start_over)
    columns[1].text_input(
        "Search in records", max_chars=_LONGEST_SEARCH, placeholder="part of a value or pair id", **_bound("text")
    )
    return PairQuery(
        method=view.method,
        iteration=view.iteration,
        sort=_choose_order(columns[2]),
        text=(st.session_state.get("text") or "").strip() or None,
        verdict=VERDICTS[own],
        page_size=PAGE_SIZE,
    )


def _choose_tag(container: DeltaGenerator, tagged: Mapping[str, tuple[str, ...]]) -> str | None:
    tag = choose(
        container,
        "Tag",
        [ANY, *tagged],
        "tag",
        ANY,
        words=lambda one: one if one == ANY else f"#{short(one, 40)} ({len(tagged[one]):,})",
        help="A tag is a #word in the note of a verdict.",
        then=start_over,
    )
    return None if tag == ANY else tag


def _choose_order(container: DeltaGenerator) -> str:
    return choose(
        container,
        "Order",
        list(SORTS),
        "sort",
        "risk",
        words=SORTS.__getitem__,
        help=f"{WORDS['risk']} {WORDS['expected gain']}",
        then=start_over,
    )


def show_order(view: View, query: PairQuery) -> None:
    """What an order other than by a column means; nothing for those."""
    if is_blind(query):
        st.caption(CAPTION)
    elif query.sort == GAIN:
        gain = gain_of(view.folder, view.method, view.iteration)
        st.caption(
            f"Expected gain: risk times what the correction adds to F1. Here a wrong match costs about "
            f"{100 * gain.wrong_match:.3f} points of F1, a wrong non-match {100 * gain.wrong_non_match:.3f}."
        )


def narrowed_by(view: View, query: PairQuery) -> None:
    """What narrows the queue beside the filters, as the picture of the repair and errors by kind do; one click takes it
    away. Nothing where nothing does."""
    parts = []
    if query.kind:
        parts.append(", ".join(condition_sentence(condition) for condition in query.kind))
    if query.probability_min is not None:
        parts.append(f"probability {query.probability_min:g} to {query.probability_max:g}")
    if query.mu_min is not None:
        parts.append(f"rules' evidence {query.mu_min:g} to {query.mu_max:g}")
    if not parts:
        return
    row = st.container(horizontal=True, vertical_alignment="center")
    row.markdown(f"Only pairs with: **{literal('; '.join(parts), 400)}**", width="content")
    row.button("Show all pairs", icon=":material/close:", type="tertiary", on_click=_widen)


def _widen() -> None:
    for name in NARROWING:
        st.query_params.pop(name, None)
    start_over()


def range_from_address(text: str | None) -> tuple[float, float] | None:
    """Two numbers from 0 to 1, as `0.2-0.45`; None where the text is anything else."""
    found = _RANGE.fullmatch(text or "")
    if found is None:
        return None
    low, high = float(found[1]), float(found[2])
    return (low, high) if 0 <= low <= high <= 1 else None


def _bound(key: str) -> dict[str, Any]:
    return {"key": key, "bind": "query-params", "on_change": start_over}


def start_over() -> None:
    """A changed filter makes a different queue: return to its first page, without a pair."""
    for name in ("page", "pair"):
        st.query_params.pop(name, None)


def _query(view: View, rule: int | None, reason: str | None, sort: str) -> PairQuery:
    state = st.session_state
    probability, evidence = (range_from_address(st.query_params.get(name)) for name in ("probability", "evidence"))
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
        probability_min=None if probability is None else probability[0],
        probability_max=None if probability is None else probability[1],
        mu_min=None if evidence is None else evidence[0],
        mu_max=None if evidence is None else evidence[1],
        kind=kind_from_address(st.query_params.get("kind", ""), view.folder),
        reason=reason,
        text=(state.get("text") or "").strip() or None,
        wrong=wrong,
        verdict=VERDICTS.get(state.get("verdict") or ANY),
        page_size=PAGE_SIZE,
    )


def requested_page() -> int:
    """The page in the address; 1 where that is not a page number."""
    text = st.query_params.get("page", "1")
    return int(text) if text.isascii() and text.isdigit() and 0 < len(text) < 8 and int(text) > 0 else 1
