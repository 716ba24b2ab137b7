"""The pair card: what the pair probably is and why, both records, the balance sheet, and the rules that fired.

The decisive difference comes first. The balance sheet adds up to the combined evidence, attribute by attribute; beside
it are what the risk means and the pair's path through the iterations.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pandas as pd
import streamlit as st

from pages.parts.frame.actions import barred, requires
from pages.parts.frame.charts import readable
from pages.parts.frame.glossary import WORDS, formula
from pages.parts.frame.page import section
from pages.parts.frame.palette import of_label
from pages.parts.frame.text import plural
from pages.parts.pairs.balance_view import Background, matcher_html, sheet_html, voices_html
from pages.parts.pairs.headline import headline
from pages.parts.pairs.pair_charts import history_chart, path_words, risk_chart
from pages.parts.pairs.reasons import Why, contribution_table, lower_risk_text, model_words, visible_metrics
from pages.parts.pairs.record_table import has_long_values, records_table
from pages.parts.rules.reason_cards import merged_reasons, reasons_html
from pages.parts.runs.run_files import (
    forget_sheet,
    history_of,
    model_of,
    risk_labels,
    rules_of,
    summary_of,
    visible_types,
)
from pages.parts.runs.run_picker import View
from riskcore.access import Role
from riskcore.apply.sheets import compute_sheet_apart
from riskcore.metrics.kinds import Metric
from riskcore.risk.distribution import quantile
from riskcore.runs import PairDetail
from riskcore.runs.readers.pair_reasons import STEADY, subject_phrase
from riskcore.runs.readers.pair_sheet import sheet_method

SHOWN_RULES = 6


def show_pair(view: View, detail: PairDetail, why: Why, proposed: bool = False) -> None:
    """What the pair probably is and the decisive difference; the records come next."""
    st.html(headline(detail, why.reason, proposed, why.flip))


def show_reasons(view: View, detail: PairDetail, why: Why) -> None:
    """The balance sheet on the left; what the risk means and the path on the right; then rules and numbers."""
    history = history_of(view.folder, detail, view.method)
    left, right = st.columns([3, 2], gap="large")
    with left:
        _show_sheet(view, detail, why)
    with right:
        _show_risk(view, detail)
        _show_path(history)
    _show_rules(detail, why)
    _show_more(view, detail, why)


def _show_sheet(view: View, detail: PairDetail, why: Why) -> None:
    section("Why", help=WORDS["balance sheet"])
    sheet = why.sheet
    if sheet is None:
        st.caption(_no_sheet(view))
        _offer_sheet(view, detail)
        return
    background = _background(view, detail, why.hidden)
    st.html(sheet_html(sheet, background, "What all the evidence adds up to, attribute by attribute"))
    st.caption(
        f"In log-odds: above 0 towards a match. {_steadiness(sheet.stability)} Open a row to see who says it and by "
        f"what. Labels used: {_labels_used(view)}."
    )
    with st.expander("Who says it", icon=":material/groups:"):
        st.html(voices_html(sheet))
    if sheet.matcher_alone is not None:
        with st.expander("Why the matcher labels it so", icon=":material/model_training:"):
            st.html(matcher_html(sheet, background))
            st.caption(
                "The label is the matcher's. Each attribute's part is its Shapley value: what the matcher's answer "
                "changes when the attribute is shown, in the mean of all orders."
            )


def _offer_sheet(view: View, detail: PairDetail) -> None:
    """Compute the sheet of a pair that the worker left out; nothing where that is not possible."""
    folder, explained = view.folder, sheet_method(view.folder, view.method, view.iteration)
    if explained is None or not folder.bundle.is_dir():
        return
    words = "Takes a few seconds. It is kept with the run."
    if st.button("Compute it", icon=":material/calculate:", help=words, disabled=barred(_compute_sheet)):
        with st.spinner("Asking the matcher and all other models about this pair …"):
            _compute_sheet(folder, explained, detail.row)
        forget_sheet()
        st.rerun()


_compute_sheet = requires(Role.AUDITOR)(compute_sheet_apart)


def _no_sheet(view: View) -> str:
    """Why there is no balance sheet."""
    kept = view.folder.kept(view.method)
    if kept is not None and view.iteration != kept:
        return f"The balance sheet is of the kept iteration ({kept}). Choose it in the sidebar to see the sheet."
    if view.folder.results() is None:
        return "The balance sheet is there once the run is done."
    if sheet_method(view.folder, view.method, view.iteration) is None:
        return "An older version recorded this run, without balance sheets. The rules that fired are below."
    return "Of a large target, only the riskiest pairs have a balance sheet from the start; this one is not among them."


def _steadiness(stability: float | None) -> str:
    if stability is None:
        return ""
    percent = f"{100 * stability:.0f} %"
    if stability < STEADY:
        return f"The strongest reason is not steady: it led in only {percent} of fits on resampled labels."
    return f"The strongest reason led in {percent} of fits on resampled labels."


def _background(view: View, detail: PairDetail, hidden: Collection[str]) -> Background:
    """Metrics of hidden attributes are left out."""
    types = visible_types(view.folder, hidden)
    keys = (key.rpartition(".") for key in visible_metrics(detail, hidden))
    return Background(
        rules=rules_of(view.folder),
        metrics=detail.metrics,
        metric_of={f"{name}.{kind}": Metric(name, kind) for name, _, kind in keys},
        phrase=lambda subject, match: subject_phrase(detail.left, detail.right, types, subject, match),
    )


def _labels_used(view: View) -> str:
    ranked = view.folder.method_results(view.method).get("ranked")
    return ", ".join(ranked["labels_used"]) if ranked and ranked["labels_used"] else "none"


def show_truth(detail: PairDetail) -> None:
    """The benchmark's label on request, where there is one."""
    if detail.truth is not None and st.toggle("Show the benchmark's label", key="show_truth"):
        truth = of_label(detail.truth)
        right = detail.truth == int(detail.scores["label"])
        st.caption(
            f"True label: {truth.text}. The current label is {'✓ correct' if right else '✗ wrong'}. "
            "No method was given the true label."
        )


def show_both(
    pair: str,
    left: Mapping[str, str | None],
    right: Mapping[str, str | None],
    types: Mapping[str, str] | None = None,
    hidden: Collection[str] = (),
) -> None:
    """Both records side by side, differences marked, and nothing of what a model says."""
    sides = ({name: value for name, value in side.items() if name not in hidden} for side in (left, right))
    whole = has_long_values(*sides) and st.toggle("Show long values in full", key=f"whole {pair}")
    st.html(records_table(left, right, list(left), whole=bool(whole), types=types, hidden=hidden))


def _show_rules(detail: PairDetail, why: Why) -> None:
    """The rules that fired and the matcher, as the risk model weighs them; near-equal rules are one line."""
    reasons = merged_reasons(why.rules)
    weighted = [reason for reason in reasons if reason.weight > 0]
    fired = sum(1 + reason.like for reason in reasons if reason.rule is not None)
    title = f"Rules: {plural(fired, 'rule')} fired" if fired else "Rules: none fired"
    found = st.expander(title, icon=":material/rule:", key="rules that fired", on_change="rerun", expanded=False)
    if found.open:
        found.html(
            reasons_html(weighted[:SHOWN_RULES], visible_metrics(detail, why.hidden), detail.scores["probability"])
        )
        rest = weighted[SHOWN_RULES:] + [reason for reason in reasons if reason.weight == 0]
        if rest:
            share = 100 * sum(reason.share for reason in rest)
            found.caption(f"{plural(len(rest), 'more')} with {share:.1f} % of the weight: see All numbers.")


def _show_risk(view: View, detail: PairDetail) -> None:
    """What the risk means, and what it was found by; nothing for runs of older versions, where it meant another."""
    ranked = view.folder.method_results(view.method).get("ranked")
    if ranked is None:
        return
    section("Risk of the label", help=WORDS["risk"])
    risk, used = float(detail.scores["risk"]), ", ".join(ranked["labels_used"]) or "none"
    if ranked["calibrated"]:
        words = f"Of 100 labels with this risk, about **{min(100 * risk, 99):.0f}** are expected to be wrong."
    else:
        words = "There are too few labels to calibrate it: only the order of the pairs means something."
    st.markdown(words)
    st.caption(f"Found by {ranked['by']}. Labels used: {used}.")


def _show_path(history: pd.DataFrame) -> None:
    section("By iteration", help=WORDS["iteration"])
    words = path_words(history)
    chart = history_chart(history)
    st.vega_lite_chart(chart.data, readable(chart.spec), width="stretch", key="history chart", alt=words)
    st.caption(words)


def _show_more(view: View, detail: PairDetail, why: Why) -> None:
    """Expanders whose content is computed only once they are open: otherwise it would slow down every step."""
    columns = st.columns(3)
    with columns[0]:
        numbers = st.expander("All numbers", icon=":material/table_rows:", key="all numbers", on_change="rerun")
    if numbers.open:
        numbers.dataframe(
            contribution_table(why.explanation, model_words(view, why.sheet)),
            hide_index=True,
            placeholder="–",
            alt="contributions to the value at risk",
        )
        history = summary_of(view.folder, view.method)
        used = risk_labels(history[history["iteration"] == view.iteration])
        numbers.caption(f"The shares of μ add up to μ, the shares of σ² to σ². Labels used: {used}.")
    with columns[1]:
        formula("risk", "How risk is computed")
    with columns[2]:
        title, icon = "What the rules put at risk", ":material/lightbulb:"
        lower = st.expander(title, icon=icon, key="lower the risk", on_change="rerun")
    if lower.open:
        with lower:
            _show_distribution(view, detail)
        lower.code(lower_risk_text(view, detail), language=None, wrap_lines=True)


def _show_distribution(view: View, detail: PairDetail) -> None:
    scores, confidence = detail.scores, model_of(view.folder, view.method, view.iteration).confidence
    label = of_label(int(scores["label"]))
    at_risk = scores["var_match"] if scores["label"] else scores["var_non_match"]
    low, high = (float(quantile(share, scores["mu"], scores["sigma"])) for share in (1 - confidence, confidence))
    model = model_words(view).removeprefix("the ")
    words = (
        f"Rules and {model} alone put the match probability between {low:.2f} and {high:.2f}, most likely near "
        f"{scores['mu']:.2f}. At {100 * confidence:.0f} % confidence, the value at risk of “{label.word}” is "
        f"{at_risk:.2f}."
    )
    chart = risk_chart(scores["mu"], scores["sigma"], int(scores["label"]), confidence, scores["probability"])
    st.vega_lite_chart(chart.data, readable(chart.spec), width="stretch", key="risk chart", alt=words)
    st.caption(words)
