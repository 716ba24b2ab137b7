"""Who judged what, and when: for every entry of the verdict log, how its pair came before a reviewer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from riskcore.audit.dossier.parts import table
from riskcore.audit.draws import drawn_pairs
from riskcore.audit.estimate.runs import audited_pairs
from riskcore.audit.log_entries import Entry, current_entries, word_of
from riskcore.audit.outside_draws import outside_ids
from riskcore.audit.verdicts import VERDICTS, WITHDRAWN
from riskcore.columns import PAIR_ID
from riskcore.data.html_table import html_text
from riskcore.runs.folder import RunFolder

FOR_ESTIMATE, OUTSIDE, FOR_LABELS, CHOSEN = "estimate", "outside", "labels", "chosen"
CHOSEN_WORDS = {
    FOR_ESTIMATE: "drawn for the estimate",
    OUTSIDE: "drawn outside the candidates",
    FOR_LABELS: "drawn for labelling",
    CHOSEN: "chosen by the reviewer",
}
SHORT = {FOR_ESTIMATE: "estimate", OUTSIDE: "outside", FOR_LABELS: "labelling", CHOSEN: "chosen"}


def verdicts_html(content: Mapping[str, Any]) -> str:
    """The section about verdicts: how pairs were chosen, who judged when, and the whole log."""
    entries = content["verdicts"]
    if not entries:
        return "<p>Nobody has judged a pair of this run.</p>"
    chosen = content["chosen"]
    rows = [
        {
            "no.": one["number"],
            "when (UTC)": when(one),
            "who": one["who"] or "without a name",
            "pair": one["pair_id"],
            "verdict": word_of(one),
            "note": one["note"],
            "drawn for": SHORT[chosen.get(str(one["number"]), CHOSEN)],
            "digest": one["digest"][:8] or "left out",
        }
        for one in entries
    ]
    notes = (
        "Entries are only added; a verdict that was withdrawn stays in the log. Each digest covers its entry and all "
    )
    notes += "entries before it."
    if masked_from := content["verdicts_masked_from"]:
        notes += f" From entry {masked_from:,} on, digests are left out: masked text could be guessed from them."
    return (
        f'<div class="figures">{table("Pairs by how they were chosen", by_choice(entries, chosen))}</div>'
        f'<div class="figures">{table("Who judged, and when (UTC)", by_person(entries))}</div>'
        f"<h3>All {len(entries):,} entries of the log</h3>"
        f'<p class="faint">{html_text(notes)}</p><div class="wide verdicts">{table("", rows)}</div>'
    )


def how_chosen(folder: RunFolder, entries: Sequence[Entry]) -> dict[str, str]:
    """By the number of an entry, how its pair was drawn; pairs that nothing has drawn are left out."""
    drawn = {
        FOR_LABELS: set(drawn_pairs(folder)[PAIR_ID]),
        OUTSIDE: set(outside_ids(folder)[PAIR_ID]),
        FOR_ESTIMATE: set(audited_pairs(folder)[PAIR_ID]),
    }
    by_pair = {pair: how for how, pairs in drawn.items() for pair in pairs}
    return {str(one["number"]): by_pair[one["pair_id"]] for one in entries if one["pair_id"] in by_pair}


def by_choice(entries: Sequence[Entry], chosen: Mapping[str, str]) -> list[dict[str, Any]]:
    """Pairs by how they were chosen and by their current verdict."""
    of_pair = {one["pair_id"]: chosen.get(str(one["number"]), CHOSEN) for one in entries}
    words = {pair: word_of(one) for (pair, _), one in current_entries(entries).items()}
    return [
        {"pairs": told, "judged": f"{len(found):,}", **{word: f"{found.count(word):,}" for word in VERDICTS}}
        for how, told in CHOSEN_WORDS.items()
        if (found := [word for pair, word in words.items() if of_pair[pair] == how])
    ]


def by_person(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """Each person's pairs by current verdict, with the first and the last entry."""
    found = []
    current = current_entries(entries)
    for who in dict.fromkeys(str(one["who"]) for one in entries):
        own = [one for one in entries if one["who"] == who]
        words = [word_of(one) for (_, person), one in current.items() if person == who]
        found.append(
            {
                "who": who or "without a name",
                "pairs": f"{len(words):,}",
                **{word: f"{words.count(word):,}" for word in VERDICTS},
                "withdrawn": f"{sum(one['verdict'] == WITHDRAWN for one in own):,}",
                "first": when(own[0]),
                "last": when(own[-1]),
            }
        )
    return found


def when(entry: Mapping[str, Any]) -> str:
    """The moment of an entry."""
    return f"{datetime.fromtimestamp(entry['at'], UTC):%Y-%m-%d %H:%M:%S}"
