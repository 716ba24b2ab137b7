"""The paper's flip table and bound, computed on this run, with their meaning. Needs the target's labels."""

import itertools
from typing import Any

import pandas as pd
import streamlit as st

from pages.parts.frame.glossary import formula
from pages.parts.frame.navigation import SCREENS
from pages.parts.frame.page import open_page
from pages.parts.frame.text import percent, plural
from pages.parts.runs.proposals import warn_of_proposals
from pages.parts.runs.run_files import model_of
from pages.parts.runs.run_picker import View, pick_view
from pages.parts.runs.score_columns import columns_of, ids_of, truth_of
from riskcore.evaluation import ErrorTheory, FlipRow, FlipTable, Theory, flip_table, theory_of

SHOWN_PAIRS = 50
EDGES = {"100 (as in the paper)": (100,), "1, 10, 100, 1000": (1, 10, 100, 1000)}
LABELS_USED = "Labels used: target, for scoring only."


def choose_step(view: View) -> tuple[int, int] | None:
    """Two consecutive iterations, by default the first two; None where there is only one."""
    there = view.folder.iterations(view.method)
    steps = {f"iteration {a} to {b}": (a, b) for a, b in itertools.pairwise(there)}
    if not steps:
        return None
    return steps[st.selectbox("Step", list(steps), key="step", bind="query-params", width=260) or next(iter(steps))]


def compute(view: View, start: int, after: int) -> Theory:
    label, mu, sigma = columns_of(view.folder, view.method, start, "label", "mu", "sigma")
    (then,) = columns_of(view.folder, view.method, after, "label")
    rules = len(model_of(view.folder, view.method, start).rules)
    return theory_of(truth_of(view.folder), label, mu, sigma, rules, then)


def show_table(table: FlipTable) -> None:
    rows = [row_of(row) for row in (*table.rows, table.total)]
    rows[-1]["pairs with ΔVaR > ΔC"] = "all"
    st.dataframe(pd.DataFrame(rows), hide_index=True)
    st.caption(
        "Wrongly labelled pairs, grouped by the number of correctly labelled pairs with ΔVaR > ΔC, and how many of "
        f"them were flipped, which is correct. The theory predicts more flips in the lower rows. {LABELS_USED}"
    )
    broken = [("true positives", table.true_positives), ("true negatives", table.true_negatives)]
    parts = [f"{cell.flipped:,} of {cell.pairs:,} {name}" for name, cell in broken if cell.flipped is not None]
    st.markdown(f"Correct labels that were flipped: {' and '.join(parts)}.")


def row_of(row: FlipRow) -> dict[str, Any]:
    negatives, positives = row.false_negatives, row.false_positives
    return {
        "pairs with ΔVaR > ΔC": row.text,
        "false negatives": negatives.pairs,
        "⇄ flipped": negatives.flipped,
        "share": percent(negatives.share, 0),
        "false positives": positives.pairs,
        "⇄ flipped ": positives.flipped,
        "share ": percent(positives.share, 0),
    }


def meaning(theory: Theory, table: FlipTable) -> str:
    """What the table and the bound show on this run, in a few sentences."""
    total = [table.total.false_negatives, table.total.false_positives]
    errors, flipped = sum(cell.pairs for cell in total), sum(cell.flipped or 0 for cell in total)
    if not errors:
        return "All labels were correct before this iteration, so there was nothing to fix."
    broken = (table.true_positives.flipped or 0) + (table.true_negatives.flipped or 0)
    sides = [side for side in (theory.false_negatives, theory.false_positives) if side is not None]
    bounded = sum(int((~side.vacuous).sum()) for side in sides)
    bound = (
        f"The bound applies to {bounded:,} of the wrong labels; for the others it is vacuous."
        if bounded
        else "The bound is vacuous for all of the wrong labels, because there are so many rules. This is common and "
        "does not mean that the run went wrong."
    )
    return (
        f"Of {plural(errors, 'wrong label')}, this iteration fixed {flipped:,}. It broke "
        f"{plural(broken, 'correct label')}. {bound}"
    )


def show_bound(view: View, theory: Theory) -> None:
    rows = [row for side in (theory.false_negatives, theory.false_positives) if side for row in bound_rows(view, side)]
    if not rows:
        return
    with st.expander(f"The bound for each pair ({min(len(rows), SHOWN_PAIRS)} shown)", icon=":material/table_rows:"):
        st.dataframe(pd.DataFrame(rows[:SHOWN_PAIRS]), hide_index=True)
        kept = [
            side.kept for side in (theory.false_negatives, theory.false_positives) if side and side.kept is not None
        ]
        if kept:
            st.caption(
                f"The bound holds for {percent(min(kept), 0)} of the pairs it applies to; the theory guarantees 95 %."
            )
    if theory.outside:
        st.caption(
            f"The proof assumes that μ ± 2σ lies between 0 and 1. On this run that does not hold for "
            f"{percent(theory.outside, 0)} of the pairs, so the bound is only a guide."
        )


def bound_rows(view: View, side: ErrorTheory) -> list[dict[str, Any]]:
    found = [side.of(at) for at in range(min(len(side), SHOWN_PAIRS))]
    pairs = ids_of(view.folder, side.rows[: len(found)])
    return [
        {
            "kind": side.kind,
            "pair": pair,
            "μ": round(one.mu, 3),
            "less risky pairs": one.ranked_after,
            "with ΔVaR > ΔC": one.count,
            "bound": None if one.vacuous else one.bound,
            "⇄": "flipped" if one.flipped else "",
            "meaning": one.text,
        }
        for pair, one in zip(pairs, found, strict=True)
    ]


with open_page("theory", "Why fine-tuning by risk fixes labels: the paper's flip table and bound on this run."):
    view = pick_view(with_iteration=False)
    if view is not None and not view.folder.has_truth:
        st.info(
            "This screen compares labels with the truth, and this target has no labels. Choose a run whose target has "
            "labels, such as the sample.",
            icon=":material/info:",
        )
        st.page_link(SCREENS["overview"].path, label="Run the sample", icon=SCREENS["overview"].icon)
    elif view is not None:
        warn_of_proposals(view.run)
        step = choose_step(view)
        if step is None:
            st.info("This screen needs two iterations. Wait for the next one.", icon=":material/hourglass_empty:")
        else:
            theory = compute(view, *step)
            cut = st.segmented_control("Group the counts at", list(EDGES), default=next(iter(EDGES)), required=True)
            table = flip_table(theory, EDGES[cut])
            st.subheader(f"Iteration {step[0]} to iteration {step[1]}", anchor=False)
            if table is not None:
                st.markdown(meaning(theory, table))
                show_table(table)
                show_bound(view, theory)
            formula("bound", "The bound")
            formula("risk", "How risk is computed")
