"""Why a pair has its risk, as values and sentences: the rules that fired, the matcher, and what would change it."""

from __future__ import annotations

import pandas as pd

from pages.parts.frame.palette import MATCH, NON_MATCH, of_label
from pages.parts.frame.text import plural
from pages.parts.rules.reason_cards import Reason
from pages.parts.runs.run_files import model_of, rules_of
from pages.parts.runs.run_picker import View
from riskcore.risk import Explanation, explain_pair, smallest_changes
from riskcore.risk.explain import rounded
from riskcore.runs import PairDetail


def explain(view: View, detail: PairDetail) -> Explanation:
    """What each fired rule and the matcher contribute to this pair's risk."""
    model = model_of(view.folder, view.method, view.iteration)
    rules = [model.rules[number] for number in detail.fired]
    return explain_pair(model, detail.scores["probability"], rules, int(detail.scores["label"]))


def reasons_of(view: View, detail: PairDetail, explanation: Explanation) -> list[Reason]:
    """The contributions to a pair's risk, the largest weight first, with the record of each rule."""
    rules = rules_of(view.folder)
    numbers = {rule.text: number for number, rule in enumerate(rules.rules)}
    total = sum(part.weight for part in explanation.contributions) or 1.0
    matcher_label = MATCH.word if detail.scores["probability"] >= 0.5 else NON_MATCH.word
    reasons = []
    for part in explanation.contributions:
        number = None if part.rule is None else numbers.get(part.rule)
        rule = None if number is None else rules.rules[number]
        reasons.append(
            Reason(
                rule=rule,
                outcome=matcher_label if rule is None else rule.outcome,
                share=part.weight / total,
                weight=part.weight,
                mean=part.mean,
                drop=part.drop,
                support=None if number is None else int(rules.support[number]),
                purity=None if number is None else float(rules.purity[number]),
                from_validation=number is not None and bool(rules.from_validation[number]),
            )
        )
    return sorted(reasons, key=lambda reason: -reason.share)


def summary_sentence(detail: PairDetail, reasons: list[Reason]) -> str:
    """What the matcher and the rules indicate, in one sentence."""
    label = of_label(int(detail.scores["label"]))
    rules = [reason for reason in reasons if reason.rule is not None and reason.weight > 0]
    matcher = f"The matcher predicts {label.word} (probability {detail.scores['probability']:.2f})"
    if not rules:
        return f"{matcher}. No rule with a weight above 0 fired on this pair, so its risk depends on the matcher alone."
    against = [reason for reason in rules if reason.outcome != label.word]
    support = [reason for reason in rules if reason.outcome == label.word]
    other = (NON_MATCH if label is MATCH else MATCH).word
    parts = []
    if against:
        verb = "indicates" if len(against) == 1 else "indicate"
        parts.append(f"{plural(len(against), 'rule')} {verb} {other}, with {_share(against)} of the total weight")
    if support:
        verb = "agrees" if len(support) == 1 else "agree"
        parts.append(f"{plural(len(support), 'rule')} {verb}, with {_share(support)} of the weight")
    return f"{matcher}{', but ' if against else '; '}{'; '.join(parts)}."


def _share(reasons: list[Reason]) -> str:
    return f"{100 * sum(reason.share for reason in reasons):.0f} %"


def contribution_table(explanation: Explanation) -> pd.DataFrame:
    """Every contribution to the risk; shares are rounded so that they still add up."""
    shares = rounded([part.mu_share for part in explanation.contributions], 3)
    return pd.DataFrame(
        {
            "contribution": part.rule or "the matcher",
            "weight": round(part.weight, 3),
            "mean": round(part.mean, 3),
            "standard deviation": round(part.deviation, 3),
            "share of μ": share,
            "share of σ²": round(part.variance_share, 5),
            "value at risk without it": round(part.risk_without, 3),
        }
        for part, share in zip(explanation.contributions, shares, strict=True)
    )


def lower_risk_text(view: View, detail: PairDetail) -> str:
    """The smallest changes that would halve the value at risk, line by line."""
    model, scores = model_of(view.folder, view.method, view.iteration), detail.scores
    level = min(0.5, float(scores["var_match"] if scores["label"] else scores["var_non_match"]) / 2)
    rules = [model.rules[number] for number in detail.fired]
    change = smallest_changes(model, detail.scores["probability"], rules, level, int(detail.scores["label"]))
    lines = [f"Any of these changes would lower the value at risk from {change.risk:.2f} to {level:.2f} or less:"]
    if change.mute:
        lines += [f"· mute {plural(len(change.mute), 'rule')} (value at risk {change.mute_risk:.2f}):"]
        lines += [f"    {rule}" for rule in change.mute]
    if change.probability is not None:
        lines.append(
            f"· a matcher probability of {change.probability:.2f} (value at risk {change.probability_risk:.2f})"
        )
    if len(lines) == 1:
        lines = [f"No small change would lower the value at risk from {change.risk:.2f} to {level:.2f}."]
    if change.mute is None:
        lines.append("Muting rules alone would not be enough.")
    lines.append(f"With the opposite label, the value at risk would be {change.other_label_risk:.2f}.")
    return "\n".join(lines)
