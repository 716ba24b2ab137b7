"""Small parts of a dossier's page. Every text that goes through them is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pandas as pd

from riskcore.data.html_table import html_table, html_text

_DIGEST = re.compile("[0-9a-f]{32,64}")


def box(title: str, text: str, items: Iterable[str] = (), warn: bool = False) -> str:
    listed = "".join(f"<li>{html_text(one)}</li>" for one in items)
    rest = f"<ul>{listed}</ul>" if listed else ""
    kind = "status warn" if warn else "status"
    return f'<div class="{kind}"><strong>{html_text(title)}</strong>{html_text(text)}{rest}</div>'


def facts_list(facts: Mapping[str, Any]) -> str:
    """Names with values; digests in a type in which their digits can be compared."""
    rows = "".join(f"<dt>{html_text(name)}</dt><dd>{_value(value)}</dd>" for name, value in facts.items())
    return f"<dl>{rows}</dl>"


def _value(value: Any) -> str:
    text = html_text(value)
    return f"<code>{text}</code>" if _DIGEST.fullmatch(text) else text


def table(caption: str, rows: Sequence[Mapping[str, Any]]) -> str:
    return html_table(caption, pd.DataFrame(list(rows), dtype=object)).replace("<caption></caption>", "", 1)


def lines(text: str) -> str:
    return "<br>".join(html_text(line) for line in text.splitlines())


def moment(text: str) -> str:
    """A moment as ISO 8601 in words; as it is where it is none."""
    try:
        found = datetime.fromisoformat(text).astimezone(UTC)
    except ValueError:
        return html_text(text)
    return f"{found.day} {found:%B %Y, %H:%M} UTC"


def signed_number(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")


def count(value: int | None) -> str:
    return "none" if value is None else f"{value:,}"
