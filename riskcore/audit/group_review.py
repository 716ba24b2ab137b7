"""Judging a group of pairs by a sample of it: which pairs to judge one by one, whether they agree, and what is left.

Only after the sample agrees may the other pairs get the same verdict at once. Each of these verdicts says so in its
note (`bulk_note`), and can be withdrawn like any other.
"""

from __future__ import annotations

import dataclasses
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from riskcore.audit.draws import drawn_pairs
from riskcore.audit.estimate.runs import audited_pairs
from riskcore.audit.verdicts import Verdict, is_bulk
from riskcore.columns import PAIR_ID
from riskcore.rules.rule import Condition
from riskcore.runs.folder import RunFolder
from riskcore.runs.formats import read_pair_ids
from riskcore.runs.readers.queries import rows_of_kind

SAMPLE = 10  # pairs of a group to judge one by one, at least
_CONFIDENCE = 0.95


@dataclasses.dataclass(frozen=True)
class GroupReview:
    """How far the review of a group is."""

    sample: dict[str, int]  # pairs to judge one by one, in the order of drawing, with their rows
    counts: dict[str, int]  # verdicts on the sample so far, by word
    unjudged: tuple[str, ...]  # pairs of the group without a verdict, also those of the sample
    held_back: int  # pairs without a verdict drawn for labelling or the estimate: they are judged one by one
    bulk: dict[str, Verdict]  # current verdicts that were given to pairs of the group at once
    next: str | None  # the next pair of the sample to judge

    @property
    def judged(self) -> int:
        return sum(self.counts.values())

    @property
    def agreed(self) -> str | None:
        """Match or non-match, if every pair of the sample is judged so; None before, or if they differ."""
        word, count = next(iter(self.counts.items()), ("unsure", 0))
        return word if word != "unsure" and count == len(self.sample) else None

    @property
    def most_different(self) -> float:
        """The share of the group that may differ from a sample that agrees: the upper end of the 95 % interval."""
        return 1 - (1 - _CONFIDENCE) ** (1 / max(1, self.judged))


def review_group(
    folder: RunFolder, kind: Sequence[Condition], verdicts: Mapping[str, Verdict], size: int = SAMPLE
) -> GroupReview:
    """The review of the pairs that meet the conditions, by a sample of `size`, or of all if they are fewer.

    The sample is drawn at random by the run's seed and the conditions, so it is the same for everyone. A pair that was
    judged in bulk is not in it.
    """
    rows = rows_of_kind(folder, kind)
    ids = read_pair_ids(folder.pairs_file).column(PAIR_ID).take(rows).to_pylist()
    text = " and ".join(condition.text for condition in kind)
    order = np.random.default_rng([int(folder.run()["seed"]), zlib.crc32(text.encode())]).permutation(len(rows))
    bulk = {pair: verdicts[pair] for pair in ids if pair in verdicts and is_bulk(verdicts[pair])}
    drawn = [at for at in order.tolist() if ids[at] not in bulk][:size]
    sample = {ids[at]: int(rows[at]) for at in drawn}
    counts = Counter(verdicts[pair].verdict for pair in sample if pair in verdicts)
    left = [pair for pair in ids if pair not in verdicts]
    kept = {*drawn_pairs(folder)[PAIR_ID], *audited_pairs(folder)[PAIR_ID]}
    return GroupReview(
        sample=sample,
        counts=dict(counts),
        unjudged=tuple(pair for pair in left if pair not in kept),
        held_back=sum(pair in kept for pair in left),
        bulk=bulk,
        next=next((pair for pair in sample if pair not in verdicts), None),
    )
