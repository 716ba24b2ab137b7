"""Why a pair has its risk, as values and sentences: the rules that fired, the matcher, and what would change it."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence

import pandas as pd

from pages.parts.frame.palette import FLIPPED, FLIPPED_BACK, MATCH, NON_MATCH
from pages.parts.frame.text import plural
from pages.parts.rules.reason_cards import Reason
from pages.parts.runs.run_files import flips_of, model_of, rules_of, sheet_of, validation_rules_of, visible_types
from pages.parts.runs.run_picker import View
from riskcore.risk import Explanation, explain_pair, smallest_changes
from riskcore.risk.balance import BalanceSheet
from riskcore.risk.explain import rounded
from riskcore.rules.rule import Rule
from riskcore.rules.sentences import rule_sentence
from riskcore.runs import PairDetail
from riskcore.runs.readers.pair_reasons import PairReason, reason_of_sheet


@dataclasses.dataclass(frozen=True, eq=False)
class Why:
    """Everything that is known of why a pair is labelled as it is, and how risky that is."""

    explanation: Explanation  # by the risk model: what the rules and the matcher put at risk
    rules: list[Reason]
    sheet: BalanceSheet | None  # all the evidence
    reason: PairReason | None  # its leading reason in words
    hidden: frozenset[str]  # attributes whose values are masked
    flip: str  # when the label flipped, to be added to a sentence; "" where it did not


def why(view: View, detail: PairDetail, hidden: Collection[str] = ()) -> Why:
    """Gather it for the pair as the view shows it, without quoting values of hidden attributes."""
    explanation, sheet, reason = explain(view, detail), None, None
    sheet = sheet_of(view.folder, detail, view.method, view.iteration)
    if sheet is not None:
        reason = reason_of_sheet(detail, visible_types(view.folder, hidden), sheet)
    flip = flip_words(view, [detail.row])[0] if detail.scores["flipped"] else ""
    rules = reasons_of(view, detail, explanation, model_words(view, sheet))
    return Why(explanation, rules, sheet, reason, frozenset(hidden), flip)


def visible_metrics(detail: PairDetail, hidden: Collection[str]) -> dict[str, float | None]:
    """The pair's metrics, but for those of hidden attributes."""
    return {key: value for key, value in detail.metrics.items() if key.rpartition(".")[0] not in hidden}


def model_words(view: View, sheet: BalanceSheet | None = None) -> str:
    """Whose label it is: the combined model's where all the evidence answers, else the matcher's."""
    alone = sheet is not None and sheet.matcher_alone is not None
    return "the combined model" if view.method == "risk+" and not alone else "the matcher"


def flip_words(view: View, rows: Sequence[int]) -> list[str]:
    """When the labels of these pairs flipped: " at iteration 2"; "" where they did not, or nobody knows."""
    when = flips_of(view.folder, view.method, view.iteration, rows)
    return ["" if at is None else f" at iteration {at}" if at else " by all the evidence combined" for at in when]


def flip_marks(view: View, rows: pd.DataFrame, proposed: bool) -> list[str]:
    """Whether and when each label on a page of the queue flipped. `proposed`: flips are proposals."""
    when = flip_words(view, rows["row"].to_numpy()) if rows["flipped"].any() else [""] * len(rows)
    verb = "proposed" if proposed else FLIPPED.word
    return [
        f"{FLIPPED.sign} {verb}{at}" if flipped else FLIPPED_BACK.text if flips else ""
        for flipped, flips, at in zip(rows["flipped"], rows["flips"], when, strict=True)
    ]


def explain(view: View, detail: PairDetail) -> Explanation:
    """What each fired rule and the matcher contribute to this pair's risk."""
    model = model_of(view.folder, view.method, view.iteration)
    rules = [model.rules[number] for number in detail.fired]
    return explain_pair(model, detail.scores["probability"], rules, int(detail.scores["label"]))


def reasons_of(view: View, detail: PairDetail, explanation: Explanation, model: str) -> list[Reason]:
    """The contributions to a pair's risk, the largest weight first, with the record of each rule."""
    rules, validated = rules_of(view.folder), validation_rules_of(view.folder)
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
                model=model,
                validation_right=None if number is None or validated is None else int(validated.right[number]),
                validation_pairs=None if number is None or validated is None else int(validated.support[number]),
            )
        )
    return sorted(reasons, key=lambda reason: -reason.share)


def contribution_table(explanation: Explanation, model: str) -> pd.DataFrame:
    """Every contribution to the risk; shares are rounded so that they still add up."""
    shares = rounded([part.mu_share for part in explanation.contributions], 3)
    return pd.DataFrame(
        {
            "contribution": part.rule or model,
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
        lines += [f"    {rule_sentence(Rule.parse(rule))}" for rule in change.mute]
    if change.probability is not None:
        lines.append(f"· another probability, {change.probability:.2f} (value at risk {change.probability_risk:.2f})")
    if len(lines) == 1:
        lines = [f"No small change would lower the value at risk from {change.risk:.2f} to {level:.2f}."]
    if change.mute is None:
        lines.append("Muting rules alone would not be enough.")
    lines.append(f"With the opposite label, the value at risk would be {change.other_label_risk:.2f}.")
    return "\n".join(lines)
