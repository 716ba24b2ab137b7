"""Reasons as HTML cards: a rule in a sentence with its record, its conditions drawn as value against threshold.

Attribute names come from uploaded files; everything is escaped here.
"""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Mapping, Sequence

from pages.parts.frame.glossary import HINTS
from pages.parts.frame.palette import MATCH, NON_MATCH, text_tone
from riskcore.data.problems import visible
from riskcore.metrics.kinds import KINDS
from riskcore.rules.record import record_words
from riskcore.rules.rule import Condition, Rule
from riskcore.rules.sentences import rule_sentence

STYLE = """<style>
.rc-rule{border:1px solid color-mix(in srgb,currentColor 16%,transparent);border-left:4px solid var(--tone);
 border-radius:8px;padding:.65rem .9rem;margin:0 0 .6rem 0;line-height:1.45}
.rc-rule.off{border-style:dashed}
.rc-head{display:flex;justify-content:space-between;gap:1rem;align-items:baseline}
.rc-text{font-weight:600;overflow-wrap:anywhere;unicode-bidi:isolate}
.rc-rule.off .rc-text{font-weight:400}
.rc-like{font-weight:400;white-space:nowrap}
.rc-says{color:var(--says);white-space:nowrap;font-weight:600}
.rc-facts{font-size:.85rem;opacity:.85;margin-top:.15rem}
.rc-cond{display:grid;grid-template-columns:minmax(6rem,11rem) 1fr 9.5rem;gap:.8rem;align-items:center;
 font-size:.85rem;margin-top:.4rem}
.rc-track{position:relative;height:10px;border-radius:5px;background:color-mix(in srgb,currentColor 10%,transparent)}
.rc-fires{position:absolute;top:0;bottom:0;border-radius:5px;background:color-mix(in srgb,var(--tone) 30%,transparent)}
.rc-cut{position:absolute;top:-4px;bottom:-4px;width:2px;background:color-mix(in srgb,currentColor 65%,transparent)}
.rc-dot{position:absolute;top:-2px;width:14px;height:14px;margin-left:-7px;border-radius:50%;background:var(--tone);
 border:2px solid color-mix(in srgb,var(--tone) 30%,white)}
.rc-nums{text-align:right;font-variant-numeric:tabular-nums;opacity:.85}
.rc-share{height:6px;border-radius:3px;background:var(--tone);margin-top:.5rem}
.rc-name{overflow-wrap:anywhere;opacity:.85}
</style>"""


@dataclasses.dataclass(frozen=True)
class Reason:
    """One contribution to a pair's risk: a fired rule, or the model whose label it is (`rule` is None)."""

    rule: Rule | None
    outcome: str  # "match" or "non-match"
    share: float  # of the total weight on this pair
    weight: float
    mean: float
    drop: float  # by how much the risk falls without it
    support: int | None = None
    purity: float | None = None
    from_validation: bool = False  # support and purity are those among the validation pairs
    validation_right: int | None = None  # validation pairs that it fires on and is right on
    validation_pairs: int | None = None  # validation pairs that it fires on
    model: str = "the matcher"  # whose label it is
    like: int = 0  # rules that differ from it only in their cuts, and were merged into it


def merged_reasons(reasons: Sequence[Reason]) -> list[Reason]:
    """The reasons with near-equal rules as one, the largest share first.

    Rules of one outcome with conditions on the same sides of the same metrics differ only in their cuts. The heaviest
    of them stays, with its own record and drop, and with the weight and the share of all.
    """
    groups: dict[object, list[Reason]] = {}
    for reason in reasons:
        groups.setdefault(_likeness(reason), []).append(reason)
    return sorted((_merged(group) for group in groups.values()), key=lambda reason: -reason.share)


def _likeness(reason: Reason) -> object:
    if reason.rule is None:
        return None  # the matcher
    return reason.outcome, frozenset((one.attribute, one.kind, one.side) for one in reason.rule.conditions)


def _merged(group: list[Reason]) -> Reason:
    heaviest = max(group, key=lambda reason: reason.weight)
    weight = sum(reason.weight for reason in group)
    mean = sum(reason.weight * reason.mean for reason in group) / weight if weight else heaviest.mean
    like = len(group) - 1 + sum(reason.like for reason in group)
    return dataclasses.replace(
        heaviest, weight=weight, share=sum(reason.share for reason in group), mean=mean, like=like
    )


def reasons_html(
    reasons: Sequence[Reason], metrics: Mapping[str, float | None], probability: float, with_share: bool = True
) -> str:
    """One card per reason. `with_share` is False for a rule that is shown without a pair."""
    return STYLE + "".join(_card(reason, metrics, probability, with_share) for reason in reasons)


def _card(reason: Reason, metrics: Mapping[str, float | None], probability: float, with_share: bool) -> str:
    mark = MATCH if reason.outcome == "match" else NON_MATCH
    if reason.rule is None:
        title, exact = f"{reason.model[:1].upper()}{reason.model[1:]}'s probability", ""
        body = _track(0, 1, 0.5, ">" if probability >= 0.5 else "<=", probability)
        body = _track_row("probability", body, f"{probability:.3f} · threshold 0.5")
    else:
        sentence = rule_sentence(reason.rule)
        title, exact = sentence[:1].upper() + sentence[1:], reason.rule.text
        body = "".join(_condition(condition, metrics) for condition in reason.rule.conditions)
    off = " off" if reason.weight == 0 and with_share else ""
    percent = 100 * reason.share
    share = f" · {percent:.1f} %" if with_share else ""
    bar = f'<div class="rc-share" style="width:{min(max(percent, 0.5), 100):.1f}%"></div>' if with_share else ""
    like = f' <span class="rc-like">… and {reason.like:,} like it</span>' if reason.like else ""
    hover = f' title="{html.escape(visible(exact))}"' if exact else ""
    return (
        f'<div class="rc-rule{off}" style="--tone:{mark.colour};--says:{text_tone(mark.colour)}"><div class="rc-head">'
        f'<span class="rc-text"{hover}>{html.escape(visible(title))}{like}</span>'
        f'<span class="rc-says">{mark.sign} {mark.word}{share}</span></div>'
        f'<div class="rc-facts">{html.escape(_facts(reason))}</div>{body}'
        f"{bar}</div>"
    )


def _facts(reason: Reason) -> str:
    facts = [f"{'together weight' if reason.like else 'weight'} {reason.weight:.2f}", *_record(reason)]
    if reason.weight == 0:
        facts.append("ignored")
    elif abs(reason.drop) >= 0.0005 and not reason.like:
        change = "lower" if reason.drop > 0 else "higher"
        facts.append(f"without it, the value at risk would be {abs(reason.drop):.3f} {change}")
    return " · ".join(facts)


def _record(reason: Reason) -> list[str]:
    """How often the rule was right where people decide: on the validation pairs; on the source where there are none."""
    if reason.validation_pairs is not None and reason.validation_right is not None:
        learned = ["learned from them"] if reason.from_validation else []
        return [record_words(reason.validation_right, reason.validation_pairs, "validation"), *learned]
    if reason.support is None or reason.purity is None or reason.purity != reason.purity:
        return []
    where = "validation" if reason.from_validation else "source"
    return [record_words(round(reason.purity * reason.support), reason.support, where)]


def _condition(condition: Condition, metrics: Mapping[str, float | None]) -> str:
    value = metrics.get(condition.metric.key)
    kind = KINDS[condition.kind]
    if kind.flag:
        words = "" if value is None else "yes" if value > 0.5 else "no"
        return _condition_row(condition, _track(0, 1, 0.5, condition.side, value), words)
    top = 1.0 if kind.bounded else max(2 * abs(condition.cut), 1.25 * (value or 0), 1.0)
    words = "" if value is None else f"{value:.3g} · "
    track = _track(kind.low, top, condition.cut, condition.side, value)
    return _condition_row(condition, track, f"{words}threshold {condition.cut:.3g}")


def _condition_row(condition: Condition, track: str, words: str) -> str:
    """The attribute, where the pair lies, and both numbers; what is measured is one hover away."""
    exact = f"{condition.metric.label}. {HINTS.get(condition.kind, '')}"
    return _track_row(condition.attribute.replace("_", " "), track, words, exact)


def _track_row(name: str, track: str, words: str, hint: str = "") -> str:
    return (
        f'<div class="rc-cond"><span class="rc-name" title="{html.escape(hint)}">{html.escape(name)}</span>{track}'
        f'<span class="rc-nums">{html.escape(words)}</span></div>'
    )


def _track(low: float, high: float, cut: float, side: str, value: float | None) -> str:
    def place(x: float) -> float:
        return min(max(100 * (x - low) / (high - low), 0), 100)

    at = place(cut)
    fires = f"left:{at:.1f}%;right:0" if side == ">" else f"left:0;width:{at:.1f}%"
    dot = "" if value is None else f'<span class="rc-dot" style="left:{place(value):.1f}%"></span>'
    return (
        f'<div class="rc-track" role="img" aria-label="value against threshold"><span class="rc-fires" style="{fires}">'
        f'</span><span class="rc-cut" style="left:{at:.1f}%"></span>{dot}</div>'
    )
