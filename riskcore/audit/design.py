"""Which pairs to label: a seeded, stratified draw with known inclusion probabilities.

Drawn at random, a hundred candidate pairs hold a dozen matches, and most of the rest are obvious. Here the pairs are
ranked by the match probability that is known without labels, and ranks are measured in expected matches: the first
stratum ends where 0.35 times as many pairs are ranked as matches are expected, and so on (`BOUNDS`). Six in ten labels
go to the pairs around the expected number of matches, and some to every other stratum, so that with ten labels or more
no pair is left without a chance. Within a stratum, pairs are ordered by what the rules say and taken at equal distances
from a random start, so that pairs on which the rules agree and disagree are both drawn. All pairs of a stratum are
equally likely to be drawn; one divided by that probability is how many pairs a drawn one stands for.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from riskcore.errors import ConfigError
from riskcore.random_streams import Stream, stream

# Where strata end, in expected matches, and each one's share of the labels. Chosen on DBLP-ACM to DBLP-Scholar, with
# its labels in view, among ten designs: a hundred labels then hold about 55 matches.
BOUNDS = (0.35, 0.7, 1.05, 1.4, 1.75, 2.1, 2.8, 3.5)
SHARES = (0.15, 0.15, 0.15, 0.15, 0.1, 0.1, 0.05, 0.05, 0.05, 0.05)  # the rest, below the last bound, is halved
MATCH_RATES = (0.01, 0.25)  # scores without labels may be far off; the last bound must leave pairs below it


@dataclasses.dataclass(frozen=True, eq=False)
class Draw:
    """Pairs drawn for labelling, and how likely each pair of the frame was to be drawn."""

    rows: np.ndarray  # drawn pairs, in the order in which they are shown: shuffled, so that any beginning is a draw too
    inclusion: np.ndarray  # float64, of every pair of the frame
    stratum: np.ndarray  # int, of every pair of the frame; 0 holds the most likely matches


def draw(
    probability: np.ndarray,
    size: int,
    seed: int,
    evidence: np.ndarray | None = None,
    taken: np.ndarray | None = None,
) -> Draw:
    """Draw `size` pairs by their match probability without labels; `evidence` orders the pairs within a stratum.

    `taken` marks pairs that an earlier draw has taken: they are not drawn again, and are as likely as the other pairs
    of their stratum would be.
    """
    count = len(probability)
    taken = np.zeros(count, dtype=bool) if taken is None else taken
    if not 1 <= size <= int((~taken).sum()):
        raise ConfigError(
            f"{size:,} pairs cannot be drawn: {int((~taken).sum()):,} are left that were not drawn before."
        )
    generator = stream(seed, Stream.LABEL_DRAW)
    shuffled = generator.permutation(count)  # pairs with the same probability in no particular order
    ranked = shuffled[np.argsort(-probability[shuffled], kind="stable")]
    strata = np.split(ranked, _ends(count, _match_rate(probability)))
    free = [members[~taken[members]] for members in strata]
    takes = _takes(np.array([len(members) for members in free]), size)
    by = np.zeros(count) if evidence is None else evidence
    rows, inclusion, stratum = [], np.zeros(count), np.zeros(count, dtype=np.int64)
    for number, (members, some, take) in enumerate(zip(strata, free, takes, strict=True)):
        ordered = some[np.argsort(by[some], kind="stable")]
        rows.append(ordered[_spaced(len(ordered), int(take), generator)])
        inclusion[members], stratum[members] = take / max(1, len(some)), number
    return Draw(generator.permutation(np.concatenate(rows)), inclusion, stratum)


def combined_inclusion(earlier: np.ndarray, later: np.ndarray) -> np.ndarray:
    """How likely a pair was drawn by either of two draws, the later one from what the earlier had not drawn."""
    return earlier + (1 - earlier) * later


def _match_rate(probability: np.ndarray) -> float:
    """The expected share of matches: halfway between the mean probability and the share of likely matches, since
    probabilities that no label has calibrated are often all too high or all too low."""
    return float((probability.mean() + (probability >= 0.5).mean()) / 2)


def _ends(count: int, match_rate: float) -> np.ndarray:
    """Where the ranked pairs are cut: by `BOUNDS`, and the rest into two halves."""
    expected = count * float(np.clip(match_rate, *MATCH_RATES))
    ends = np.array(BOUNDS) * expected
    return np.round(np.append(ends, (ends[-1] + count) / 2)).astype(np.int64)


def _takes(members: np.ndarray, size: int) -> np.ndarray:
    """How many pairs each stratum gives: by its share, and at most all it has; every stratum gives at least one where
    that is possible, since a pair that cannot be drawn stands for nothing."""
    takes = np.minimum(members, np.maximum(np.floor(np.array(SHARES) * size).astype(np.int64), 1))
    order = np.argsort(-np.array(SHARES), kind="stable")
    while takes.sum() < size:
        for place in order[takes[order] < members[order]][: size - takes.sum()]:
            takes[place] += 1
    while takes.sum() > size:  # fewer labels than strata
        takes[order[takes[order] > 0][-1]] -= 1
    return takes


def _spaced(count: int, wanted: int, generator: np.random.Generator) -> np.ndarray:
    """`wanted` of `count` places at equal distances from a random start; each place is equally likely."""
    if not wanted:
        return np.empty(0, dtype=np.int64)
    step = count / wanted
    places = np.floor(generator.uniform(0, step) + step * np.arange(wanted)).astype(np.int64)
    return np.minimum(places, count - 1)
