"""The pair card: one pair, its label and risk, both records, and the reasons.

Differing words are marked in both records. Each reason is drawn as value against threshold with its share of the
weight. The risk distribution and the pair's path through the iterations are shown beside them.
"""

from __future__ import annotations

import html
from collections.abc import Mapping

import pandas as pd
import streamlit as st

from pages.parts.frame.glossary import WORDS, formula
from pages.parts.frame.palette import FLIPPED, MEDIUM_RISK, RISKY, of_label, risk_word
from pages.parts.frame.text import plural
from pages.parts.pairs.pair_charts import history_chart, path_words, risk_chart
from pages.parts.pairs.reasons import contribution_table, lower_risk_text, summary_sentence
from pages.parts.pairs.record_table import has_long_values, records_table
from pages.parts.rules.reason_cards import Reason, reasons_html
from pages.parts.runs.run_files import history_of, model_of, risk_labels, summary_of
from pages.parts.runs.run_picker import View
from riskcore.risk import Explanation
from riskcore.runs import PairDetail

SHOWN_REASONS = 6
_BADGE = """<span style="display:inline-block;padding:.18rem .7rem;border-radius:999px;font-weight:600;
 margin:0 .45rem .3rem 0;white-space:nowrap;background:color-mix(in srgb,{tone} 16%,transparent);
 color:color-mix(in srgb,{tone} 78%,currentColor);
 border:1px solid color-mix(in srgb,{tone} 45%,transparent)">{text}</span>"""


def show_pair(detail: PairDetail, reasons: list[Reason], proposed: bool = False) -> None:
    """Label, risk and flip, a summary sentence, and both records."""
    summary = html.escape(summary_sentence(detail, reasons))
    st.html(headline(detail, proposed) + f"<p style='margin:.5rem 0 0'>{summary}</p>")
    show_records(detail)


def show_reasons(view: View, detail: PairDetail, explanation: Explanation, reasons: list[Reason]) -> None:
    """Reasons on the left; the distribution and the path on the right."""
    history = history_of(view.folder, detail, view.method)
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.subheader("Reasons", anchor=False, help=f"{WORDS['rule']} {WORDS['share']}")
        _show_reason_cards(reasons, detail)
    with right:
        _show_risk(view, detail)
        _show_distribution(view, detail)
        _show_path(history)
    _show_more(view, detail, explanation)


def headline(detail: PairDetail, proposed: bool = False) -> str:
    """Label, risk and flip as signs and words; `proposed`: no label shows that the flip is right."""
    scores = detail.scores
    label = of_label(int(scores["label"]))
    risk = float(scores["risk"])
    badges = [
        (label.colour, f"{label.sign} labelled {label.word} · probability {scores['probability']:.2f}"),
        (RISKY.colour if risk >= MEDIUM_RISK else label.colour, f"{RISKY.sign} risk {risk:.2f} · {risk_word(risk)}"),
    ]
    if scores["flipped"]:
        before = of_label(1 - int(scores["label"]))
        what = f"a flip from {before.word} is proposed, not applied" if proposed else f"flipped from {before.word}"
        badges.append((FLIPPED.colour, f"{FLIPPED.sign} {what}{'' if proposed else ' by fine-tuning'}"))
    elif int(scores["flips"]):
        badges.append((FLIPPED.colour, f"↺ flipped {int(scores['flips'])} times, back to its first label"))
    return "".join(_BADGE.format(tone=tone, text=html.escape(text)) for tone, text in badges)


def show_records(detail: PairDetail) -> None:
    show_both(detail.pair_id, detail.left, detail.right)
    if detail.truth is not None and st.toggle("Show the benchmark's label", key="show_truth"):
        truth = of_label(detail.truth)
        right = detail.truth == int(detail.scores["label"])
        st.caption(
            f"True label: {truth.text}. The current label is {'✓ correct' if right else '✗ wrong'}. "
            "No method was given the true label."
        )


def show_both(pair: str, left: Mapping[str, str | None], right: Mapping[str, str | None]) -> None:
    """Both records side by side, differences marked, and nothing of what a model says."""
    whole = has_long_values(left, right) and st.toggle("Show long values in full", key=f"whole {pair}")
    st.html(records_table(left, right, list(left), whole=bool(whole)))


def _show_reason_cards(reasons: list[Reason], detail: PairDetail) -> None:
    weighted = [reason for reason in reasons if reason.weight > 0]
    matcher = [reason for reason in weighted[SHOWN_REASONS:] if reason.rule is None]  # always shown at once
    shown = weighted[:SHOWN_REASONS] + matcher
    st.html(reasons_html(shown, detail.metrics, detail.scores["probability"]))
    rest = [reason for reason in weighted[SHOWN_REASONS:] if reason.rule is not None]
    ignored = [reason for reason in reasons if reason.weight == 0]
    if rest or ignored:
        share = 100 * sum(reason.share for reason in rest)
        title = f"{plural(len(rest) + len(ignored), 'more rule')}, together {share:.1f} % of the weight"
        more = st.expander(title, key="more rules", on_change="rerun")
        if more.open:
            more.html(reasons_html((rest + ignored)[:200], detail.metrics, detail.scores["probability"]))


def _show_risk(view: View, detail: PairDetail) -> None:
    """What the risk means, and what it was found by; nothing for runs of older versions, where it meant another."""
    ranked = view.folder.method_results(view.method).get("ranked")
    if ranked is None:
        return
    st.subheader("Risk of the label", anchor=False, help=WORDS["risk"])
    risk, used = float(detail.scores["risk"]), ", ".join(ranked["labels_used"]) or "none"
    if ranked["calibrated"]:
        words = f"Of 100 labels with this risk, about **{min(100 * risk, 99):.0f}** are expected to be wrong."
    else:
        words = "There are too few labels to calibrate it: only the order of the pairs means something."
    st.markdown(words)
    st.caption(f"Found by {ranked['by']}. Labels used: {used}.")


def _show_distribution(view: View, detail: PairDetail) -> None:
    scores, confidence = detail.scores, model_of(view.folder, view.method, view.iteration).confidence
    label = of_label(int(scores["label"]))
    at_risk = scores["var_match"] if scores["label"] else scores["var_non_match"]
    st.subheader("Value at risk by the rules", anchor=False, help=WORDS["value at risk"])
    words = (
        f"Rules and matcher combined give a match probability of {scores['mu']:.2f} ± {scores['sigma']:.2f}. "
        f"At {100 * confidence:.0f} % confidence, the value at risk of “{label.word}” is {at_risk:.2f}."
    )
    chart = risk_chart(scores["mu"], scores["sigma"], int(scores["label"]), confidence, scores["probability"])
    st.vega_lite_chart(chart.data, chart.spec, width="stretch", key="risk chart", alt=words)
    st.caption(words)


def _show_path(history: pd.DataFrame) -> None:
    st.subheader("By iteration", anchor=False, help=WORDS["iteration"])
    words = path_words(history)
    chart = history_chart(history)
    st.vega_lite_chart(chart.data, chart.spec, width="stretch", key="history chart", alt=words)
    st.caption(words)


def _show_more(view: View, detail: PairDetail, explanation: Explanation) -> None:
    """Expanders whose content is computed only once they are open: otherwise it would slow down every step."""
    columns = st.columns(3)
    with columns[0]:
        numbers = st.expander("All numbers", icon=":material/table_rows:", key="all numbers", on_change="rerun")
    if numbers.open:
        numbers.dataframe(contribution_table(explanation), hide_index=True)
        history = summary_of(view.folder, view.method)
        used = risk_labels(history[history["iteration"] == view.iteration])
        numbers.caption(f"The shares of μ add up to μ, the shares of σ² to σ². Labels used: {used}.")
    with columns[1]:
        formula("risk", "How risk is computed")
    with columns[2]:
        title, icon = "What would convince the rules?", ":material/lightbulb:"
        lower = st.expander(title, icon=icon, key="lower the risk", on_change="rerun")
    if lower.open:
        lower.code(lower_risk_text(view, detail), language=None, wrap_lines=True)
