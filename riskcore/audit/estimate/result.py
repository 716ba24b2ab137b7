"""The result of an audit: precision, recall and F1 with intervals, and all that they were made from. JSON both ways."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from riskcore.audit.estimate.measures import LEVEL, MEASURES
from riskcore.audit.estimate.strata import MATCHES

SIDE_NAMES = ("non-match", "match")


@dataclasses.dataclass(frozen=True)
class Interval:
    """A figure with its interval."""

    value: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        return (self.high - self.low) / 2

    def __contains__(self, figure: float) -> bool:
        return self.low <= figure <= self.high


@dataclasses.dataclass(frozen=True)
class StratumCounts:
    """One stratum of an audit: what is known of it."""

    side: int  # the label: 1 match, 0 non-match
    pairs: int
    risk: float  # mean
    judged: int = 0  # drawn pairs with the verdict match or non-match
    errors: int = 0  # of these, labels that the verdict contradicts
    unsure: int = 0  # drawn pairs with the verdict unsure
    known: bool = False  # judged before the draw, every pair of it: counted, but no evidence about other pairs

    @property
    def label(self) -> str:
        return SIDE_NAMES[self.side]


@dataclasses.dataclass(frozen=True)
class Check:
    """The measures without any prior, by the stratified or the difference estimator, with standard errors. None of the
    strata may be empty, so it is often not there after few verdicts."""

    precision: tuple[float, float]
    recall: tuple[float, float]
    f1: tuple[float, float]
    power: float  # of the risk in the difference estimator; 0 is the stratified estimator


@dataclasses.dataclass(frozen=True)
class WithMissed:
    """Recall and F1 in which matches that are no candidates count as missed, and what that is known from."""

    recall: Interval
    f1: Interval
    missed: Interval  # matches outside the candidates
    source: str
    verdicts: int = 0  # match or non-match, on pairs drawn outside the candidates
    unsure: int = 0
    open: int = 0  # drawn pairs without a verdict yet
    matches: int = 0  # among the verdicts
    looked_at: int = 0  # pairs of the wider search, from which they were drawn
    assumed: int = 0  # pairs beyond it, which are taken for non-matches
    checked: int = 0  # of these, drawn at random and judged
    contrary: int = 0  # of these, matches all the same
    share: float = 1.0  # of the candidates, and so of the outside pairs, that the audit is about
    rings: tuple[Mapping[str, Any], ...] = ()
    note: str = ""  # an assumption that no verdict supports

    @property
    def sentence(self) -> str:
        """The result in words, with what is assumed."""
        parts = [f"With what blocking missed, recall is about {_span(self.recall)} and F1 {_span(self.f1)}"]
        if self.verdicts:
            parts[0] += f", from {self.verdicts:,} verdicts on pairs outside the candidates ({self.matches:,} matches)"
        parts.append(f"Matches that blocking missed: about {self.missed.value:,.0f} ({_whole(self.missed)})")
        if self.assumed:
            parts.append(f"{self.assumed:,} pairs that a wider search did not find either are taken for non-matches")
        if self.contrary:
            parts.append(
                f"That does not hold: {self.contrary:,} of {self.checked:,} of them, drawn at random, are matches, so "
                "recall and F1 are lower than stated here"
            )
        elif self.checked:
            parts.append(f"{self.checked:,} of them were drawn at random and judged, and none is a match")
        if self.note:
            parts.append(self.note.rstrip("."))
        return ". ".join(parts) + "."


def _span(one: Interval) -> str:
    return f"{100 * one.value:.1f} ({100 * one.low:.1f} to {100 * one.high:.1f})"


def _whole(one: Interval) -> str:
    return f"{one.low:,.0f} to {one.high:,.0f}"


@dataclasses.dataclass(frozen=True)
class Estimate:
    """How good labels are, by an audit."""

    precision: Interval
    recall: Interval
    f1: Interval
    false_positives: Interval
    false_negatives: Interval
    verdicts: int  # match or non-match, on drawn pairs
    unsure: int
    unsure_bounds: Mapping[str, tuple[float, float]]  # by measure: if all unsure pairs are wrong, if none is
    strata: tuple[StratumCounts, ...]
    level: float = LEVEL
    open: int = 0  # drawn pairs without a verdict yet
    waiting: int = 0  # drawn pairs with a verdict that does not count yet: one before them in their draw has none
    known: int = 0  # pairs judged before the first draw
    left_out: int = 0  # pairs whose labels training has used
    missed: Interval | None = None  # matches that blocking missed; counted in recall and F1 if it is there
    with_missed: WithMissed | None = None  # beside the figures on candidates, if pairs outside them were judged
    check: Check | None = None
    method: str = ""
    labels_digest: str = ""  # of the labels that were audited
    seed: int = 0

    @property
    def pairs(self) -> int:
        return sum(one.pairs for one in self.strata)

    @property
    def matches(self) -> int:
        """Labelled matches."""
        return sum(one.pairs for one in self.strata if one.side == MATCHES)

    @property
    def unsure_share(self) -> float:
        """Share of the judged pairs that nobody could decide."""
        return self.unsure / max(1, self.verdicts + self.unsure)

    @property
    def sentence(self) -> str:
        """The result in words."""
        value, low, high = (100 * one for one in (self.f1.value, self.f1.low, self.f1.high))
        parts = [f"F1 is about {value:.1f} ({low:.1f} to {high:.1f}), from {self.verdicts:,} verdicts"]
        if self.unsure:
            parts.append(f"and {self.unsure:,} unsure, which the interval counts either way")
        found = " ".join(parts) + "."
        return found if self.with_missed is None else f"On candidates, {found} {self.with_missed.sentence}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        found = dataclasses.asdict(self)
        found["unsure_bounds"] = {name: list(ends) for name, ends in self.unsure_bounds.items()}
        found["strata"] = [dataclasses.asdict(one) for one in self.strata]
        return found

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Estimate:
        """The estimate that `to_dict` was called on."""
        found = dict(document)
        for name in (*MEASURES, "false_positives", "false_negatives"):
            found[name] = Interval(**found[name])
        found["missed"] = Interval(**found["missed"]) if found.get("missed") else None
        if outside := found.get("with_missed"):
            spans = {name: Interval(**outside[name]) for name in ("recall", "f1", "missed")}
            found["with_missed"] = WithMissed(**{**outside, **spans, "rings": tuple(outside["rings"])})
        found["strata"] = tuple(StratumCounts(**one) for one in found["strata"])
        found["unsure_bounds"] = {name: tuple(ends) for name, ends in found["unsure_bounds"].items()}
        if check := found.get("check"):
            ends = {name: tuple(check[name]) for name in MEASURES}
            found["check"] = Check(ends["precision"], ends["recall"], ends["f1"], float(check["power"]))
        return cls(**found)
