"""The paper's bound: what it claims, and the pairs of a run about which it says something. Needs true labels."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import streamlit as st

from pages.parts.compare.step_theory import LABELS_USED, Step, choose_step, rules_in, step_theory, steps_of
from pages.parts.frame.glossary import show_formula
from pages.parts.frame.navigation import SCREENS
from pages.parts.frame.page import section
from pages.parts.frame.tables import table_height
from pages.parts.frame.text import percent, plural
from pages.parts.runs.run_picker import View, pick_view
from pages.parts.runs.score_columns import ids_of
from riskcore.evaluation import ErrorTheory, Theory
from riskcore.evaluation.theory import DELTA
from riskcore.runs import RunFolder

SHOWN_PAIRS = 50
CLAIM = (
    "The paper asks when fine-tuning by risk corrects a wrong label. Take a match that is labelled non-match. If many "
    "correctly labelled matches are clearly less risky (its *supporting pairs*), then the mean μ of rules and matcher "
    "is probably high. If μ is above one half, its label flips to match. The bound states how high μ is at "
    "least. For a non-match labelled match it is the mirror image."
)
CARE = (
    "Read it with care. It explains a run afterwards, and steers nothing. The more rules there are, the weaker it is. "
    "It treats the supporting pairs as independent, which they are not exactly. What the flips of a run show is on "
    "Compare, under *Flips, step by step*."
)


def show_theory() -> None:
    """The bound in words, its formula, and what it says on a run."""
    section("When a wrong label flips")
    st.markdown(CLAIM)
    show_formula("bound")
    st.markdown(CARE)
    section("On a run")
    view = pick_view(with_iteration=False)
    if view is not None:
        _show_run(view)


def _show_run(view: View) -> None:
    steps = steps_of(view.folder, view.method)
    if not view.folder.has_truth:
        st.info(
            "The bound is about wrong labels, and this target has no labels that tell which are wrong. Choose a run "
            "whose target has labels, such as the sample.",
            icon=":material/info:",
        )
    elif not steps:
        st.info("This needs two iterations. Wait for the next one, or choose another run.", icon=":material/info:")
    else:
        _show_step(view.folder, choose_step(steps))
        st.page_link(
            SCREENS["compare"].path,
            label="See the flips of this run on Compare",
            icon=SCREENS["compare"].icon,
            query_params={"run": view.run.id},
        )


def _show_step(folder: RunFolder, step: Step) -> None:
    theory = step_theory(folder, step)
    st.markdown(bound_words(theory, rules_in(folder, step)))
    rows = bound_rows(theory)
    if rows:
        table = pd.DataFrame(rows[:SHOWN_PAIRS])
        table.insert(0, "pair", ids_of(folder, table.pop("row").to_numpy()))
        st.dataframe(
            table,
            hide_index=True,
            height=table_height(len(table), 480),
            placeholder="–",
            alt="wrong labels about which the bound says something",
        )
        if len(rows) > len(table):
            st.caption(f"The first {len(table)} of {len(rows):,} pairs.")
    st.caption(f"{care_words(theory)} {LABELS_USED}".strip())


def bound_words(theory: Theory, rules: int) -> str:
    """For how many wrong labels the bound says something, and why not for the others."""
    sides = _sides(theory)
    wrong, told = sum(len(side) for side in sides), sum(int((~side.vacuous).sum()) for side in sides)
    if not wrong:
        return "All labels were correct before this step, so there is nothing to bound."
    if told:
        rest = f" It says nothing about the other {wrong - told:,}." if told < wrong else ""
        return f"The bound says something about **{told:,}** of {plural(wrong, 'wrong label')}.{rest}"
    needed, peers = supporters_needed(rules), max(side.peers for side in sides)
    return (
        f"The bound says nothing about any of the {plural(wrong, 'wrong label')} of this step. With "
        f"{plural(rules, 'rule')} it usually takes about {needed:,} supporting pairs before it says something; here "
        f"there are at most {peers:,}. This is common, and does not mean that the run went wrong."
    )


def supporters_needed(rules: int) -> int:
    """How many supporting pairs lift the bound above 0 where none has a margin: about 12 (m + 1)² for many rules."""
    missing = -math.expm1(-1 / (2 * (rules + 1)))
    return math.ceil(math.log(DELTA) / math.log1p(-(missing**2)))


def bound_rows(theory: Theory) -> list[dict[str, Any]]:
    """A row for each wrong label about which the bound says something."""
    return [
        {
            "row": one.row,
            "wrong label": one.kind.removesuffix("s"),
            "μ": round(one.mu, 3),
            "bound": f"{'at least' if one.kind == 'false negatives' else 'at most'} {one.bound:.3f}",
            "supporting pairs": one.supporters,
            "flip": "⇄ flipped" if one.flipped else None,
        }
        for side in _sides(theory)
        for one in map(side.of, range(len(side)))
        if not one.vacuous
    ]


def care_words(theory: Theory) -> str:
    """How far the bound holds on this run, and how far what its proof assumes."""
    kept = [side.kept for side in _sides(theory) if side.kept is not None]
    holds = f"The bound holds for {percent(min(kept), 0)} of these pairs; the theory promises 95 %. " if kept else ""
    if not theory.outside:
        return holds
    return (
        f"{holds}The proof assumes that μ ± 2σ lies between 0 and 1. That does not hold for "
        f"{percent(theory.outside, 0)} of the pairs of this run."
    )


def _sides(theory: Theory) -> list[ErrorTheory]:
    return [side for side in (theory.false_negatives, theory.false_positives) if side is not None]
