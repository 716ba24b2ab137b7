"""The iterations of a method one after the other, and which pairs of a large run are drawn.

Score files are read twice, first to choose the pairs and then to take them: all iterations of a million pairs would
not fit in memory together.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from pages.parts.frame.palette import HIGH_RISK
from riskcore.risk import top
from riskcore.runs import RunFolder
from riskcore.runs.formats import read_scores

MOST_POINTS = 3_000  # that a browser moves smoothly
MOST_FRAMES = 16
SEED = 0
STARTING = "risk"  # the method whose iteration 0 is the matcher before fine-tuning

Place = tuple[str, int]  # a method and an iteration


@dataclasses.dataclass(frozen=True, eq=False)
class RepairFrame:
    """One iteration: an entry per drawn pair in every array, and how many of all pairs flipped."""

    method: str
    iteration: int
    probability: np.ndarray  # the model's
    evidence: np.ndarray  # mu: what the rules expect, together with the matcher
    label: np.ndarray
    risk: np.ndarray
    flipped: np.ndarray  # another label than the matcher's before fine-tuning
    flips: int  # of all pairs: another label than in the frame before
    flipped_pairs: int  # of all pairs: flipped

    @property
    def name(self) -> str:
        return f"{self.method} {self.iteration}"

    @property
    def is_start(self) -> bool:
        """Whether this is the matcher before fine-tuning."""
        return self.method == STARTING and self.iteration == 0


@dataclasses.dataclass(frozen=True, eq=False)
class Repair:
    """The frames of one method."""

    method: str
    frames: tuple[RepairFrame, ...]
    rows: np.ndarray  # the drawn pairs, in the order of the frames' arrays; the most important last, to be on top
    pairs: int  # all of them, drawn or not
    flipped: int  # of all pairs: those with a flip in some frame
    iterations: int  # all of them, shown or not

    @property
    def left_out(self) -> str:
        """What is not drawn, in words; empty where everything is."""
        parts = []
        if len(self.rows) < self.pairs:
            all_there = self.flipped <= len(self.rows)
            which = "every flipped one among them" if all_there else f"a sample of the {self.flipped:,} flipped ones"
            parts.append(f"{len(self.rows):,} of {self.pairs:,} pairs drawn, {which}.")
        if len(self.frames) < self.iterations:
            parts.append(f"{len(self.frames)} of {self.iterations:,} iterations shown.")
        return " ".join(parts)


def read_repair(folder: RunFolder, method: str, most: int = MOST_POINTS) -> Repair:
    """The frames of a method that has iterations, with at most so many pairs."""
    places = _places(folder, method)
    shown = _thinned(places, (method, folder.kept(method)))
    flipped, riskiest, counts = _survey(folder, shown)
    rows = choose_rows(flipped, riskiest, most)
    frames = tuple(_frame(folder, place, rows, *count) for place, count in zip(shown, counts, strict=True))
    return Repair(method, frames, rows, len(flipped), int(flipped.sum()), len(places))


def choose_rows(flipped: np.ndarray, riskiest: np.ndarray, most: int) -> np.ndarray:
    """The pairs to draw: flipped ones first, then the riskiest, then a sample. They come in reverse: the last point of
    a chart is on top."""
    chance = np.random.default_rng(SEED)
    first = _sample(np.flatnonzero(flipped), most, chance)
    risky = np.flatnonzero(~flipped & (riskiest >= HIGH_RISK))
    others = np.flatnonzero(~flipped & (riskiest < HIGH_RISK))
    risky = risky[top(riskiest[risky], most - len(first))]
    others = _sample(others, most - len(first) - len(risky), chance)
    return np.concatenate([others, risky[::-1], first])


def _sample(rows: np.ndarray, most: int, chance: np.random.Generator) -> np.ndarray:
    return rows if len(rows) <= most else np.sort(chance.choice(rows, most, replace=False))


def _places(folder: RunFolder, method: str) -> list[Place]:
    """All iterations in order. Where the first already has flips, as that of risk+ has, the matcher that it started
    from comes before it."""
    own = [(method, iteration) for iteration in folder.iterations(method)]
    if method == STARTING or 0 not in folder.iterations(STARTING):
        return own
    start = (STARTING, 0)
    label, flipped = _read(folder, own[0], "label", "flipped")
    (before,) = _read(folder, start, "label")
    return [start, *own] if flipped.any() and np.array_equal(label != before, flipped) else own


def _thinned(places: list[Place], kept: tuple[str, int | None]) -> list[Place]:
    """Where there are too many iterations: some at even distances, with the first, the last and the kept one."""
    if len(places) <= MOST_FRAMES:
        return places
    even = {places[round(at)] for at in np.linspace(0, len(places) - 1, MOST_FRAMES - 1)}
    return [place for place in places if place in even or place == kept]


def _survey(folder: RunFolder, shown: Sequence[Place]) -> tuple[np.ndarray, np.ndarray, list[tuple[int, int]]]:
    """Of all pairs: whether they have a flip in some frame, and their highest risk. Of each frame: how many labels
    flip in it, and how many are flipped."""
    (before,) = _read(folder, shown[0], "label")
    ever, riskiest, counts = np.zeros(len(before), dtype=bool), np.zeros(len(before)), []
    for place in shown:
        label, risk, flipped = _read(folder, place, "label", "risk", "flipped")
        ever |= (label != before) | flipped
        riskiest = np.maximum(riskiest, risk)
        counts.append((int((label != before).sum()), int(flipped.sum())))
        before = label
    return ever, riskiest, counts


def _frame(folder: RunFolder, place: Place, rows: np.ndarray, flips: int, flipped_pairs: int) -> RepairFrame:
    names = ("probability", "mu", "label", "risk", "flipped")
    probability, evidence, label, risk, flipped = (column[rows] for column in _read(folder, place, *names))
    return RepairFrame(*place, probability, evidence, label, risk, flipped, flips, flipped_pairs)


def _read(folder: RunFolder, place: Place, *names: str) -> list[np.ndarray]:
    found = read_scores(folder.scores_file(*place), names)
    return [found[name] for name in names]
