"""What a spreadsheet would run as a formula, and the apostrophe that stops it.

Spreadsheets run what begins with = + - @, also in full width or small form and after white space or invisible
characters. Many split the lines of a csv at semicolons or tabs, whatever the file means, so what follows one of these,
or a line break, begins a cell too. What follows a comma does not: a cell with one is quoted, and what splits elsewhere
does not split there.
"""

from __future__ import annotations

import re
from typing import Any

MAY_RUN = r"^[^0-9A-Za-z]|[;\t\r\n]"  # few texts do, and they are found fast
_SIGN = r"[=+\-@＝＋－＠﹦﹢﹣﹫]"
_INVISIBLE = r"\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff"
_BEGINS = re.compile(rf"[\t\r\n]|[\s\x00-\x1f{_INVISIBLE};]*{_SIGN}")
# What may stand between a separator and the sign: white space that is no separator, and invisible characters.
_UNSEEN = rf"[^\S\t\r\n]|[\x00-\x08\x0e-\x1f{_INVISIBLE}]"
_INSIDE = re.compile(rf"([;\t\r\n])(?=(?:{_UNSEEN})*{_SIGN})")
_TO_GUARD = re.compile(rf"([;\t\r\n])(?='*(?:{_UNSEEN})*{_SIGN})")
_GUARDED = re.compile(rf"([;\t\r\n])'(?='*(?:{_UNSEEN})*{_SIGN})")


def runs(text: str) -> bool:
    """Whether a spreadsheet would run the text, or what follows a separator in it."""
    return bool(_BEGINS.match(text) or _INSIDE.search(text))


def safe_start(value: Any) -> Any:
    """A value for a cell of a workbook, which is never split. Numbers are left alone."""
    return f"'{value}" if isinstance(value, str) and _BEGINS.match(value) else value


def safe_cell(value: Any) -> Any:
    """A value for a cell of a csv: an apostrophe in front, and after every separator before what would run."""
    return safe_start(_INSIDE.sub(r"\1'", value)) if isinstance(value, str) and runs(value) else value


def guarded(text: str) -> str:
    """Like `safe_cell`, and reversible: what had apostrophes before a formula gets one more."""
    inner = _TO_GUARD.sub(r"\1'", text)
    return f"'{inner}" if _BEGINS.match(text.lstrip("'")) else inner


def unguarded(text: str) -> str:
    """What `guarded` was given."""
    inner = _GUARDED.sub(r"\1", text)
    return inner[1:] if inner.startswith("'") and _BEGINS.match(inner.lstrip("'")) else inner
