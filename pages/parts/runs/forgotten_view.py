"""A run whose records were deleted under retention: what was deleted, and the figures that stay."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from pages.parts.frame.page import section
from pages.parts.frame.tables import table_height
from pages.parts.frame.text import literal
from riskcore.runs import RunFolder, RunRecord
from riskcore.runs.retention import Retained, read_retained


def shown_forgotten(record: RunRecord) -> bool:
    """Show what is left of the run in place of the screen; False, and nothing, where its records are there."""
    found = read_retained(record.folder)
    if found is None:
        return False
    st.info(literal(found.sentence, 500), icon=":material/auto_delete:")
    st.caption(
        "Records, pairs, verdicts with their notes and names, models and uploads are gone for good. What stays is on "
        "this page, on every screen alike; an owner can delete the run altogether with `riskcore runs delete`."
    )
    section("What is known of its quality")
    for sentence in found.figure_sentences:
        st.markdown(f"- {literal(sentence, 2_000)}")
    _show_methods(RunFolder(record.folder))
    _show_facts(found)
    return True


def _show_methods(folder: RunFolder) -> None:
    """The scores of each method, as the run recorded them."""
    results = folder.results()
    rows = [
        {"method": name, **{measure: one[measure] for measure in ("f1", "precision", "recall")}}
        for name, one in (results["methods"] if results else {}).items()
    ]
    if any(row["f1"] is not None for row in rows):
        section("Against the labels that were known")
        shares = st.column_config.NumberColumn(format="percent")
        table = pd.DataFrame(rows)
        st.dataframe(
            table,
            hide_index=True,
            height=table_height(len(table), 300),
            column_config=dict.fromkeys(("f1", "precision", "recall"), shares),
            placeholder="–",
            alt="F1, precision and recall of each method",
        )


def _show_facts(found: Retained) -> None:
    section("What can still be checked")
    st.caption(f"The verdict log had {found.entries:,} entries. Its head, as exports and dossiers of then state it:")
    st.code(found.head or "empty", language=None)
    st.caption(f"`riskcore audit verify {found.run}` says what can and what cannot be verified any more.")
