"""The heart of the screens: one pair, what was decided about it, and why.

Both records with the differing words marked; each voice drawn as value against threshold with its share; the
distribution with the value at risk shaded; the pair's path through the iterations.
"""

from __future__ import annotations

import html

import pandas as pd
import streamlit as st

from pages.parts.frame.glossary import WORDS, formula
from pages.parts.frame.palette import FLIPPED, MATCH, NON_MATCH, RISKY, of_label, risk_word
from pages.parts.frame.text import plural
from pages.parts.pairs.pair_charts import history_chart, path_words, risk_chart
from pages.parts.pairs.record_table import has_long_values, records_table
from pages.parts.rules.rule_view import Voice, voices_html
from pages.parts.runs.run_files import history_of, model_of, risk_labels, rules_of, summary_of
from pages.parts.runs.run_picker import View
from riskcore.risk import Explanation, explain_pair, smallest_changes
from riskcore.risk.explain import rounded
from riskcore.runs import PairDetail

SHOWN_VOICES = 6
_BADGE = """<span style="display:inline-block;padding:.18rem .7rem;border-radius:999px;font-weight:600;
 margin:0 .45rem .3rem 0;white-space:nowrap;background:color-mix(in srgb,{tone} 16%,transparent);
 color:color-mix(in srgb,{tone} 78%,currentColor);
 border:1px solid color-mix(in srgb,{tone} 45%,transparent)">{text}</span>"""


def show_pair(detail: PairDetail, voices: list[Voice]) -> None:
    """What was decided, who says what, and both records."""
    st.html(headline(detail) + f"<p style='margin:.5rem 0 0'>{html.escape(sentence(detail, voices))}</p>")
    show_records(detail)


def show_reasons(view: View, detail: PairDetail, explanation: Explanation, voices: list[Voice]) -> None:
    """Voices on the left; the distribution and the path on the right."""
    history = history_of(view.folder, detail, view.method)
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.subheader("Why", anchor=False, help=f"{WORDS['rule']} {WORDS['share']}")
        _show_voices(voices, detail)
    with right:
        _show_distribution(view, detail)
        _show_path(history)
    _show_numbers(view, detail, explanation)


def explain(view: View, detail: PairDetail) -> Explanation:
    """What each fired rule and the matcher add to this pair's risk."""
    model = model_of(view.folder, view.method, view.iteration)
    rules = [model.rules[number] for number in detail.fired]
    return explain_pair(model, detail.scores["probability"], rules, int(detail.scores["label"]))


def voices_of(view: View, detail: PairDetail, explanation: Explanation) -> list[Voice]:
    """The parts of an explanation, loudest first, with what is known of each rule."""
    rules = rules_of(view.folder)
    by_text = {rule.text: place for place, rule in enumerate(rules.rules)}
    total = sum(part.weight for part in explanation.contributions) or 1.0
    voices = []
    for part in explanation.contributions:
        place = None if part.rule is None else by_text.get(part.rule)
        rule = None if place is None else rules.rules[place]
        matcher_says = "match" if detail.scores["probability"] >= 0.5 else "non-match"
        voices.append(
            Voice(
                rule=rule,
                outcome=matcher_says if rule is None else rule.outcome,
                share=part.weight / total,
                weight=part.weight,
                mean=part.mean,
                drop=part.drop,
                support=None if place is None else int(rules.support[place]),
                purity=None if place is None else float(rules.purity[place]),
            )
        )
    return sorted(voices, key=lambda voice: -voice.share)


def headline(detail: PairDetail) -> str:
    """Label, risk and flip as signs and words."""
    scores = detail.scores
    label = of_label(int(scores["label"]))
    risk = float(scores["risk"])
    badges = [
        (label.colour, f"{label.sign} labelled {label.word} · probability {scores['probability']:.2f}"),
        (RISKY.colour if risk >= 0.4 else label.colour, f"{RISKY.sign} risk {risk:.2f} · {risk_word(risk)}"),
    ]
    if scores["flipped"]:
        before = of_label(1 - int(scores["label"]))
        badges.append((FLIPPED.colour, f"{FLIPPED.sign} flipped from {before.word} by fine-tuning"))
    elif int(scores["flips"]):
        badges.append((FLIPPED.colour, f"↺ flipped and flipped back ({int(scores['flips'])} times)"))
    return "".join(_BADGE.format(tone=tone, text=html.escape(text)) for tone, text in badges)


def sentence(detail: PairDetail, voices: list[Voice]) -> str:
    """Who says what, in one sentence."""
    label = of_label(int(detail.scores["label"]))
    rules = [voice for voice in voices if voice.rule is not None and voice.weight > 0]
    against = [voice for voice in rules if voice.outcome != label.word]
    support = [voice for voice in rules if voice.outcome == label.word]
    matcher = f"The matcher says {label.word} ({detail.scores['probability']:.2f})"
    if not rules:
        return f"{matcher}. No rule with a weight fired on this pair: nothing but the matcher speaks."
    other = (NON_MATCH if label is MATCH else MATCH).word
    parts = []
    if against:
        verb = "says" if len(against) == 1 else "say"
        share = sum(voice.share for voice in against)
        parts.append(f"{plural(len(against), 'rule')} {verb} {other}, with {100 * share:.0f} % of all weight")
    if support:
        verb = "agrees" if len(support) == 1 else "agree"
        share = sum(voice.share for voice in support)
        parts.append(f"{plural(len(support), 'rule')} {verb}, with {100 * share:.0f} %")
    return f"{matcher}{', but ' if against else '; '}{'; '.join(parts)}."


def show_records(detail: PairDetail) -> None:
    whole = has_long_values(detail.left, detail.right) and st.toggle(
        "Show long values in full", key=f"whole {detail.pair_id}"
    )
    st.html(records_table(detail.left, detail.right, list(detail.left), whole=bool(whole)))
    if detail.truth is not None and st.toggle("Show the benchmark's answer", key="show_truth"):
        truth = of_label(detail.truth)
        right = detail.truth == int(detail.scores["label"])
        st.caption(f"{truth.text}: the label is {'✓ right' if right else '✗ wrong'}. Known to no method.")


def _show_voices(voices: list[Voice], detail: PairDetail) -> None:
    heard = [voice for voice in voices if voice.weight > 0]
    matcher = [voice for voice in heard[SHOWN_VOICES:] if voice.rule is None]  # always among those shown at once
    shown = heard[:SHOWN_VOICES] + matcher
    st.html(voices_html(shown, detail.metrics, detail.scores["probability"]))
    rest = [voice for voice in heard[SHOWN_VOICES:] if voice.rule is not None]
    silent = [voice for voice in voices if voice.weight == 0]
    if rest or silent:
        share = 100 * sum(voice.share for voice in rest)
        title = f"{plural(len(rest) + len(silent), 'more rule')} with {share:.1f} % of the weight together"
        more = st.expander(title, key="more rules", on_change="rerun")
        if more.open:
            more.html(voices_html((rest + silent)[:200], detail.metrics, detail.scores["probability"]))


def _show_distribution(view: View, detail: PairDetail) -> None:
    scores, confidence = detail.scores, model_of(view.folder, view.method, view.iteration).confidence
    label = of_label(int(scores["label"]))
    st.subheader("Risk of the label", anchor=False, help=WORDS["risk"])
    words = (
        f"After hearing everyone, the pair is a match with probability {scores['mu']:.2f} ± {scores['sigma']:.2f}. "
        f"At {confidence:.0%} confidence, “{label.word}” is wrong by up to {scores['risk']:.2f}."
    )
    chart = risk_chart(scores["mu"], scores["sigma"], int(scores["label"]), confidence, scores["probability"])
    st.vega_lite_chart(chart.data, chart.spec, width="stretch", key="risk chart", alt=words)
    st.caption(words)


def _show_path(history: pd.DataFrame) -> None:
    st.subheader("Through the iterations", anchor=False, help=WORDS["iteration"])
    words = path_words(history)
    chart = history_chart(history)
    st.vega_lite_chart(chart.data, chart.spec, width="stretch", key="history chart", alt=words)
    st.caption(words)


def _show_numbers(view: View, detail: PairDetail, explanation: Explanation) -> None:
    """What is one click further is drawn once it is open: it would slow down every step from pair to pair."""
    columns = st.columns(3)
    with columns[0]:
        numbers = st.expander("All numbers", icon=":material/table_rows:", key="all numbers", on_change="rerun")
    if numbers.open:
        numbers.dataframe(part_table(explanation), hide_index=True)
        history = summary_of(view.folder, view.method)
        used = risk_labels(history[history["iteration"] == view.iteration])
        numbers.caption(f"Shares of μ add up to μ, shares of σ² to σ². Labels used: {used}.")
    with columns[1]:
        formula("risk", "How risk is computed")
    with columns[2]:
        title, icon = "What would lower the risk?", ":material/lightbulb:"
        lower = st.expander(title, icon=icon, key="lower the risk", on_change="rerun")
    if lower.open:
        lower.code(nearest_words(view, detail), language=None, wrap_lines=True)


def part_table(explanation: Explanation) -> pd.DataFrame:
    """Every part of the explanation; shares rounded so that they still add up."""
    shares = rounded([part.mu_share for part in explanation.contributions], 3)
    return pd.DataFrame(
        {
            "voice": part.rule or "the matcher",
            "weight": round(part.weight, 3),
            "mean": round(part.mean, 3),
            "deviation": round(part.deviation, 3),
            "share of μ": share,
            "share of σ²": round(part.variance_share, 5),
            "risk without it": round(part.risk_without, 3),
        }
        for part, share in zip(explanation.contributions, shares, strict=True)
    )


def nearest_words(view: View, detail: PairDetail) -> str:
    """The smallest changes that would halve the risk, in lines."""
    model = model_of(view.folder, view.method, view.iteration)
    level = min(0.5, float(detail.scores["risk"]) / 2)
    rules = [model.rules[number] for number in detail.fired]
    change = smallest_changes(model, detail.scores["probability"], rules, level, int(detail.scores["label"]))
    lines = [f"To bring the risk from {change.risk:.2f} to {level:.2f}:"]
    if change.mute is None:
        lines.append("· no set of muted rules would do.")
    elif change.mute:
        lines += [f"· mute {plural(len(change.mute), 'rule')} (risk {change.mute_risk:.2f}):"]
        lines += [f"    {rule}" for rule in change.mute]
    if change.probability is not None:
        lines.append(f"· or a matcher that says {change.probability:.2f} (risk {change.probability_risk:.2f}).")
    lines.append(f"· The opposite label has a risk of {change.other_label_risk:.2f}.")
    return "\n".join(lines)
