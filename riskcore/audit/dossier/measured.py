"""The parts of a dossier that people measured: the estimate of quality and the agreement between reviewers.

Figures of Riskcore's own form are told in words and tables of their own; those of any other form by `figures`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from riskcore.audit.dossier.figures import figures_html, percent
from riskcore.audit.dossier.parts import facts_list, table
from riskcore.data.html_table import html_text

_OWN = {"precision", "recall", "f1", "strata", "verdicts", "unsure", "level"}
_MEASURES = {"precision": "precision", "recall": "recall", "f1": "F1"}
_COUNTS = {"false_positives": "false positives", "false_negatives": "false negatives"}
_AGREED = {"judged", "shared", "unanimous", "pooled", "between"}
_SIDES = ("non-match", "match")


def estimate_html(figures: Any) -> str:
    """The estimate: on candidates, with what blocking missed, what it rests on, and where the verdicts are."""
    if not isinstance(figures, Mapping) or not set(figures) >= _OWN:
        return figures_html(figures)
    sentence = f"<p>{html_text(figures['sentence'])}</p>" if figures.get("sentence") else ""
    level = f"{100 * figures['level']:g} % interval"
    rows = [_measure(words, figures[name], level) for name, words in _MEASURES.items()]
    rows += [_count(words, figures[name], level) for name, words in _COUNTS.items() if figures.get(name)]
    text = f'{sentence}<div class="figures">{table("On the candidate pairs", rows)}</div>{facts_list(_basis(figures))}'
    if figures.get("with_missed"):
        text += _with_missed(figures["with_missed"], level)
    if figures.get("check"):
        text += _check(figures["check"])
    return text + _strata(figures["strata"])


def agreement_html(figures: Any) -> str:
    """The agreement between reviewers in a sentence, facts, and a row for every two of them."""
    if not isinstance(figures, Mapping) or not set(figures) >= _AGREED:
        return figures_html(figures)
    sentence = f"<p>{html_text(figures['sentence'])}</p>" if figures.get("sentence") else ""
    facts = {
        "Pairs judged": f"{figures['judged']:,}",
        "Judged by several people": f"{figures['shared']:,}, on {figures['unanimous']:,} of which all agree",
    }
    if "unsure" in figures and figures.get("verdicts"):
        facts["Unsure verdicts"] = f"{figures['unsure']:,} of {figures['verdicts']:,}, kept apart"
    rows = [
        {
            "reviewers": " and ".join(one["people"]),
            "pairs in common": f"{one['measured']['pairs']:,}",
            "equal verdicts": percent(one["measured"]["agreement"]),
            "Cohen's kappa": _kappa(one["measured"]),
        }
        for one in figures["between"]
    ]
    every = f'<div class="figures">{table("Every two reviewers", rows)}</div>' if rows else ""
    return sentence + facts_list(facts) + every


def _measure(words: str, one: Mapping[str, float], level: str) -> dict[str, str]:
    return {"": words, "estimate": percent(one["value"]), level: f"{percent(one['low'])} to {percent(one['high'])}"}


def _count(words: str, one: Mapping[str, float], level: str) -> dict[str, str]:
    return {"": words, "estimate": f"{one['value']:,.0f}", level: f"{one['low']:,.0f} to {one['high']:,.0f}"}


def _with_missed(one: Mapping[str, Any], level: str) -> str:
    rows = [
        _measure("recall", one["recall"], level),
        _measure("F1", one["f1"], level),
        _count("matches that blocking missed", one["missed"], level),
    ]
    facts = {"Known from": one["source"]}
    if one["verdicts"]:
        facts |= {
            "Verdicts outside": f"{one['verdicts']:,}, with {one['matches']:,} matches among them; {one['unsure']:,} "
            f"unsure, and {one['open']:,} drawn pairs without a verdict",
            "Drawn from": f"{one['looked_at']:,} pairs that a wider search found and blocking left out",
            "Taken for non-matches": f"{one['assumed']:,} pairs that the wider search did not find either; "
            f"{one['checked']:,} of them were drawn at random and judged, with {one['contrary']:,} matches among them",
        }
        if one["share"] < 1:
            facts["Share"] = f"{percent(one['share'])} of all candidates are audited, and as many of the outside pairs"
    if one["note"]:
        facts["Assumption"] = one["note"]
    return f'<div class="figures">{table("With what blocking missed", rows)}</div>{facts_list(facts)}'


def _basis(figures: Mapping[str, Any]) -> dict[str, str]:
    """What the figures on candidates rest on."""
    facts = {"Labels of": figures.get("method") or "not stated"}
    facts["Verdicts on drawn pairs"] = f"{figures['verdicts']:,}, of {_pairs(figures):,} pairs"
    if figures["unsure"]:
        bounds = figures.get("unsure_bounds", {}).get("f1")
        either = f"; F1 {percent(bounds[0])} if all are wrong, {percent(bounds[1])} if none is" if bounds else ""
        facts["Unsure"] = f"{figures['unsure']:,}, counted either way{either}"
    for name, words in (
        ("open", "Drawn, without a verdict"),
        ("waiting", "Drawn, judged out of turn"),
        ("known", "Judged before the draw"),
        ("left_out", "Left out"),
    ):
        if figures.get(name):
            facts[words] = f"{figures[name]:,} pairs{_WHY[name]}"
    if figures.get("labels_digest"):
        facts["Digest of the labels"] = figures["labels_digest"]
    return facts


_WHY = {
    "open": "",
    "waiting": ", not counted: a pair before them in their draw has no verdict",
    "known": ", counted as they are",
    "left_out": ": training has used their labels",
}


def _pairs(figures: Mapping[str, Any]) -> int:
    return sum(int(one["pairs"]) for one in figures["strata"])


def _check(check: Mapping[str, Any]) -> str:
    """The same without a prior, so that a reader sees what the prior adds."""
    rows = [
        {"": words, "estimate": percent(check[name][0]), "standard error": percent(check[name][1])}
        for name, words in _MEASURES.items()
        if check.get(name)
    ]
    return f'<div class="figures">{table("Check without a prior, by the difference estimator", rows)}</div>'


def _strata(strata: Any) -> str:
    rows = [
        {
            "label": _SIDES[int(one["side"])] + (", judged before the draw" if one.get("known") else ""),
            "pairs": f"{one['pairs']:,}",
            "mean risk": _small(one["risk"]),
            "judged": f"{one['judged']:,}",
            "wrong": f"{one['errors']:,}",
            "unsure": f"{one.get('unsure', 0):,}",
        }
        for one in strata
    ]
    return f'<div class="figures strata">{table("Where the verdicts are, by label and risk", rows)}</div>'


def _small(share: float) -> str:
    return "< 0.1 %" if 0 < share < 0.0005 else percent(share)


def _kappa(one: Mapping[str, Any]) -> str:
    if one.get("kappa") is None:
        return "undefined"
    return f"{one['kappa']:.2f} ({one['low']:.2f} to {one['high']:.2f})"
