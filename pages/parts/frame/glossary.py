"""Plain words for the terms of the screens (shown on hover), and the formulas behind them (one click away)."""

from __future__ import annotations

import streamlit as st

WORDS = {
    "pair": "Two records that may or may not be the same thing.",
    "match": "A pair whose two records are the same thing. The matcher says match at a probability of 0.5 or more.",
    "source": "The labelled data the matcher and the rules are trained on.",
    "validation": "A small labelled part of the target. It tunes the risk model and chooses between models.",
    "target": "The data to be matched. Its labels are never given to any method; where a benchmark has them, "
    "they are used for scoring only.",
    "probability": "What the matcher says: how likely the two records are the same thing.",
    "risk": "How wrong the current label may well be, between 0 and 1: the value at risk of the label at the chosen "
    "confidence. High risk means rules and matcher contradict each other, or none is sure.",
    "rule": "A sentence about a pair that was almost always right on the source, such as: year differs → non-match.",
    "weight": "How much a rule is listened to. Learned on the validation pairs; 0 means not heard.",
    "share": "This voice's part of all weights heard on this pair. The shares add up to 100 %.",
    "flipped": "The label changed between the matcher as trained on the source (iteration 0) and the shown iteration.",
    "flipped back": "The label changed in an earlier iteration and has returned to what it was at iteration 0.",
    "fixed": "Wrong at iteration 0, right now. Needs the target's labels.",
    "broken": "Right at iteration 0, wrong now. Needs the target's labels.",
    "f1": "Harmonic mean of precision and recall of the matches; 100 % is perfect.",
    "auroc": "How well a ranking puts wrong predictions first: 1 is perfect, 0.5 is chance.",
    "mu": "The pair's expected equivalence probability after hearing the rules and the matcher, by weight.",
    "sigma": "How far the voices leave that expectation open.",
    "purity": "Share of the pairs a rule fires on that have the rule's class.",
    "support": "Pairs a rule fires on.",
    "conflicts": "Pairs a rule fires on whose current label disagrees with it.",
    "iteration": "One round of fine-tuning on the target: predict, refit the risk model, one pass over the target. "
    "Iteration 0 is the matcher before any round.",
    "verdict": "What a person decided about a pair. Verdicts are only ever added, with name and time.",
    "budget": "Errors found when reviewing pairs in the order of a ranking. The steeper, the less work.",
}

_LEAD = "How much closer the two records are than the next candidate. Below 0, another record is closer."
_RARITY = "Words in few records are rare: 1 is a word never seen, common words are near 0."
HINTS = {  # metrics whose names do not explain themselves
    "lead": _LEAD,
    "mutual_lead": _LEAD,
    "rare_word": _RARITY,
    "shared_word": _RARITY,
    "lacking_word": _RARITY,
}


class Tex(str):
    """A formula on a line of its own. Inside Markdown, one of several lines is shown as an error."""


FORMULAS: dict[str, tuple[str, ...]] = {
    "risk": (
        "For a pair with fired rules $F$ and matcher output $x$:",
        Tex(r"W=\sum_{f\in F} w_f + w(x)"),
        Tex(r"\mu=\frac{\sum_{f\in F} w_f\,\mu_f + w(x)\,x}{W}"),
        Tex(r"\sigma^2=\frac{\sum_{f\in F} w_f^2 s_f^2 + w(x)^2 s_x^2}{W^2}"),
        r"The equivalence probability is taken as normal $(\mu,\sigma^2)$, truncated to $[0,1]$, with quantile $Q$. At "
        r"confidence $\theta$ the risks of *match* and of *non-match* are",
        Tex(r"\mathrm{VaR}^+ = 1-Q(1-\theta)"),
        Tex(r"\mathrm{VaR}^- = Q(\theta)"),
        "The pair's risk is that of its current label.",
    ),
    "training": (
        "One pass over the target minimises",
        Tex(r"-(1-\mathrm{VaR}^+)\log g - (1-\mathrm{VaR}^-)\log(1-g)"),
        "where $g$ is the matcher's output and the values at risk are held constant. So the matcher moves towards "
        "whichever label the evidence finds less risky.",
    ),
    "bound": (
        Tex(
            r"\mu_j \;\ge\; \tfrac12 + \tfrac{\epsilon}{2}"
            r" - \sqrt{\tfrac{m+1}{2}\,\ln\frac{1}{1-(1-\delta^{1/n})^{1/2}}}"
        ),
        r"With probability $1-\delta$ a pair whose $\mu_j$ satisfies the bound is flipped to match; here "
        r"$\delta = 0.05$, $m$ counts its rules, and the value at risk is the untruncated $\mu \pm 2\sigma$.",
    ),
}


def formula(name: str, title: str = "The formula") -> None:
    """A formula behind one click."""
    with st.expander(title, icon=":material/function:"):
        for part in FORMULAS[name]:
            if isinstance(part, Tex):
                st.latex(part)
            else:
                st.markdown(part)
