"""The balance sheet of a pair as a waterfall: where it begins, what each attribute adds, where it ends.

Every row opens to who said it, and to the rules and metrics behind it; the browser does that without asking the server.
Shown numbers are rounded so that they still add up. Record text and attribute names are escaped here.
"""

from __future__ import annotations

import dataclasses
import html
import math
from collections.abc import Callable, Mapping, Sequence

from pages.parts.frame.palette import INK, MATCH, NON_MATCH, text_tone
from riskcore.metrics.kinds import Metric
from riskcore.risk.balance import BEFORE, BalanceSheet
from riskcore.risk.explain import rounded
from riskcore.rules.rule_set import RuleSet
from riskcore.rules.sentences import rule_sentence, value_sentence

DECIMALS = 2
LEAST = 0.05  # log-odds: smaller contributions share one row
SHOWN = 3  # rules and metrics behind a row
NAMES = {  # of voices, as people read them
    "matcher": "the matcher",
    "fine-tuned matcher": "the matcher, fine-tuned on the labels",
    "rules": "the rules",
    "target rules": "rules on the target's own attributes",
    "forest": "forest on source and validation",
    "balanced forest": "forest, both parts weighing the same",
    "target forest": "forest on validation alone",
    "linear model": "the linear model",
    "competing candidates": "other pairs of these records",
}

STYLE = f"""<style>
.rc-sheet{{width:100%;line-height:1.4;font-size:.92rem}}
.rc-sheet details{{border-top:1px solid color-mix(in srgb,currentColor 14%,transparent)}}
.rc-sheet summary,.rc-sheet .rc-line{{display:grid;grid-template-columns:minmax(7rem,13rem) 1fr 4.6rem;gap:.8rem;
 align-items:center;padding:.34rem .3rem;list-style:none;cursor:pointer;min-height:2rem}}
.rc-sheet .rc-line{{cursor:default}}
.rc-sheet summary::-webkit-details-marker{{display:none}}
.rc-sheet summary:hover,.rc-sheet summary:focus-visible{{background:color-mix(in srgb,currentColor 6%,transparent)}}
.rc-sheet .rc-subject{{font-weight:600;overflow-wrap:anywhere;unicode-bidi:isolate}}
.rc-sheet summary .rc-subject::before{{content:"▸ ";font-weight:400}}
.rc-sheet details[open] summary .rc-subject::before{{content:"▾ "}}
.rc-sheet .rc-path{{position:relative;height:18px}}
.rc-sheet .rc-zero{{position:absolute;top:-7px;bottom:-7px;width:1px;
 background:color-mix(in srgb,currentColor 45%,transparent)}}
.rc-sheet .rc-bar{{position:absolute;top:2px;bottom:2px;border-radius:3px;min-width:2px}}
.rc-sheet .rc-from{{position:absolute;top:-9px;height:11px;width:1px;
 background:color-mix(in srgb,currentColor 40%,transparent)}}
.rc-sheet .rc-number{{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}}
.rc-sheet .rc-total{{border-top:2px solid color-mix(in srgb,currentColor 40%,transparent);font-weight:600}}
.rc-sheet .rc-behind{{padding:.1rem .3rem .6rem 1.3rem;font-size:.86rem}}
.rc-sheet .rc-behind table{{width:100%;border-collapse:collapse}}
.rc-sheet .rc-behind td{{padding:.12rem .5rem .12rem 0;vertical-align:top;overflow-wrap:anywhere;unicode-bidi:isolate}}
.rc-sheet .rc-behind td:last-child{{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums;width:5rem}}
.rc-sheet .rc-match{{color:{text_tone(MATCH.colour)}}}
.rc-sheet .rc-non{{color:{text_tone(NON_MATCH.colour)}}}
.rc-sheet .rc-phrase{{display:block;font-weight:400;font-size:.86rem;overflow-wrap:anywhere;unicode-bidi:isolate}}
</style>"""


@dataclasses.dataclass(frozen=True)
class Step:
    """One row of the waterfall."""

    name: str
    value: float
    shown: float  # rounded: the shown values add up to the shown total
    behind: str  # HTML of what opens; "" where nothing does
    phrase: str = ""


@dataclasses.dataclass(frozen=True, eq=False)
class Background:
    """What the rows of a sheet are put into words with."""

    rules: RuleSet
    metrics: Mapping[str, float | None]  # of the pair, by key
    metric_of: Mapping[str, Metric]
    phrase: Callable[[str, bool], str]  # what a subject says, towards a match or not


def sheet_html(sheet: BalanceSheet, background: Background, title: str) -> str:
    """The waterfall of all the evidence, and below it who said how much."""
    steps = evidence_steps(sheet, background)
    total = rounded([step.value for step in steps], DECIMALS)
    body = _waterfall(steps, round(math.fsum(total), DECIMALS), sheet.total, title)
    return f"{STYLE}{body}"


def evidence_steps(sheet: BalanceSheet, background: Background) -> list[Step]:
    """Prior, subjects from the strongest on, and the small ones together."""
    subjects = sheet.by_subject
    large = {name: value for name, value in subjects.items() if abs(value) >= LEAST}
    small = {name: value for name, value in subjects.items() if abs(value) < LEAST and value}
    values = [sheet.prior, *large.values(), *([math.fsum(small.values())] if small else [])]
    shown = rounded(values, DECIMALS)
    steps = [
        Step("Before comparing", values[0], shown[0], _voices(sheet, BEFORE, "the combination itself", sheet.offset))
    ]
    for (name, value), number in zip(large.items(), shown[1:], strict=False):
        behind = _behind(sheet, name, background)
        steps.append(Step(name.replace("_", " "), value, number, behind, _phrase(background, name, value)))
    if small:
        names = ", ".join(name.replace("_", " ") for name in small)
        steps.append(Step(f"{names}: little", values[-1], shown[-1], ""))
    return steps


def matcher_html(sheet: BalanceSheet, background: Background) -> str:
    """The waterfall of the matcher's own answer, where that is the label."""
    assert sheet.matcher_alone is not None
    parts = dict(sheet.matcher_alone)
    prior = parts.pop(BEFORE)
    large = {name: value for name, value in parts.items() if value}
    ordered = sorted(large.items(), key=lambda one: -abs(one[1]))
    shown = rounded([prior, *(value for _, value in ordered)], DECIMALS)
    steps = [Step("Before comparing", prior, shown[0], "")]
    for (name, value), number in zip(ordered, shown[1:], strict=True):
        steps.append(Step(name.replace("_", " "), value, number, "", _phrase(background, name, value)))
    return STYLE + _waterfall(steps, round(math.fsum(shown), DECIMALS), math.fsum([prior, *large.values()]), "")


def voices_html(sheet: BalanceSheet) -> str:
    """Who said how much: weight times log-odds."""
    rows = [(_voice_name(one.name), one) for one in sheet.voices if one.total]
    shown = rounded([sheet.offset, *(one.total for _, one in rows)], DECIMALS)
    cells = [("the combination itself", "", shown[0])]
    for (name, voice), number in zip(rows, shown[1:], strict=True):
        said = f"says {_probability(voice.log_odds)}, weight {voice.weight:.2f}" if voice.log_odds else ""
        cells.append((name, said, number))
    body = "".join(
        f"<tr><td>{html.escape(name)}</td><td>{said}</td><td class={_tone(number)}>{_signed(number)}</td></tr>"
        for name, said, number in cells
    )
    total = _signed(round(math.fsum(shown), DECIMALS))
    return (
        f'{STYLE}<div class="rc-sheet"><div class="rc-behind"><table>{body}'
        f"<tr><td><b>together</b></td><td></td><td><b>{total}</b></td></tr></table></div></div>"
    )


def sheet_words(sheet: BalanceSheet) -> str:
    """The sheet in a sentence, for those who cannot see it."""
    parts = [f"{name} {_signed(value)}" for name, value in sheet.by_subject.items() if abs(value) >= LEAST]
    return f"Log-odds {_signed(sheet.prior)} before comparing; {', '.join(parts)}; together {_signed(sheet.total)}."


def _waterfall(steps: Sequence[Step], shown_total: float, total: float, title: str) -> str:
    edges, at = [0.0], 0.0
    for step in steps:
        at += step.value
        edges.append(at)
    low, high = min(edges) - 0.15, max(edges) + 0.15
    span = max(high - low, 1.0)

    def place(value: float) -> float:
        return 100 * (value - low) / span

    rows = []
    for step, begin, end in zip(steps, edges, edges[1:], strict=False):
        rows.append(_row(step, place(begin), place(end), place(0)))
    says = MATCH if total >= 0 else NON_MATCH
    bar = _bar(place(0), place(total), INK)
    rows.append(
        f'<div class="rc-line rc-total"><span class="rc-subject">Together</span>'
        f'<span class="rc-path"><span class="rc-zero" style="left:{place(0):.1f}%"></span>{bar}</span>'
        f'<span class="rc-number">{_signed(shown_total)}</span></div>'
        f'<div class="rc-line"><span></span><span>{says.sign} {says.word} with probability '
        f"{_probability(total)}</span><span></span></div>"
    )
    label = html.escape(title or "balance sheet")
    return f'<div class="rc-sheet" role="group" aria-label="{label}">{"".join(rows)}</div>'


def _phrase(background: Background, name: str, value: float) -> str:
    """What a subject says; its name stands beside it."""
    return background.phrase(name, value > 0).removeprefix(f"{name.replace('_', ' ')}: ")


def _row(step: Step, begin: float, end: float, zero: float) -> str:
    tone = MATCH.colour if step.value >= 0 else NON_MATCH.colour
    phrase = f'<span class="rc-phrase">{html.escape(step.phrase)}</span>' if step.phrase else ""
    inner = (
        f'<span class="rc-subject">{html.escape(step.name)}{phrase}</span>'
        f'<span class="rc-path"><span class="rc-zero" style="left:{zero:.1f}%"></span>'
        f'<span class="rc-from" style="left:{begin:.1f}%"></span>{_bar(begin, end, tone)}</span>'
        f'<span class="rc-number {_tone(step.shown)}">{_signed(step.shown)}</span>'
    )
    if not step.behind:
        return f'<details><summary style="cursor:default">{inner}</summary></details>'
    return f'<details><summary>{inner}</summary><div class="rc-behind">{step.behind}</div></details>'


def _bar(begin: float, end: float, tone: str) -> str:
    left, width = min(begin, end), abs(end - begin)
    return f'<span class="rc-bar" style="left:{left:.1f}%;width:{width:.1f}%;background:{tone}"></span>'


def _behind(sheet: BalanceSheet, subject: str, background: Background) -> str:
    """Who said it, and the rules and metrics that say it."""
    return (
        _voices(sheet, subject, "", 0.0)
        + _telling_rules(sheet, subject, background)
        + _telling_metrics(sheet, subject, background)
    )


def _voices(sheet: BalanceSheet, subject: str, rest: str, offset: float) -> str:
    said = [(_voice_name(name), value) for name, value in sheet.about(subject).items()]
    if rest:
        said = [(rest, offset), *said]
    numbers = rounded([value for _, value in said], DECIMALS)
    rows = [(name, number) for (name, _), number in zip(said, numbers, strict=True) if number]
    return _table("Who says it", [(html.escape(name), number) for name, number in rows])


def _telling_rules(sheet: BalanceSheet, subject: str, background: Background) -> str:
    """The rules about a subject that count most."""
    rules = background.rules.rules
    about = [
        (number, value)
        for number, value in sheet.rules.items()
        if any(condition.attribute == subject for condition in rules[number].conditions)
    ]
    about.sort(key=lambda one: -abs(one[1]))
    rows = [
        (f'<span title="{html.escape(rules[number].text)}">{html.escape(rule_sentence(rules[number]))}</span>', value)
        for number, value in about[:SHOWN]
    ]
    return _table("Rules", rows)


def _telling_metrics(sheet: BalanceSheet, subject: str, background: Background) -> str:
    """What forests and the linear model look at, the strongest first."""
    about = [
        (key, value)
        for key, value in sheet.metrics.items()
        if (metric := background.metric_of.get(key)) is not None and metric.attribute == subject and value
    ]
    about.sort(key=lambda one: -abs(one[1]))
    rows = []
    for key, value in about[:SHOWN]:
        metric, found = background.metric_of[key], background.metrics.get(key)
        words = "cannot be compared" if found is None else value_sentence(metric, found)
        rows.append((f'<span title="{html.escape(metric.label)}">{html.escape(words)}</span>', value))
    return _table("What the forests and the linear model look at", rows)


def _table(title: str, rows: Sequence[tuple[str, float]]) -> str:
    """Cells are HTML."""
    if not rows:
        return ""
    body = "".join(f"<tr><td>{cell}</td><td class={_tone(value)}>{_signed(value)}</td></tr>" for cell, value in rows)
    return f"<b>{html.escape(title)}</b><table>{body}</table>"


def _voice_name(name: str) -> str:
    return NAMES.get(name, name)


def _tone(value: float) -> str:
    return "rc-match" if value > 0 else "rc-non" if value < 0 else "rc-none"


def _signed(value: float) -> str:
    """With a sign that is as wide as a plus."""
    text = f"{abs(value):.{DECIMALS}f}"
    return f"+{text}" if value > 0 else f"−{text}" if value < 0 else text


def _probability(log_odds: float) -> str:
    p = 1 / (1 + math.exp(-max(min(log_odds, 700), -700)))
    return f"{p:.2f}" if 0.005 <= p <= 0.995 else f"{p:.1g}" if p < 0.5 else f"{p:.4g}"
