"""Seeded sampling of pairs: ratio splits, training fractions, validation sizes.

The same labels and seed give the same rows on every machine. Each purpose has its own stream of random numbers,
so that changing, say, the training fraction leaves the validation sample as it was.
"""

from __future__ import annotations

import numpy as np

from riskcore.errors import ConfigError
from riskcore.random_streams import Stream, stream


def parse_ratio(text: str) -> tuple[float, float, float]:
    """The three parts of a ratio such as '2:2:6'."""
    try:
        parts = tuple(float(part) for part in text.split(":"))
    except ValueError:
        parts = ()
    if len(parts) != 3 or not all(0 < part < float("inf") for part in parts):
        raise ConfigError(f"The split {text!r} is not three positive numbers for train:valid:test, such as 2:2:6.")
    return parts


def ratio_split(labels: np.ndarray, ratio: tuple[float, float, float], seed: int) -> list[np.ndarray]:
    """Rows of the three parts: shuffled, with each label in every part by the ratio.

    Rows come back in their original order; every part has at least one, or the split is refused.
    """
    generator = stream(seed, Stream.RATIO_SPLIT)
    parts: list[list[np.ndarray]] = [[], [], []]
    bounds = np.cumsum(ratio) / sum(ratio)
    for label in np.unique(labels):
        rows = generator.permutation(np.flatnonzero(labels == label))
        cuts = np.round(bounds[:2] * len(rows)).astype(int)
        for part, chosen in zip(parts, np.split(rows, cuts), strict=True):
            part.append(chosen)
    split = [np.sort(np.concatenate(part)) if part else np.empty(0, dtype=np.int64) for part in parts]
    for name, rows in zip(("training", "validation", "test"), split, strict=True):
        if not len(rows):
            shape = ":".join(f"{part:g}" for part in ratio)
            raise ConfigError(
                f"Splitting {len(labels):,} labelled pairs {shape} leaves no {name} pair. Use more pairs."
            )
    return split


def fraction_sample(labels: np.ndarray, fraction: float, seed: int) -> np.ndarray:
    """Rows of a sample with the given share of each label, at least one of each; in their original order."""
    if not 0 < fraction <= 1:
        raise ConfigError(f"The training fraction is {fraction:g}; it must be above 0 and at most 1.")
    generator = stream(seed, Stream.TRAIN_FRACTION)
    chosen = []
    for label in np.unique(labels):
        rows = np.flatnonzero(labels == label)
        size = max(1, round(fraction * len(rows)))
        chosen.append(generator.permutation(rows)[:size])
    return np.sort(np.concatenate(chosen)) if chosen else np.empty(0, dtype=np.int64)


def size_sample(count: int, size: int, seed: int) -> np.ndarray:
    """`size` of `count` rows, each equally likely; in their original order."""
    if not 0 <= size <= count:
        raise ConfigError(f"The validation size is {size:,}; it must lie between 0 and {count:,} pairs.")
    return np.sort(stream(seed, Stream.VALIDATION_SIZE).permutation(count)[:size])


def half_split(labels: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of two halves with each label in both, in their original order; the second gets the odd one of a label."""
    generator = stream(seed, Stream.LABEL_SPLIT)
    halves: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
    for label in np.unique(labels):
        rows = generator.permutation(np.flatnonzero(labels == label))
        for half, some in zip(halves, np.split(rows, [len(rows) // 2]), strict=True):
            half.append(some)
    nothing = np.empty(0, dtype=np.int64)
    first, second = (np.sort(np.concatenate([nothing, *half])) for half in halves)
    return first, second
