"""A scored set at a glance: its figures, what it was scored with, and how risk and probability are spread."""

from __future__ import annotations

import altair as alt
import pandas as pd
import streamlit as st

from pages.parts.frame.charts import draw_chart, legend, sized
from pages.parts.frame.glossary import WORDS
from pages.parts.frame.navigation import SCREENS
from pages.parts.frame.palette import MATCH, NON_MATCH
from pages.parts.frame.text import literal, percent, plural
from pages.parts.scored.filters import ASKING_HELP, filter_words
from pages.parts.scored.set_picker import ScoredView
from riskcore.paths import runs_root
from riskcore.runs import RunFolder
from riskcore.scale.queries import ScoredQuery
from riskcore.scale.reading import BARS, count_kinds, histogram

_COUNTS = (  # of an axis with powers of ten
    "datum.value >= 1e6 ? datum.value / 1e6 + ' M' : datum.value >= 1e3 ? datum.value / 1e3 + ' k' : datum.value"
)


def show_figures(view: ScoredView) -> None:
    """The figures of the whole set, and what it was scored with."""
    facts, whole = view.facts, count_kinds(view.folder, ScoredQuery())
    pairs = facts["pairs"]
    cells = st.columns(4)
    cells[0].metric("Pairs", f"{pairs:,}")
    cells[1].metric("Matches", f"{facts['matches']:,}", help=WORDS["match"])
    cells[2].metric(
        "Wrong labels, at most" if whole["bound"] else "Wrong labels, expected",
        f"{whole['expected_wrong']:,.0f}",
        help="The sum of all risks. Where the matcher was not asked, the largest possible risk counts.",
    )
    cells[3].metric("Matcher not asked", percent(facts["unasked"] / pairs if pairs else None), help=ASKING_HELP)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.caption(_made_with(view), width="content")
        if RunFolder(runs_root() / facts["run"]).run_file.exists():
            run = SCREENS["fine_tuning"]
            st.page_link(run.path, label="Open the run", icon=run.icon, query_params={"run": facts["run"]})


def _made_with(view: ScoredView) -> str:
    facts = view.facts
    records = facts["records"]
    tables = (
        f"{records['left']:,} records" if facts["self_join"] else f"{records['left']:,} × {records['right']:,} records"
    )
    kept = "" if facts["kept_iteration"] is None else f", iteration {facts['kept_iteration']}"
    used = ", ".join(facts["labels_used"]) or "none"
    return f"Scored by {literal(facts['method'])} of run {literal(facts['name'])}{kept}. {tables}. Labels used: {used}."


def show_charts(view: ScoredView, query: ScoredQuery) -> None:
    """How risk and probability are spread over the pairs that meet the filters."""
    kinds = count_kinds(view.folder, query)
    cells = st.columns(2, gap="large")
    for cell, value in zip(cells, ("risk", "probability"), strict=True):
        found = histogram(view.folder, query, value)
        with cell:
            st.markdown(f"**Pairs by {value}**", help=WORDS[value])
            draw_chart(spread_chart(found, value), spread_words(found, value))
            st.caption(spread_words(found, value))
    words = filter_words(query)
    st.caption(
        f"All {plural(int(kinds['pairs']), 'pair')} {f'({literal(words, 300)}) ' if words else ''}are counted; nothing "
        f"is a sample. The scale of counts is logarithmic. {percent(_share(kinds, 'bound'))} of these pairs stand with "
        f"the largest risk they can have, {percent(_share(kinds, 'unasked'))} without any word of the matcher."
    )


def spread_chart(found: pd.DataFrame, value: str) -> alt.Chart:
    """Matches and non-matches by a value, as steps on a logarithmic scale that has a zero."""
    order = [MATCH.text, NON_MATCH.text]
    rows = found.assign(
        label=found["label"].map({1: MATCH.text, 0: NON_MATCH.text}), to=(found["from"] + 1 / BARS).round(4)
    )
    ends = rows[rows["from"] == rows["from"].max()].assign(**{"from": 1.0})
    chart = alt.Chart(pd.concat([rows, ends], ignore_index=True)).mark_line(interpolate="step-after", strokeWidth=2)
    return sized(
        chart.encode(
            x=alt.X("from:Q", title=value, scale=alt.Scale(domain=[0, 1])),
            y=alt.Y(
                "pairs:Q",
                title="pairs",
                scale=alt.Scale(type="symlog"),
                axis=alt.Axis(labelExpr=_COUNTS, values=[0, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8]),
            ),
            color=legend("label", order, [MATCH.colour, NON_MATCH.colour]),
            strokeDash=alt.StrokeDash("label:N", sort=order, legend=None, scale=alt.Scale(range=[[1, 0], [5, 3]])),
            tooltip=["label:N", alt.Tooltip("from:Q", title=f"{value} from"), alt.Tooltip("to:Q"), "pairs:Q"],
        )
    )


def spread_words(found: pd.DataFrame, value: str) -> str:
    """The chart in a sentence."""
    total = int(found["pairs"].sum())
    middle = int(found.loc[(found["from"] >= 0.1) & (found["from"] < 0.9), "pairs"].sum())
    high = int(found.loc[found["from"] >= 0.5, "pairs"].sum())
    if value == "risk":
        return f"{plural(high, 'label')} of {total:,} more likely wrong than right."
    return f"{plural(middle, 'pair')} of {total:,} with a probability between 0.1 and 0.9."


def _share(kinds: dict[str, float], name: str) -> float | None:
    return kinds[name] / kinds["pairs"] if kinds["pairs"] else None
