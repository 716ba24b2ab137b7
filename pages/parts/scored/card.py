"""The card of a scored pair: what it probably is, both records, its risk in words, and the explanation on request."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages.parts.frame.glossary import WORDS
from pages.parts.frame.page import section
from pages.parts.frame.palette import MATCH, NON_MATCH
from pages.parts.frame.text import literal, plural
from pages.parts.pairs.balance_view import Background, matcher_html, sheet_html, voices_html
from pages.parts.pairs.headline import headline
from pages.parts.pairs.pair_card import SHOWN_RULES, show_both
from pages.parts.pairs.queue_list import sentence, show_queue_list
from pages.parts.rules.reason_cards import Reason, merged_reasons, reasons_html
from pages.parts.scored.explain import offer_explanation
from pages.parts.scored.queue import row_reason, scored_rows
from pages.parts.scored.set_picker import ScoredView
from riskcore.metrics.kinds import Metric
from riskcore.runs import PairDetail
from riskcore.runs.readers.pair_reasons import reason_of_sheet, subject_phrase
from riskcore.scale.explanations import Explained, read_explanation
from riskcore.scale.reading import OTHERS, Position, ScoredPair

OpenPair = Callable[[str | None], None]


def show_steps(position: Position, open_pair: OpenPair) -> None:
    """The way to the pairs beside this one, and back to the queue."""
    bar = st.columns([2, 2, 2, 4], vertical_alignment="center")
    for cell, title, icon, key, pair in (
        (bar[0], "Previous", ":material/arrow_back:", "K", position.previous),
        (bar[1], "Next", ":material/arrow_forward:", "J", position.next),
    ):
        cell.button(
            title, icon=icon, shortcut=key, width="stretch", disabled=pair is None, on_click=open_pair, args=(pair,)
        )
    bar[2].button("Queue", icon=":material/list:", shortcut="Q", width="stretch", on_click=open_pair, args=(None,))
    if position.number is None:
        bar[3].markdown(f"The filters leave this pair out of the queue ({position.total:,} pairs).")
    else:
        bar[3].markdown(f"**{position.number:,}** of {position.total:,} in this queue")


def show_card(view: ScoredView, pair: ScoredPair, open_pair: OpenPair) -> None:
    """Everything about one pair."""
    left, right = int(pair.scores["left_row"]), int(pair.scores["right_row"])
    explained = read_explanation(view.folder, left, right)
    detail = _detail(pair, explained)
    bound = bool(pair.scores["bound"]) and explained is None
    reason = None if explained is None else reason_of_sheet(detail, view.visible_types, explained.sheet)
    st.html(headline(detail, reason, at_most=bound))
    if reason is None:
        st.markdown(f"**Why**: {_plain(row_reason(view, pair.scores))}")
    types = {name: str(kind) for name, kind in view.types.items()}
    show_both(detail.pair_id, pair.left, pair.right, types, view.hidden)
    why, beside = st.columns([3, 2], gap="large")
    with why:
        section("Why", help=WORDS["balance sheet"])
        if explained is None:
            offer_explanation(view, left, right)
        else:
            _show_sheet(view, detail, explained)
    with beside:
        _show_risk(view, pair, explained)
    if explained is not None:
        _show_rules(view, detail, explained)
    _show_others(view, pair, open_pair)


def _detail(pair: ScoredPair, explained: Explained | None) -> PairDetail:
    """The pair as the parts of the pair card take it; with the exact numbers where it was explained."""
    about = None if explained is None else explained.about
    scores = {name: pair.scores[name] for name in ("label", "probability", "risk")}
    if about is not None:
        scores |= {name: about[name] for name in ("probability", "risk")}
    return PairDetail(
        pair_id=str(pair.scores["pair_id"]),
        row=-1,
        left=pair.left,
        right=pair.right,
        metrics={} if about is None else about["metrics"],
        fired=[] if about is None else about["fired"],
        scores={**scores, "flipped": False, "flips": 0},
        truth=None,
    )


def _show_sheet(view: ScoredView, detail: PairDetail, explained: Explained) -> None:
    sheet, types = explained.sheet, view.visible_types
    keys = [key for key in detail.metrics if key.rpartition(".")[0] not in view.hidden]
    background = Background(
        rules=explained.rules,
        metrics=detail.metrics,
        metric_of={key: Metric(*key.rpartition(".")[::2]) for key in keys},
        phrase=lambda subject, match: subject_phrase(detail.left, detail.right, types, subject, match),
    )
    st.html(sheet_html(sheet, background, "What all the evidence adds up to, attribute by attribute"))
    st.caption("In log-odds: above 0 towards a match. Open a row to see who says it and by what.")
    with st.expander("Who says it", icon=":material/groups:"):
        st.html(voices_html(sheet))
    if sheet.matcher_alone is not None:
        with st.expander("Why the matcher labels it so", icon=":material/model_training:"):
            st.html(matcher_html(sheet, background))


def _show_risk(view: ScoredView, pair: ScoredPair, explained: Explained | None) -> None:
    """What the risk means, and whether it is exact."""
    section("Risk of the label", help=WORDS["risk"])
    bound = bool(pair.scores["bound"])
    risk = float(pair.scores["risk"] if explained is None else explained.about["risk"])
    at_most = "at most" if bound and explained is None else "about"
    if "validation" in view.facts["labels_used"]:
        wrong = min(100 * risk, 99)
        many = f"{wrong:.0f}" if wrong >= 1 else f"{wrong:.1g}"
        st.markdown(f"Of 100 labels with this risk, {at_most} **{many}** are expected to be wrong.")
    else:
        st.markdown("There were no labels to calibrate it: only the order of the pairs means something.")
    st.caption(_risk_words(pair, explained))


def _risk_words(pair: ScoredPair, explained: Explained | None) -> str:
    if not pair.scores["bound"]:
        return "Exact: the matcher was asked about this pair."
    stored = float(pair.scores["risk"])
    if explained is not None:
        return (
            f"Exact since the pair was explained. The set has the largest risk it could have, {stored:.3f}: "
            "the matcher was not asked when it was scored, because it could not have turned the label."
        )
    asked = "was not asked" if not pair.scores["asked"] else "was asked in part"
    return (
        f"This is the largest risk that the label can have, {stored:.3f}, and the probability is the one nearest to "
        f"the other label: the matcher {asked}, because it could not have turned the label. An explanation asks it."
    )


def _show_rules(view: ScoredView, detail: PairDetail, explained: Explained) -> None:
    """The rules that fire, as the risk model weighs them."""
    reasons = merged_reasons(_reasons(detail, explained))
    weighted = [one for one in reasons if one.weight > 0]
    fired = len(detail.fired)
    title = f"Rules: {plural(fired, 'rule')} fired" if fired else "Rules: none fired"
    found = st.expander(title, icon=":material/rule:", key="scored rules", on_change="rerun")
    if found.open:
        visible = {key: one for key, one in detail.metrics.items() if key.rpartition(".")[0] not in view.hidden}
        found.html(reasons_html(weighted[:SHOWN_RULES], visible, detail.scores["probability"]))
        if len(weighted) > SHOWN_RULES:
            share = 100 * sum(one.share for one in weighted[SHOWN_RULES:])
            found.caption(f"{plural(len(weighted) - SHOWN_RULES, 'more')} with {share:.1f} % of the weight.")


def _reasons(detail: PairDetail, explained: Explained) -> list[Reason]:
    rules, parts = explained.rules, explained.about["rules"]
    numbers = {rule.text: number for number, rule in enumerate(rules.rules)}
    total = sum(one["weight"] for one in parts) or 1.0
    label = MATCH.word if detail.scores["probability"] >= 0.5 else NON_MATCH.word
    found = []
    for one in parts:
        number = None if one["rule"] is None else numbers.get(one["rule"])
        rule = None if number is None else rules.rules[number]
        found.append(
            Reason(
                rule=rule,
                outcome=label if rule is None else rule.outcome,
                share=one["weight"] / total,
                weight=one["weight"],
                mean=one["mean"],
                drop=one["drop"],
                support=None if number is None else int(rules.support[number]),
                purity=None if number is None else float(rules.purity[number]),
                from_validation=number is not None and bool(rules.from_validation[number]),
            )
        )
    return found


def _show_others(view: ScoredView, pair: ScoredPair, open_pair: OpenPair) -> None:
    """Other pairs of both records, the most probable first."""
    section("Other candidates of these records")
    cells = st.columns(2, gap="large")
    for cell, side in zip(cells, ("left", "right"), strict=True):
        some = pair.others[pair.others["side"] == side]
        with cell:
            st.markdown(f"**Of the {side} record**")
            if some.empty:
                st.caption(f"There is no other pair of the {side} record in this set.")
                continue
            show_queue_list(scored_rows(view, some), f"others {side}", open_pair)
            if len(some) == OTHERS:
                st.caption(f"The {OTHERS} most probable ones.")


def _plain(words: str) -> str:
    return literal(sentence(words), 400)
