"""The balance sheet of a pair: its log-odds as a sum, by subject, by voice, and by rule and metric.

A subject is what a contribution is about, an attribute as a rule; a voice is who says it: the matcher, a forest, the
rules. Contributions are in log-odds, above 0 towards a match, and add up to what is shown. How they are computed is in
`riskcore.training.attribution`; this module needs neither a matcher nor a forest.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping

WHOLE_RECORD = "the whole record"
OTHER_CANDIDATES = "other candidates"
BROUGHT = "the scores brought"  # of another matcher: what they look at is not known
BEFORE = "before comparing"  # what a voice says with nothing to compare

MATCHER = "matcher"
COMBINATION = "combination"  # as a voice: the offset of what combines the others
COMPETITION = "competing candidates"  # as a voice: pairs that share a record


@dataclasses.dataclass(frozen=True)
class Voice:
    """One model among those that are combined: what it says, how much that counts, and about which subjects."""

    name: str
    log_odds: float  # as it entered the combination
    weight: float
    parts: Mapping[str, float]  # weighted, by subject, `BEFORE` among them

    @property
    def total(self) -> float:
        """What it adds to the combined log-odds."""
        return math.fsum(self.parts.values())


@dataclasses.dataclass(frozen=True)
class BalanceSheet:
    """One pair, all its evidence."""

    offset: float  # the combination's own, of no voice
    voices: tuple[Voice, ...]
    metrics: Mapping[str, float]  # by key: parts of what forests and the linear model say
    rules: Mapping[int, float]  # by number: parts of what the rules say
    matcher_alone: (
        Mapping[str, float] | None
    )  # by subject, `BEFORE` among them, where the matcher's answer is the label
    leading: str  # the subject that speaks most for what the evidence says; "" where none does
    against: str  # the one that speaks most against it; "" where none does
    stability: float | None  # share of resampled fits with the same leading subject; None where not computed

    @property
    def total(self) -> float:
        """The combined log-odds."""
        return math.fsum([self.offset, *(part for voice in self.voices for part in voice.parts.values())])

    @property
    def says_match(self) -> bool:
        return self.total >= 0

    @property
    def prior(self) -> float:
        """Where the sheet begins: before anything is compared."""
        return math.fsum([self.offset, *(voice.parts.get(BEFORE, 0.0) for voice in self.voices)])

    @property
    def by_subject(self) -> dict[str, float]:
        """What each subject contributes, the strongest first. With `prior` it adds up to `total`."""
        found: dict[str, list[float]] = {}
        for voice in self.voices:
            for subject, part in voice.parts.items():
                if subject != BEFORE:
                    found.setdefault(subject, []).append(part)
        summed = {subject: math.fsum(parts) for subject, parts in found.items()}
        return dict(sorted(summed.items(), key=lambda one: -abs(one[1])))

    def rows(self) -> list[tuple[str, str, float]]:
        """Subject, voice and contribution, all that add up to `total`; the combination's own offset first."""
        parts = [(name, voice.name, part) for voice in self.voices for name, part in voice.parts.items()]
        return [(BEFORE, COMBINATION, self.offset), *parts]

    def about(self, subject: str) -> dict[str, float]:
        """What each voice says of a subject, the strongest first."""
        found = {voice.name: voice.parts[subject] for voice in self.voices if voice.parts.get(subject)}
        return dict(sorted(found.items(), key=lambda one: -abs(one[1])))
