"""Entries of the verdict log as plain values, exactly as they were recorded, and their digests recomputed from them.

`VerdictLog` reads a store. What is here needs none, so that a copy of a log can be checked wherever it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from riskcore.audit.chain import FIELDS, Entry
from riskcore.audit.verdicts import _WORDS_0_1, WITHDRAWN
from riskcore.runs.store.database import verdicts
from riskcore.runs.store.run_store import RunStore


def recorded_entries(store: RunStore, run: str) -> list[dict[str, Any]]:
    """Every entry of a run's log, the oldest first, unrounded and untranslated: digests are made of exactly this."""
    wanted = sa.select(verdicts).where(verdicts.c.run == run).order_by(verdicts.c.number)
    with store.database.read() as tx:
        return [{name: getattr(row, name) for name in FIELDS} for row in tx.execute(wanted).all()]


def word_of(entry: Entry) -> str:
    """The verdict of an entry in today's word: entries keep the words they were recorded with."""
    word = str(entry["verdict"])
    return _WORDS_0_1.get(word, word)


def current_entries(entries: Sequence[Entry]) -> dict[tuple[str, str], Entry]:
    """By pair and person, the entry that stands: the latest, unless it was withdrawn. The latest entry comes last."""
    found: dict[tuple[str, str], Entry] = {}
    for entry in entries:
        key = (entry["pair_id"], entry["who"])
        found.pop(key, None)
        if entry["verdict"] != WITHDRAWN:
            found[key] = entry
    return found


def pairs_by_verdict(entries: Sequence[Entry]) -> dict[str, int]:
    """How many pairs have each verdict, counting for each pair the latest by anyone."""
    by_pair = {pair: word_of(entry) for (pair, _), entry in current_entries(entries).items()}
    return dict(sorted(Counter(by_pair.values()).items()))


def pairs_by_person(entries: Sequence[Entry]) -> dict[str, int]:
    """How many pairs each person's verdict stands on."""
    return dict(sorted(Counter(who for _, who in current_entries(entries)).items()))
