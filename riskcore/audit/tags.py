"""Tags: `#word` inside the note of a verdict. They need no place of their own, and every export has them.

A tag has letters, digits, `-` and `_`; upper and lower case are the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from riskcore.audit.verdicts import WITHDRAWN, Verdict

MAX_TAG = 40  # characters
_TAG = re.compile(r"(?<![\w#&])#([\w-]*\w[\w-]*)")  # not within a word, as in C#, nor in &#39;
_OTHER = re.compile(r"[^\w-]+")


def tags_of(note: str) -> tuple[str, ...]:
    """The tags in a note, each once, in the order in which they stand there."""
    return tuple(dict.fromkeys(found.lower() for found in _TAG.findall(note)))


def as_tag(text: str) -> str:
    """A text as a person writes it as a tag: `Wrong year` is `wrong-year`. "" where nothing of it can be one."""
    found = _OTHER.sub("-", text.strip().lstrip("#")).lower()[:MAX_TAG].strip("-")
    return found if tags_of(f"#{found}") == (found,) else ""


def with_tags(note: str, tags: Iterable[str]) -> str:
    """The note with these tags at its end, but for those that it has."""
    there = set(tags_of(note))
    more = [f"#{tag}" for tag in dict.fromkeys(map(as_tag, tags)) if tag and tag not in there]
    return " ".join([*([note.rstrip()] if note.strip() else []), *more])


def pairs_by_tag(entries: Iterable[Verdict]) -> dict[str, tuple[str, ...]]:
    """The pairs that each tag stands on, in the verdicts of anyone that stand; the most frequent tag first."""
    standing: dict[tuple[str, str], tuple[str, ...]] = {}
    for entry in entries:
        standing[entry.pair_id, entry.who] = () if entry.verdict == WITHDRAWN else tags_of(entry.note)
    by_tag: dict[str, dict[str, None]] = {}
    for (pair, _), tags in standing.items():
        for tag in tags:
            by_tag.setdefault(tag, {})[pair] = None
    return {tag: tuple(by_tag[tag]) for tag in sorted(by_tag, key=lambda tag: (-len(by_tag[tag]), tag))}
