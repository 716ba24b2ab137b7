"""Which wrong labels a step of fine-tuning flips: the paper's flip table, on this run. Needs the target's labels."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from pages.parts.compare.step_theory import LABELS_USED, choose_step, step_theory, steps_of
from pages.parts.frame.page import section
from pages.parts.frame.text import percent, plural
from riskcore.evaluation import FlipCell, FlipRow, FlipTable, flip_table
from riskcore.runs import RunFolder

EDGES = {"100, as in the paper": (100,), "1, 10, 100 and 1,000": (1, 10, 100, 1000)}
NEGATIVES, POSITIVES = "false negatives ⇄ flipped", "false positives ⇄ flipped"
MEANING = (
    "Each wrong label is counted by its supporting pairs: pairs of the same truth whose label is correct, and which "
    "the risk model finds less risky by a clear margin (ΔVaR > ΔC in the paper). The theory expects the more flips, "
    "the more supporting pairs there are. Flipping a wrong label corrects it."
)


def show_flips(folder: RunFolder) -> None:
    """The flips of one step; nothing without truth, or where no method has two iterations."""
    steps = {method: found for method in folder.methods() if (found := steps_of(folder, method))}
    if not folder.has_truth or not steps:
        return
    section("Flips, step by step", help="Why fine-tuning by risk corrects labels: the paper's table, on this run.")
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    with row:
        step = choose_step(steps[_choose_method(list(steps))])
        edges = st.segmented_control("Group at", list(EDGES), default=next(iter(EDGES)), required=True, key="grouped")
    table = flip_table(step_theory(folder, step), EDGES[edges or next(iter(EDGES))])
    if table is None:
        return
    st.markdown(step_words(table))
    st.dataframe(shown_flips(table), hide_index=True, placeholder="–", alt=f"Flips of wrong labels, {step.text}")
    st.caption(f"{MEANING} {LABELS_USED}")


def _choose_method(methods: list[str]) -> str:
    if len(methods) == 1:
        return methods[0]
    chosen = st.segmented_control(
        "Iterations of", methods, default=methods[0], required=True, key="flips of", bind="query-params"
    )
    return chosen if chosen in methods else methods[0]


def step_words(table: FlipTable) -> str:
    """What the step did, in two sentences."""
    total = (table.total.false_negatives, table.total.false_positives)
    wrong, fixed = sum(cell.pairs for cell in total), sum(cell.flipped or 0 for cell in total)
    correct = (table.true_positives, table.true_negatives)
    broken = sum(cell.flipped or 0 for cell in correct)
    change = f"broke **{broken:,}** of {plural(sum(cell.pairs for cell in correct), 'correct label')}"
    if not wrong:
        return f"All labels were correct before this step, so there was nothing to fix. It {change}."
    return f"This step fixed **{fixed:,}** of {plural(wrong, 'wrong label')}. It {change}."


def shown_flips(table: FlipTable) -> pd.DataFrame:
    """A row for each group of supporting pairs, and one for all."""
    return pd.DataFrame(
        {
            "supporting pairs": group_words(row),
            NEGATIVES: cell_words(row.false_negatives),
            POSITIVES: cell_words(row.false_positives),
        }
        for row in (*table.rows, table.total)
    )


def group_words(row: FlipRow) -> str:
    if row.high is None:
        return f"{row.low:,} or more" if row.low else "any number"
    return f"{row.low:,} to {row.high - 1:,}" if row.low else f"fewer than {row.high:,}"


def cell_words(cell: FlipCell) -> str | None:
    """How many were flipped; None where there are none to flip."""
    return f"{cell.flipped or 0:,} of {cell.pairs:,} ({percent(cell.share, 0)})" if cell.pairs else None
