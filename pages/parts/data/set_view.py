"""A data set on screen: counts, problems with their rows, attribute values and types, and the attribute map."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from pages.parts.frame.glossary import WORDS
from pages.parts.frame.text import number, percent, plural, short
from riskcore.data import AttributeType, DataProfile, Problem
from riskcore.data.figures import DataFigures
from riskcore.data.labels import UNSPLIT

TYPE_WORDS = {
    "name": "a short string, such as a title or a person's name",
    "set": "a list of entities, such as authors",
    "text": "a long description",
    "number": "a year, price or duration",
    "code": "a model number, phone number or ISBN",
}
_NONE = "(not used)"


def show_problems(problems: Sequence[Problem]) -> None:
    """Every problem with file, row, column and what to do."""
    errors = sum(p.count for p in problems if p.severity == "error")
    warnings = sum(p.count for p in problems if p.severity == "warning")
    if errors:
        st.error(
            f"This data set has {plural(errors, 'error')} and cannot be used yet. The table says where and what to do.",
            icon=":material/error:",
        )
    elif warnings:
        st.warning(f"This data set can be used. Please check {plural(warnings, 'warning')}.", icon=":material/warning:")
    else:
        st.success("Every row was read. No problems were found.", icon=":material/check_circle:")
    if problems:
        st.dataframe(
            problem_table(problems), hide_index=True, placeholder="–", height="auto" if len(problems) < 10 else 360
        )


def problem_table(problems: Sequence[Problem]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "": "✗ error" if p.severity == "error" else "! warning",
            "file": p.file,
            "row": p.row,
            "column": p.column,
            "problem": p.message,
            "what to do": p.cure,
            "rows affected": p.count,
        }
        for p in problems
    )


def show_figures(figures: DataProfile) -> None:
    """Records, pairs, match rate and missing labels."""
    pairs = sum(split.pairs for split in figures.splits)
    known = sum(split.matches + split.non_matches for split in figures.splits)
    matches = sum(split.matches for split in figures.splits)
    columns = st.columns(4)
    records = " + ".join(f"{count:,}" for count in figures.records.values())
    columns[0].metric("Records", records, help="Left and right table; one number for a self-join.")
    columns[1].metric("Candidate pairs", f"{pairs:,}", help=WORDS["pair"])
    columns[2].metric("Match rate", percent(matches / known if known else None), help="Among the labelled pairs.")
    columns[3].metric("Unlabelled pairs", f"{pairs - known:,}", help="Only the test split may have them.")
    if figures.splits:
        st.dataframe(
            split_table(figures), hide_index=True, placeholder="–", column_config={"match rate": _percent_column()}
        )


def split_table(figures: DataProfile) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "split": split.name,
            "pairs": split.pairs,
            "= matches": split.matches,
            "≠ non-matches": split.non_matches,
            "unlabelled": split.unlabelled,
            "match rate": None if split.match_rate is None else 100 * split.match_rate,
        }
        for split in figures.splits
    )


def attribute_table(figures: DataFigures) -> pd.DataFrame:
    """Type, missing values, lengths and overlap of each attribute."""
    assert figures.profile is not None
    rows = pd.DataFrame(
        {
            "attribute": a.name,
            "type": a.type,
            "missing left": 100 * a.missing_left,
            "missing right": 100 * a.missing_right,
        }
        for a in figures.profile.attributes
    )
    values = figures.values.rename(columns={"length_left": "length left", "length_right": "length right"})
    return rows.merge(values, on="attribute", how="left")


def edit_types(figures: DataFigures, saved: dict[str, str], key: str) -> dict[str, str]:
    """The attribute table with the type editable; returns the types that differ from the inferred ones."""
    table = attribute_table(figures)
    inferred = dict(zip(table["attribute"], table["type"], strict=True))
    base = table.assign(type=[saved.get(name, kind) for name, kind in inferred.items()])
    types = ", ".join(f"{name}: {words}" for name, words in TYPE_WORDS.items())
    edited = st.data_editor(
        base,
        key=key,
        hide_index=True,
        disabled=[column for column in base.columns if column != "type"],
        column_config={
            "type": st.column_config.SelectboxColumn(
                options=[t.value for t in AttributeType], help=types, required=True
            ),
            "missing left": _percent_column(),
            "missing right": _percent_column(),
            "overlap": _percent_column("Share of the left table's distinct values that also occur in the right table."),
        },
    )
    chosen = zip(edited["attribute"], edited["type"], strict=True)
    return {name: kind for name, kind in chosen if kind != inferred[name]}


def edit_map(ours: Sequence[str], theirs: Sequence[str], saved: dict[str, str], key: str) -> dict[str, str]:
    """Which target attribute corresponds to which source attribute; returns those that are mapped."""
    base = pd.DataFrame({"source attribute": list(ours), "target attribute": [_guess(n, theirs, saved) for n in ours]})
    edited = st.data_editor(
        base,
        key=key,
        hide_index=True,
        disabled=["source attribute"],
        column_config={
            "target attribute": st.column_config.SelectboxColumn(options=[_NONE, *theirs], required=True),
        },
    )
    pairs = zip(edited["source attribute"], edited["target attribute"], strict=True)
    return {source: target for source, target in pairs if target != _NONE}


def _guess(name: str, theirs: Sequence[str], saved: dict[str, str]) -> str:
    if saved:
        return saved.get(name, _NONE)
    close = difflib.get_close_matches(name, theirs, n=1, cutoff=0.75)
    return name if name in theirs else close[0] if close else _NONE


def map_problem(chosen: dict[str, str]) -> str | None:
    """What is wrong with a map, or None."""
    if not chosen:
        return "No attribute is mapped. Map at least one."
    twice = sorted({short(t, 40) for t in chosen.values() if list(chosen.values()).count(t) > 1})
    return f"{', '.join(twice)} is mapped twice. Map each attribute once." if twice else None


def show_previews(previews: dict[str, pd.DataFrame]) -> None:
    for tab, frame in zip(st.tabs(list(previews)), previews.values(), strict=True):
        tab.dataframe(frame, hide_index=True, placeholder="–", height=320)


def fact_line(figures: DataProfile) -> str:
    """A data set in one line, for the form of a run."""
    pairs = " / ".join(f"{split.pairs:,} {split.name}".removesuffix(f" {UNSPLIT}") for split in figures.splits)
    rates = [split.match_rate for split in figures.splits if split.match_rate is not None]
    rate = f", {number(100 * sum(rates) / len(rates), 0)} % matches" if rates else " without labels"
    return f"{pairs} pairs{rate}, {len(figures.attributes)} attributes"


def _percent_column(help_text: str | None = None) -> Any:
    return st.column_config.NumberColumn(format="%.1f %%", help=help_text)
