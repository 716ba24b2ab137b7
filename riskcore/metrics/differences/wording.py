"""Small helpers of phrases: quoting, counting, nouns. Record text is put on one line and cut short, not escaped."""

from __future__ import annotations

import re
from collections.abc import Sequence

QUOTED_CHARS = 40  # of one quotation
QUOTED_WORDS = 3  # of one side
UNNAMED = "entry"  # an entry of a list of which nothing is known
_NOUN_CHARS = 40
_SIMPLE_NOUN = re.compile(r"[^\W\d_]+(?: [^\W\d_]+)?")


def cut(text: str) -> str:
    """A part of a value on one line, cut short."""
    line = " ".join(text[: 4 * QUOTED_CHARS].split())
    return line if len(line) <= QUOTED_CHARS else f"{line[: QUOTED_CHARS - 1].rstrip()}…"


def quoted(text: str) -> str:
    """A part of a value in quotation marks."""
    return f"“{cut(text)}”"


def counted(number: int, noun: str) -> str:
    """A number with its noun: "1 word", "3 words"."""
    return f"{number:,} {noun if number == 1 else plural(noun)}"


def plural(noun: str) -> str:
    if noun.endswith("y") and noun[-2:-1] not in ("a", "e", "o", "u"):
        return f"{noun[:-1]}ies"
    return noun if noun.endswith("s") else f"{noun}s"


def singular(noun: str) -> str:
    if noun.endswith("ies") and len(noun) > 4:
        return f"{noun[:-3]}y"
    return noun[:-1] if noun.endswith("s") and not noun.endswith(("ss", "us", "is")) else noun


def listed(parts: Sequence[str]) -> str:
    """ "case, accents and spaces"."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def noun_of(name: str | None) -> str:
    """What an attribute's values are called: "song name" for Song_Name; empty if the name is unknown."""
    return " ".join((name or "").replace("_", " ").split()).lower()[:_NOUN_CHARS]


def entry_noun(noun: str) -> str:
    """What one entry of a list is called: "author" for authors."""
    return singular(noun) if _SIMPLE_NOUN.fullmatch(noun) else UNNAMED
