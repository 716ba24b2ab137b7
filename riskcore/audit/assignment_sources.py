"""Which pairs a work list can be made of: the riskiest, drawn ones, contradictions, conflicts, or judged by others."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from riskcore.audit.agreement import conflicts, current_by_person, independent
from riskcore.audit.assigned import AssignmentError, find_list, lists_of, target_pairs
from riskcore.audit.contradictions import find_contradictions
from riskcore.audit.decisions import decisions
from riskcore.audit.draws import drawn_pairs
from riskcore.audit.estimate.runs import audited_pairs, labels_and_risk
from riskcore.audit.verdicts import Verdict, is_bulk
from riskcore.columns import PAIR_ID
from riskcore.data.problems import shown
from riskcore.runs.candidate_files import is_self_join
from riskcore.runs.folder import RunFolder


class Source(NamedTuple):
    """A way of choosing pairs."""

    words: str
    blind: bool  # what the verdicts are for takes people who see both records only
    empty: str  # why there may be none, and what to do


RISKIEST, DRAWN, AUDIT, CONTRADICTIONS, CONFLICTS, SECOND = (
    *("riskiest", "drawn", "audit", "contradictions", "conflicts", "second-review"),
)
SOURCES: Mapping[str, Source] = {
    RISKIEST: Source("riskiest pairs without a verdict", False, "Every pair has a verdict or is in an open work list."),
    DRAWN: Source("pairs drawn for labelling", True, "Draw pairs on the tab Label, or with `audit sample`."),
    AUDIT: Source("pairs drawn for the estimate", True, "Draw pairs on the tab Estimate, or with `audit estimate`."),
    CONTRADICTIONS: Source("pairs in contradictions", False, "No decisions contradict each other."),
    CONFLICTS: Source("conflicts to decide", False, "No two people disagree on a pair."),
    SECOND: Source("second review of pairs judged by others", True, "Others have judged no pair that these have not."),
}


def choose_pairs(
    folder: RunFolder, source: str, entries: Sequence[Verdict], to: Collection[str], n: int | None = None
) -> list[str]:
    """The first n pairs of a source, in the order in which to judge them, for these people.

    `entries` are those of the run's log. Pairs that the source alone would have, but that are no target pairs, are left
    out: only target pairs can be shown.
    """
    ways: Mapping[str, Callable[[RunFolder, Sequence[Verdict], Collection[str]], list[str]]] = {
        RISKIEST: _riskiest,
        DRAWN: lambda run, log, _: _unjudged(drawn_pairs(run)[PAIR_ID].astype(str), log),
        AUDIT: lambda run, log, _: _unjudged(
            audited_pairs(run)[PAIR_ID].astype(str), [one for one in log if not is_bulk(one)]
        ),
        CONTRADICTIONS: _contradicting,
        CONFLICTS: lambda _run, log, _: [one.pair_id for one in conflicts(log) if one.open],
        SECOND: lambda _run, log, people: second_review(log, people),
    }
    if source not in ways:
        raise AssignmentError(f"{source!r} is no source of pairs. Possible: {', '.join(SOURCES)}.")
    known = set(target_pairs(folder))
    return [pair for pair in ways[source](folder, entries, to) if pair in known][:n]


def choose_tasks(folder: RunFolder, wanted: str, entries: Sequence[Verdict], n: int) -> tuple[list[str], bool]:
    """The first n pairs to judge elsewhere, of a source or of a work list (those that any of its people has left), and
    whether they are judged blind."""
    if wanted in SOURCES:
        found, blind, why = choose_pairs(folder, wanted, entries, (), n), SOURCES[wanted].blind, SOURCES[wanted].empty
    else:
        held, judged = find_list(folder, wanted), current_by_person(entries)
        left = {pair for who in held.to for pair in held.left(judged, who)}
        found, blind, why = (
            [pair for pair in held.pairs if pair in left][:n],
            held.blind,
            "All of its pairs are judged.",
        )
    if not found:
        raise AssignmentError(f"There are no pairs to judge of {shown(wanted)}. {why}")
    return found, blind


def second_review(entries: Sequence[Verdict], to: Collection[str]) -> list[str]:
    """Pairs that others have judged on their own and none of these people has, in an order that tells nothing of
    them."""
    people = set(to)
    found = [pair for pair, judged in independent(entries).items() if not people & set(judged)]
    salt = "\0".join(sorted(people))
    return sorted(found, key=lambda pair: hashlib.sha256(f"{salt}\0{pair}".encode()).digest())


def _riskiest(folder: RunFolder, entries: Sequence[Verdict], _to: Collection[str]) -> list[str]:
    """Pairs without a verdict that are in no open list: two lists made one after the other share none."""
    _, risk = labels_and_risk(folder)
    ids = target_pairs(folder)
    taken = {pair for one in lists_of(folder) if one.open for pair in one.pairs} | set(current_by_person(entries))
    return [ids[at] for at in np.argsort(-risk, kind="stable") if ids[at] not in taken]


def _contradicting(folder: RunFolder, entries: Sequence[Verdict], to: Collection[str]) -> list[str]:
    frame = decisions(folder, reasons=False, values=False)
    found = find_contradictions(frame, self_join=is_self_join(folder))
    judged = current_by_person(entries)
    pairs = dict.fromkeys(pair for one in found for pair in one.pairs)
    return [pair for pair in pairs if not set(to) & set(judged.get(pair, {}))]


def _unjudged(pairs: Sequence[str], entries: Sequence[Verdict]) -> list[str]:
    judged = current_by_person(entries)
    return [pair for pair in pairs if pair not in judged]
