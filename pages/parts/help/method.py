"""The method in plain words, what it builds on, where Riskcore differs from it, and its formulas."""

from __future__ import annotations

import streamlit as st

from pages.parts.frame.glossary import show_formula
from pages.parts.frame.page import section

STEPS = (
    "**Train.** A matcher learns from the source, whose pairs have labels.",
    "**Find rules.** The same labels teach one-sided rules, such as: year differs → non-match. Each rule is reliable "
    "on the source.",
    "**Measure risk.** The target has no labels. There, the rules that fire on a pair are compared with the matcher. "
    "Where they contradict its label, or where neither is certain, the label is at risk.",
    "**Repair.** The matcher is fine-tuned on the target, towards the labels with the lower risk. Labels flip: where "
    "the rules are right, from wrong to correct.",
    "**Choose.** Steps 3 and 4 are repeated. A few labelled pairs of the target, the validation pairs, tune the risk "
    "and choose the iteration that is kept. Without them nothing is applied, and flips are proposals.",
    "**Audit.** People review the riskiest pairs first, each with its reasons. A verdict decides, whatever the model "
    "says.",
)
SOURCES = (
    "The method is that of *Adaptive Deep Learning for Entity Resolution by Risk Analysis*, by Zhaoqiang Chen, Qun "
    "Chen, Youcef Nafa, Tianyi Duan, Wei Pan, Lijun Zhang and Zhanhuai Li.",
    "Its risk model is **LearnRisk**, of *Towards Interpretable and Learnable Risk Analysis for Entity Resolution*, by "
    "Zhaoqiang Chen, Qun Chen, Boyi Hou, Tianyi Duan, Zhanhuai Li and Guoliang Li (SIGMOD 2020).",
)
DIFFERENCES = (
    "**risk** follows the paper. In addition, the value at risk is averaged with that of the pass before, so that "
    "labels do not swing back and forth, and the validation pairs join each pass without their labels.",
    "**risk+** goes further: matcher, rules, forests and a linear model are combined by stacking, and competing "
    "candidates of a record count. The matcher is fine-tuned towards the combined probability.",
    "**Calibrated risk.** The paper ranks pairs by value at risk. Here the queue is ordered by the probability that a "
    "label is wrong, by all the evidence, calibrated on the validation labels: of pairs shown with risk 0.3, about "
    "three in ten are wrong. Value at risk still drives the fine-tuning of the method risk.",
    "**Any labels.** The labels of every method are ranked, and those of another matcher whose scores you bring.",
)


def show_method() -> None:
    """Words first, formulas last."""
    section("In six steps")
    st.markdown("\n".join(f"{number}. {step}" for number, step in enumerate(STEPS, 1)))
    section("What it builds on")
    for sentence in SOURCES:
        st.markdown(sentence)
    section("How Riskcore differs")
    st.markdown("\n".join(f"- {one}" for one in DIFFERENCES))
    section("The formulas")
    st.subheader("Value at risk, and risk", anchor=False)
    show_formula("risk")
    st.subheader("Fine-tuning", anchor=False)
    show_formula("training")
