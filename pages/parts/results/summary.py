"""What decides in the result: the answer and its labels in words, counts, contradictions, what is left out."""

from __future__ import annotations

import streamlit as st

from pages.parts.frame.glossary import WORDS
from pages.parts.frame.text import literal, plural
from riskcore.audit.decisions import BY_CONSTRAINT, BY_LABEL, BY_MODEL, BY_VERDICT
from riskcore.audit.result import RunResult

SHOWN_CONTRADICTIONS = 20
WHO = {
    BY_VERDICT: "A person's current verdict decides, whatever the model says.",
    BY_LABEL: "The labels of the validation pairs, which came from people.",
    BY_MODEL: "The method says match from a probability of 0.5 on.",
    BY_CONSTRAINT: "Matches that were dropped: by the constraint, or as people hold the two records apart.",
}


def show_summary(result: RunResult) -> None:
    """The answer, counts, and what a person should know before using it."""
    st.markdown(answer_words(result), help="A verdict decides first, then a label that was given, then the method.")
    counts = result.about["counts"]
    columns = st.columns(6)
    columns[0].metric("Pairs", f"{counts['pairs']:,}", help=f"Every candidate pair of the target. {WORDS['pair']}")
    columns[1].metric("= Matches", f"{counts['matches']:,}", help="Pairs that are decided to be a match.")
    for column, (by, words) in zip(columns[2:], WHO.items(), strict=True):
        column.metric(f"By {by}", f"{counts.get(f'decided by {by}', 0):,}", help=words)
    show_contradictions(result)
    for sentence in result.about["left_out"]:
        st.caption(sentence)


def answer_words(result: RunResult) -> str:
    """Whose answer it is, and the labels that it really used."""
    answer = result.answer
    kept = "" if answer.iteration is None else f", kept iteration {answer.iteration}"
    return f"The answer of **{literal(answer.method)}**{kept}. {answer.sentence}"


def show_contradictions(result: RunResult) -> None:
    """Where people contradict each other; nothing where they do not."""
    found = result.about["contradictions"]
    if not found:
        return
    st.warning(
        f"{plural(len(found), 'contradiction')} between what people decided. Nothing is chosen: settle them by new "
        "verdicts.",
        icon=":material/warning:",
    )
    with st.expander("Contradictions", icon=":material/list:"):
        for words in found[:SHOWN_CONTRADICTIONS]:
            st.markdown(f"- {literal(words, 600)}")
        if len(found) > SHOWN_CONTRADICTIONS:
            st.caption(f"{len(found) - SHOWN_CONTRADICTIONS:,} more are in the workbook, on the sheet About.")
