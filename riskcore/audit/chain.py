"""The chain of a verdict log: what the digest of an entry is made of, and whether entries follow from each other.

It needs no store, so that a copy of a log can be checked wherever it is.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from riskcore.data.problems import shown

_FACTS = ("run", "number", "pair_id", "verdict", "note", "who", "at")  # `at` in seconds since 1970
FIELDS = (*_FACTS, "digest")
Entry = Mapping[str, Any]


def entry_digest(before: str, facts: Entry) -> str:
    """The digest of an entry and, through that of the entry before it, of all earlier ones."""
    text = json.dumps([before, *(facts[name] for name in _FACTS)], ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def chain_problems(entries: Sequence[Entry]) -> list[str]:
    """Entries that are missing or were altered, in sentences; empty if every digest follows from the one before."""
    problems, before = [], ""
    for place, entry in enumerate(entries, start=1):
        if entry["number"] != place:
            problems.append(f"Entry {place} of the verdict log is missing.")
            break
        if entry["digest"] != entry_digest(before, entry):
            problems.append(
                f"Entry {place} of the verdict log ({shown(str(entry['pair_id']))}) was altered after it was recorded."
            )
        before = entry["digest"]
    return problems
