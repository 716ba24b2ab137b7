"""What the terms on the screens mean (shown on hover and on Help), and the formulas behind them."""

from __future__ import annotations

import streamlit as st

WORDS = {
    "pair": "Two records that may or may not refer to the same entity.",
    "match": "A pair whose two records refer to the same entity. The matcher labels a pair match when its probability "
    "is 0.5 or more.",
    "non-match": "A pair whose two records refer to different entities.",
    "matcher": "The model that gives every pair a probability of being a match.",
    "label": "What a model says about a pair: match or non-match.",
    "truth": "What a benchmark knows about a pair. It is used for scoring only.",
    "metric": "A number that says how alike two values of a pair are, such as the share of words they have in common.",
    "candidate": "A pair that is worth comparing: brought with the tables, or found by blocking. Only candidates are "
    "decided.",
    "blocking": "Finding the candidates among all possible pairs. A match that it leaves out is lost to everything "
    "that follows.",
    "source": "The labelled data that the matcher and the rules are trained on.",
    "validation": "A small labelled part of the target. It is used to tune the risk model and to choose the iteration "
    "that is kept.",
    "target": "The data to be matched. Its labels are never given to any method. Where a benchmark has them, they are "
    "used for scoring only.",
    "probability": "The matcher's probability that the two records refer to the same entity.",
    "risk": "The probability that the current label is wrong, by all the evidence: the matcher, forests and a linear "
    "model on the metrics, the rules, and competing candidates. It is calibrated on the validation labels: of pairs "
    "shown with risk 0.3, about three in ten are wrong. Without such labels only the order means something.",
    "expected gain": "What a verdict on a pair is expected to add to F1: the risk of its label, times what the "
    "correction of a wrong label of its kind adds.",
    "value at risk": "What the rules and the matcher's output alone put at risk, as published (LearnRisk): high where "
    "they contradict the label, or where neither is certain. It drives the fine-tuning of the method risk and is what "
    "the reasons add up to.",
    "balance sheet": "All the evidence on a pair, attribute by attribute, as a sum of log-odds: where it begins before "
    "anything is compared, what each attribute adds for or against a match, and where it ends. Each part is what "
    "matcher, rules, forests and linear model say of the attribute, weighed as the combined model weighs them.",
    "leading reason": "The attribute that speaks most for what all the evidence says of a pair, match or non-match.",
    "rule": "A condition that almost always meant the same label on the source, such as: year differs → non-match.",
    "reason": "A rule that fired on the pair, or the matcher, with its share of the value at risk.",
    "weight": "How much a rule counts in the risk model. Learned on the validation pairs if there are enough of both "
    "classes, else as the source suggests. At 0 the rule is ignored.",
    "share": "The rule's or the matcher's share of the total weight on this pair. The shares add up to 100 %.",
    "flipped": "The label differs from the one at iteration 0, the matcher as trained on the source.",
    "flipped back": "The label changed in an earlier iteration and then returned to the label of iteration 0.",
    "fixed": "Wrong at iteration 0, correct now. Needs the target's labels.",
    "broken": "Correct at iteration 0, wrong now. Needs the target's labels.",
    "proposal": "A flip of a run without validation labels of both classes. It is shown, and not applied.",
    "precision": "The share of the pairs labelled match that really are matches.",
    "recall": "The share of the matches that are labelled match.",
    "f1": "Harmonic mean of precision and recall on the matches; 100 % is perfect.",
    "auroc": "How well a ranking puts wrong labels first: 1 is perfect, 0.5 is no better than random order.",
    "purity": "The share of the pairs a rule fires on whose true label is the rule's.",
    "support": "The number of source pairs a rule fires on.",
    "conflicts": "Pairs the rule fires on whose current label contradicts it.",
    "iteration": "One round of fine-tuning on the target: predict, refit the risk model, train for one pass over the "
    "target. Iteration 0 is the matcher before fine-tuning.",
    "kept iteration": "The iteration whose labels are the method's answer: the best by the validation labels. Without "
    "validation labels of both classes it is iteration 0.",
    "draft": "A run on a target without labels: its pairs are ranked, nothing is adapted. Label some of them next.",
    "base learner": "A model whose predictions risk+ combines: a forest, a linear model, the rules.",
    "stacking": "Combining the matcher and the base learners by a small model, fitted on predictions of pairs that "
    "they had not seen.",
    "competing candidates": "Other candidate pairs of the same record. Where a record has at most one counterpart, a "
    "confident match of one pair speaks against the others.",
    "entity": "The records that matches join: they refer to the same thing.",
    "constraint": "How many matches a record may have. Of competing matches the most likely choice stays; what people "
    "decided always stays.",
    "verdict": "A person's decision about a pair. Verdicts are signed and timestamped. They are never overwritten.",
    "budget": "The number of errors found when pairs are reviewed in the order of a ranking. A steeper curve means "
    "less work.",
    "calibration": "Probabilities are calibrated when, of all pairs given a probability of 0.8, 80 % are matches. "
    "The expected calibration error is the mean distance between the two, weighted by the number of pairs.",
}

_LEAD = "How much closer the two records are to each other than to the next candidate. Below 0, a candidate is closer."
_RARITY = "How rare a word is: 1 for a word found nowhere else, close to 0 for common words."
HINTS = {  # metrics whose names do not explain themselves
    "lead": _LEAD,
    "mutual_lead": _LEAD,
    "rare_word": _RARITY,
    "shared_word": _RARITY,
    "lacking_word": _RARITY,
}


class Tex(str):
    """A formula on a line of its own. Inside Markdown, a formula of several lines is shown as an error."""


FORMULAS: dict[str, tuple[str, ...]] = {
    "risk": (
        r"For a pair with matcher output $x$ and fired rules $F$, each with a weight $w_f$, a mean $\mu_f$ and a "
        "deviation $s_f$:",
        Tex(r"W=\sum_{f\in F} w_f + w(x)"),
        Tex(r"\mu=\frac{\sum_{f\in F} w_f\,\mu_f + w(x)\,x}{W}"),
        Tex(r"\sigma^2=\frac{\sum_{f\in F} w_f^2 s_f^2 + w(x)^2 s_x^2}{W^2}"),
        r"The equivalence probability is taken as normal $(\mu,\sigma^2)$, truncated to $[0,1]$, with quantile $Q$. At "
        r"confidence $\theta$ the risks of *match* and of *non-match* are",
        Tex(r"\mathrm{VaR}^+ = 1-Q(1-\theta)"),
        Tex(r"\mathrm{VaR}^- = Q(\theta)"),
        "The pair's value at risk is that of its current label. It drives the fine-tuning of the method *risk*.",
        "The **risk** that orders the queue takes all the evidence in. A stacker combines the log-odds of matcher, "
        r"rules, forests and linear model into $\ell$, out-of-fold on the validation pairs; $s$ is how far they "
        "disagree. The evidence against a label and its risk are",
        Tex(r"v = \mp\,\ell + z_\theta\, c\, s"),
        Tex(r"\mathrm{risk} = \frac{1}{1+e^{-(a + b\,v)}}"),
        r"with the upper sign for a match, $z_\theta$ the normal quantile, $c$ a small constant, and $a$, $b$ fitted "
        "to the wrong and right validation labels.",
    ),
    "training": (
        "One pass over the target minimises",
        Tex(r"-(1-\mathrm{VaR}^+)\log g - (1-\mathrm{VaR}^-)\log(1-g)"),
        "where $g$ is the matcher's output and the values at risk are held constant. This moves the matcher towards "
        "the label with the lower risk.",
    ),
    "bound": (
        Tex(
            r"\mu_j \;\ge\; \tfrac12 + \tfrac{\epsilon}{2}"
            r" - \sqrt{\tfrac{m+1}{2}\,\ln\frac{1}{1-(1-\delta^{1/n})^{1/2}}}"
        ),
        r"This holds with probability at least $1-\delta$ for a match $j$ that is labelled non-match. Here "
        r"$\delta = 0.05$, $m$ is the number of rules, $n$ the number of supporting pairs, and $\epsilon$ the margin "
        r"that each of them has. The value at risk is $\mu \pm 2\sigma$, not truncated.",
    ),
}


def formula(name: str, title: str = "The formula") -> None:
    """A formula in an expander."""
    with st.expander(title, icon=":material/function:"):
        show_formula(name)


def show_formula(name: str) -> None:
    """A formula with its words."""
    for part in FORMULAS[name]:
        if isinstance(part, Tex):
            st.latex(part)
        else:
            st.markdown(part)
