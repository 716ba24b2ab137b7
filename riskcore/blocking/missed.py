"""How many matches blocking may have missed, where no known matches say so: capture and recapture.

The attributes are split into two groups, and each group searches for itself. Among pairs that look like matches, those
whose two records are each other's best candidate, the overlap of the two searches tells how many neither found: if the
searches miss independently, a search finds the same share of all matches as of those that the other found (Chapman's
estimator). The assumption errs on the hopeful side: a poor record is hard to find by any attribute. And pairs that do
not look like matches are not counted at all.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from scipy.stats import binomtest, poisson

from riskcore.blocking.block import block
from riskcore.blocking.candidates import Candidates
from riskcore.config import BlockConfig
from riskcore.data.pairs import Table

SAMPLE = 5_000  # left records searched again: an estimate of a share needs no more
ENOUGH = 30  # pairs that both searches found; below, the estimate could be anything
LEVEL = 0.95
ASSUMPTION = (
    "Assumes that the two searches miss matches independently; records that are hard to find by any attribute make the "
    "true figure lower. Counts only pairs that look like matches."
)


@dataclasses.dataclass(frozen=True)
class Estimate:
    """The estimated share of matches that were found; `found` is None, with a reason, where it is not known."""

    found: float | None
    low: float | None
    high: float | None
    evidence: tuple[tuple[str, ...], ...]  # the attributes of each search
    captured: tuple[int, int, int]  # pairs that look like matches: found by the first, by the second, by both
    reason: str


def estimate_found(candidates: Candidates, left: Table, right: Table | None, config: BlockConfig) -> Estimate:
    """The share of matches found, from two searches that see different attributes."""
    groups = _evidence(left, left if right is None else right, config)
    if len(groups) < 2:
        return _unknown("needs at least two attributes that both tables have", groups)
    sample = np.unique(np.linspace(0, max(len(left) - 1, 0), min(SAMPLE, len(left))).astype(np.int64))
    likely = _mutual_best(candidates, right is None)
    likely = likely[np.isin(likely[:, 0], sample)]
    first, second = (_captured(likely, sample, left, right, group, config) for group in groups)
    counts = (int(first.sum()), int(second.sum()), int((first & second).sum()))
    if counts[2] < ENOUGH:
        return _unknown(f"both searches found only {counts[2]} of the same pairs; {ENOUGH} are needed", groups, counts)
    return chapman(counts, groups)


def chapman(counts: tuple[int, int, int], evidence: tuple[tuple[str, ...], ...] = ()) -> Estimate:
    """The share found by either of two searches, from how many each and both found; with a 95 % interval.

    The interval allows for chance twice: in the shares that the searches find (Wilson), and in how many matches both
    then happen to miss (Poisson). It is on the wide side.
    """
    first, second, both = counts
    total = (first + 1) * (second + 1) / (both + 1) - 1
    either = first + second - both
    shares = [binomtest(both, size).proportion_ci(LEVEL, method="wilson") for size in (first, second)]
    most, fewest = (math.prod(1 - getattr(one, end) for one in shares) * total for end in ("low", "high"))
    tail = (1 - LEVEL) / 2
    low, high = either / (either + poisson.ppf(1 - tail, most)), either / (either + poisson.ppf(tail, fewest))
    found = min(either / total, 1.0)
    return Estimate(found, float(min(low, found)), float(max(high, found)), evidence, counts, ASSUMPTION)


def _unknown(reason: str, groups: tuple[tuple[str, ...], ...], counts: tuple[int, int, int] = (0, 0, 0)) -> Estimate:
    return Estimate(None, None, None, groups, counts, f"Not known: {reason}.")


def _evidence(left: Table, right: Table, config: BlockConfig) -> tuple[tuple[str, ...], ...]:
    """The attribute with the most different values, and all others: none may be useless as a search of its own."""
    names = [name for name in config.attributes or left.attributes if name in right.attributes]
    if len(names) < 2:
        return (tuple(names),)
    variety = [left.values[name].nunique() + right.values[name].nunique() for name in names]
    best = names[int(np.argmax(variety))]
    return (best,), tuple(name for name in names if name != best)


def _mutual_best(candidates: Candidates, same: bool) -> np.ndarray:
    """Pairs (left row, right row) whose records are each other's best candidate."""
    scored = candidates.take(~np.isnan(candidates.score))
    pairs = np.stack([scored.left_rows, scored.right_rows], axis=1)
    score = scored.score
    if same:  # each pair is there once; its records see it from both sides
        pairs, score = np.concatenate([pairs, pairs[:, ::-1]]), np.concatenate([score, score])
    best = _first_of(pairs[:, 0], pairs[:, 1], score) & _first_of(pairs[:, 1], pairs[:, 0], score)
    return pairs[best & (pairs[:, 0] < pairs[:, 1])] if same else pairs[best]


def _first_of(rows: np.ndarray, others: np.ndarray, score: np.ndarray) -> np.ndarray:
    order = np.lexsort((others, -score, rows))
    found = np.zeros(len(rows), dtype=bool)
    found[order[np.flatnonzero(np.diff(rows[order], prepend=-1))]] = True
    return found


def _captured(
    likely: np.ndarray,
    sample: np.ndarray,
    left: Table,
    right: Table | None,
    group: tuple[str, ...],
    config: BlockConfig,
) -> np.ndarray:
    """Which of the likely matches a search by these attributes alone finds from the sampled left records."""
    large = max(len(left), 0 if right is None else len(right)) >= config.large_table
    settings = dataclasses.replace(
        config,
        blockers=("words",) if large else ("ngrams",),  # the faster one, where n-grams would take minutes
        attributes=group,
        keys=(),
        top=config.top + (right is None),  # a record finds itself first
        direction="left",
    )
    queries = Table(left.name, left.ids[sample], left.values.iloc[sample].reset_index(drop=True))
    searched = left if right is None else right
    found = block(queries, searched, settings)
    width = len(searched)
    return np.isin(likely[:, 0] * width + likely[:, 1], sample[found.left_rows] * width + found.right_rows)
