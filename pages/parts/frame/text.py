"""Text for the screens: numbers, times, and record text that must not be read as markup."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from riskcore.data.problems import visible

_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~$:&])")


def literal(text: str, limit: int = 120) -> str:
    """Text from data for places that read Markdown: nothing in it is read as markup."""
    return _MARKDOWN.sub(r"\\\1", short(text, limit))


def short(text: str, limit: int) -> str:
    """Text from data on one line, control characters made visible, cut to a length."""
    text = visible(text[: limit + 1])
    return text if len(text) <= limit else text[: limit - 1] + "…"


def percent(value: float | None, digits: int = 1) -> str:
    return "–" if value is None or value != value else f"{100 * value:.{digits}f} %"


def number(value: float | None, digits: int = 2) -> str:
    return "–" if value is None or value != value else f"{value:,.{digits}f}"


def plural(count: int, noun: str, many: str | None = None) -> str:
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"


def duration(seconds: float) -> str:
    """A duration, rounded as people would."""
    seconds = max(seconds, 0)
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def ago(moment: datetime | None, now: datetime | None = None) -> str:
    """How long ago something was."""
    if moment is None:
        return "–"
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    seconds = ((now or datetime.now(UTC)) - moment).total_seconds()
    if seconds < 45:
        return "just now"
    if seconds < 172_800:
        return f"{duration(seconds)} ago"
    return f"{seconds / 86_400:.0f} days ago"
