"""Figures of any form as HTML: intervals together in one table, lists of rows as tables, all else by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from riskcore.data.html_table import html_table, html_text

_MIDDLES = ("value", "estimate", "mean", "kappa")  # what an interval is around
_SHARES = (
    "precision",
    "recall",
    "f1",
    "share",
    "rate",
    "accuracy",
    "risk",
    "level",
    "agreement",
)  # names of figures from 0 to 1
_NAMES = {  # of figures in estimates and in agreement, as people say them
    "f1": "F1",
    "verdicts": "verdicts that count",
    "unsure": "unsure verdicts",
    "unsure_bounds": "bounds if unsure pairs are wrong or right",
    "level": "level of the intervals",
    "open": "drawn pairs without a verdict",
    "waiting": "drawn pairs that were judged out of turn",
    "known": "judged before the first draw",
    "left_out": "pairs left out, since training used their labels",
    "missed": "matches that blocking missed",
    "check": "without a prior (and standard error)",
    "labels_digest": "digest of the labels",
    "side": "label",
    "judged": "judged pairs",
    "shared": "pairs that several people judged",
    "unanimous": "of these, pairs on which all agree",
    "pooled": "all reviewers",
    "between": "every two reviewers",
    "measured": "together",
    "unsure_counts": "unsure counts as an answer",
}
_SIDES = {0: "non-match", 1: "match"}  # of a stratum, by the label of its pairs
_ENDS = ("interval", "bounds", "range")  # names of two numbers that are ends
_PLAIN = ("value", "estimate")  # words that add nothing to a figure's name


def percent(share: float | None) -> str:
    """A share as a percentage."""
    return "unknown" if share is None else f"{100 * share:.1f} %"


def figures_html(figures: Any) -> str:
    """A JSON value as facts and tables."""
    if not isinstance(figures, Mapping):
        figures = {"figures": figures}
    intervals, facts, tables = [], [], []
    sentence = figures.get("sentence")
    for name, value in _flat({name: one for name, one in figures.items() if name != "sentence"}).items():
        middle = _middle(value)
        if middle is not None:
            low, high = _ends(value)
            ends = f"{_told(name, low)} to {_told(name, high)}"
            intervals.append({"figure": _words(name), "estimate": _told(name, value[middle]), "interval": ends})
        elif _are_rows(value):
            rows = pd.DataFrame([_row(row) for row in value], dtype=object)
            tables.append(f'<div class="wide">{html_table(_titled(name), rows)}</div>')
        elif value is not None:
            facts.append(f"<dt>{html_text(_titled(name))}</dt><dd>{html_text(_told(name, value))}</dd>")
    level = figures.get("level")
    caption = f"With {100 * level:g} % intervals" if isinstance(level, float) else "With intervals"
    table = html_table(caption, pd.DataFrame(intervals)) if intervals else ""
    listed = f'<dl class="long">{"".join(facts)}</dl>' if facts else ""
    told = f"<p>{html_text(sentence)}</p>" if sentence else ""
    return told + (f'<div class="figures">{table}</div>' if table else "") + listed + "".join(tables)


def _flat(figures: Mapping[str, Any]) -> dict[str, Any]:
    """The figures without nesting, but for intervals and rows. What an interval holds besides stands beside it."""
    found: dict[str, Any] = {}
    for name, value in figures.items():
        middle = _middle(value)
        if middle is not None:
            rest = {inner: one for inner, one in value.items() if inner not in (middle, "low", "high", "interval")}
            found[str(name) if middle in _PLAIN else f"{name}, {middle}"] = value
            found |= {f"{name}, {inner}": one for inner, one in rest.items()}
        elif isinstance(value, Mapping):
            found |= {f"{name}, {inner}": one for inner, one in _flat(value).items()}
        else:
            found[str(name)] = value
    return found


def _middle(value: Any) -> str | None:
    """What the interval is around; None where the value is no interval."""
    if not isinstance(value, Mapping) or _ends(value) is None:
        return None
    return next((name for name in _MIDDLES if name in value), None)


def _ends(value: Mapping[str, Any]) -> Any:
    if {"low", "high"} <= set(value):
        return value["low"], value["high"]
    ends = value.get("interval")
    return ends if isinstance(ends, list) and len(ends) == 2 else None


def _are_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, Mapping) for one in value)


def _row(row: Mapping[str, Any]) -> dict[str, str]:
    flat = {name: _SIDES.get(value, value) if name == "side" else value for name, value in _flat(row).items()}
    return {_words(name): _told(name, value) for name, value in flat.items()}


def _told(name: str, value: Any) -> str:
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        is_share = any(word in name.lower() for word in _SHARES) and 0 <= value <= 1
        return percent(value) if is_share else f"{value:,.3g}"
    if isinstance(value, Mapping):
        middle = _middle(value)
        low, high = _ends(value)
        return f"{_told(name, value[middle])} ({_told(name, low)} to {_told(name, high)})"
    if isinstance(value, Sequence) and not isinstance(value, str):
        ends = len(value) == 2 and any(word in name.lower() for word in _ENDS)
        return (" to " if ends else ", ").join(_told(name, one) for one in value) or "none"
    return str(value)


def _titled(name: str) -> str:
    words = _words(name)
    return words[:1].upper() + words[1:]


def _words(name: str) -> str:
    return ", ".join(_NAMES.get(part, part.replace("_", " ")) for part in name.split(", "))
