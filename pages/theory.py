"""The paper's flip table and bound on this run, with a sentence on what they mean. Needs the target's labels."""

import itertools

import pandas as pd
import streamlit as st

from pages.parts.frame.glossary import formula
from pages.parts.frame.navigation import SCREENS
from pages.parts.frame.page import open_page
from pages.parts.frame.text import percent, plural
from pages.parts.runs.run_files import model_of
from pages.parts.runs.run_picker import View, pick_view
from pages.parts.runs.score_columns import columns_of, ids_of, truth_of
from riskcore.evaluation import ErrorTheory, FlipRow, FlipTable, Theory, flip_table, theory_of

SHOWN_PAIRS = 50
EDGES = {"as in the paper: 100": (100,), "finer: 1, 10, 100, 1000": (1, 10, 100, 1000)}
USES = "Labels used: target, for scoring only."


def choose_step(view: View) -> tuple[int, int] | None:
    """Two iterations that follow each other, the first two unless told; None where there are none."""
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
    rows[-1]["pairs less risky by more than ΔC"] = "all"
    st.dataframe(pd.DataFrame(rows), hide_index=True)
    st.caption(
        "Mispredicted pairs by how many rightly labelled ones outweigh them (ΔVaR > ΔC), and how many "
        f"were flipped, which is right. The theory expects more flips further down. {USES}"
    )
    wrongly = [("true positives", table.true_positives), ("true negatives", table.true_negatives)]
    parts = [f"{cell.flipped:,} of {cell.pairs:,} {name}" for name, cell in wrongly if cell.flipped is not None]
    st.markdown(f"Flipped wrongly: {' and '.join(parts)}.")


def row_of(row: FlipRow) -> dict:
    negatives, positives = row.false_negatives, row.false_positives
    return {
        "pairs less risky by more than ΔC": row.text,
        "false negatives": negatives.pairs,
        "⇄ flipped": negatives.flipped,
        "share": percent(negatives.share, 0),
        "false positives": positives.pairs,
        "⇄ flipped ": positives.flipped,
        "share ": percent(positives.share, 0),
    }


def meaning(theory: Theory, table: FlipTable) -> str:
    """What the table and the bound say about this run, in plain words."""
    total = [table.total.false_negatives, table.total.false_positives]
    errors, flipped = sum(cell.pairs for cell in total), sum(cell.flipped or 0 for cell in total)
    if not errors:
        return "No pair was labelled wrong when this iteration began, so there was nothing to repair."
    wrongly = (table.true_positives.flipped or 0) + (table.true_negatives.flipped or 0)
    sides = [side for side in (theory.false_negatives, theory.false_positives) if side is not None]
    told = sum(int((~side.vacuous).sum()) for side in sides)
    bound = (
        f"For {told:,} of them the bound says something; for the others it is too weak to say anything."
        if told
        else "The bound says nothing about any of them: with this many rules it is too weak. That is common, and "
        "no fault of the run."
    )
    return (
        f"Of {plural(errors, 'wrong label')}, this iteration repaired {flipped:,}, and it broke {wrongly:,} that were "
        f"right. {bound}"
    )


def show_bound(view: View, theory: Theory) -> None:
    rows = [row for side in (theory.false_negatives, theory.false_positives) if side for row in bound_rows(view, side)]
    if not rows:
        return
    with st.expander(f"The bound, pair by pair ({min(len(rows), SHOWN_PAIRS)} shown)", icon=":material/table_rows:"):
        st.dataframe(pd.DataFrame(rows[:SHOWN_PAIRS]), hide_index=True)
        kept = [
            side.kept for side in (theory.false_negatives, theory.false_positives) if side and side.kept is not None
        ]
        if kept:
            st.caption(f"Share of the bounds that say something and are kept: {percent(min(kept), 0)}; promised: 95 %.")
    if theory.outside:
        st.caption(
            f"The proof assumes that μ ± 2σ stays within 0 and 1; on this run it does not for "
            f"{percent(theory.outside, 0)} of the pairs. Read the bound with that in mind."
        )


def bound_rows(view: View, side: ErrorTheory) -> list[dict]:
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
            "in words": one.text,
        }
        for pair, one in zip(pairs, found, strict=True)
    ]


with open_page("theory", "Why risk repairs labels: the paper's table and bound, computed on this run."):
    view = pick_view(with_iteration=False)
    if view is not None and not view.folder.has_truth:
        st.info(
            "This view needs to know which labels were wrong, and this target has no labels. Use a target with labels, "
            "such as the sample.",
            icon=":material/info:",
        )
        st.page_link(SCREENS["overview"].path, label="Run the sample", icon=SCREENS["overview"].icon)
    elif view is not None:
        step = choose_step(view)
        if step is None:
            st.info("This needs two iterations. Wait for the next one.", icon=":material/hourglass_empty:")
        else:
            theory = compute(view, *step)
            cut = st.segmented_control("Cut the counts at", list(EDGES), default=next(iter(EDGES)), required=True)
            table = flip_table(theory, EDGES[cut])
            st.subheader(f"From iteration {step[0]} to {step[1]}", anchor=False)
            if table is not None:
                st.markdown(meaning(theory, table))
                show_table(table)
                show_bound(view, theory)
            formula("bound", "The bound")
            formula("risk", "How risk is computed")
