"""What is possible with a data set, told when it is brought and not by a run that fails."""

from __future__ import annotations

import dataclasses
from enum import StrEnum
from typing import Any

import numpy as np

from riskcore.data.dataset import DataSet
from riskcore.data.labels import SPLITS, UNKNOWN, UNSPLIT

TO_DECIDE = ("test", UNSPLIT)  # the splits whose pairs a run decides


class UseKind(StrEnum):
    """What a data set may be used for."""

    CANDIDATES = "candidates"  # the pairs that are decided
    TARGET = "target"  # to adapt to
    LABELS = "labels"  # to choose and calibrate by
    SOURCE = "source"  # to learn from
    ALONE = "alone"  # to train and adapt within one data set


@dataclasses.dataclass(frozen=True)
class Use:
    """One use: whether it is possible, in a sentence, and what to do if it is not."""

    kind: UseKind
    possible: bool
    sentence: str
    cure: str = ""

    def __str__(self) -> str:
        return f"{self.sentence} {self.cure}".rstrip()

    def to_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


def possible_uses(data: DataSet) -> tuple[Use, ...]:
    """What is possible with what was brought, in the order in which a person goes on."""
    return (_candidates(data), _target(data), _labels(data), _source(data), _alone(data))


def _count(data: DataSet, *splits: str) -> tuple[int, int, int]:
    """Pairs, labelled pairs and matches of these splits, or of all."""
    parts = [pairs.labels for name, pairs in data.splits.items() if not splits or name in splits]
    labels = np.concatenate(parts) if parts else np.empty(0, dtype=np.int8)
    return len(labels), int((labels != UNKNOWN).sum()), int((labels == 1).sum())


def _candidates(data: DataSet) -> Use:
    pairs, *_ = _count(data, *TO_DECIDE)
    if pairs:
        return Use(UseKind.CANDIDATES, True, f"It has {_counted(pairs, 'candidate pair')} to decide.")
    cure = "Find candidates first, on the screen Data sets or with `riskcore block`."
    labelled = _count(data)[0]
    has = f"its {_counted(labelled, 'pair')} are for training and validation" if labelled else "it has records only"
    return Use(UseKind.CANDIDATES, False, f"It has no candidate pairs to decide yet: {has}.", cure)


def _target(data: DataSet) -> Use:
    pairs, *_ = _count(data, *TO_DECIDE)
    if pairs:
        return Use(UseKind.TARGET, True, "It can be adapted to.")
    return Use(UseKind.TARGET, False, "It cannot be adapted to yet.", "It needs candidate pairs.")


def _labels(data: DataSet) -> Use:
    _, labelled, matches = _count(data, "valid")
    if 0 < matches < labelled:
        sentence = f"It has {_counted(labelled, 'validation label')}, {matches:,} of them matches."
        return Use(UseKind.LABELS, True, sentence)
    cure = "Label about a hundred pairs on the screen Label & audit; until then, no label is changed."
    if labelled:
        kind = "matches" if matches else "non-matches"
        return Use(UseKind.LABELS, False, f"Its {labelled:,} validation labels are all {kind}.", cure)
    return Use(UseKind.LABELS, False, "It has no validation labels.", cure)


def _source(data: DataSet) -> Use:
    _, labelled, matches = _count(data)
    if 0 < matches < labelled:
        sentence = f"It can be a source: {_counted(labelled, 'labelled pair')}, {matches:,} of them matches."
        return Use(UseKind.SOURCE, True, sentence)
    why = "none of its pairs has a label" if not labelled else "all its labels are of one class"
    cure = "A target needs none; choose another data set as the source, or learn from labels on the target itself."
    return Use(UseKind.SOURCE, False, f"It cannot be a source: {why}.", cure)


def _alone(data: DataSet) -> Use:
    absent = [name for name in SPLITS if name not in data.splits]
    if not absent:
        return Use(UseKind.ALONE, True, "It can be used alone: it has train, valid and test.")
    _, labelled, matches = _count(data)
    if min(matches, labelled - matches) >= len(SPLITS):
        return Use(UseKind.ALONE, True, "It can be used alone with a split such as 2:2:6 of its labelled pairs.")
    sentence = f"It cannot be used alone: it has no {' or '.join(absent)}, and too few labels to split."
    return Use(UseKind.ALONE, False, sentence, "Use it as a target.")


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
